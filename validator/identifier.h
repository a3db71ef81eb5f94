/* What of a device's name may identify the device or its owner. Pure. */
#ifndef BENCHLEDGER_VALIDATOR_IDENTIFIER_H
#define BENCHLEDGER_VALIDATOR_IDENTIFIER_H

#include "validator/text.h"

/* The kind of the first identifier that TEXT looks as if it held, NULL: none. Kinds: `email` (a@b.c), `uuid`
 * (8-4-4-4-12 hexadecimal digits), `mac` (six pairs of them, parted by : or -), `home` (a folder of a user),
 * `owner` (somebody's), `serial`: a word of 12 or more characters that is made of capitals and digits, or of
 * hexadecimal digits, with 4 digits and 2 letters at least, or of 14 or more digits. Names of products are
 * shorter or have small letters. Only the first KiB is looked at. Tidying white space, as the scrub does,
 * changes nothing. */
const char *identifier_find(struct text text);

#endif
