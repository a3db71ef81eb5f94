#include "validator/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validator/powers.h"

enum {
    SIGNIFICAND_BITS = 52,
    EXPONENT_BIAS = 1023 + SIGNIFICAND_BITS,
    EXACT_POWER_LAST = 55,    /* 10^55 is the last power that 128 bits hold exactly */
    DIGITS_EXACT = 19,        /* decimal digits that 64 bits always hold */
    DIGITS_KEPT = 800,        /* 767 digits decide any double; one more stands for the rest */
    EXPONENT_CLAMP = 1 << 30, /* above the digits of any text (JS_TEXT_MAX) */
};

struct product {
    uint64_t high, low;
};

static struct product multiply(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (struct product){(uint64_t)(product >> 64), (uint64_t)product};
}

/* Powers of ten that a double holds exactly. */
static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A token taken apart: digits * 10^exponent. */
struct decimal {
    bool negative;
    uint64_t digits;  /* the first DIGITS_EXACT significant ones */
    int count;        /* of all significant digits, leading zeros not counted */
    int64_t exponent; /* of the last digit of the token */
};

/* Eisel and Lemire: the nearest double of digits * 10^exponent, or false in the rare cases that 128
 * bits of the power cannot decide, for subnormals and for overflow. DIGITS is not 0. */
static bool nearest(uint64_t digits, int64_t exponent, uint64_t *bits)
{
    if (exponent < POWER_FIRST || exponent > 308)
        return false;
    const struct power *power = &powers[exponent - POWER_FIRST];
    int zeros = __builtin_clzll(digits);
    digits <<= zeros;
    int64_t binary = ((217706 * exponent) >> 16) + 64 + 1023 - zeros;

    struct product x = multiply(digits, power->high);
    if ((x.high & 0x1FF) == 0x1FF && x.low + digits < digits) {
        struct product y = multiply(digits, power->low);
        struct product merged = {x.high, x.low + y.high};
        if (merged.low < x.low)
            merged.high++;
        if ((merged.high & 0x1FF) == 0x1FF && merged.low + 1 == 0 && y.low + digits < digits)
            return false;
        x = merged;
    }
    uint64_t top = x.high >> 63;
    uint64_t significand = x.high >> (top + 9);
    binary -= (int64_t)(1 ^ top);
    if (x.low == 0 && (x.high & 0x1FF) == 0 && (significand & 3) == 1)
        return false; /* exactly between two doubles */
    significand += significand & 1;
    significand >>= 1;
    if (significand >> 53) {
        significand >>= 1;
        binary++;
    }
    if (binary < 1 || binary >= 0x7FF)
        return false;
    *bits = (uint64_t)binary << SIGNIFICAND_BITS | (significand & 0xFFFFFFFFFFFFF);
    return true;
}

static struct decimal take_apart(const char *token, size_t size)
{
    struct decimal decimal = {0};
    const char *at = token, *end = token + size;
    if (at < end && *at == '-') {
        decimal.negative = true;
        at++;
    }
    bool fraction = false;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        if (fraction)
            decimal.exponent--;
        if (decimal.count == 0 && *at == '0')
            continue;
        if (decimal.count++ < DIGITS_EXACT)
            decimal.digits = decimal.digits * 10 + (uint64_t)(*at - '0');
    }
    if (at < end) {
        bool negative = ++at < end && *at == '-';
        int64_t exponent = 0;
        for (at += negative || (at < end && *at == '+'); at < end; at++)
            if (exponent < EXPONENT_CLAMP)
                exponent = exponent * 10 + (*at - '0');
        decimal.exponent += negative ? -exponent : exponent;
    }
    return decimal;
}

/* The C library reads what the fast path leaves; it is given digits and exponent only, so that
 * neither locale nor length of the token matter. */
static double read_slowly(const char *token, size_t size, const struct decimal *decimal)
{
    char text[DIGITS_KEPT + 32];
    size_t kept = 0, seen = 0;
    bool rest = false;
    for (size_t i = 0; i < size && token[i] != 'e' && token[i] != 'E'; i++) {
        if (token[i] < '0' || token[i] > '9' || (seen == 0 && token[i] == '0'))
            continue;
        seen++;
        if (kept < DIGITS_KEPT)
            text[kept++] = token[i];
        else if (token[i] != '0')
            rest = true;
    }
    int64_t exponent = decimal->exponent + (int64_t)(seen - kept);
    if (rest) {
        text[kept++] = '1';
        exponent--;
    }
    snprintf(text + kept, sizeof text - kept, "e%lld", (long long)exponent);
    return strtod(text, NULL);
}

double number_read(const char *token, size_t size)
{
    struct decimal decimal = take_apart(token, size);
    double value;
    uint64_t bits;
    if (decimal.count == 0)
        value = 0;
    else if (decimal.digits <= (UINT64_C(1) << 53) && decimal.count <= DIGITS_EXACT &&
             decimal.exponent >= -22 && decimal.exponent <= 22)
        /* Both exact, so one rounding (Clinger). */
        value = decimal.exponent < 0 ? (double)decimal.digits / exact_powers[-decimal.exponent]
                                     : (double)decimal.digits * exact_powers[decimal.exponent];
    else if (decimal.count <= DIGITS_EXACT && nearest(decimal.digits, decimal.exponent, &bits))
        value = from_bits(bits);
    else
        value = read_slowly(token, size, &decimal);
    return decimal.negative ? -value : value;
}

struct shortest {
    uint64_t digits; /* may end in zeros */
    int exponent;
};

/* floor(x * 2^-128) with the lost bits kept as a sticky lowest bit. */
static uint64_t round_to_odd(const struct power *power, uint64_t c)
{
    struct product x = multiply(power->low, c), y = multiply(power->high, c);
    y.low += x.high;
    if (y.low < x.high)
        y.high++;
    return y.high | (y.low > 1);
}

/* Schubfach (Giulietti, "The Schubfach way to render doubles"): the shortest decimal in the
 * rounding interval, the closest one among those. VALUE is given by its raw significand and
 * exponent. */
static struct shortest shorten(uint64_t significand, int exponent)
{
    uint64_t c = significand;
    int q = 1 - EXPONENT_BIAS;
    if (exponent != 0) {
        c |= UINT64_C(1) << SIGNIFICAND_BITS;
        q = exponent - EXPONENT_BIAS;
        if (q <= 0 && q > -(SIGNIFICAND_BITS + 1) && (c & ((UINT64_C(1) << -q) - 1)) == 0)
            return (struct shortest){c >> -q, 0}; /* an integer below 2^53 */
    }
    bool odd = c & 1;
    bool closer_below = significand == 0 && exponent > 1;
    int k = (q * 1262611 - (closer_below ? 524031 : 0)) >> 22; /* floor(log10 of the interval) */
    int h = q + ((-k * 1741647) >> 19) + 1;
    struct power power = powers[-k - POWER_FIRST];
    if (-k < 0 || -k > EXACT_POWER_LAST) {
        power.low++; /* Schubfach wants the power rounded up */
        power.high += power.low == 0;
    }
    uint64_t lower = round_to_odd(&power, (4 * c - 2 + closer_below) << h) + odd;
    uint64_t middle = round_to_odd(&power, (4 * c) << h);
    uint64_t upper = round_to_odd(&power, (4 * c + 2) << h) - odd;

    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t tenth = s / 10;
        bool below = lower <= 40 * tenth, above = 40 * tenth + 40 <= upper;
        if (below != above)
            return (struct shortest){tenth + above, k + 1};
    }
    bool below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above)
        return (struct shortest){s + above, k};
    uint64_t half = 4 * s + 2;
    bool up = middle > half || (middle == half && (s & 1));
    return (struct shortest){s + up, k};
}

static const char two_digits[] = "00010203040506070809101112131415161718192021222324"
                                 "25262728293031323334353637383940414243444546474849"
                                 "50515253545556575859606162636465666768697071727374"
                                 "75767778798081828384858687888990919293949596979899";

/* Decimal digits of VALUE to the end of OUT[20]; returns their count. */
static int print_digits(uint64_t value, char out[20])
{
    int at = 20;
    while (value >= 100) {
        at -= 2;
        memcpy(out + at, two_digits + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(out + at, two_digits + 2 * value, 2);
    } else {
        out[--at] = (char)('0' + value);
    }
    return 20 - at;
}

static size_t append(char *out, size_t at, const char *text, int size)
{
    memcpy(out + at, text, (size_t)size);
    return at + (size_t)size;
}

static size_t append_zeros(char *out, size_t at, int count)
{
    memset(out + at, '0', (size_t)count);
    return at + (size_t)count;
}

/* Number::toString steps 6 to 12: COUNT digits, of which POINT stand before the decimal point. */
static size_t lay_out(const char *digits, int count, int point, size_t at, char *out)
{
    if (count <= point && point <= 21)
        return append_zeros(out, append(out, at, digits, count), point - count);
    if (point > 0 && point <= 21) {
        at = append(out, at, digits, point);
        out[at++] = '.';
        return append(out, at, digits + point, count - point);
    }
    if (point > -6 && point <= 0) {
        at = append(out, at, "0.", 2);
        at = append_zeros(out, at, -point);
        return append(out, at, digits, count);
    }
    out[at++] = digits[0];
    if (count > 1) {
        out[at++] = '.';
        at = append(out, at, digits + 1, count - 1);
    }
    out[at++] = 'e';
    int exponent = point - 1;
    out[at++] = exponent < 0 ? '-' : '+';
    char text[20];
    int size = print_digits((uint64_t)abs(exponent), text);
    return append(out, at, text + 20 - size, size);
}

size_t number_print(double value, char out[NUMBER_PRINT_MAX])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t significand = bits & ((UINT64_C(1) << SIGNIFICAND_BITS) - 1);
    int exponent = (int)(bits >> SIGNIFICAND_BITS & 0x7FF);
    size_t at = 0;
    if (significand == 0 && exponent == 0) {
        out[0] = '0';
        return 1;
    }
    if (bits >> 63)
        out[at++] = '-';
    struct shortest shortest = shorten(significand, exponent);
    char digits[20];
    int size = print_digits(shortest.digits, digits), count = size;
    const char *first = digits + 20 - size;
    while (count > 1 && first[count - 1] == '0')
        count--;
    return lay_out(first, count, size + shortest.exponent, at, out);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Up to eight digits at once, first digit in the lowest byte: appends those in front of the first other byte
 * and returns how many they were. */
static inline size_t take_word(const char *at, uint64_t *digits)
{
    static const uint64_t powers_of_ten[] = {1,      10,      100,      1000,     10000,
                                             100000, 1000000, 10000000, 100000000};
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word ^= 0x3030303030303030u; /* digits become 0 to 9, all others more */
    uint64_t others = (word | (word + 0x7676767676767676u)) & 0x8080808080808080u;
    size_t count = others ? (size_t)__builtin_ctzll(others) >> 3 : 8;
    if (count == 0)
        return 0;
    word <<= 8 * (8 - count);       /* zeros in front */
    word = word * 10 + (word >> 8); /* pairs, in every other byte */
    word = ((word & 0x000000FF000000FFu) * 0x000F424000000064u +
            (word >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u) >>
           32;
    *digits = *digits * powers_of_ten[count] + word;
    return count;
}
#else
static inline size_t take_word(const char *at, uint64_t *digits)
{
    size_t count = 0;
    for (; count < 8 && at[count] >= '0' && at[count] <= '9'; count++)
        *digits = *digits * 10 + (uint64_t)(at[count] - '0');
    return count;
}
#endif

/* Steps over digits and appends them to *DIGITS, which wraps beyond 64 bits. */
__attribute__((always_inline)) static inline const char *
take_digits(const char *at, const char *end, uint64_t *digits)
{
    while (end - at >= 8) {
        size_t count = take_word(at, digits);
        at += count;
        if (count < 8)
            return at;
    }
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        *digits = *digits * 10 + (uint64_t)(*at - '0');
    return at;
}

/* The slow way for tokens that are long or have an exponent. */
static void read_and_compare(const char *token, struct number_token *result)
{
    char printed[NUMBER_PRINT_MAX];
    result->value = number_read(token, result->size);
    result->is_printed = isfinite(result->value) && result->size <= NUMBER_PRINT_MAX &&
                         number_print(result->value, printed) == result->size &&
                         memcmp(token, printed, result->size) == 0;
}

/* Whether DIGITS * 10^-FRACTION, whose last digit is not 0, is the shortest form of VALUE. */
static bool is_shortest(double value, uint64_t digits, size_t fraction)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    struct shortest shortest = shorten(bits & ((UINT64_C(1) << SIGNIFICAND_BITS) - 1),
                                       (int)(bits >> SIGNIFICAND_BITS & 0x7FF));
    for (; shortest.exponent < -(int)fraction && shortest.digits % 10 == 0; shortest.exponent++)
        shortest.digits /= 10;
    return shortest.exponent == -(int)fraction && shortest.digits == digits;
}

/* A token in plain form of at most DIGITS_EXACT digits, FRACTION of them behind the point. */
static void read_plain(const char *token, uint64_t digits, size_t fraction,
                       struct number_token *result)
{
    bool negative = *token == '-';
    uint64_t bits;
    double value = 0;
    if (digits == 0) {
        result->value = negative ? -0.0 : 0.0;
        result->is_printed = result->size == 1;
        return;
    }
    if (digits <= UINT64_C(1) << 53) /* both exact, so one rounding (Clinger) */
        value = fraction ? (double)digits / exact_powers[fraction] : (double)digits;
    else if (nearest(digits, -(int64_t)fraction, &bits))
        value = from_bits(bits);
    else {
        read_and_compare(token, result);
        return;
    }
    result->value = negative ? -value : value;
    /* At most 15 digits are their own shortest form; below 1e-6 an exponent is printed. */
    if (fraction && (token[result->size - 1] == '0' || value < 1e-6))
        result->is_printed = false;
    else if (digits < UINT64_C(1000000000000000))
        result->is_printed = true;
    else if (fraction)
        result->is_printed = is_shortest(value, digits, fraction);
    else
        read_and_compare(token, result);
}

static struct number_token refuse(const char *token, const char *at, const char *problem)
{
    return (struct number_token){.size = (size_t)(at - token), .problem = problem};
}

struct number_token number_scan(const char *token, const char *end)
{
    struct number_token result = {0};
    uint64_t digits = 0, ignored = 0;
    const char *at = token + (token < end && *token == '-'), *whole = at;
    at = take_digits(at, end, &digits);
    size_t count = (size_t)(at - whole), fraction = 0;
    if (count == 0)
        return refuse(token, at, "a number needs a digit");
    if (*whole == '0' && count > 1)
        return refuse(token, whole + 1, "a number has no leading zeros");
    if (at < end && *at == '.') {
        const char *point = at++;
        at = take_digits(at, end, &digits);
        fraction = (size_t)(at - point) - 1;
        if (fraction == 0)
            return refuse(token, at, "a fraction needs a digit");
    }
    bool exponent = at < end && (*at == 'e' || *at == 'E');
    if (exponent) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        const char *first = at;
        at = take_digits(at, end, &ignored);
        if (at == first)
            return refuse(token, at, "an exponent needs a digit");
    }
    result.size = (size_t)(at - token);
    if (exponent || count + fraction > DIGITS_EXACT)
        read_and_compare(token, &result);
    else
        read_plain(token, digits, fraction, &result);
    return result;
}

double number_round2(double value)
{
    /* Math.round is floor(x + 0.5) without the rounding error of that sum: half goes up. */
    double scaled = value * 100, whole = floor(scaled);
    return (scaled - whole >= 0.5 ? whole + 1 : whole) / 100;
}
