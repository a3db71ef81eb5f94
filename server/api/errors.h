/* Every refusal and fault of the HTTP API as one table: status, stable code, text (spec 04). */
#ifndef BENCHLEDGER_SERVER_API_ERRORS_H
#define BENCHLEDGER_SERVER_API_ERRORS_H

#include "aggregate/candidate.h"

enum error {
    ERROR_BAD_REQUEST,
    ERROR_INVALID_JSON,
    ERROR_DIGEST_MISMATCH,
    ERROR_INVALID_SHAPE,
    ERROR_INVALID_REVIEW,
    ERROR_UNAUTHORIZED,
    ERROR_FORBIDDEN,
    ERROR_INVALID_NONCE,
    ERROR_NOT_FOUND,
    ERROR_UNKNOWN_RUN,
    ERROR_METHOD_NOT_ALLOWED,
    ERROR_NONCE_USED,
    ERROR_DUPLICATE_RUN,
    ERROR_STALE_REVIEW,
    ERROR_WRONG_STATE,
    ERROR_WITHDRAWN,
    ERROR_PAYLOAD_TOO_LARGE,
    ERROR_UNSUPPORTED_MEDIA_TYPE,
    ERROR_STORE_DECLINED,
    ERROR_RATE_LIMITED,
    ERROR_BUSY,
    ERROR_INTERNAL,
    ERROR_STORE_UNBOUND,
    ERROR_STORE_UNAVAILABLE,
    ERROR_COUNT
};

struct error_row {
    unsigned status;
    const char *code;    /* stable */
    const char *message; /* the usual text, may be replaced by a more precise one */
};
const struct error_row *error_row(enum error error);
/* What a candidate's fault is called. */
enum error error_of_fault(enum candidate_fault fault);
/* {"ok":false,"code":...,"message":..., left open; MESSAGE NULL: the table's. It must be ours or be valid
 * UTF-8. */
struct js_writer error_open(enum error error, const char *message, struct buffer *out);

#endif
