#include "github/repository/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "github/repository/loose.h"
#include "validator/arena.h"

enum { CACHED_FOLDERS = 64, DEPTH_MAX = 16, NAME_MAX_BYTES = 255 };

/* A folder as it stands in its object: "MODE NAME\0" and 20 bytes of id for each item. */
struct folder {
    char *path;
    git_oid id;
    struct buffer raw;
};
struct tree_cache {
    struct folder folders[CACHED_FOLDERS];
    size_t turn; /* the next to be replaced */
};

struct item {
    const char *name;
    size_t name_size;
    bool is_folder, is_file;
    const unsigned char *id;
};

struct tree_cache *tree_cache_new(void)
{
    struct tree_cache *cache = memory_grow(NULL, sizeof *cache);
    *cache = (struct tree_cache){0};
    return cache;
}

void tree_cache_free(struct tree_cache *cache)
{
    for (size_t i = 0; cache && i < CACHED_FOLDERS; i++) {
        free(cache->folders[i].path);
        buffer_free(&cache->folders[i].raw);
    }
    free(cache);
}

static struct folder *cached_folder(struct tree_cache *cache, const char *path)
{
    for (size_t i = 0; i < CACHED_FOLDERS; i++)
        if (cache->folders[i].path && !strcmp(cache->folders[i].path, path))
            return &cache->folders[i];
    return NULL;
}

/* Takes RAW over. */
static struct folder *keep_folder(struct tree_cache *cache, const char *path, const git_oid *id,
                                  struct buffer *raw)
{
    struct folder *folder = cached_folder(cache, path);
    if (!folder) {
        folder = &cache->folders[cache->turn++ % CACHED_FOLDERS];
        free(folder->path);
        size_t size = strlen(path) + 1;
        folder->path = memcpy(memory_grow(NULL, size), path, size);
    }
    buffer_free(&folder->raw);
    folder->id = *id;
    folder->raw = *raw;
    *raw = (struct buffer){0};
    return folder;
}

static const struct folder *read_folder(struct repository *repository, const char *path,
                                        const git_oid *id, struct store_error *error)
{
    struct folder *folder = cached_folder(repository->trees, path);
    if (folder && git_oid_equal(&folder->id, id))
        return folder;
    git_odb *odb = NULL;
    git_odb_object *object = NULL;
    struct buffer raw BUFFER_SCOPE = {0};
    bool fine = !git_repository_odb(&odb, repository->git) && !git_odb_read(&object, odb, id) &&
                git_odb_object_type(object) == GIT_OBJECT_TREE;
    if (fine)
        buffer_add(&raw, git_odb_object_data(object), git_odb_object_size(object));
    else
        error_git(error, "cannot read the folder %s of %s", path, repository->path);
    git_odb_object_free(object);
    git_odb_free(odb);
    return fine ? keep_folder(repository->trees, path, id, &raw) : NULL;
}

/* The item at *AT, which moves behind it. False at the end, and on what is not a tree. */
static bool next_item(const struct buffer *raw, size_t *at, struct item *item)
{
    if (*at >= raw->size)
        return false;
    const char *start = raw->data + *at, *end = raw->data + raw->size;
    const char *space = memchr(start, ' ', (size_t)(end - start));
    const char *nul = space ? memchr(space, '\0', (size_t)(end - space)) : NULL;
    if (!nul || (size_t)(end - nul) < 1 + GIT_OID_RAWSZ)
        return false;
    item->is_folder = *start == '4'; /* 40000; all others have six digits */
    item->is_file = !memcmp(start, "100", 3);
    item->name = space + 1;
    item->name_size = (size_t)(nul - item->name);
    item->id = (const unsigned char *)nul + 1;
    *at = (size_t)(nul + 1 + GIT_OID_RAWSZ - raw->data);
    return true;
}

static bool find_item(const struct buffer *raw, const char *name, size_t size, struct item *item)
{
    for (size_t at = 0; next_item(raw, &at, item);)
        if (item->name_size == size && !memcmp(item->name, name, size))
            return true;
    return false;
}

enum tree_kind tree_look(struct repository *repository, const git_oid *root, const char *path,
                         git_oid *id, struct store_error *error)
{
    char folder_path[GIT_OID_HEXSZ + 1024] = "";
    git_oid at = *root;
    const char *name = path;
    for (int depth = 0; depth < DEPTH_MAX && strlen(path) < 1024; depth++) {
        const struct folder *folder = read_folder(repository, folder_path, &at, error);
        if (!folder)
            return TREE_FAULT;
        size_t size = strcspn(name, "/");
        struct item item;
        if (!find_item(&folder->raw, name, size, &item))
            return TREE_FREE;
        git_oid_fromraw(&at, item.id);
        *id = at;
        if (!name[size])
            return item.is_file ? TREE_FILE : TREE_BLOCKED;
        if (!item.is_folder) {
            memset(id, 0, sizeof *id);
            return TREE_BLOCKED;
        }
        name += size + 1;
        snprintf(folder_path, sizeof folder_path, "%.*s", (int)(name - 1 - path), path);
    }
    return TREE_FREE;
}

enum repository_found tree_find(struct repository *repository, const git_oid *root,
                                const char *path, git_oid *id, struct store_error *error)
{
    git_oid found = {{0}};
    enum tree_kind kind = tree_look(repository, root, path, &found, error);
    if (kind == TREE_FAULT)
        return REPOSITORY_FAULT;
    if (kind == TREE_FREE || git_oid_is_zero(&found))
        return REPOSITORY_ABSENT;
    *id = found;
    return REPOSITORY_FOUND;
}

/* What a folder gets: a file or a folder under NAME, or its removal. */
struct child {
    const char *name;
    size_t name_size;
    bool is_folder, remove;
    git_oid id;
};

struct editing {
    struct repository *repository;
    struct store_error *error;
};

/* Git's order: bytes, a folder as if its name ended with a slash. */
static int compare_names(const char *a, size_t a_size, bool a_folder, const char *b, size_t b_size,
                         bool b_folder)
{
    size_t common = a_size < b_size ? a_size : b_size;
    int order = memcmp(a, b, common);
    if (order)
        return order;
    int a_next = a_size > common ? (unsigned char)a[common] : a_folder ? '/' : 0;
    int b_next = b_size > common ? (unsigned char)b[common] : b_folder ? '/' : 0;
    return a_next - b_next;
}

struct comparing {
    struct repository *repository;
    tree_tell tell;
    void *context;
    struct store_error *error;
};

static bool compare_folders(const struct comparing *comparing, const char *path,
                            const git_oid *before, const git_oid *after, int depth);

/* One name of a folder; BEFORE or AFTER may be NULL. */
static bool compare_items(const struct comparing *comparing, const char *folder,
                          const struct item *before, const struct item *after, int depth)
{
    struct arena arena ARENA_SCOPE = {0};
    git_oid was, is;
    const struct item *any = before ? before : after;
    if (before && after && before->is_file == after->is_file &&
        !memcmp(before->id, after->id, GIT_OID_RAWSZ))
        return true;
    if (before)
        git_oid_fromraw(&was, before->id);
    if (after)
        git_oid_fromraw(&is, after->id);
    const char *path = arena_format(&arena, "%s/%.*s", folder, (int)any->name_size, any->name);
    if (any->is_folder)
        return compare_folders(comparing, path, before ? &was : NULL, after ? &is : NULL,
                               depth + 1);
    comparing->tell(comparing->context, path, before ? &was : NULL, after ? &is : NULL);
    return true;
}

static bool compare_raw(const struct comparing *comparing, const char *path,
                        const struct buffer *before, const struct buffer *after, int depth)
{
    struct item was, is;
    size_t was_at = 0, is_at = 0;
    bool has_was = next_item(before, &was_at, &was), has_is = next_item(after, &is_at, &is);
    while (has_was || has_is) {
        int order = !has_was  ? 1
                    : !has_is ? -1
                              : compare_names(was.name, was.name_size, was.is_folder, is.name,
                                              is.name_size, is.is_folder);
        if (!compare_items(comparing, path, order <= 0 ? &was : NULL, order >= 0 ? &is : NULL,
                           depth))
            return false;
        if (order <= 0)
            has_was = next_item(before, &was_at, &was);
        if (order >= 0)
            has_is = next_item(after, &is_at, &is);
    }
    return true;
}

/* The tree's bytes, out of the cache: the folder's next tree takes that place. */
static bool take_raw(const struct comparing *comparing, const char *path, const git_oid *id,
                     struct buffer *raw)
{
    if (!id)
        return true;
    if (!read_folder(comparing->repository, path, id, comparing->error))
        return false;
    struct folder *folder = cached_folder(comparing->repository->trees, path);
    *raw = folder->raw;
    folder->raw = (struct buffer){0};
    folder->id = (git_oid){{0}};
    return true;
}

static bool compare_folders(const struct comparing *comparing, const char *path,
                            const git_oid *before, const git_oid *after, int depth)
{
    struct buffer was BUFFER_SCOPE = {0}, is BUFFER_SCOPE = {0};
    if (depth >= DEPTH_MAX || (before && after && git_oid_equal(before, after)))
        return true;
    bool fine = take_raw(comparing, path, before, &was) && take_raw(comparing, path, after, &is) &&
                compare_raw(comparing, path, &was, &is, depth);
    if (fine && after)
        keep_folder(comparing->repository->trees, path, after, &is);
    return fine;
}

bool tree_compare(struct repository *repository, const char *path, const git_oid *before,
                  const git_oid *after, tree_tell tell, void *context, struct store_error *error)
{
    const struct comparing comparing = {repository, tell, context, error};
    return compare_folders(&comparing, path, before, after, 1);
}

static int by_name(const void *left, const void *right)
{
    const struct child *a = left, *b = right;
    return compare_names(a->name, a->name_size, a->is_folder, b->name, b->name_size, b->is_folder);
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const struct tree_edit *)left)->path, ((const struct tree_edit *)right)->path);
}

static void put_child(const struct child *child, struct buffer *out)
{
    if (child->remove)
        return;
    buffer_text(out, child->is_folder ? "40000 " : "100644 ");
    buffer_add(out, child->name, child->name_size);
    buffer_byte(out, '\0');
    buffer_add(out, child->id.id, GIT_OID_RAWSZ);
}

/* OLD with CHILDREN, both in git's order, put in. What lies between two changes is copied whole. */
static void merge_children(const struct buffer *old, const struct child *children, size_t count,
                           struct buffer *out)
{
    struct item item;
    size_t copied = 0, start = 0, i = 0;
    for (size_t at = 0; i < count && next_item(old, &at, &item); start = at) {
        int order = 1;
        while (i < count &&
               (order = compare_names(item.name, item.name_size, item.is_folder, children[i].name,
                                      children[i].name_size, children[i].is_folder)) >= 0) {
            buffer_add(out, old->data + copied, start - copied);
            copied = order ? start : at;
            put_child(&children[i++], out);
            if (!order)
                break;
        }
    }
    if (copied < old->size)
        buffer_add(out, old->data + copied, old->size - copied);
    for (; i < count; i++)
        put_child(&children[i], out);
}

static bool update_folder(const struct editing *editing, const char *path, const git_oid *base,
                          const struct tree_edit *edits, size_t count, int depth, git_oid *tree,
                          bool *empty);

/* Makes the child that the edits EDITS[0..COUNT) with the same first name below PATH amount to. */
static bool make_child(const struct editing *editing, size_t skip, const struct buffer *old,
                       const struct tree_edit *edits, size_t count, int depth, struct child *child)
{
    struct arena arena ARENA_SCOPE = {0};
    struct item present;
    bool is_there = find_item(old, child->name, child->name_size, &present);
    if (is_there && present.is_folder != child->is_folder)
        return error_set(editing->error, "%s would replace what lies there", edits[0].path);
    if (!child->is_folder) {
        child->id = edits[0].blob;
        child->remove = edits[0].remove;
        return true;
    }
    git_oid base;
    if (is_there)
        git_oid_fromraw(&base, present.id);
    const char *below = arena_copy(&arena, edits[0].path, skip + child->name_size);
    return update_folder(editing, below, is_there ? &base : NULL, edits, count, depth + 1,
                         &child->id, &child->remove);
}

/* One child for each first name below PATH. CHILDREN has room for one per edit. */
static bool make_children(const struct editing *editing, const char *path, const struct buffer *old,
                          const struct tree_edit *edits, size_t count, int depth,
                          struct child *children, size_t *child_count)
{
    size_t skip = *path ? strlen(path) + 1 : 0;
    *child_count = 0;
    for (size_t i = 0, next; i < count; i = next) {
        const char *name = edits[i].path + skip;
        size_t size = strcspn(name, "/");
        if (!size || size > NAME_MAX_BYTES || name[0] == '.')
            return error_set(editing->error, "%s is not a path of a dataset", edits[i].path);
        next = i + 1;
        while (next < count && !strncmp(edits[next].path + skip, name, size) &&
               (edits[next].path[skip + size] == '/' || !edits[next].path[skip + size]))
            next++;
        struct child *child = &children[(*child_count)++];
        *child = (struct child){.name = name, .name_size = size, .is_folder = name[size] == '/'};
        if (!child->is_folder && next > i + 1)
            return error_set(editing->error, "%s is named twice in one commit", edits[i].path);
        if (!make_child(editing, skip, old, edits + i, next - i, depth, child))
            return false;
    }
    return true;
}

static bool update_folder(const struct editing *editing, const char *path, const git_oid *base,
                          const struct tree_edit *edits, size_t count, int depth, git_oid *tree,
                          bool *empty)
{
    struct arena arena ARENA_SCOPE = {0};
    struct buffer old BUFFER_SCOPE = {0};
    struct buffer raw BUFFER_SCOPE = {0};
    if (depth > DEPTH_MAX)
        return error_set(editing->error, "%s lies too deep", edits[0].path);
    if (base) {
        const struct folder *folder = read_folder(editing->repository, path, base, editing->error);
        if (!folder)
            return false;
        buffer_add(&old, folder->raw.data,
                   folder->raw.size); /* the cache may be turned over below */
    }
    size_t child_count = 0;
    struct child *children = arena_clear_take(&arena, count, sizeof *children);
    if (!make_children(editing, path, &old, edits, count, depth, children, &child_count))
        return false;
    qsort(children, child_count, sizeof *children, by_name);
    buffer_reserve(&raw, old.size + 512);
    merge_children(&old, children, child_count, &raw);
    *empty = raw.size == 0;
    /* Mostly hashes: nothing to gain by compressing. `git gc` packs what is old. */
    if ((!*empty || depth == 0) && !loose_write(editing->repository, GIT_OBJECT_TREE, raw.data,
                                                raw.size, LOOSE_STORED, tree, editing->error))
        return false;
    if (!*empty)
        keep_folder(editing->repository->trees, path, tree, &raw);
    return true;
}

bool tree_update(struct repository *repository, const git_oid *root, struct tree_edit *edits,
                 size_t count, git_oid *tree, struct store_error *error)
{
    struct editing editing = {repository, error};
    bool empty;
    qsort(edits, count, sizeof *edits, by_path);
    return update_folder(&editing, "", root, edits, count, 0, tree, &empty);
}
