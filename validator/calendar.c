#include "validator/calendar.h"

#include <math.h>
#include <stdio.h>

/* COUNT digits at *AT, which moves behind them; -1 when there are others. */
static int digits(const char **at, const char *end, int count)
{
    int number = 0;
    for (; count > 0; count--, ++*at) {
        if (*at == end || **at < '0' || **at > '9')
            return -1;
        number = number * 10 + (**at - '0');
    }
    return number;
}

static bool literal(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return false;
    ++*at;
    return true;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01 in the proleptic Gregorian calendar (Howard Hinnant's days_from_civil). */
static long days_from_civil(long year, int month, int day)
{
    year -= month <= 2;
    long era = (year >= 0 ? year : year - 399) / 400;
    long of_era = year - era * 400;
    long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void civil_from_days(long days, int *year, int *month, int *day)
{
    days += 719468;
    long era = (days >= 0 ? days : days - 146096) / 146097;
    long of_era = days - era * 146097;
    long years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    long of_year = of_era - (365 * years + years / 4 - years / 100);
    long shifted = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = (int)(years + era * 400 + (*month <= 2));
}

/* Z or an offset in minutes. */
static bool zone(const char **at, const char *end, int *minutes)
{
    *minutes = 0;
    if (literal(at, end, 'Z'))
        return true;
    int sign = literal(at, end, '+') ? 1 : literal(at, end, '-') ? -1 : 0;
    int hours = sign ? digits(at, end, 2) : -1;
    if (hours < 0 || hours > 23 || !literal(at, end, ':'))
        return false;
    int rest = digits(at, end, 2);
    *minutes = sign * (hours * 60 + rest);
    return rest >= 0 && rest <= 59;
}

bool calendar_read(struct text text, double *ms, int *year, int *month)
{
    const char *at = text.data, *end = text.data + text.size;
    int y = digits(&at, end, 4);
    int mon = literal(&at, end, '-') ? digits(&at, end, 2) : -1;
    int day = literal(&at, end, '-') ? digits(&at, end, 2) : -1;
    int hour = literal(&at, end, 'T') ? digits(&at, end, 2) : -1;
    int min = literal(&at, end, ':') ? digits(&at, end, 2) : -1;
    int sec = literal(&at, end, ':') ? digits(&at, end, 2) : -1;
    if (y < 0 || mon < 1 || mon > 12 || day < 1 || day > days_in(y, mon) || hour < 0 || hour > 23 ||
        min < 0 || min > 59 || sec < 0 || sec > 59)
        return false;
    int fraction = 0;
    if (literal(&at, end, '.')) {
        const char *first = at;
        for (int weight = 100; at < end && *at >= '0' && *at <= '9'; at++, weight /= 10)
            fraction += weight * (*at - '0'); /* Date keeps milliseconds: the weight ends at 0 */
        if (at == first)
            return false;
    }
    int offset;
    if (!zone(&at, end, &offset) || at != end)
        return false;
    long days = days_from_civil(y, mon, day);
    double minutes = (double)days * 1440 + hour * 60 + min - offset;
    *ms = (minutes * 60 + sec) * 1000 + fraction;
    civil_from_days((long)floor(minutes / 1440), year, month, &day);
    return *year >= 0 && *year <= 9999;
}

void calendar_print(double ms, char text[CALENDAR_SIZE])
{
    double days = floor(ms / 86400000);
    long rest = (long)(ms - days * 86400000);
    int year, month, day;
    civil_from_days((long)days, &year, &month, &day);
    snprintf(text, CALENDAR_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)year % 10000,
             (unsigned)month % 100, (unsigned)day % 100, (unsigned)(rest / 3600000) % 100,
             (unsigned)(rest / 60000 % 60), (unsigned)(rest / 1000 % 60), (unsigned)(rest % 1000));
}
