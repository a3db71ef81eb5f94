#include "github/rebuild/hand.h"

#include "github/queue/mirror.h"
#include "github/repository/lock.h"

static bool check_no_mirror(struct repository *repository, struct store_error *error)
{
    git_oid tip;
    enum repository_found found = repository_reference(repository, MIRROR_REMOTE, &tip, error);
    if (found == REPOSITORY_FOUND)
        return error_set(error,
                         "%s is the mirror of a remote: change a bare clone of the remote and push "
                         "it",
                         repository->path);
    return found == REPOSITORY_ABSENT;
}

bool hand_open(struct hand *hand, const char *path, const struct repository_author *author,
               size_t summary_limit, struct store_error *error)
{
    if (!repository_open(path, &hand->repository, error) ||
        !check_no_mirror(hand->repository, error))
        return false;
    struct lock lock LOCK_SCOPE = {-1};
    hand->dataset = (struct dataset){.repository = hand->repository,
                                     .catalogue = catalogue_new(),
                                     .author = *author,
                                     .summary_limit = summary_limit};
    return lock_take(hand->repository->path, LOCK_COMMIT, lock_wait_long, NULL, &lock, error) &&
           dataset_open(&hand->dataset, error);
}

bool hand_commit(struct hand *hand, struct pending *batch, struct store_error *error)
{
    struct lock lock LOCK_SCOPE = {-1};
    return lock_take(hand->repository->path, LOCK_COMMIT, lock_wait_long, NULL, &lock, error) &&
           dataset_commit(&hand->dataset, batch, error);
}

void hand_close(struct hand *hand)
{
    if (hand->dataset.repository)
        dataset_close(&hand->dataset);
    catalogue_free(hand->dataset.catalogue);
    repository_close(hand->repository);
}
