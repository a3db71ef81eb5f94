/* Writing an index that was made anew: into a commit, or into a folder (spec 03, "Rebuild"). */
#ifndef BENCHLEDGER_GITHUB_REBUILD_PUBLISH_H
#define BENCHLEDGER_GITHUB_REBUILD_PUBLISH_H

#include "aggregate/index.h"
#include "github/repository/commit.h"
#include "github/repository/source.h"

/* The files that differ from what SOURCE holds, and segments that are no longer any (bytes NULL).
 * The manifest comes last. Bytes are those of the index. */
struct publish_plan {
    struct arena arena;
    struct repository_file *files;
    size_t count, room;
};
/* Adds one more file, whose BYTES stay the caller's, when SOURCE holds another. */
bool publish_add(const struct source *source, const char *path, const char *bytes, size_t size,
                 struct publish_plan *plan, struct store_error *error);
bool publish_prepare(const struct source *source, struct index *index, struct publish_plan *plan,
                     struct store_error *error);
void publish_free(struct publish_plan *plan);

/* Replaces each file atomically, the manifest once its segments are on the disk; a folder that is a link is refused
 * before anything is written. Readers meanwhile see a segment that is newer than the
 * manifest. */
bool publish_to_folder(const struct publish_plan *plan, const char *folder,
                       struct store_error *error);
/* One commit on the commit of SOURCE; COMMIT receives it as hex. False and MOVED when the tip has
 * moved. */
bool publish_to_commit(const struct publish_plan *plan, const struct source *source,
                       const struct repository_author *author, size_t runs, char *commit,
                       bool *moved, struct store_error *error);

#endif
