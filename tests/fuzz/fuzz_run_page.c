/* A file of the dataset as its page: whatever stands in it stays text, and the page stays small. */
#include "aggregate/entry.h"
#include "pages/review_list.h"
#include "pages/run_page.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/markup.h"

enum { PAGE_MOST = 6000000 }; /* see RUN_PAGE_MOST: what is under way there may still come */

static void check_page(const struct verdict *verdict, enum digest_status digest,
                       const struct run_place *place)
{
    BUFFER_SCOPE struct buffer page = {0};
    run_page_write(&page, verdict, digest, place);
    markup_check(&page, PAGE_MOST, 0);
}

/* What a list of the quarantine shows of it. */
static void check_card(const struct verdict *verdict)
{
    ARENA_SCOPE struct arena arena = {0};
    BUFFER_SCOPE struct buffer text = {0}, card = {0};
    struct js_document entry;
    struct js_error error;
    entry_write(verdict, true, "quarantine/2026/01/fuzz-run-1.json", &text);
    if (js_read(&arena, text.data, text.size, &entry, &error))
        review_card_write(&card, verdict, &entry.root);
    markup_check(&card, PAGE_MOST, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct policy any = {0};
    static const struct run_place place = {.status = "published",
                                           .path = "runs/2026/01/fuzz-run-1.json",
                                           .commit = "0123456789abcdef0123456789abcdef01234567",
                                           .file_url = "/runs/2026/01/fuzz-run-1.json",
                                           .submitted_at = "2026-01-02T03:04:05.678Z",
                                           .revision = 7};
    ARENA_SCOPE struct arena arena = {0};
    struct js_document document;
    struct js_error error;
    struct shape_errors errors = {0};
    struct verdict verdict;
    if (!js_read(&arena, (const char *)data, size, &document, &error) ||
        !validate(&arena, &document, &any, NULL, &verdict, &errors))
        return 0;
    enum digest_status digest = digest_verify(&document).status;
    check_page(&verdict, digest, &place);
    check_page(&verdict, digest, NULL);
    check_card(&verdict);
    return 0;
}
