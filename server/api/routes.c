#include "server/api/routes.h"

#include "server/api/assets.h"
#include "server/api/files.h"
#include "server/api/handlers.h"
#include "server/api/intake.h"
#include "server/api/metrics.h"
#include "server/api/page_board.h"
#include "server/api/page_check.h"
#include "server/api/page_methodology.h"
#include "server/api/page_review.h"
#include "server/api/page_run.h"
#include "server/api/ready.h"
#include "server/api/review.h"
#include "server/api/runs.h"
#include "server/limits/admission.h"
#include "server/receipt/ring.h"

#define ERRORS(...) ((const enum error[]){__VA_ARGS__, ERROR_COUNT})

#define BOARD_QUERY                                                                            \
    {"protocol", "only this protocol", NULL}, {"deviceClass", "only this device class", NULL}, \
        {"deviceSubclass", "only this device subclass", NULL},                                 \
        {"runtimeId", "only this runtime", NULL}, {"benchModelId", "only this model", NULL},   \
        {"workloadId", "only this workload", NULL}, {"browser", "only this browser", NULL},    \
    {                                                                                          \
        "q",                                                                                   \
            "words that must each stand in a name of the device, runtime, model, workload, "   \
            "browser or backend",                                                              \
            NULL                                                                               \
    }
#define BOARD_SORT                                                                      \
    {                                                                                   \
        "sort", "key of a column that holds one value, - in front for descending", NULL \
    }

static const struct parameter board_query[] = {
    BOARD_QUERY,
    BOARD_SORT,
    {"format", "form of the answer", "json|csv"},
    {NULL, NULL, NULL},
};

static const struct parameter board_page_query[] = {
    BOARD_QUERY,
    BOARD_SORT,
    {"figure", "the figure that is drawn, by its key", NULL},
    {"rows", "all: every row, not only the first 2000", "all"},
    {NULL, NULL, NULL},
};

static const struct parameter board_row_query[] = {
    BOARD_QUERY,
    {NULL, NULL, NULL},
};

static const struct parameter status_query[] = {
    {"digest", "the digest submitted: asks about one's own submission where another owns the id",
     NULL},
    {NULL, NULL, NULL},
};

static const struct parameter review_query[] = {
    {"flag", "only runs with this flag code", NULL},
    {"decision", "open: nobody has looked at them; kept: somebody has, and kept them", "open|kept"},
    {"before", "only runs accepted by an earlier ledger event than this", NULL},
    {NULL, NULL, NULL},
};

static const struct parameter quarantine_query[] = {
    {"before", "only runs accepted by a ledger line before this seq: `next` of the page before",
     NULL},
    {"limit", "how many at most, up to 50", NULL},
    {"flag", "only runs with this flag code", NULL},
    {"decision", "kept: only those that somebody looked at and kept; open: only the others",
     "open|kept"},
    {NULL, NULL, NULL},
};

static const struct parameter submit_headers[] = {
    {WITHDRAW_HEADER,
     "hex SHA-256 of a code of 43 base64url characters, with which the run can be withdrawn", NULL},
    {NULL, NULL, NULL},
};

static const struct parameter asset_query[] = {
    {"v", "the version that is wanted: lets the answer be kept for good", NULL},
    {NULL, NULL, NULL},
};

#define PAGE_TYPE "text/html; charset=utf-8"
#define PAGE_SUCCESS "200 the page|304 not modified"
#define BOARD_REFUSALS                                                             \
    "|400 a filter is too long or no text|429 more views of the board were asked " \
    "for than can be made now"
#define REVIEW_REFUSALS                                                            \
    "|429 more was asked for than can be made now|503 the dataset cannot be read " \
    "now"
#define FILE_SUCCESS "200 the bytes as committed|304 not modified"

/* clang-format off */
static const struct route table[] = {
    {.method = METHOD_GET, .path = "/api/bench/nonce", .handle = handle_nonce,
     .cors = CORS_ORIGINS, .summary = "Issue a nonce for one submission",
     .success = "200 {nonce}", .errors = ERRORS(ERROR_STORE_UNBOUND)},
    {.method = METHOD_POST, .path = "/api/bench/submit", .handle = intake_submit,
     .admit = admission_admit, .body = "A run file", .cors = CORS_ORIGINS, .rate = RATE_SUBMIT,
     .headers = submit_headers,
     .summary = "Submit a run file: verify, judge, scrub and commit it",
     .success = "200 committed: {ok, flagged, flags, path, url, commit, rulesVersion, receipt}|"
                "202 durable here, the dataset follows: {ok, queued, flagged, flags, "
                "rulesVersion, path, receipt}",
     .errors = ERRORS(ERROR_BAD_REQUEST, ERROR_INVALID_JSON, ERROR_DIGEST_MISMATCH,
                      ERROR_INVALID_SHAPE, ERROR_INVALID_NONCE, ERROR_NONCE_USED,
                      ERROR_DUPLICATE_RUN, ERROR_PAYLOAD_TOO_LARGE, ERROR_UNSUPPORTED_MEDIA_TYPE,
                      ERROR_STORE_DECLINED, ERROR_RATE_LIMITED, ERROR_BUSY, ERROR_STORE_UNBOUND,
                      ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_POST, .path = "/api/bench/validate", .handle = intake_validate,
     .admit = admission_admit, .body = "A run file", .cors = CORS_ORIGINS, .rate = RATE_VALIDATE,
     .summary = "Dry run of the same pipeline: nothing is stored",
     .success = "200 {ok, flagged, flags, summaries, rulesVersion, answersParsed, digest, removed, "
                "path, entry}",
     .errors = ERRORS(ERROR_BAD_REQUEST, ERROR_INVALID_JSON, ERROR_DIGEST_MISMATCH,
                      ERROR_INVALID_SHAPE, ERROR_PAYLOAD_TOO_LARGE, ERROR_UNSUPPORTED_MEDIA_TYPE,
                      ERROR_STORE_DECLINED, ERROR_RATE_LIMITED, ERROR_BUSY)},
    {.method = METHOD_GET, .path = "/api/bench/leaderboard", .handle = board_data,
     .cors = CORS_PUBLIC, .summary = "The board: snapshot of rows, recent runs and counts",
     .success = "200 {rows: [protocol, deviceClass, deviceSubclass, runtimeId, benchModelId, modelName, workloadId, "
                "submissions (runs), devices, figures, resolvedBackends, browsers, highVariance, streamIncremental, "
                "provisional (by provisional_by)], runs, protocols, repo, recentSubmissions, entries, generatedAt}|304 not modified",
     .query = board_query,
     .errors = ERRORS(ERROR_BAD_REQUEST, ERROR_RATE_LIMITED, ERROR_BUSY)},
    {.method = METHOD_GET, .path = "/api/bench/runs/{run}", .handle = runs_status,
     .cors = CORS_PUBLIC, .summary = "What became of a submission",
     .success = "200 {ok, runId, status, path, commit, url, flags, rulesVersion, submittedAt, "
                "revision, history, overtaken}",
     .query = status_query, .errors = ERRORS(ERROR_UNKNOWN_RUN)},
    {.method = METHOD_GET, .path = "/api/bench/quarantine", .handle = review_list,
     .cors = CORS_PUBLIC, .summary = "Quarantined runs, the last accepted first",
     .success = "200 {ok, runs: [as of /api/bench/runs/{run}], total, next}",
     .query = quarantine_query,
     .errors = ERRORS(ERROR_BAD_REQUEST, ERROR_RATE_LIMITED, ERROR_BUSY)},
    {.method = METHOD_POST, .path = "/api/bench/review", .handle = review_decide,
     .admit = review_admit, .dropped = review_dropped, .secured = true,
     .body = "{runId, action, reason, expectedRevision}",
     .summary = "A maintainer decides about a run",
     .success = "200 decided: {ok, path, commit, revision}|202 durable here, the dataset follows: "
                "{ok, queued, by, reason}",
     .errors = ERRORS(ERROR_INVALID_REVIEW, ERROR_BAD_REQUEST, ERROR_UNAUTHORIZED, ERROR_FORBIDDEN,
                      ERROR_UNKNOWN_RUN, ERROR_STALE_REVIEW, ERROR_WRONG_STATE,
                      ERROR_PAYLOAD_TOO_LARGE, ERROR_UNSUPPORTED_MEDIA_TYPE, ERROR_STORE_DECLINED,
                      ERROR_RATE_LIMITED, ERROR_STORE_UNBOUND, ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_POST, .path = "/api/bench/withdraw", .handle = review_withdraw,
     .admit = review_admit_withdrawal, .dropped = review_dropped, .body = "{runId, code}", .cors = CORS_ORIGINS,
     .summary = "A submitter takes a run off the board, with the code whose hash it was sent with",
     .success = "200 withdrawn: {ok, path, commit, revision}|202 durable here, the dataset "
                "follows: {ok, queued}",
     .errors = ERRORS(ERROR_BAD_REQUEST, ERROR_FORBIDDEN, ERROR_UNKNOWN_RUN, ERROR_STALE_REVIEW,
                      ERROR_WRONG_STATE, ERROR_PAYLOAD_TOO_LARGE, ERROR_UNSUPPORTED_MEDIA_TYPE,
                      ERROR_STORE_DECLINED, ERROR_RATE_LIMITED, ERROR_STORE_UNBOUND,
                      ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_GET, .path = "/api/bench/key", .handle = ring_keys,
     .cors = CORS_PUBLIC, .summary = "The public keys that receipts are verified with",
     .success = "200 {keys: [{keyId, algorithm, publicKey, current}]}"},
    {.method = METHOD_GET, .path = "/index/summary.json", .handle = files_index,
     .cors = CORS_PUBLIC, .summary = "All index entries in one array", .success = FILE_SUCCESS,
     .errors = ERRORS(ERROR_NOT_FOUND, ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_GET, .path = "/index/manifest.json", .handle = files_index,
     .cors = CORS_PUBLIC, .summary = "The list of index segments", .success = FILE_SUCCESS,
     .errors = ERRORS(ERROR_NOT_FOUND, ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_GET, .path = "/index/leaderboard.json", .handle = files_index,
     .cors = CORS_PUBLIC, .summary = "The rows of the whole board as of the last refresh",
     .success = FILE_SUCCESS, .errors = ERRORS(ERROR_NOT_FOUND, ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_GET, .path = "/index/segments/{segment}", .handle = files_index,
     .cors = CORS_PUBLIC, .summary = "One index segment", .success = FILE_SUCCESS,
     .errors = ERRORS(ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_GET, .path = "/ledger/{day}", .handle = files_ledger,
     .cors = CORS_PUBLIC, .summary = "The ledger of a day, one JSON line an event",
     .success = FILE_SUCCESS, .type = "application/x-ndjson",
     .errors = ERRORS(ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_GET, .path = "/runs/{year}/{month}/{file}", .handle = files_run,
     .cors = CORS_PUBLIC, .summary = "A published run file", .success = FILE_SUCCESS,
     .errors = ERRORS(ERROR_WITHDRAWN, ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_GET, .path = "/quarantine/{year}/{month}/{file}", .handle = files_run,
     .cors = CORS_PUBLIC, .summary = "A quarantined run file", .success = FILE_SUCCESS,
     .errors = ERRORS(ERROR_WITHDRAWN, ERROR_STORE_UNAVAILABLE)},
    {.method = METHOD_GET, .path = "/check", .handle = page_check, .page = PAGE_MODULE,
     .summary = "The page that checks run files in the browser", .type = "text/html",
     .success = "200 the page|304 not modified"},
    {.method = METHOD_GET, .path = "/client.js", .handle = page_check_client,
     .cors = CORS_PUBLIC, .page = PAGE_ASSET, .summary = "The module that runners submit with",
     .type = "text/javascript", .success = "200 an ES module|304 not modified"},
    {.method = METHOD_GET, .path = "/dataset.js", .handle = page_check_dataset,
     .cors = CORS_PUBLIC, .page = PAGE_ASSET, .summary = "The module that reads a dataset by its manifest",
     .type = "text/javascript", .success = "200 an ES module|304 not modified"},
    {.method = METHOD_GET, .path = "/assets/check_worker.js", .handle = page_check_worker,
     .page = PAGE_MODULE, .summary = "What runs the validator beside the page of /check",
     .type = "text/javascript", .success = "200 an ES module|304 not modified"},
    {.method = METHOD_GET, .path = "/assets/example.html", .handle = page_check_example,
     .page = PAGE_MODULE, .summary = "An example of a page that uses /client.js",
     .type = "text/html", .success = "200 the page|304 not modified"},
    {.method = METHOD_GET, .path = "/run/{run}", .handle = page_run, .page = PAGE_PLAIN,
     .summary = "All about one run, for people", .type = PAGE_TYPE,
     .success = PAGE_SUCCESS "|404 the page says that there is no such run|410 the run was withdrawn|"
                "429 more pages are on their way than memory holds|"
                "503 the dataset cannot be read now"},
    {.method = METHOD_GET, .path = "/review", .handle = page_review_list, .page = PAGE_PLAIN,
     .summary = "The runs in quarantine, for people", .type = PAGE_TYPE,
     .success = PAGE_SUCCESS "|400 no filter is called that" REVIEW_REFUSALS,
     .query = review_query},
    {.method = METHOD_GET, .path = "/review/{run}", .handle = page_review_run, .page = PAGE_PLAIN,
     .summary = "All about one run with its neighbours on the board, and the form that decides",
     .type = PAGE_TYPE,
     .success = PAGE_SUCCESS "|404 there is no such run|410 the run was withdrawn" REVIEW_REFUSALS},
    {.method = METHOD_GET, .path = "/quarantine.atom", .handle = page_review_feed,
     .cors = CORS_PUBLIC, .summary = "The runs in quarantine as an Atom feed, the newest 25",
     .type = "application/atom+xml", .success = "200 the feed|304 not modified"},
    {.method = METHOD_GET, .path = "/methodology", .handle = page_methodology_list,
     .page = PAGE_PLAIN, .summary = "The protocols that the board shows, for people",
     .type = PAGE_TYPE, .success = PAGE_SUCCESS},
    {.method = METHOD_GET, .path = "/methodology/{family}/{version}", .handle = page_methodology,
     .page = PAGE_PLAIN, .summary = "Definitions, formulas and rules of a protocol, for people",
     .type = PAGE_TYPE, .success = PAGE_SUCCESS "|404 there is no such protocol"},
    {.method = METHOD_GET, .path = "/assets/{asset}", .handle = assets_answer,
     .cors = CORS_PUBLIC, .page = PAGE_ASSET, .summary = "A file that the pages are made with",
     .type = "application/octet-stream", .success = "200 the file|304 not modified",
     .query = asset_query, .errors = ERRORS(ERROR_NOT_FOUND)},
    {.method = METHOD_GET, .path = "/favicon.ico", .handle = assets_icon,
     .cors = CORS_PUBLIC, .page = PAGE_ASSET, .summary = "The icon, where browsers look for one",
     .type = "image/svg+xml", .success = "200 the icon|304 not modified"},
    {.method = METHOD_GET, .path = "/", .handle = board_page, .page = PAGE_PLAIN,
     .summary = "The board as a page", .type = PAGE_TYPE, .success = PAGE_SUCCESS BOARD_REFUSALS,
     .query = board_page_query},
    {.method = METHOD_GET, .path = "/row", .handle = board_row, .page = PAGE_PLAIN,
     .summary = "The runs behind a row of the board, as a page", .type = PAGE_TYPE,
     .success = PAGE_SUCCESS BOARD_REFUSALS "|404 the board has no such row",
     .query = board_row_query},
    {.method = METHOD_GET, .path = "/healthz", .handle = handle_health,
     .summary = "The process answers", .success = "200 {ok}"},
    {.method = METHOD_GET, .path = "/readyz", .handle = ready_answer,
     .summary = "Runs can be taken and reach the dataset, or why not",
     .success = "200 {ok, reasons, warnings}|503 {ok, reasons, warnings}"},
    {.method = METHOD_GET, .path = "/metrics", .handle = metrics_answer,
     .summary = "Counters and gauges of this process for Prometheus", .type = METRICS_TYPE,
     .success = "200 Prometheus text format"},
    {.method = METHOD_GET, .path = "/openapi.json", .handle = handle_openapi,
     .cors = CORS_PUBLIC, .summary = "This description", .success = "200 OpenAPI 3.1"},
};
/* clang-format on */

const struct route *routes(size_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}
