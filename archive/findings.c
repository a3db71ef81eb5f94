#include "archive/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 600 };

static const struct {
    const char *code, *words;
} table[FINDINGS] = {
    [FINDING_LEDGER_MISSING] = {"ledger-missing",
                                "there is no ledger: an older archive, or it was taken away"},
    [FINDING_LEDGER_LINE] = {"ledger-line", "a ledger line cannot be read, or is not canonical"},
    [FINDING_LEDGER_CHAIN] = {"ledger-chain",
                              "a ledger line does not follow the one that stands before it"},
    [FINDING_LEDGER_EVENT] = {"ledger-event", "an event does not fit what was known of its run"},
    [FINDING_DUPLICATE_NAME] = {"duplicate-name",
                                "a folder of the commit has two things of one name"},
    [FINDING_STRAY] = {"stray", "something that is no run file lies among the run files"},
    [FINDING_UNREADABLE] = {"unreadable", "a file cannot be read"},
    [FINDING_NOT_JSON] = {"not-json", "a run file is not JSON"},
    [FINDING_SHAPE] = {"shape", "a run file has not the shape of one"},
    [FINDING_FORM] = {"form", "a run file is not as JSON.stringify prints it"},
    [FINDING_SCRUB] = {"scrub", "a run file holds what publication removes"},
    [FINDING_PATH] = {"path", "a file does not lie where its createdAt and runId say"},
    [FINDING_DUPLICATE_RUN] = {"duplicate-run", "two files have one run id"},
    [FINDING_DIGEST] = {"digest", "a run file's digest does not verify"},
    [FINDING_LEDGER_DIGEST] = {"ledger-digest", "the ledger has another digest of a file"},
    [FINDING_VERDICT] = {"verdict", "the rules give another verdict than the one that was kept"},
    [FINDING_FOLDER] = {"folder", "a file does not lie where the ledger says"},
    [FINDING_LINE_WITHOUT_FILE] = {"line-without-file", "the ledger names a file that is missing"},
    [FINDING_FILE_WITHOUT_LINE] = {"file-without-line", "the ledger has no line of a file"},
    [FINDING_INDEX_MISSING] = {"index-missing", "there is no index"},
    [FINDING_MANIFEST] = {"manifest", "the manifest cannot be read, or counts something else"},
    [FINDING_SEGMENT] = {"segment", "a segment is missing, or is not what the manifest says"},
    [FINDING_SUMMARY] = {"summary", "the summary does not hold what the segments hold"},
    [FINDING_ARCHIVES] = {"archives", "archives.json cannot be read"},
    [FINDING_LEADERBOARD] = {"leaderboard", "leaderboard.json is not what the entries give"},
    [FINDING_ENTRY] = {"entry", "an index entry is not the one that its file gives"},
    [FINDING_DUPLICATE_ENTRY] = {"duplicate-entry", "the index lists a run twice"},
    [FINDING_ENTRY_WITHOUT_FILE] = {"entry-without-file", "the index lists a file that is missing"},
    [FINDING_FILE_WITHOUT_ENTRY] = {"file-without-entry", "the index does not list a file"},
    [FINDING_HISTORY] = {"history", "a commit does not agree with the ledger"},
    [FINDING_UNCOMMITTED] = {"uncommitted", "the work tree is not as the last commit"},
};

const char *finding_code(enum finding finding)
{
    return table[finding].code;
}

const char *finding_words(enum finding finding)
{
    return table[finding].words;
}

void findings_add(struct findings *findings, enum finding finding, bool note, const char *path,
                  const char *format, ...)
{
    char text[TEXT_MAX];
    va_list values;
    *(note ? &findings->notes : &findings->differences) += 1;
    if (++findings->met[finding][note] > FINDINGS_KEPT)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (findings->count == findings->room) {
        findings->room = findings->room ? findings->room * 2 : 64;
        findings->items = memory_grow(findings->items, findings->room * sizeof *findings->items);
    }
    findings->items[findings->count] =
        (struct found){.finding = finding,
                       .note = note,
                       .path = arena_copy(&findings->arena, path, strlen(path)),
                       .text = arena_copy(&findings->arena, text, strlen(text)),
                       .number = findings->count};
    findings->count++;
}

static int by_path(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    return order ? order : a->number < b->number ? -1 : 1;
}

void findings_sort(struct findings *findings)
{
    if (findings->count)
        qsort(findings->items, findings->count, sizeof *findings->items, by_path);
}

void findings_free(struct findings *findings)
{
    free(findings->items);
    arena_free(&findings->arena);
    *findings = (struct findings){0};
}
