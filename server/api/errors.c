#include "server/api/errors.h"

static const struct error_row rows[ERROR_COUNT] = {
    [ERROR_BAD_REQUEST] = {400, "bad-request", "The request is malformed."},
    [ERROR_INVALID_JSON] = {400, "invalid-json", "The body is not valid JSON."},
    [ERROR_DIGEST_MISMATCH] = {400, "digest-mismatch",
                               "The digest is missing or is not that of the run."},
    [ERROR_INVALID_SHAPE] = {400, "invalid-shape", "The body is not a run file."},
    [ERROR_INVALID_REVIEW] = {400, "invalid-review",
                              "A review has runId, action (release, keep or withdraw), reason and "
                              "expectedRevision."},
    [ERROR_UNAUTHORIZED] = {401, "unauthorized",
                            "This needs the token of a maintainer: Authorization: Bearer TOKEN."},
    [ERROR_FORBIDDEN] = {403, "forbidden", "That is not yours to do."},
    [ERROR_INVALID_NONCE] = {403, "invalid-nonce",
                             "The nonce is missing, expired or was not issued here."},
    [ERROR_NOT_FOUND] = {404, "not-found", "There is nothing at this address."},
    [ERROR_UNKNOWN_RUN] = {404, "unknown-run", "No such run is known."},
    [ERROR_METHOD_NOT_ALLOWED] = {405, "method-not-allowed",
                                  "This address does not take that method."},
    [ERROR_NONCE_USED] = {409, "nonce-used", "The nonce was used by another submission."},
    [ERROR_DUPLICATE_RUN] = {409, "duplicate-run", "A run with this id is already known."},
    [ERROR_STALE_REVIEW] = {409, "stale-review",
                            "Something else was decided about this run meanwhile. Look again."},
    [ERROR_WRONG_STATE] = {409, "wrong-state", "That cannot be done to a run in its state."},
    [ERROR_WITHDRAWN] = {410, "withdrawn", "The run was withdrawn."},
    [ERROR_PAYLOAD_TOO_LARGE] = {413, "payload-too-large", "The run file is too large."},
    [ERROR_UNSUPPORTED_MEDIA_TYPE] = {415, "unsupported-media-type",
                                      "Send application/json, as it is or with gzip."},
    [ERROR_STORE_DECLINED] =
        {422, "store-declined",
         "The dataset does not take this run: it holds what its host refuses."},
    [ERROR_RATE_LIMITED] = {429, "rate-limited", "Too many attempts from this address."},
    [ERROR_BUSY] = {429, "busy", "The service takes no more runs for a while."},
    [ERROR_INTERNAL] =
        {500, "internal-error",
         "The service failed. If a run was sent, its status tells what became of it."},
    [ERROR_STORE_UNBOUND] = {503, "bench-store-unbound",
                             "This service takes no submissions. Export the run as JSON and keep "
                             "the file, so that it can be submitted later."},
    [ERROR_STORE_UNAVAILABLE] = {503, "store-unavailable",
                                 "The run could not be stored now. Submit it again later."},
};

const struct error_row *error_row(enum error error)
{
    return &rows[error];
}

enum error error_of_fault(enum candidate_fault fault)
{
    static const enum error errors[] = {[CANDIDATE_FINE] = ERROR_INTERNAL,
                                        [CANDIDATE_NO_JSON] = ERROR_INVALID_JSON,
                                        [CANDIDATE_DIGEST] = ERROR_DIGEST_MISMATCH,
                                        [CANDIDATE_SHAPE] = ERROR_INVALID_SHAPE,
                                        [CANDIDATE_SECRET] = ERROR_STORE_DECLINED};
    return errors[fault];
}

struct js_writer error_open(enum error error, const char *message, struct buffer *out)
{
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "ok");
    js_write_bool(&writer, false);
    js_write_key(&writer, "code");
    js_write_text(&writer, rows[error].code);
    js_write_key(&writer, "message");
    js_write_text(&writer, message ? message : rows[error].message);
    return writer;
}
