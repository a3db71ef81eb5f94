/* How fast one core takes run files through everything but the store: parse, digest, shape, recompute,
 * rules, scrub, serialise, entry, look for secrets. Beside it, in the same run, limits: SHA-256 over the same
 * bytes, the look alone, and a plain parse (ours, and jansson's as a peer). Rounds alternate, medians are
 * printed.
 *
 * Usage: bench_pipeline KEYFILE FILE... */
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aggregate/bait.h"
#include "aggregate/publication.h"
#include "validator/digest.h"
#include "validator/validate.h"

enum { ROUNDS = 9, ROUND_MS = 120, MEMORY_TIMES = 12, MEMORY_KEPT = 32 << 20 };

struct subject {
    const char *text;
    size_t size;
    const struct answer_key *key;
};

enum stage { STAGE_PARSE, STAGE_DIGEST, STAGE_VALIDATE, STAGE_PUBLISH, STAGE_COUNT };
static double stage_seconds[STAGE_COUNT];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_pipeline: %s\n", what);
    exit(1);
}

static void pipeline(const struct subject *subject)
{
    static const struct policy policy = {0};
    struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    struct verdict verdict;
    struct shape_errors errors;
    struct publication publication;
    double start = now(), parsed, hashed, judged;
    if (!js_read(&arena, subject->text, subject->size, &document, &error))
        fail("not JSON");
    parsed = now();
    struct digest_check digest = digest_verify(&document);
    hashed = now();
    if (digest.status != DIGEST_OK && digest.status != DIGEST_LEGACY)
        fail("wrong digest");
    if (!validate(&arena, &document, &policy, subject->key, &verdict, &errors))
        fail(errors.items[0].path);
    judged = now();
    if (!publish(&arena, &verdict, digest.status, 0, &publication, &errors))
        fail("cannot be published");
    if (bait_find(publication.bytes.data, publication.bytes.size).level != BAIT_NONE)
        fail("holds what looks like a secret");
    publication_free(&publication);
    arena_free(&arena);
    double done = now();
    stage_seconds[STAGE_PARSE] += parsed - start;
    stage_seconds[STAGE_DIGEST] += hashed - parsed;
    stage_seconds[STAGE_VALIDATE] += judged - hashed;
    stage_seconds[STAGE_PUBLISH] += done - judged;
}

static void hash_only(const struct subject *subject)
{
    unsigned char digest[SHA256_SIZE];
    sha256(subject->text, subject->size, digest);
}

static void look_only(const struct subject *subject)
{
    if (bait_find(subject->text, subject->size).level != BAIT_NONE)
        fail("holds what looks like a secret");
}

static void parse_only(const struct subject *subject)
{
    struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    js_read(&arena, subject->text, subject->size, &document, &error);
    arena_free(&arena);
}

static void parse_with_jansson(const struct subject *subject)
{
    json_decref(json_loadb(subject->text, subject->size, JSON_DECODE_INT_AS_REAL, NULL));
}

static const struct {
    const char *name;
    void (*run)(const struct subject *subject);
} work[] = {{"pipeline", pipeline},
            {"SHA-256 alone", hash_only},
            {"secrets alone", look_only},
            {"parse alone", parse_only},
            {"jansson parse", parse_with_jansson}};
enum { WORK_COUNT = sizeof work / sizeof *work };

static double throughput(const struct subject *subject, void (*run)(const struct subject *))
{
    double start = now(), spent;
    size_t times = 0;
    do {
        run(subject);
        times++;
        spent = now() - start;
    } while (spent < ROUND_MS / 1000.0);
    return (double)(times * subject->size) / 1e6 / spent;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void measure_speed(const char *name, const struct subject *subject)
{
    double rates[WORK_COUNT][ROUNDS], medians[WORK_COUNT], total = 0;
    static const char *const stages[] = {"parse", "digest", "validate", "publish"};
    for (int i = 0; i < STAGE_COUNT; i++)
        stage_seconds[i] = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < WORK_COUNT; i++)
            rates[i][round] = throughput(subject, work[i].run);
    printf("%s: %zu bytes\n", name, subject->size);
    for (int i = 0; i < WORK_COUNT; i++) {
        qsort(rates[i], ROUNDS, sizeof *rates[i], by_value);
        medians[i] = rates[i][ROUNDS / 2];
        printf("  %-16s %8.1f MB/s (%.1f to %.1f)", work[i].name, medians[i], rates[i][0],
               rates[i][ROUNDS - 1]);
        if (i)
            printf("   the pipeline reaches %.1f %% of it", 100 * medians[0] / medians[i]);
        putchar('\n');
    }
    for (int i = 0; i < STAGE_COUNT; i++)
        total += stage_seconds[i];
    printf("  time goes to    ");
    for (int i = 0; i < STAGE_COUNT; i++)
        printf(" %s %.0f %%", stages[i], 100 * stage_seconds[i] / total);
    putchar('\n');
}

/* The resident peak since reset_peak, in KiB. */
static long peak_kilobytes(void)
{
    char line[256];
    long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1)
            break;
    if (status)
        fclose(status);
    return kilobytes;
}

static void reset_peak(void)
{
    FILE *control = fopen("/proc/self/clear_refs", "w");
    if (!control || fputs("5", control) < 0 || fclose(control) != 0)
        fail("the peak cannot be reset");
}

/* In a child of its own: the resident peak that the pipeline adds to a process that holds the file. A first
 * pass brings in the code and the tables; its memory is given back. */
static void measure_memory(const struct subject *subject)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pipeline(subject);
        malloc_trim(0);
        reset_peak();
        long before = peak_kilobytes();
        pipeline(subject);
        double added = (double)(peak_kilobytes() - before) * 1024 + (double)subject->size;
        printf("  peak memory      %.1f times the file, the file included (limit %d)\n",
               added / (double)subject->size, MEMORY_TIMES);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static char *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct buffer text = {0};
    size_t got;
    if (!file)
        fail(path);
    while ((got = fread(buffer_reserve(&text, 65536), 1, 65536, file)) > 0)
        text.size += got;
    fclose(file);
    return buffer_take(&text, size);
}

int main(int count, char **arguments)
{
    mallopt(M_MMAP_THRESHOLD, MEMORY_KEPT); /* as the binary does */
    mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
    if (count < 3)
        fail("usage: bench_pipeline KEYFILE FILE...");
    struct arena arena = {0};
    struct answer_key key;
    const char *problem;
    size_t size;
    char *key_text = load(arguments[1], &size);
    if (!answer_key_read(&arena, key_text, size, &key, &problem))
        fail(problem);
    for (int i = 2; i < count; i++) {
        char *text = load(arguments[i], &size);
        struct subject subject = {text, size, &key};
        measure_speed(arguments[i], &subject);
        measure_memory(&subject);
        free(text);
    }
    arena_free(&arena);
    free(key_text);
    return 0;
}
