/* Everything pure that a submission passes: read, digest, shape, recompute, rules, scrub, entry. What is
 * published can be read, has the shape of a run, and its scrub changes nothing more. As a row of a table it has
 * as many fields as the header. */
#include <stdlib.h>

#include "aggregate/bait.h"
#include "aggregate/board.h"
#include "aggregate/export.h"
#include "aggregate/outlier.h"
#include "aggregate/publication.h"
#include "aggregate/reuse.h"
#include "tests/fuzz/fuzz.h"
#include "validator/digest.h"
#include "validator/model_catalogue.h"
#include "validator/scrub.h"

static void publish_again(struct arena *arena, const struct verdict *verdict,
                          const struct publication *publication)
{
    static const struct policy policy = {0};
    static const char *const shown[] = {"localmode-bench/5", NULL};
    struct js_document document;
    struct js_error error;
    struct shape_errors errors;
    struct verdict again;
    if (!js_read(arena, publication->bytes.data, publication->bytes.size, &document, &error) ||
        !validate(arena, &document, &policy, NULL, &again, &errors) ||
        again.flagged != verdict->flagged)
        abort();
    struct scrubbed scrubbed;
    scrub(arena, &document, DIGEST_OK, 0, &scrubbed);
    if (scrubbed.removed_count)
        abort();
    struct board *board = board_new(shown);
    BUFFER_SCOPE struct buffer snapshot = {0};
    if (!board_add(board, publication->entry.data, publication->entry.size))
        abort();
    board_write_snapshot(board, NULL, NULL, "t", &snapshot);
    if (!js_read(arena, snapshot.data, snapshot.size, &document, &error))
        abort();
    board_free(board);
}

/* Every record of a CSV file has as many fields as its first one. */
static void check_table(const struct buffer *table)
{
    size_t fields = 1, columns = 0;
    bool quoted = false;
    for (size_t i = 0; i < table->size; i++) {
        char c = table->data[i];
        quoted = quoted != (c == '"');
        fields += !quoted && c == ',';
        if (quoted || c != '\n')
            continue;
        if (columns && fields != columns)
            abort();
        columns = fields;
        fields = 1;
    }
    if (!columns || fields != 1 || quoted)
        abort();
}

static void export_tables(struct arena *arena, const struct report *report)
{
    struct export_packages packages = {0};
    BUFFER_SCOPE struct buffer out = {0}, open = {0};
    export_packages_add(&packages, &report->verdict);
    const struct export_run *run = export_prepare(arena, report);
    for (int table = 0; table < EXPORT_TABLES; table++) {
        out.size = open.size = 0;
        export_write_header((enum export_table)table, &packages, &out);
        export_write_run((enum export_table)table, run, &open);
        export_close_lines((struct text){open.data, open.size}, &packages, &out);
        check_table(&out);
    }
    export_write_texts(run, &out);
    export_write_validation(run, &out);
    export_write_package(&packages, "CC0-1.0", &out);
    export_packages_free(&packages);
}

/* What set 3 finds, against a catalogue of nothing. */
static void judge_by_draft(struct arena *arena, const struct js_document *document,
                           struct buffer *codes)
{
    static const struct model_catalogue nothing = {0};
    static const struct policy policy = {
        .rules = RULES_NEWEST, .catalogue = &nothing, .accepted_ms = 1.8e12};
    struct js_writer writer = {.out = codes};
    struct shape_errors errors;
    struct verdict verdict;
    if (!validate(arena, document, &policy, NULL, &verdict, &errors))
        abort();
    reuse_of_run(arena, bench_run_of(verdict.run));
    outlier_of_run(arena, bench_run_of(verdict.run), verdict.summaries);
    verdict_write_codes(&verdict, &writer);
}

/* Scrubbing must not change what is found: the ledger keeps it, and an audit looks at the published file. */
static void compare_drafts(struct arena *arena, const struct js_document *document,
                           const struct publication *publication)
{
    BUFFER_SCOPE struct buffer before = {0}, after = {0};
    struct js_document published;
    struct js_error error;
    if (!js_read(arena, publication->bytes.data, publication->bytes.size, &published, &error))
        abort();
    judge_by_draft(arena, document, &before);
    judge_by_draft(arena, &published, &after);
    if (before.size != after.size || memcmp(before.data, after.data, before.size) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct policy policy = {0};
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    struct shape_errors errors;
    struct verdict verdict;
    if (!js_read(&arena, (const char *)data, size, &document, &error) ||
        document.root.type != JS_OBJECT)
        return 0;
    struct digest_check digest = digest_verify(&document);
    if (!validate(&arena, &document, &policy, NULL, &verdict, &errors))
        return 0;
    struct publication publication;
    if (!publish(&arena, &verdict, digest.status, 0, &publication, &errors))
        abort();
    bait_find(publication.bytes.data, publication.bytes.size);
    publish_again(&arena, &verdict, &publication);
    compare_drafts(&arena, &document, &publication);
    publication_free(&publication);
    const struct report report = {.end = REPORT_PUBLISHABLE, .shaped = true, .verdict = verdict};
    export_tables(&arena, &report);
    return 0;
}
