#include "aggregate/candidate.h"

#include <stdio.h>

/* The intake takes no run from before the service (2026-01-01) or from the future (spec 03,
 * "Paths"). */
static const double FIRST_CREATED_MS = 1767225600000.0, AHEAD_MS = 48.0 * 3600 * 1000;

static bool fail(struct candidate *candidate, enum candidate_fault fault, const char *message)
{
    candidate->fault = fault;
    snprintf(candidate->message, sizeof candidate->message, "%s", message);
    return false;
}

/* One error beside those of the shape. */
static bool fail_at(struct candidate *candidate, const char *path, const char *message)
{
    candidate->errors.items[0] = (struct shape_error){path, message, strlen(path)};
    candidate->errors.count = 1;
    return fail(candidate, CANDIDATE_SHAPE, "");
}

bool candidate_parse(struct candidate *candidate, const char *text, size_t size)
{
    return js_read(&candidate->arena, size ? text : "", size, &candidate->document,
                   &candidate->json) ||
           fail(candidate, CANDIDATE_NO_JSON, candidate->json.message);
}

bool candidate_digest(struct candidate *candidate)
{
    if (candidate->document.root.type != JS_OBJECT)
        return true; /* the next step says what it is not */
    candidate->digest = digest_verify(&candidate->document);
    if (candidate->digest.status == DIGEST_OK || candidate->digest.status == DIGEST_LEGACY)
        return true;
    return fail(candidate, CANDIDATE_DIGEST,
                candidate->digest.status == DIGEST_MISSING ? "The run has no digest."
                                                           : "The digest is not that of the run.");
}

bool candidate_judge(struct candidate *candidate, const struct policy *policy,
                     const struct answer_key *key, double now_ms)
{
    struct policy now = *policy;
    now.accepted_ms = now_ms;
    candidate->errors.count = 0;
    if (!validate(&candidate->arena, &candidate->document, &now, key, &candidate->verdict,
                  &candidate->errors))
        return fail(candidate, CANDIDATE_SHAPE, "");
    double created = candidate->verdict.identity->created_ms;
    if (created > now_ms + AHEAD_MS)
        return fail_at(candidate, "/createdAt", "is more than 48 hours in the future");
    if (created < FIRST_CREATED_MS)
        return fail_at(candidate, "/createdAt", "is before 2026-01-01");
    return true;
}

bool candidate_publish(struct candidate *candidate, double now_ms)
{
    if (!publish(&candidate->arena, &candidate->verdict, candidate->digest.status, now_ms,
                 &candidate->publication, &candidate->errors))
        return fail(candidate, CANDIDATE_SHAPE, "");
    if (candidate->publication.entry.size > ENTRY_BYTES_MAX)
        return fail_at(candidate, "", "makes an index entry of more than 256 KiB");
    return true;
}

/* The message names the kind and never the text, which may be somebody's real secret. */
bool candidate_bait(struct candidate *candidate)
{
    const struct publication *publication = &candidate->publication;
    candidate->bait = bait_find(publication->bytes.data, publication->bytes.size);
    if (candidate->bait.level != BAIT_REFUSED)
        return true;
    fail(candidate, CANDIDATE_SECRET, "");
    snprintf(candidate->message, sizeof candidate->message,
             "The run holds what looks like a secret (%s); the dataset's host refuses that.",
             candidate->bait.word);
    return false;
}

void candidate_free(struct candidate *candidate)
{
    publication_free(&candidate->publication);
    arena_free(&candidate->arena);
}

static void write_text(struct js_writer *writer, const char *key, const char *text)
{
    js_write_key(writer, key);
    js_write_text(writer, text);
}

static void write_number(struct js_writer *writer, const char *key, size_t number)
{
    js_write_key(writer, key);
    js_write_number(writer, (double)number);
}

void candidate_write_fault(const struct candidate *candidate, struct js_writer *writer)
{
    switch (candidate->fault) {
    case CANDIDATE_FINE:
        break;
    case CANDIDATE_NO_JSON:
        write_number(writer, "line", candidate->json.line);
        write_number(writer, "column", candidate->json.column);
        write_number(writer, "offset", candidate->json.offset);
        break;
    case CANDIDATE_DIGEST:
        write_text(writer, "computed", candidate->digest.computed);
        break;
    case CANDIDATE_SHAPE:
        js_write_key(writer, "errors");
        shape_errors_write(&candidate->errors, writer);
        break;
    case CANDIDATE_SECRET:
        write_text(writer, "reason", "secret-like");
        write_text(writer, "path", candidate->publication.path);
        break;
    }
}

void candidate_write_result(const struct candidate *candidate, struct js_writer *writer)
{
    const struct publication *publication = &candidate->publication;
    js_write_key(writer, "flagged");
    js_write_bool(writer, publication->flagged);
    js_write_key(writer, "flags");
    verdict_write_flags(&candidate->verdict, writer);
    js_write_key(writer, "summaries");
    verdict_write_summaries(&candidate->verdict, writer);
    write_number(writer, "rulesVersion", (size_t)candidate->verdict.rules_version);
    js_write_key(writer, "answersParsed");
    js_write_bool(writer, candidate->verdict.answers_parsed);
    write_text(writer, "digest", publication->digest);
    js_write_key(writer, "removed");
    js_write_begin(writer, '[');
    for (size_t i = 0; i < publication->removed_count; i++)
        js_write_text(writer, publication->removed[i]);
    js_write_end(writer, ']');
    write_text(writer, "path", publication->path);
    js_write_key(writer, "entry");
    js_write_raw(writer, publication->entry.data, publication->entry.size);
}
