/* JavaScript's property order; private to the reader. */
#ifndef BENCHLEDGER_VALIDATOR_JS_MEMBERS_H
#define BENCHLEDGER_VALIDATOR_JS_MEMBERS_H

#include "validator/js.h"

/* Puts the members of an object, as they were read, into the order in which JavaScript keeps them: a
 * repeated key keeps its first place and takes the last value, integer-like keys come first, ascending.
 * Returns how many stay. */
size_t js_order_members(struct js_member *members, size_t count);

#endif
