/* leaderboard.json, made again of the entries that it says it is of. */
#include <stdlib.h>
#include <string.h>

#include "aggregate/board.h"
#include "aggregate/index.h"
#include "archive/audit_state.h"
#include "github/change/archives.h"

enum { PROTOCOLS_MAX = 64 };

struct leaderboard {
    struct arena arena;
    struct buffer bytes;
    struct board *board;
    double wanted; /* entries */
    size_t taken;
};

static const char *read_leaderboard(struct leaderboard *leaderboard)
{
    struct js_document document;
    struct js_error error;
    const char *protocols[PROTOCOLS_MAX + 1] = {NULL};
    struct arena *arena = &leaderboard->arena;
    if (!js_read(arena, buffer_string(&leaderboard->bytes), leaderboard->bytes.size, &document,
                 &error))
        return "is not JSON";
    const struct js_value *entries = js_get(&document.root, "entries"),
                          *list = js_get(&document.root, "protocols");
    if (!entries || entries->type != JS_NUMBER || !list || list->type != JS_ARRAY ||
        list->size > PROTOCOLS_MAX)
        return "does not say what it is of";
    for (uint32_t i = 0; i < list->size; i++) {
        const struct js_value *item = &list->items[i];
        if (item->type != JS_STRING)
            return "does not say what it is of";
        protocols[i] = arena_copy(arena, item->text, item->size);
    }
    leaderboard->wanted = entries->number;
    leaderboard->board = board_new(protocols);
    board_count_provisional(leaderboard->board,
                            js_equals(js_get(&document.root, "provisionalBy"), "devices")
                                ? PROVISIONAL_BY_DEVICES
                                : PROVISIONAL_BY_SUBMISSIONS);
    return NULL;
}

/* Whether the dataset names repositories whose runs come before its own; something else under that name is told. */
static bool has_archives(struct auditing *audit)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer bytes BUFFER_SCOPE = {0};
    struct js_document document;
    struct js_error error;
    if (source_read(&audit->options->source, ARCHIVES_PATH, &bytes, NULL) != REPOSITORY_FOUND)
        return false;
    const struct js_value *list = NULL;
    if (js_read(&arena, buffer_string(&bytes), bytes.size, &document, &error))
        list = js_get(&document.root, "archives");
    bool fine = list && list->type == JS_ARRAY;
    for (uint32_t i = 0; fine && i < list->size; i++) {
        const struct js_value *hash = js_get(&list->items[i], "ledgerSha256");
        fine = hash && hash->type == JS_STRING && hash->size == SHA256_HEX;
    }
    if (!fine)
        findings_add(audit->findings, FINDING_ARCHIVES, false, ARCHIVES_PATH,
                     "names no archives by the SHA-256 of a ledger line each");
    return fine && list->size;
}

struct leaderboard *audit_leaderboard_begin(struct auditing *audit)
{
    audit->has_archives = has_archives(audit);
    struct leaderboard *leaderboard = memory_grow(NULL, sizeof *leaderboard);
    *leaderboard = (struct leaderboard){0};
    struct store_error why = {""};
    enum repository_found found =
        source_read(&audit->options->source, INDEX_LEADERBOARD_PATH, &leaderboard->bytes, &why);
    const char *problem = found == REPOSITORY_FAULT ? why.message : NULL;
    if (found == REPOSITORY_FOUND)
        problem = read_leaderboard(leaderboard);
    if (problem)
        findings_add(audit->findings, FINDING_LEADERBOARD, false, INDEX_LEADERBOARD_PATH, "%s",
                     problem);
    return leaderboard;
}

void audit_leaderboard_entry(struct leaderboard *leaderboard, const char *entry, size_t size)
{
    if (leaderboard->board && (double)leaderboard->taken < leaderboard->wanted) {
        board_add(leaderboard->board, entry, size);
        leaderboard->taken++;
    }
}

/* It is brought up to date now and then: what was decided since can have changed entries that it was made of. */
void audit_leaderboard_end(struct auditing *audit, struct leaderboard *leaderboard)
{
    struct buffer made BUFFER_SCOPE = {0};
    const bool explained = audit->has_archives || audit->decisions > 0;
    const char *why = audit->has_archives ? "; those of earlier repositories come first"
                      : explained         ? "; it may be from before a decision"
                                          : "";
    if (leaderboard->board)
        board_write_leaderboard(leaderboard->board, &made);
    if (leaderboard->board && (double)leaderboard->taken < leaderboard->wanted)
        findings_add(audit->findings, FINDING_LEADERBOARD, explained, INDEX_LEADERBOARD_PATH,
                     "is of %.0f entries, and there are %zu%s", leaderboard->wanted,
                     leaderboard->taken, why);
    else if (leaderboard->board && (made.size != leaderboard->bytes.size ||
                                    memcmp(made.data, leaderboard->bytes.data, made.size) != 0))
        findings_add(audit->findings, FINDING_LEADERBOARD, explained, INDEX_LEADERBOARD_PATH,
                     "the first %.0f entries give another%s", leaderboard->wanted, why);
    else if (leaderboard->board && leaderboard->wanted == 0 && audit->counts->entries)
        findings_add(audit->findings, FINDING_LEADERBOARD, true, INDEX_LEADERBOARD_PATH,
                     "is of no entries, and there are %zu", audit->counts->entries);
    board_free(leaderboard->board);
    buffer_free(&leaderboard->bytes);
    arena_free(&leaderboard->arena);
    free(leaderboard);
}
