#include "server/notify/transfer.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "server/clock.h"
#include "server/version.h"
#include "validator/arena.h"
#include "validator/sha256.h"

enum { POLL_MS = 200, HEADER_ROOM = 160, TIMESTAMP_ROOM = 24 };

struct transfer {
    struct transfer_options options;
    CURLM *multi;
    CURL *easy;
    size_t received; /* of the present answer's body */
};

static void free_url(CURLU **url)
{
    curl_url_cleanup(*url);
}
#define URL_SCOPE __attribute__((cleanup(free_url)))

const char *transfer_url_problem(const char *url)
{
    URL_SCOPE CURLU *parts = curl_url();
    char *scheme = NULL;
    if (!parts)
        return "out of memory";
    /* Without a guess for a missing scheme: what is meant is written down. */
    bool good = curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                (!strcmp(scheme, "http") || !strcmp(scheme, "https"));
    curl_free(scheme);
    return good ? NULL : "is no http or https URL";
}

char *transfer_url_shown(const char *url)
{
    URL_SCOPE CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL, *shown = NULL;
    if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        asprintf(&shown, "%s://%s", scheme, host) < 0)
        shown = NULL;
    curl_free(scheme);
    curl_free(host);
    return shown;
}

bool transfer_sign(const char *secret, int64_t timestamp_s, const char *body, size_t size,
                   char hex[TRANSFER_SIGNATURE + 1])
{
    unsigned char digest[SHA256_SIZE];
    char timestamp[TIMESTAMP_ROOM];
    size_t digest_size = 0;
    int length = snprintf(timestamp, sizeof timestamp, "%" PRId64 ".", timestamp_s);
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, NULL, (const unsigned char *)secret,
                                                 strlen(secret));
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = key && context && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestSignUpdate(context, timestamp, (size_t)length) == 1 &&
                EVP_DigestSignUpdate(context, body, size) == 1;
    digest_size = sizeof digest;
    good = good && EVP_DigestSignFinal(context, digest, &digest_size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    if (good)
        hex_print(digest, sizeof digest, hex);
    return good;
}

/* The answer is of no interest; one that does not end is cut off. */
static size_t drop_answer(char *bytes, size_t one, size_t size, void *context)
{
    struct transfer *transfer = context;
    (void)bytes;
    (void)one;
    transfer->received += size;
    return transfer->received > TRANSFER_ANSWER_MOST ? 0 : size;
}

/* Connections are not handed down to the git program. (The library's socket pair for its own use is, and ends
 * nowhere.) */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)context;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* What does not change between deliveries. Proxies are those of the usual environment variables. */
static bool set_up(struct transfer *transfer)
{
    CURL *easy = transfer->easy;
    const struct transfer_options *options = &transfer->options;
    return curl_easy_setopt(easy, CURLOPT_URL, options->url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           /* a name that is being resolved does not hold up an abort */
           curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_ms) ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)options->total_ms) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_USERAGENT, "benchledger/" BENCHLEDGER_VERSION) ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_answer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK;
}

struct transfer *transfer_new(const struct transfer_options *options)
{
    struct transfer *transfer = memory_grow(NULL, sizeof *transfer);
    *transfer = (struct transfer){.options = *options};
    transfer->multi = curl_multi_init();
    transfer->easy = curl_easy_init();
    if (transfer->multi && transfer->easy && set_up(transfer))
        return transfer;
    transfer_free(transfer);
    return NULL;
}

void transfer_free(struct transfer *transfer)
{
    if (!transfer)
        return;
    curl_easy_cleanup(transfer->easy);
    if (transfer->multi)
        curl_multi_cleanup(transfer->multi);
    free(transfer);
}

static bool add_header(struct curl_slist **list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool add_header(struct curl_slist **list, const char *format, ...)
{
    char header[HEADER_ROOM];
    va_list values;
    va_start(values, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): set by va_start just above */
    vsnprintf(header, sizeof header, format, values);
    va_end(values);
    struct curl_slist *longer = curl_slist_append(*list, header);
    if (longer)
        *list = longer;
    return longer != NULL;
}

static struct curl_slist *make_headers(const struct transfer *transfer, const char *id,
                                       const char *body, size_t size)
{
    struct curl_slist *list = NULL;
    char signature[TRANSFER_SIGNATURE + 1];
    int64_t now_s = clock_wall_ms() / 1000;
    if (transfer_sign(transfer->options.secret, now_s, body, size, signature) &&
        add_header(&list, "Content-Type: application/json") &&
        add_header(&list, "Expect:") && /* a body is sent without waiting for leave */
        add_header(&list, "X-Benchledger-Delivery: %s", id) &&
        add_header(&list, "X-Benchledger-Timestamp: %" PRId64, now_s) &&
        add_header(&list, "X-Benchledger-Signature: sha256=%s", signature))
        return list;
    curl_slist_free_all(list);
    return NULL;
}

/* Drives the transfer to its end. The library's own deadlines bound it; so does ours, should they fail. */
static CURLcode drive(struct transfer *transfer, bool (*aborted)(void *context), void *context)
{
    int64_t until_ms = clock_monotonic_ms() + transfer->options.total_ms + 1000;
    int running = 1, left;
    while (clock_monotonic_ms() < until_ms) {
        if (aborted(context))
            return CURLE_ABORTED_BY_CALLBACK;
        if (curl_multi_perform(transfer->multi, &running) != CURLM_OK)
            return CURLE_FAILED_INIT;
        const CURLMsg *message = curl_multi_info_read(transfer->multi, &left);
        if (message && message->msg == CURLMSG_DONE)
            return message->data.result;
        if (curl_multi_poll(transfer->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
            return CURLE_FAILED_INIT;
    }
    return CURLE_OPERATION_TIMEDOUT;
}

struct transfer_result transfer_run(struct transfer *transfer, const char id[TRANSFER_ID + 1],
                                    const char *body, size_t size, bool (*aborted)(void *context),
                                    void *context)
{
    struct transfer_result result = {.problem = "out of memory"};
    struct curl_slist *headers = make_headers(transfer, id, body, size);
    CURL *easy = transfer->easy;
    transfer->received = 0;
    if (headers && curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body) == CURLE_OK &&
        curl_multi_add_handle(transfer->multi, easy) == CURLM_OK) {
        CURLcode code = drive(transfer, aborted, context);
        bool cut_off = code == CURLE_WRITE_ERROR && transfer->received > TRANSFER_ANSWER_MOST;
        result.aborted = code == CURLE_ABORTED_BY_CALLBACK;
        result.problem = code == CURLE_OK || cut_off ? NULL : curl_easy_strerror(code);
        if (!result.problem)
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &result.status);
        curl_multi_remove_handle(transfer->multi, easy);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
    curl_slist_free_all(headers);
    return result;
}
