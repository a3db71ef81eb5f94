#include "tests/support/scratch.h"

#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "github/change/ledger.h"
#include "github/change/load.h"
#include "github/repository/repository.h"
#include "validator/js.h"

static char folder[SCRATCH_PATH];

static void need(bool fine, const char *what)
{
    if (fine)
        return;
    perror(what);
    abort();
}

const char *scratch_begin(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/benchledger-XXXXXX", base && *base ? base : "/tmp");
    need(mkdtemp(folder) != NULL, folder);
    return folder;
}

static int remove_item(const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
    (void)status, (void)kind, (void)ftw;
    return remove(path);
}

void scratch_end(void)
{
    if (*folder)
        nftw(folder, remove_item, 16, FTW_DEPTH | FTW_PHYS);
    folder[0] = '\0';
}

const char *scratch_path(const char *name)
{
    static char paths[4][SCRATCH_PATH * 2];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

void scratch_write(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    need(file && fwrite(text, 1, size, file) == size && fclose(file) == 0, path);
}

void scratch_read(const char *path, struct buffer *out)
{
    FILE *file = fopen(path, "rb");
    need(file != NULL, path);
    size_t got;
    do {
        got = fread(buffer_reserve(out, 65536), 1, 65536, file);
        out->size += got;
    } while (got);
    fclose(file);
}

int scratch_shell(struct buffer *out, const char *format, ...)
{
    char command[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(command, sizeof command, format, values);
    va_end(values);
    FILE *pipe = popen(command, "r");
    need(pipe != NULL, "popen");
    char block[4096];
    for (size_t got; (got = fread(block, 1, sizeof block, pipe)) > 0;)
        if (out)
            buffer_add(out, block, got);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void scratch_time(double ms, char at[32])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t used = strftime(at, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(at + used, 32 - used, ".%03dZ", (int)(ms - (double)seconds * 1000));
}

static void write_entry(struct scratch_run *run, unsigned n, size_t entry_size, bool flagged)
{
    struct js_writer writer = {.out = &run->entry};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "runId");
    js_write_text(&writer, run->run_id);
    js_write_key(&writer, "createdAt");
    js_write_text(&writer, run->at);
    js_write_key(&writer, "protocol");
    js_write_text(&writer, "localmode-bench/5");
    js_write_key(&writer, "flagged");
    js_write_bool(&writer, flagged);
    js_write_key(&writer, "path");
    js_write_text(&writer, run->path);
    js_write_key(&writer, "cells");
    js_write_begin(&writer, '[');
    for (unsigned i = 0; run->entry.size + 2 < entry_size && i < 100000; i++) {
        js_write_begin(&writer, '{');
        js_write_key(&writer, "cellId");
        js_write_number(&writer, n * 31 + i);
        js_write_key(&writer, "benchModelId");
        js_write_text(&writer, i % 3 ? "gemma-3-270m-it" : "qwen2.5-0.5b-instruct");
        js_write_key(&writer, "workloadId");
        js_write_text(&writer, i % 2 ? "chat-short" : "summarise");
        js_write_key(&writer, "ttftMs");
        js_write_number(&writer, (double)(n * 7919 + i * 104729 % 65537) / 97.0);
        js_write_key(&writer, "decodeCharsPerSec");
        js_write_number(&writer, (double)(n * 6101 + i * 15485863 % 99991) / 31.0);
        js_write_end(&writer, '}');
    }
    js_write_end(&writer, ']');
    js_write_end(&writer, '}');
}

void scratch_run_make(struct scratch_run *run, unsigned n, size_t entry_size, bool flagged)
{
    *run = (struct scratch_run){0};
    snprintf(run->run_id, sizeof run->run_id, "Run-%08u-5e2a-4c1d-9b7f-aa55bb66cc77", n);
    snprintf(run->path, sizeof run->path, "%s/2026/%02u/%s.json", flagged ? "quarantine" : "runs",
             n % 11 + 1, run->run_id);
    scratch_time(1767225600e3 + (double)n * 61e3, run->at); /* from 2026-01-01 on */
    write_entry(run, n, entry_size, flagged);
    char text[64];
    snprintf(text, sizeof text, "digest %u", n);
    sha256_hex(text, strlen(text), run->digest);
    snprintf(text, sizeof text, "nonce %u", n);
    sha256_hex(text, strlen(text), run->nonce);
    buffer_format(&run->bytes, "{\"runId\":\"%s\",\"digest\":\"%s\",\"fill\":\"", run->run_id,
                  run->digest);
    for (unsigned i = 0; i < 100; i++)
        buffer_format(&run->bytes, "%u ", (n + 1) * (i + 7) * 2654435761u);
    buffer_text(&run->bytes, "\"}");
    run->change = (struct change){
        .run_id = run->run_id,
        .path = run->path,
        .bytes = run->bytes.data,
        .bytes_size = run->bytes.size,
        .entry = run->entry.data,
        .entry_size = run->entry.size,
        .flagged = flagged,
        .at = run->at,
        .digest = run->digest,
        .submitted_digest = run->digest,
        .rules = 2,
        .flags = flagged ? "[\"text-chunk-mismatch\"]" : "[]",
        .nonce_sha256 = run->nonce,
        .withdraw_sha256 = run->digest,
    };
}

void scratch_run_free(struct scratch_run *run)
{
    buffer_free(&run->bytes);
    buffer_free(&run->entry);
}

struct store_options scratch_options(const char *path)
{
    return (struct store_options){
        .path = path,
        .author_name = "benchledger",
        .author_email = "benchledger@example.org",
        .licence = "CC0-1.0",
        .summary_limit = 20000000,
        .queue_limit = 10000,
    };
}

struct waiting {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool over;
    struct change_result result;
};

static void take_result(void *context, const struct change_result *result)
{
    struct waiting *waiting = context;
    pthread_mutex_lock(&waiting->mutex);
    waiting->result = *result;
    waiting->over = true;
    pthread_cond_signal(&waiting->wake);
    pthread_mutex_unlock(&waiting->mutex);
}

struct change_result scratch_submit(struct store *store, unsigned n, size_t entry_size)
{
    struct waiting waiting = {
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, {.outcome = CHANGE_DUPLICATE}};
    struct scratch_run run;
    struct run_state state;
    /* Accepted now, as by a server: its nonce is remembered. */
    scratch_run_make(&run, n, entry_size, n % 5 == 4);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    scratch_time((double)now.tv_sec * 1e3 + (double)(now.tv_nsec / 1000000), run.at);
    enum claim claim = store_claim(store, run.run_id, run.path, run.digest, run.nonce, &state);
    if (claim == CLAIM_GRANTED) {
        store_commit(store, &run.change, take_result, &waiting);
        pthread_mutex_lock(&waiting.mutex);
        while (!waiting.over)
            pthread_cond_wait(&waiting.wake, &waiting.mutex);
        pthread_mutex_unlock(&waiting.mutex);
    } else if (claim == CLAIM_DUPLICATE) {
        run_state_free(&state);
    }
    scratch_run_free(&run);
    return waiting.result;
}

struct checking {
    struct repository *repository;
    struct ledger ledger;
    struct scratch_counts *counts;
    struct store_error error;
};

static void count_entry(void *context, const struct index_entry *entry)
{
    struct scratch_counts *counts = context;
    (void)entry;
    counts->entries++;
}

static void count_line(void *context, const struct ledger_line *line)
{
    struct scratch_counts *counts = context;
    (void)line;
    counts->lines++;
}

static bool count_file(void *context, const char *path, const git_oid *blob)
{
    struct checking *checking = context;
    (void)path, (void)blob;
    checking->counts->files++;
    return true;
}

static bool check_day(void *context, const char *path, const git_oid *blob)
{
    struct checking *checking = context;
    struct buffer bytes BUFFER_SCOPE = {0};
    char day[LEDGER_DAY + 1];
    return ledger_path_day(path, day) &&
           repository_read(checking->repository, blob, &bytes, &checking->error) &&
           ledger_read(&checking->ledger, day, buffer_string(&bytes), bytes.size, count_line,
                       checking->counts, &checking->error);
}

static bool load_tip(struct checking *checking, const git_oid *tip, struct index **index)
{
    struct source source = source_commit(checking->repository, tip);
    return load_index(&source,
                      &(struct index_loading){.summary_limit = SIZE_MAX,
                                              .tell = count_entry,
                                              .context = checking->counts},
                      index, &checking->error);
}

void scratch_check(const char *path, struct scratch_counts *counts)
{
    struct checking checking = {.counts = counts};
    struct store_error *error = &checking.error;
    struct index *index = NULL;
    git_oid tip;
    *counts = (struct scratch_counts){0};
    ledger_begin(&checking.ledger);
    bool fine =
        repository_open(path, &checking.repository, error) &&
        repository_tip(checking.repository, &tip, error) &&
        repository_list(checking.repository, &tip, "ledger", check_day, &checking, error) &&
        repository_list(checking.repository, &tip, "runs", count_file, &checking, error) &&
        repository_list(checking.repository, &tip, "quarantine", count_file, &checking, error) &&
        load_tip(&checking, &tip, &index);
    need(fine, error->message);
    need(checking.ledger.seq == counts->lines, "ledger seq");
    index_free(index);
    ledger_free(&checking.ledger);
    repository_close(checking.repository);
    struct buffer said BUFFER_SCOPE = {0};
    int status = scratch_shell(&said, "git -C %s fsck --strict --full --no-dangling 2>&1", path);
    need(!status && !said.size, said.size ? buffer_string(&said) : "git fsck");
}
