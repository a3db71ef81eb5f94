/* What every page must be, whatever it was made of; aborts where it is not. */
#ifndef BENCHLEDGER_TESTS_MARKUP_H
#define BENCHLEDGER_TESTS_MARKUP_H

#include "validator/buffer.h"

/* At most MOST bytes of well-formed UTF-8 without controls but \n and \t, and with SCRIPTS script elements. */
void markup_check(const struct buffer *page, size_t most, size_t scripts);

#endif
