#include "server/api/boardview.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/clock.h"
#include "validator/arena.h"

enum { VIEWS = 64, FIELDS = 7 };

struct cached {
    char *key; /* NULL: free */
    struct content *content;
    uint64_t version, used;
};

/* What the writer has told and the board does not hold yet. */
enum news_kind { NEWS_RESET, NEWS_ENTRY, NEWS_SETTLED };
struct news {
    struct news *next;
    enum news_kind kind;
    uint64_t version; /* NEWS_SETTLED */
    int64_t at_ms;
    size_t size; /* NEWS_ENTRY */
    char entry[];
};

struct boardview {
    const char *const *protocols; /* borrowed */
    const char *repo;
    uint64_t told;              /* version of what was told last; the writer's own */
    pthread_mutex_t news_mutex; /* guards the news */
    struct news *first_news, **last_news;
    /* Guards the boards, generated_at and version, and is held while a snapshot is made: the writer
     * only tries it. */
    pthread_mutex_t board_mutex;
    struct board *board, *rebuilt; /* REBUILT: what follows a reset, shown when it has settled */
    char generated_at[32];
    uint64_t version;
    pthread_mutex_t cache_mutex; /* guards what follows; never held while a board is read */
    struct cached cache[VIEWS];
    uint64_t shown; /* version of the contents that may still be given out */
    uint64_t uses;
};

struct boardview *boardview_new(char *const *protocols, const char *repo)
{
    struct boardview *view = memory_grow(NULL, sizeof *view);
    memset(view, 0, sizeof *view);
    view->protocols = (const char *const *)protocols;
    view->repo = repo;
    view->board = board_new(view->protocols);
    clock_iso(clock_wall_ms(), view->generated_at);
    view->last_news = &view->first_news;
    pthread_mutex_init(&view->news_mutex, NULL);
    pthread_mutex_init(&view->board_mutex, NULL);
    pthread_mutex_init(&view->cache_mutex, NULL);
    return view;
}

static void clear(struct cached *cached)
{
    free(cached->key);
    content_unref(cached->content);
    *cached = (struct cached){0};
}

void boardview_free(struct boardview *view)
{
    if (!view)
        return;
    for (int i = 0; i < VIEWS; i++)
        clear(&view->cache[i]);
    for (struct news *news = view->first_news, *next; news; news = next) {
        next = news->next;
        free(news);
    }
    board_free(view->board);
    board_free(view->rebuilt);
    pthread_mutex_destroy(&view->news_mutex);
    pthread_mutex_destroy(&view->board_mutex);
    pthread_mutex_destroy(&view->cache_mutex);
    free(view);
}

/* BOARD_MUTEX is held. */
static void apply(struct boardview *view, const struct news *news)
{
    switch (news->kind) {
    case NEWS_RESET:
        board_free(view->rebuilt);
        view->rebuilt = board_new(view->protocols);
        return;
    case NEWS_ENTRY:
        /* What is no entry is left out of the board; the index keeps it. */
        (void)board_add(view->rebuilt ? view->rebuilt : view->board, news->entry, news->size);
        return;
    case NEWS_SETTLED:
        if (view->rebuilt) {
            board_free(view->board);
            view->board = view->rebuilt;
            view->rebuilt = NULL;
        }
        view->version = news->version;
        clock_iso(news->at_ms, view->generated_at);
        return;
    }
}

/* BOARD_MUTEX is held. */
static void catch_up(struct boardview *view)
{
    pthread_mutex_lock(&view->news_mutex);
    struct news *news = view->first_news;
    view->first_news = NULL;
    view->last_news = &view->first_news;
    pthread_mutex_unlock(&view->news_mutex);
    while (news) {
        struct news *next = news->next;
        apply(view, news);
        free(news);
        news = next;
    }
}

/* Never waits for a snapshot: whoever reads the board catches up first. */
static void tell(struct boardview *view, struct news news, const char *entry)
{
    struct news *kept = memory_grow(NULL, sizeof *kept + news.size);
    *kept = news;
    memcpy(kept->entry, entry, news.size);
    pthread_mutex_lock(&view->news_mutex);
    *view->last_news = kept;
    view->last_news = &kept->next;
    pthread_mutex_unlock(&view->news_mutex);
    if (pthread_mutex_trylock(&view->board_mutex) != 0)
        return;
    catch_up(view);
    pthread_mutex_unlock(&view->board_mutex);
}

static void told_reset(void *context)
{
    tell(context, (struct news){.kind = NEWS_RESET}, "");
}

static void told_entry(void *context, const char *entry, size_t size)
{
    tell(context, (struct news){.kind = NEWS_ENTRY, .size = size}, entry);
}

static void told_settled(void *context)
{
    struct boardview *view = context;
    uint64_t version = ++view->told;
    tell(view, (struct news){.kind = NEWS_SETTLED, .version = version, .at_ms = clock_wall_ms()},
         "");
    pthread_mutex_lock(&view->cache_mutex);
    view->shown = version;
    pthread_mutex_unlock(&view->cache_mutex);
}

struct store_listener boardview_listener(struct boardview *view)
{
    return (struct store_listener){
        .context = view, .reset = told_reset, .entry = told_entry, .settled = told_settled};
}

/* Filter and form as one text; the fields' lengths keep them apart. */
static char *make_key(const struct board_filter *filter, bool csv)
{
    static const struct board_filter none;
    const struct board_filter *from = filter ? filter : &none;
    const char *const fields[FIELDS] = {
        from->protocol,       from->device_class, from->device_subclass, from->runtime_id,
        from->bench_model_id, from->workload_id,  from->browser};
    struct buffer key = {0};
    buffer_text(&key, csv ? "csv" : "json");
    for (int i = 0; i < FIELDS; i++)
        if (fields[i])
            buffer_format(&key, ";%d:%zu:%s", i, strlen(fields[i]), fields[i]);
    return buffer_take(&key, NULL);
}

static struct content *look_up(struct boardview *view, const char *key)
{
    struct content *content = NULL;
    pthread_mutex_lock(&view->cache_mutex);
    for (int i = 0; i < VIEWS && !content; i++) {
        struct cached *cached = &view->cache[i];
        if (!cached->key || cached->version != view->shown || strcmp(cached->key, key) != 0)
            continue;
        cached->used = ++view->uses;
        content = content_ref(cached->content);
    }
    pthread_mutex_unlock(&view->cache_mutex);
    return content;
}

/* Takes KEY. Replaces what was used least lately. */
static void keep(struct boardview *view, char *key, struct content *content, uint64_t version)
{
    pthread_mutex_lock(&view->cache_mutex);
    struct cached *place = &view->cache[0];
    for (int i = 0; i < VIEWS; i++) {
        struct cached *cached = &view->cache[i];
        if (cached->key && cached->version != view->shown)
            clear(cached);
        if (cached->used < place->used)
            place = cached;
    }
    clear(place);
    *place = (struct cached){key, content_ref(content), version, ++view->uses};
    pthread_mutex_unlock(&view->cache_mutex);
}

struct content *boardview_get(struct boardview *view, const struct board_filter *filter, bool csv)
{
    char *key = make_key(filter, csv);
    struct content *content = look_up(view, key);
    if (content) {
        free(key);
        return content;
    }
    struct buffer out = {0};
    pthread_mutex_lock(&view->board_mutex);
    catch_up(view);
    uint64_t version = view->version;
    if (csv)
        board_write_csv(view->board, filter, &out);
    else
        board_write_snapshot(view->board, filter, view->repo, view->generated_at, &out);
    pthread_mutex_unlock(&view->board_mutex);
    size_t size;
    char *data = buffer_take(&out, &size);
    content = content_new(data, size, NULL);
    keep(view, key, content, version);
    return content;
}
