/* Everything pure that a submission passes: read, digest, shape, recompute, rules, scrub, entry. What is
 * published can be read, has the shape of a run, and its scrub changes nothing more. */
#include <stdlib.h>

#include "aggregate/bait.h"
#include "aggregate/board.h"
#include "aggregate/publication.h"
#include "tests/fuzz/fuzz.h"
#include "validator/digest.h"
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
    publication_free(&publication);
    return 0;
}
