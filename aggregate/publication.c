#include "aggregate/publication.h"

#include <stdio.h>

#include "aggregate/entry.h"
#include "validator/protocol.h"
#include "validator/scrub.h"

/* Turns the verdict into one about the same run as it is published: what the scrub changed must be in the
 * entry as it is in the file, so that an index rebuilt from files is the same. */
static bool read_published(struct arena *arena, const struct js_document *document,
                           struct verdict *verdict, struct shape_errors *errors)
{
    struct shape shape = {.arena = arena, .errors = errors};
    verdict->document = document;
    verdict->run = verdict->family->read(&shape, document);
    verdict->identity = (const struct run_identity *)verdict->run;
    return errors->count == 0;
}

void publication_path(const struct verdict *verdict, char path[PUBLICATION_PATH_MAX])
{
    const struct run_identity *identity = verdict->identity;
    snprintf(path, PUBLICATION_PATH_MAX, "%s/%04d/%02d/%.*s.json",
             verdict->flagged ? "quarantine" : "runs", identity->year, identity->month,
             (int)identity->run_id->size, identity->run_id->text);
}

bool publish(struct arena *arena, const struct verdict *verdict, enum digest_status digest,
             double now_ms, struct publication *publication, struct shape_errors *errors)
{
    struct scrubbed *scrubbed = arena_clear_take(arena, 1, sizeof *scrubbed);
    scrub(arena, verdict->document, digest, now_ms, scrubbed);
    *publication = (struct publication){.flagged = verdict->flagged,
                                        .removed = scrubbed->removed,
                                        .removed_count = scrubbed->removed_count};
    memcpy(publication->digest, scrubbed->digest, sizeof publication->digest);
    publication_path(verdict, publication->path);
    buffer_reserve(&publication->bytes, scrubbed->document.text_size);
    js_print(&scrubbed->document, &scrubbed->document.root, &publication->bytes);
    struct verdict published = *verdict;
    errors->count = 0;
    if (scrubbed->changed && !read_published(arena, &scrubbed->document, &published, errors))
        return false;
    entry_write(&published, verdict->flagged, publication->path, &publication->entry);
    return true;
}

void publication_free(struct publication *publication)
{
    buffer_free(&publication->bytes);
    buffer_free(&publication->entry);
}
