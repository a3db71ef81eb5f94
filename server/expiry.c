#include "server/expiry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "validator/calendar.h"

static const int64_t DAY_MS = INT64_C(24) * 3600 * 1000;
enum { DATE_SIZE = 10 };

bool expiry_parse(const char *text, int64_t *day)
{
    char time[32];
    double ms;
    int year, month;
    if (strlen(text) != DATE_SIZE)
        return false;
    int size = snprintf(time, sizeof time, "%sT00:00:00Z", text);
    if (!calendar_read((struct text){time, (size_t)size}, &ms, &year, &month))
        return false;
    *day = (int64_t)ms / DAY_MS;
    return true;
}

bool expiry_warn(int64_t day, int64_t now_ms, char text[EXPIRY_TEXT])
{
    static const char remedy[] = "make a new one and give it as github_token";
    int64_t left = day - now_ms / DAY_MS;
    if (left > EXPIRY_WARN_DAYS)
        return false;
    if (left < 0)
        snprintf(text, EXPIRY_TEXT, "token-expires: the token expired %" PRId64 " %s ago: %s",
                 -left, left == -1 ? "day" : "days", remedy);
    else if (left == 0)
        snprintf(text, EXPIRY_TEXT, "token-expires: the token expires today: %s", remedy);
    else
        snprintf(text, EXPIRY_TEXT, "token-expires: the token expires in %" PRId64 " %s: %s", left,
                 left == 1 ? "day" : "days", remedy);
    return true;
}
