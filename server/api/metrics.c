#include "server/api/metrics.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "server/api/boardview.h"
#include "server/api/ready.h"
#include "server/api/routes.h"
#include "server/http/request.h"
#include "server/http/watchdog.h"
#include "server/notify/webhook.h"
#include "server/version.h"

enum { ROUTES_MOST = 64, CLASSES = 6, COMMITTED = ERROR_COUNT, QUEUED, ENDS };

typedef atomic_ullong counter;

struct metrics {
    time_t started;
    counter requests[ROUTES_MOST + 1][CLASSES]; /* the last: no route */
    counter ends[ENDS];                         /* of submissions: errors, then success */
    counter runs[2];                            /* published, quarantined */
};

struct metrics *metrics_new(void)
{
    size_t count;
    routes(&count);
    struct metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics || count > ROUTES_MOST)
        abort();
    metrics->started = time(NULL);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    free(metrics);
}

static void count_one(counter *one)
{
    atomic_fetch_add_explicit(one, 1, memory_order_relaxed);
}

static unsigned long long value_of(const counter *one)
{
    return atomic_load_explicit(one, memory_order_relaxed);
}

void metrics_request(struct metrics *metrics, const struct route *route,
                     const struct answer *answer)
{
    size_t count;
    const struct route *table = routes(&count);
    size_t row = route ? (size_t)(route - table) : ROUTES_MOST;
    unsigned class = answer->status / 100;
    count_one(&metrics->requests[row][class < CLASSES ? class : 0]);
    if (!route || route->rate != RATE_SUBMIT)
        return;
    if (answer->error)
        count_one(&metrics->ends[answer->error - error_row((enum error)0)]);
    else if (answer->status == 200 || answer->status == 202)
        count_one(&metrics->ends[answer->status == 200 ? COMMITTED : QUEUED]);
}

void metrics_run(struct metrics *metrics, bool quarantined)
{
    count_one(&metrics->runs[quarantined]);
}

static void begin(struct buffer *out, const char *name, const char *type, const char *help)
{
    buffer_format(out, "# HELP benchledger_%s %s\n# TYPE benchledger_%s %s\n", name, help, name,
                  type);
}

static void add_requests(const struct metrics *metrics, struct buffer *out)
{
    static const char *const methods[] = {[METHOD_GET] = "GET", [METHOD_POST] = "POST"};
    size_t count;
    const struct route *table = routes(&count);
    begin(out, "requests_total", "counter", "Requests answered, by route and class of status.");
    for (size_t i = 0; i <= count; i++) {
        const counter *row = metrics->requests[i < count ? i : ROUTES_MOST];
        for (int class = 2; class < CLASSES; class ++)
            if (value_of(&row[class]))
                buffer_format(
                    out,
                    "benchledger_requests_total{method=\"%s\",route=\"%s\",class=\"%dxx\"} "
                    "%llu\n",
                    i < count ? methods[table[i].method] : "other",
                    i < count ? table[i].path : "none", class, value_of(&row[class]));
    }
}

/* All of them, also those that are 0: an alert on a code that has not come yet needs its series. */
static void add_ends(const struct metrics *metrics, struct buffer *out)
{
    static const char *const kinds[] = {"published", "quarantined"};
    begin(out, "submissions_total", "counter", "Submissions answered, by their end.");
    for (int i = 0; i < ENDS; i++)
        buffer_format(out, "benchledger_submissions_total{end=\"%s\"} %llu\n",
                      i == COMMITTED ? "committed"
                      : i == QUEUED  ? "queued"
                                     : error_row((enum error)i)->code,
                      value_of(&metrics->ends[i]));
    begin(out, "runs_total", "counter", "Runs that reached the dataset.");
    for (int i = 0; i < 2; i++)
        buffer_format(out, "benchledger_runs_total{kind=\"%s\"} %llu\n", kinds[i],
                      value_of(&metrics->runs[i]));
}

/* Resident bytes; 0 where the system does not say. */
static double resident_bytes(void)
{
    unsigned long long whole, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%llu %llu", &whole, &resident) != 2) /* NOLINT(cert-err34-c) */
        resident = 0;
    if (file)
        fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void)
{
    struct timespec spent = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (double)spent.tv_sec + (double)spent.tv_nsec / 1e9;
}

static void add_value(struct buffer *out, const char *name, const char *type, const char *help,
                      double value)
{
    begin(out, name, type, help);
    buffer_format(out, "benchledger_%s %.17g\n", name, value);
}

static void add_board(const struct service *service, struct buffer *out)
{
    struct boardview_figures board;
    boardview_figures(service->board, &board);
    add_value(out, "board_cache_hits_total", "counter",
              "Boards that were served as they were kept.", (double)board.hits);
    add_value(out, "board_cache_misses_total", "counter", "Boards that had to be made.",
              (double)board.misses);
    add_value(out, "board_cache_contents", "gauge", "Boards that are kept.",
              (double)board.contents);
    add_value(out, "board_cache_bytes", "gauge", "What they weigh.", (double)board.bytes);
}

static void add_gauges(const struct service *service, struct buffer *out)
{
    struct store_figures figures = {0};
    struct webhook_figures hook = webhook_figures(service->webhook);
    char why[LINK_PROBLEM];
    if (service->store)
        store_figures(service->store, &figures);
    const struct {
        const char *name, *type, *help;
        double value;
        bool absent;
    } rows[] = {
        {"ready", "gauge", "1 when /readyz is 200.", ready_now(service), false},
        {"redis_up", "gauge", "1 when Redis answers.",
         service->shared && shared_ready(service->shared, why), !service->shared},
        {"store_queued", "gauge", "Runs that are durable here and not at the remote.",
         (double)figures.queued, false},
        {"store_parked", "gauge", "Declined and conflicting runs that are kept.",
         (double)figures.parked, false},
        {"store_commits_total", "counter", "Commits made.", (double)figures.commits, false},
        {"store_pushes_total", "counter", "Pushes that the remote took.", (double)figures.pushes,
         false},
        {"store_failed_pushes_total", "counter", "Pushes that it did not take.",
         (double)figures.failed_pushes, false},
        {"store_disk_bytes", "gauge", "Size of the repository, when last measured.",
         (double)figures.disk_bytes, false},
        {"store_push_seconds", "gauge", "Usual length of a push.", (double)figures.push_ms / 1000,
         figures.push_ms == 0},
        {"webhook_delivered_total", "counter", "Bodies that the webhook took.",
         (double)hook.delivered, !service->webhook},
        {"webhook_failed_total", "counter", "Attempts that it did not take.", (double)hook.failed,
         !service->webhook},
        {"webhook_dropped_total", "counter", "Bodies that were given up.", (double)hook.dropped,
         !service->webhook},
        {"webhook_queued", "gauge", "Bodies that wait for it.", (double)hook.queued,
         !service->webhook},
        {"connections", "gauge", "Connections that are open.",
         (double)watchdog_connections(service->watchdog), false},
        {"requests_in_progress", "gauge", "Requests in progress.", atomic_load(&service->requests),
         false},
        {"body_bytes", "gauge", "Bytes of request bodies that are held.",
         (double)atomic_load(&service->body_bytes), false},
        {"start_time_seconds", "gauge", "When the process started.",
         (double)service->metrics->started, false},
        {"resident_memory_bytes", "gauge", "Memory of the process.", resident_bytes(), false},
        {"cpu_seconds_total", "counter", "Processor time of the process.", cpu_seconds(), false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!rows[i].absent)
            add_value(out, rows[i].name, rows[i].type, rows[i].help, rows[i].value);
}

void metrics_answer(struct request *request, struct answer *answer)
{
    const struct service *service = request->service;
    struct buffer *out = &answer->body;
    begin(out, "build_info", "gauge", "The version that runs, always 1.");
    buffer_format(out, "benchledger_build_info{version=\"%s\",rules=\"%d\"} 1\n",
                  BENCHLEDGER_VERSION, service->policy.rules);
    add_requests(service->metrics, out);
    add_ends(service->metrics, out);
    add_gauges(service, out);
    add_board(service, out);
    answer->status = 200;
    answer->type = METRICS_TYPE;
}
