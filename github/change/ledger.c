#include "github/change/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "github/store.h"
#include "validator/arena.h"

#define SEQ_MAX 9007199254740991.0 /* whole numbers that a double holds */

struct ledger_day {
    char day[LEDGER_DAY + 1];
    struct buffer bytes;
};

static const char prefix[] = "ledger/", suffix[] = ".jsonl";

static void zeros(char hex[SHA256_HEX + 1])
{
    memset(hex, '0', SHA256_HEX);
    hex[SHA256_HEX] = '\0';
}

void ledger_begin(struct ledger *ledger)
{
    *ledger = (struct ledger){0};
    zeros(ledger->last);
    zeros(ledger->settled_last);
}

static void free_days(struct ledger *ledger, size_t from)
{
    for (size_t i = from; i < ledger->day_count; i++)
        buffer_free(&ledger->days[i].bytes);
    if (ledger->day_count > from)
        ledger->day_count = from;
}

void ledger_free(struct ledger *ledger)
{
    free_days(ledger, 0);
    free(ledger->days);
    *ledger = (struct ledger){0};
}

static struct ledger_day *begin_day(struct ledger *ledger, const char *day)
{
    ledger->days = memory_grow(ledger->days, (ledger->day_count + 1) * sizeof *ledger->days);
    struct ledger_day *begun = &ledger->days[ledger->day_count++];
    *begun = (struct ledger_day){0};
    memcpy(begun->day, day, LEDGER_DAY);
    return begun;
}

void ledger_copy(struct ledger *ledger, const struct ledger *other)
{
    if (other->day_count) {
        const struct ledger_day *newest = &other->days[other->day_count - 1];
        buffer_add(&begin_day(ledger, newest->day)->bytes, newest->bytes.data, newest->bytes.size);
    }
    ledger->seq = other->seq;
    memcpy(ledger->last, other->last, sizeof ledger->last);
    ledger_settle(ledger);
}

const char *ledger_day(const struct ledger *ledger)
{
    return ledger->day_count ? ledger->days[ledger->day_count - 1].day : "";
}

bool ledger_begins(const struct ledger *ledger, const char *bytes, size_t size)
{
    const struct buffer *newest = &ledger->days[ledger->day_count - 1].bytes;
    return !newest->size || (size >= newest->size && !memcmp(bytes, newest->data, newest->size));
}

static bool is_day(const char *text)
{
    for (int i = 0; i < LEDGER_DAY; i++) {
        bool dash = i == 4 || i == 7;
        if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9')
            return false;
    }
    return true;
}

bool ledger_path_day(const char *path, char day[LEDGER_DAY + 1])
{
    size_t before = sizeof prefix - 1, after = sizeof suffix - 1;
    if (strlen(path) != before + LEDGER_DAY + after || memcmp(path, prefix, before) ||
        memcmp(path + before + LEDGER_DAY, suffix, after) || !is_day(path + before))
        return false;
    memcpy(day, path + before, LEDGER_DAY);
    day[LEDGER_DAY] = '\0';
    return true;
}

static const struct js_value *typed(const struct js_value *root, const char *name,
                                    enum js_type type)
{
    const struct js_value *value = js_get(root, name);
    return value && value->type == type ? value : NULL;
}

static bool is_known(const struct js_value *event)
{
    static const char *const events[] = {"accept", "decide", "withdraw", "redact"};
    for (size_t i = 0; event && i < sizeof events / sizeof *events; i++)
        if (js_equals(event, events[i]))
            return true;
    return false;
}

/* The rest of the file name is looked at by whoever looks the file up. */
static bool is_run_path(const struct js_value *path)
{
    static const char *const folders[] = {"runs/", "quarantine/", "withdrawn/"};
    static const char end[] = ".json", months[] = "dddd/dd/";
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t before = strlen(folders[i]), month = sizeof months - 1, after = sizeof end - 1;
        if (path->size > RUN_PATH_MAX || path->size <= before + month + after ||
            memcmp(path->text, folders[i], before) ||
            memcmp(path->text + path->size - after, end, after) ||
            memchr(path->text + before + month, '/', path->size - before - month))
            continue;
        bool fine = true;
        for (size_t k = 0; k < month; k++) {
            char c = path->text[before + k];
            fine = fine && (months[k] == 'd' ? c >= '0' && c <= '9' : c == '/');
        }
        return fine;
    }
    return false;
}

/* A line of ours about something that cannot be a run is nothing that we wrote: what it means for
 * the runs and nonces that we know cannot be told. */
static bool names_run(const struct ledger_line *line, const char **problem)
{
    const struct js_value *run_id = line->run_id;
    *problem = "has no runId that a run could have";
    if (!run_id || !run_id->size || run_id->size > RUN_ID_MAX ||
        memchr(run_id->text, '\0', run_id->size))
        return false;
    *problem = "has a path that no run could have";
    return !line->path ||
           (is_run_path(line->path) && !memchr(line->path->text, '\0', line->path->size));
}

bool ledger_parse(struct arena *arena, const char *text, size_t size, struct ledger_line *line,
                  const char **problem)
{
    struct js_error error;
    struct js_document *document = arena_take(arena, sizeof *document);
    *problem = "is not a JSON object";
    if (!js_read(arena, text, size, document, &error) || document->root.type != JS_OBJECT)
        return false;
    const struct js_value *root = &document->root, *seq = typed(root, "seq", JS_NUMBER);
    *line = (struct ledger_line){
        .seq = seq && seq->number >= 1 && seq->number <= SEQ_MAX ? (uint64_t)seq->number : 0,
        .document = document,
        .prev = typed(root, "prev", JS_STRING),
        .at = typed(root, "at", JS_STRING),
        .event = typed(root, "event", JS_STRING),
        .run_id = typed(root, "runId", JS_STRING),
        .path = typed(root, "path", JS_STRING),
        .digest = typed(root, "digest", JS_STRING),
        .submitted_digest = typed(root, "submittedDigest", JS_STRING),
        .rules = typed(root, "rules", JS_NUMBER),
        .flags = typed(root, "flags", JS_ARRAY),
        .nonce_sha256 = typed(root, "nonceSha256", JS_STRING),
        .by = typed(root, "by", JS_STRING),
        .withdraw_sha256 = typed(root, "withdrawSha256", JS_STRING),
        .action = typed(root, "action", JS_STRING),
        .reason = typed(root, "reason", JS_STRING),
        .revision = typed(root, "revision", JS_NUMBER),
    };
    line->known = is_known(line->event);
    *problem = "does not follow the seq of the line before it";
    if (!seq || seq->number != (double)line->seq)
        return false;
    return !line->known || names_run(line, problem);
}

static bool read_line(struct ledger *ledger, const char *text, size_t size, ledger_tell tell,
                      void *context, const char **problem)
{
    struct arena arena ARENA_SCOPE = {0};
    struct ledger_line line;
    if (!ledger_parse(&arena, text, size, &line, problem))
        return false;
    *problem = "does not follow the seq of the line before it";
    if (line.seq != ledger->seq + 1)
        return false;
    *problem = "does not hold the SHA-256 of the line before it";
    if (!js_equals(line.prev, ledger->last))
        return false;
    ledger->seq++;
    sha256_hex(text, size, ledger->last);
    if (tell)
        tell(context, &line);
    return true;
}

static bool read_lines(struct ledger *ledger, const char *day, const char *bytes, size_t from,
                       size_t size, ledger_tell tell, void *context, struct store_error *error)
{
    while (from < size) {
        const char *line = bytes + from;
        const char *end = memchr(line, '\n', size - from);
        const char *problem = "is not ended";
        if (!end || end - line > LEDGER_LINE_MAX ||
            !read_line(ledger, line, (size_t)(end - line), tell, context, &problem))
            return error_set(error, "ledger/%s.jsonl: the line after seq %llu %s", day,
                             (unsigned long long)ledger->seq, problem);
        from = (size_t)(end - bytes) + 1;
    }
    return true;
}

bool ledger_read(struct ledger *ledger, const char *day, const char *bytes, size_t size,
                 ledger_tell tell, void *context, struct store_error *error)
{
    int order = strcmp(day, ledger_day(ledger));
    size_t known = 0;
    if (order < 0)
        return error_set(error, "ledger/%s.jsonl comes before a day that was read", day);
    if (order == 0) {
        known = ledger->days[ledger->day_count - 1].bytes.size;
        if (!ledger_begins(ledger, bytes, size))
            return error_set(error, "ledger/%s.jsonl no longer begins with the lines that it had",
                             day);
    }
    if (!read_lines(ledger, day, bytes, known, size, tell, context, error)) {
        ledger_undo(ledger);
        return false;
    }
    if (order > 0)
        begin_day(ledger, day);
    buffer_add(&ledger->days[ledger->day_count - 1].bytes, bytes + known, size - known);
    ledger_settle(ledger);
    return true;
}

static void write_member(struct js_writer *writer, const char *key, const char *text)
{
    if (!text)
        return;
    js_write_key(writer, key);
    js_write_text(writer, text);
}

/* Canonical JSON: the keys stand in the order of their UTF-16 code units. PREV NULL: no place in the
 * chain. */
static void write_line(const struct ledger_event *event, uint64_t seq, const char *prev,
                       struct buffer *out)
{
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    write_member(&writer, "action", event->action);
    write_member(&writer, "at", event->at);
    write_member(&writer, "by", event->by);
    write_member(&writer, "digest", event->digest);
    write_member(&writer, "event", event->event);
    if (event->flags) {
        js_write_key(&writer, "flags");
        js_write_raw(&writer, event->flags, strlen(event->flags));
    }
    write_member(&writer, "nonceSha256", event->nonce_sha256);
    write_member(&writer, "path", event->path);
    write_member(&writer, "prev", prev);
    write_member(&writer, "reason", event->reason);
    if (event->revision) {
        js_write_key(&writer, "revision");
        js_write_number(&writer, (double)*event->revision);
    }
    if (event->rules) {
        js_write_key(&writer, "rules");
        js_write_number(&writer, event->rules);
    }
    write_member(&writer, "runId", event->run_id);
    if (prev) {
        js_write_key(&writer, "seq");
        js_write_number(&writer, (double)seq);
    }
    write_member(&writer, "submittedDigest", event->submitted_digest);
    write_member(&writer, "withdrawSha256", event->withdraw_sha256);
    js_write_end(&writer, '}');
}

uint64_t ledger_mark(const char *event, const char *action, const char *by, const char *at)
{
    const char *const parts[] = {event, action, by, at};
    struct buffer text BUFFER_SCOPE = {0};
    unsigned char digest[SHA256_SIZE];
    uint64_t mark;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buffer_text(&text, parts[i] ? parts[i] : "");
        buffer_byte(&text, '\n');
    }
    sha256(text.data, text.size, digest);
    memcpy(&mark, digest, sizeof mark);
    return mark;
}

void ledger_print_event(const struct ledger_event *event, struct buffer *out)
{
    write_line(event, 0, NULL, out);
}

uint64_t ledger_append(struct ledger *ledger, const struct ledger_event *event, struct buffer *line)
{
    char day[LEDGER_DAY + 1] = "";
    strncat(day, event->at, LEDGER_DAY);
    struct ledger_day *newest = NULL;
    if (!ledger->day_count || strcmp(day, ledger_day(ledger)) > 0)
        newest = begin_day(ledger, day);
    else
        newest = &ledger->days[ledger->day_count - 1];
    size_t start = newest->bytes.size;
    write_line(event, ++ledger->seq, ledger->last, &newest->bytes);
    sha256_hex(newest->bytes.data + start, newest->bytes.size - start, ledger->last);
    if (line)
        buffer_add(line, newest->bytes.data + start, newest->bytes.size - start);
    buffer_byte(&newest->bytes, '\n');
    return ledger->seq;
}

bool ledger_changed(const struct ledger *ledger, size_t i, char path[LEDGER_PATH_MAX],
                    const char **bytes, size_t *size)
{
    /* The settled day counts only when a line was added to it. */
    if (ledger->settled_days && ledger->days[0].bytes.size == ledger->settled_size)
        i++;
    if (i >= ledger->day_count)
        return false;
    snprintf(path, LEDGER_PATH_MAX, "%s%s%s", prefix, ledger->days[i].day, suffix);
    *bytes = ledger->days[i].bytes.data;
    *size = ledger->days[i].bytes.size;
    return true;
}

void ledger_settle(struct ledger *ledger)
{
    if (ledger->day_count > 1) {
        struct ledger_day newest = ledger->days[ledger->day_count - 1];
        for (size_t i = 0; i + 1 < ledger->day_count; i++)
            buffer_free(&ledger->days[i].bytes);
        ledger->days[0] = newest;
        ledger->day_count = 1;
    }
    ledger->settled_seq = ledger->seq;
    ledger->settled_days = ledger->day_count;
    ledger->settled_size = ledger->day_count ? ledger->days[0].bytes.size : 0;
    memcpy(ledger->settled_last, ledger->last, sizeof ledger->last);
}

void ledger_undo(struct ledger *ledger)
{
    free_days(ledger, ledger->settled_days);
    if (ledger->day_count)
        ledger->days[0].bytes.size = ledger->settled_size;
    ledger->seq = ledger->settled_seq;
    memcpy(ledger->last, ledger->settled_last, sizeof ledger->last);
}
