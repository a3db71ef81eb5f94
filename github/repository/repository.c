#include "github/repository/repository.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "github/repository/commit.h"
#include "github/repository/files.h"
#include "github/repository/guard.h"
#include "github/repository/lock.h"
#include "github/repository/tree.h"
#include "validator/arena.h"

enum { FIRST_OBJECTS = 3 };

/* Bytes of packs that are mapped at once, by all handles together: a tool that reads a whole dataset needs no
 * more of them than a service that reads a file now and then. */
#define PACK_WINDOW ((size_t)32 << 20)
#define PACKS_MAPPED ((size_t)96 << 20)

/* A folder that holds itself over and over, which git lets pass, would have no end. */
enum { PATH_DEPTH_MAX = 16, FOLDERS_MOST = 1 << 16, LISTED_MOST = 1 << 22 };

/* libgit2 is never shut down: its caches serve the whole process. */
static void start_libgit2(void)
{
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, PACK_WINDOW);
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, PACKS_MAPPED);
    /* Month folders hold thousands of names: keep their trees, the next commit reads them again. */
    git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_TREE, (size_t)1 << 20);
}

static void need_libgit2(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_libgit2);
}

void repository_trust(bool on)
{
    need_libgit2();
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, !on);
}

void repository_open_foreign(void)
{
    need_libgit2();
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
}

bool repository_open_any(const char *path, struct repository **out, struct store_error *error)
{
    need_libgit2();
    struct repository *repository REPOSITORY_SCOPE = memory_grow(NULL, sizeof *repository);
    *repository = (struct repository){.trees = tree_cache_new()};
    unsigned flags = GIT_REPOSITORY_OPEN_NO_SEARCH;
    if (git_repository_open_ext(&repository->git, path, flags, NULL))
        return error_git(error, "cannot open the repository %s", path);
    const char *folder = git_repository_path(repository->git);
    repository->path = strdup(folder);
    if (!repository->path)
        return error_set(error, "out of memory");
    size_t size = strlen(repository->path);
    if (size > 1 && repository->path[size - 1] == '/')
        repository->path[size - 1] = '\0';
    if (!guard_install(repository->git, repository->path, error))
        return false;

    git_reference *head = NULL;
    if (git_reference_lookup(&head, repository->git, "HEAD"))
        return error_git(error, "cannot read HEAD of %s", path);
    const char *branch = git_reference_symbolic_target(head);
    if (!branch)
        branch = "HEAD"; /* detached: it is the commit */
    bool fits = strlen(branch) < sizeof repository->branch;
    if (fits)
        memcpy(repository->branch, branch, strlen(branch) + 1);
    git_reference_free(head);
    if (!fits)
        return error_set(error, "the branch of %s has too long a name", path);
    *out = repository;
    repository = NULL;
    return true;
}

bool repository_open(const char *path, struct repository **out, struct store_error *error)
{
    struct repository *repository REPOSITORY_SCOPE = NULL;
    if (!repository_open_any(path, &repository, error))
        return false;
    assert(repository); /* which the analyser does not see */
    if (!git_repository_is_bare(repository->git))
        return error_set(error, "%s is a work tree; the store is a bare repository", path);
    if (!strcmp(repository->branch, "HEAD"))
        return error_set(error, "HEAD of %s does not point to a branch", path);
    *out = repository;
    repository = NULL;
    return true;
}

void repository_close(struct repository *repository)
{
    if (!repository)
        return;
    git_repository_free(repository->git);
    tree_cache_free(repository->trees);
    free(repository->path);
    free(repository);
}

void repository_closep(struct repository **repository)
{
    repository_close(*repository);
}

bool repository_tip(struct repository *repository, git_oid *commit, struct store_error *error)
{
    int failed = git_reference_name_to_id(commit, repository->git, repository->branch);
    if (failed)
        return error_git(error, "cannot read %s of %s", repository->branch, repository->path);
    return true;
}

enum repository_found repository_reference(struct repository *repository, const char *reference,
                                           git_oid *commit, struct store_error *error)
{
    int failed = git_reference_name_to_id(commit, repository->git, reference);
    if (!failed)
        return REPOSITORY_FOUND;
    if (failed == GIT_ENOTFOUND)
        return REPOSITORY_ABSENT;
    error_git(error, "cannot read %s of %s", reference, repository->path);
    return REPOSITORY_FAULT;
}

bool repository_forget(struct repository *repository, const char *reference,
                       struct store_error *error)
{
    int failed = git_reference_remove(repository->git, reference);
    return !failed || failed == GIT_ENOTFOUND ||
           error_git(error, "cannot remove %s of %s", reference, repository->path);
}

bool repository_turn(struct repository *repository, const char *branch, struct store_error *error)
{
    size_t size = strlen(branch) + 1;
    if (size > sizeof repository->branch)
        return error_set(error, "the name of a branch is too long");
    if (git_repository_set_head(repository->git, branch))
        return error_git(error, "cannot turn HEAD of %s to %s", repository->path, branch);
    memcpy(repository->branch, branch, size);
    return true;
}

bool repository_descends(struct repository *repository, const git_oid *commit,
                         const git_oid *earlier)
{
    return git_oid_equal(commit, earlier) ||
           git_graph_descendant_of(repository->git, commit, earlier) == 1;
}

bool repository_related(struct repository *repository, const git_oid *a, const git_oid *b)
{
    git_oid base;
    return git_merge_base(&base, repository->git, a, b) != GIT_ENOTFOUND;
}

bool repository_root(struct repository *repository, const git_oid *commit, git_oid *tree,
                     struct store_error *error)
{
    git_commit *object = NULL;
    if (git_commit_lookup(&object, repository->git, commit))
        return error_git(error, "cannot read a commit of %s", repository->path);
    *tree = *git_commit_tree_id(object);
    git_commit_free(object);
    return true;
}

static enum repository_found root_tree(struct repository *repository, const git_oid *commit,
                                       git_tree **tree, struct store_error *error)
{
    git_commit *object = NULL;
    if (git_commit_lookup(&object, repository->git, commit) || git_commit_tree(tree, object)) {
        error_git(error, "cannot read a commit of %s", repository->path);
        git_commit_free(object);
        return REPOSITORY_FAULT;
    }
    git_commit_free(object);
    return REPOSITORY_FOUND;
}

static enum repository_found find_entry(struct repository *repository, const git_oid *commit,
                                        const char *path, git_object_t type, git_oid *id,
                                        struct store_error *error)
{
    git_tree *tree = NULL;
    if (root_tree(repository, commit, &tree, error) != REPOSITORY_FOUND)
        return REPOSITORY_FAULT;
    git_tree_entry *entry = NULL;
    int failed = git_tree_entry_bypath(&entry, tree, path);
    enum repository_found found = REPOSITORY_ABSENT;
    if (!failed && git_tree_entry_type(entry) == type) {
        *id = *git_tree_entry_id(entry);
        found = REPOSITORY_FOUND;
    } else if (failed && failed != GIT_ENOTFOUND) {
        error_git(error, "cannot look up %s in %s", path, repository->path);
        found = REPOSITORY_FAULT;
    }
    git_tree_entry_free(entry);
    git_tree_free(tree);
    return found;
}

enum repository_found repository_find(struct repository *repository, const git_oid *commit,
                                      const char *path, git_oid *blob, struct store_error *error)
{
    return find_entry(repository, commit, path, GIT_OBJECT_BLOB, blob, error);
}

enum repository_found repository_folder(struct repository *repository, const git_oid *commit,
                                        const char *path, git_oid *tree, struct store_error *error)
{
    return find_entry(repository, commit, path, GIT_OBJECT_TREE, tree, error);
}

bool repository_size(struct repository *repository, const git_oid *blob, size_t *size,
                     struct store_error *error)
{
    git_odb *odb = NULL;
    git_object_t type;
    bool fine =
        !git_repository_odb(&odb, repository->git) && !git_odb_read_header(size, &type, odb, blob);
    git_odb_free(odb);
    return fine || error_git(error, "cannot read a file of %s", repository->path);
}

bool repository_read(struct repository *repository, const git_oid *blob, struct buffer *out,
                     struct store_error *error)
{
    git_blob *object = NULL;
    if (git_blob_lookup(&object, repository->git, blob))
        return error_git(error, "cannot read a file of %s", repository->path);
    size_t size = (size_t)git_blob_rawsize(object);
    buffer_reserve(out, size + 1); /* with the NUL of buffer_string: else all moves for it */
    buffer_add(out, git_blob_rawcontent(object), size);
    git_blob_free(object);
    return true;
}

enum repository_found repository_content(struct repository *repository, const git_oid *commit,
                                         const char *path, git_oid *blob, struct buffer *out,
                                         struct store_error *error)
{
    git_oid id;
    enum repository_found found = repository_find(repository, commit, path, &id, error);
    if (found != REPOSITORY_FOUND)
        return found;
    if (!repository_read(repository, &id, out, error))
        return REPOSITORY_FAULT;
    if (blob)
        *blob = id;
    return REPOSITORY_FOUND;
}

struct listing {
    struct repository *repository;
    repository_tell tell;
    void *context;
    struct store_error *error;
    size_t folders, files; /* so far */
};

static bool list_tree(struct listing *listing, const git_oid *id, const char *folder, int depth)
{
    git_tree *tree = NULL;
    if (listing->folders++ >= FOLDERS_MOST)
        return error_set(listing->error, "cannot list %s: there are too many folders", folder);
    if (git_tree_lookup(&tree, listing->repository->git, id))
        return error_git(listing->error, "cannot list %s", folder);
    bool fine = true;
    size_t count = git_tree_entrycount(tree);
    listing->files += count;
    if (listing->files > LISTED_MOST)
        fine = error_set(listing->error, "cannot list %s: there are too many files", folder);
    for (size_t i = 0; fine && i < count; i++) {
        struct arena arena ARENA_SCOPE = {0};
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        const char *path = arena_format(&arena, "%s/%s", folder, git_tree_entry_name(entry));
        bool file = git_tree_entry_filemode(entry) != GIT_FILEMODE_LINK; /* as in a folder */
        if (file && git_tree_entry_type(entry) == GIT_OBJECT_BLOB)
            fine = listing->tell(listing->context, path, git_tree_entry_id(entry));
        else if (git_tree_entry_type(entry) == GIT_OBJECT_TREE && depth < PATH_DEPTH_MAX)
            fine = list_tree(listing, git_tree_entry_id(entry), path, depth + 1);
    }
    git_tree_free(tree);
    return fine;
}

bool repository_list(struct repository *repository, const git_oid *commit, const char *folder,
                     repository_tell tell, void *context, struct store_error *error)
{
    git_oid id;
    enum repository_found found = repository_folder(repository, commit, folder, &id, error);
    if (found != REPOSITORY_FOUND)
        return found == REPOSITORY_ABSENT;
    struct listing listing = {repository, tell, context, error, 0, 0};
    return list_tree(&listing, &id, folder, 1);
}

/* Whether nothing lies at PATH, or a folder with nothing in it. */
static bool is_empty_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT;
    bool empty = true;
    for (struct dirent *item; empty && (item = readdir(folder));)
        empty = !strcmp(item->d_name, ".") || !strcmp(item->d_name, "..");
    closedir(folder);
    return empty;
}

/* Everything so far onto the disk: whoever made the repository may have been killed before he did
 * that, or have copied it without; and git's own files are many. */
static bool sync_everything(const char *path, struct store_error *error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_system(error, "cannot open %s", path);
    bool fine = syncfs(fd) == 0;
    if (!fine)
        error_system(error, "cannot sync %s", path);
    close(fd);
    return fine;
}

/* libgit2 fsyncs an object and its folder, but not objects/ itself: the folders are made
 * beforehand. */
static bool make_object_folders(const char *path, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *objects = arena_format(&arena, "%s/objects", path);
    int fd = open(objects, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_system(error, "cannot open %s", objects);
    bool fine = true;
    for (unsigned i = 0; fine && i < 256; i++) {
        char name[3];
        unsigned char byte = (unsigned char)i;
        snprintf(name, sizeof name, "%02x", byte);
        fine = mkdirat(fd, name, 0755) == 0 || errno == EEXIST;
    }
    fine = fine && fsync(fd) == 0;
    if (!fine)
        error_system(error, "cannot make the folders of %s", objects);
    close(fd);
    return fine;
}

/* PATH is no repository yet and we hold the commit lock: what git locks lie there are of a first start that was
 * killed. */
static bool initialise(const char *path, struct store_error *error)
{
    static const char *const locks[] = {"config.lock", "HEAD.lock"};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        struct arena arena ARENA_SCOPE = {0};
        const char *lock = arena_format(&arena, "%s/%s", path, locks[i]);
        if (unlink(lock) && errno != ENOENT)
            return error_system(error, "cannot remove %s", lock);
    }
    git_repository_init_options options;
    git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
    options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
    options.initial_head = "main";
    git_repository *git = NULL;
    if (git_repository_init_ext(&git, path, &options))
        return error_git(error, "cannot make a repository at %s", path);
    git_repository_free(git);
    return true;
}

static void write_readme(const char *licence, struct buffer *out)
{
    buffer_text(
        out,
        "# Benchmark dataset\n\n"
        "Written by benchledger, one commit per group of submissions. The tree is the database; "
        "commit\n"
        "messages only inform.\n\n"
        "| path | holds |\n"
        "| --- | --- |\n"
        "| `runs/YYYY/MM/ID.json` | published run files, by the UTC month of their `createdAt` |\n"
        "| `quarantine/YYYY/MM/ID.json` | run files that a plausibility rule rejected, kept off "
        "the board |\n"
        "| `withdrawn/` | what is left of runs that were withdrawn |\n"
        "| `ledger/YYYY-MM-DD.jsonl` | one line per acceptance or decision, each holding the "
        "SHA-256 of the line before it |\n"
        "| `index/manifest.json` | the list of index segments, with their SHA-256 |\n"
        "| `index/segments/NNNNN.json` | arrays of index entries, in order of acceptance |\n"
        "| `index/summary.json` | the same entries in one array, as far as the manifest says |\n\n"
        "Every run file carries the SHA-256 of its canonical form in `digest`.\n\n");
    buffer_format(out, "Dataset format version: %d\n", DATASET_FORMAT_VERSION);
    if (licence && *licence)
        buffer_format(out, "Licence of the data: %s\n", licence);
}

static bool has_branches(struct repository *repository)
{
    git_reference_iterator *iterator = NULL;
    git_reference *reference = NULL;
    if (git_reference_iterator_glob_new(&iterator, repository->git, "refs/heads/*"))
        return false;
    bool any = git_reference_next(&reference, iterator) == 0;
    git_reference_free(reference);
    git_reference_iterator_free(iterator);
    return any;
}

bool repository_begin(struct repository *repository, const struct repository_author *author,
                      const char *licence, git_oid *commit, struct store_error *error)
{
    struct buffer readme BUFFER_SCOPE = {0};
    write_readme(licence, &readme);
    struct repository_file file = {.path = "README.md", .bytes = readme.data, .size = readme.size};
    return repository_write(repository, NULL, &file, 1, author, "bench: begin the dataset", commit,
                            error);
}

/* Counts an object for has_objects. */
static int count_object(const git_oid *id, void *context)
{
    (void)id;
    size_t *count = context;
    return ++*count > FIRST_OBJECTS;
}

/* Whether there is more than what a first start makes before its branch: README, tree and commit. */
static bool has_objects(struct repository *repository)
{
    git_odb *odb = NULL;
    size_t count = 0;
    if (git_repository_odb(&odb, repository->git))
        return true;
    int ended = git_odb_foreach(odb, count_object, &count);
    git_odb_free(odb);
    return ended != 0;
}

/* The first commit of an empty repository; HEAD is turned to main, whatever the machine's default
 * is. */
static bool begin_history(struct repository *repository, const struct repository_author *author,
                          const char *licence, struct store_error *error)
{
    git_oid commit;
    int failed = git_reference_name_to_id(&commit, repository->git, repository->branch);
    if (!failed)
        return true;
    if (failed != GIT_ENOTFOUND)
        return error_git(error, "cannot read %s of %s", repository->branch, repository->path);
    if (has_branches(repository))
        return error_set(error, "HEAD of %s points to %s, which does not exist", repository->path,
                         repository->branch);
    if (has_objects(repository))
        return error_set(
            error,
            "%s holds objects and no branch: its history lost its name. Find the newest "
            "commit with `git fsck --lost-found` and put it back with `git update-ref "
            "%s COMMIT`; an empty dataset is not begun over it",
            repository->path, repository->branch);
    if (strcmp(repository->branch, REPOSITORY_MAIN) &&
        !repository_turn(repository, REPOSITORY_MAIN, error))
        return false;
    return repository_begin(repository, author, licence, &commit, error) &&
           repository_move(repository, repository->branch, NULL, &commit, error) ==
               REPOSITORY_COMMITTED;
}

/* Whether PATH is, or may become, a repository of ours: we never spread files over a folder that
 * holds something else. A half-made one (killed meanwhile) is known by our lock file. */
static bool may_initialise(const char *path)
{
    struct arena arena ARENA_SCOPE = {0};
    return is_empty_folder(path) ||
           access(arena_format(&arena, "%s/" LOCK_COMMIT, path), F_OK) == 0;
}

/* AUTHOR NULL: no history is begun. */
static bool prepare(const char *path, const struct repository_author *author, const char *licence,
                    struct repository **out, struct store_error *error)
{
    need_libgit2();
    struct repository *repository REPOSITORY_SCOPE = NULL;
    bool exists = repository_open(path, &repository, error);
    if (!exists) {
        if (!may_initialise(path)) /* ERROR says why it cannot be opened */
            return false;
        if (!files_make_folders(path, error))
            return false;
    }
    struct lock lock LOCK_SCOPE = {-1};
    if (!lock_take(path, LOCK_COMMIT, lock_wait_long, NULL, &lock, error))
        return false;
    if (exists && !lock_clear_stale(path, LOCK_STALE_START_MS, error))
        return false;
    /* Under the lock once more: another process may have made it meanwhile. */
    if (!repository && !repository_open(path, &repository, NULL) && !initialise(path, error))
        return false;
    if (!repository && !repository_open(path, &repository, error))
        return false;
    assert(repository);
    if (!make_object_folders(repository->path, error) ||
        (author && !begin_history(repository, author, licence, error)))
        return false;
    if (!sync_everything(path, error))
        return false;
    *out = repository;
    repository = NULL;
    return true;
}

bool repository_prepare(const char *path, const struct repository_author *author,
                        const char *licence, struct repository **repository,
                        struct store_error *error)
{
    return prepare(path, author, licence, repository, error);
}

bool repository_prepare_mirror(const char *path, struct repository **repository,
                               struct store_error *error)
{
    return prepare(path, NULL, NULL, repository, error);
}

bool repository_probe(struct repository *repository, struct store_error *error)
{
    struct arena arena ARENA_SCOPE = {0};
    const char *path = arena_format(&arena, "%s/benchledger.probe", repository->path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_system(error, "cannot write %s", path);
    static const char text[4096] = "probe";
    bool fine = write(fd, text, sizeof text) == (ssize_t)sizeof text && fsync(fd) == 0;
    if (!fine)
        error_system(error, "cannot write %s", path);
    close(fd);
    unlink(path);
    return fine;
}
