#include "server/api/boardview.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages/board_page.h"
#include "pages/row_page.h"
#include "server/api/making.h"
#include "server/api/shelf.h"
#include "server/clock.h"
#include "validator/arena.h"
#include "validator/sha256.h"

/* The whole board in its forms is kept apart: what people ask of it in many ways does not push it
 * out. */
enum { PLAIN_MOST = 64 << 20, VIEWS_MOST = 64 << 20 };

/* What the writer has told and the board does not hold yet. */
enum news_kind { NEWS_RESET, NEWS_ENTRY, NEWS_REPLACED, NEWS_REMOVED, NEWS_SETTLED };
struct news {
    struct news *next;
    enum news_kind kind;
    uint64_t version; /* NEWS_SETTLED */
    int64_t at_ms;
    size_t size; /* of ENTRY: an entry, or the id of the run that was removed */
    char entry[];
};

/* A board that a page may still be made of when another one has taken its place. */
struct shared_board {
    atomic_int users;
    struct board *board;
};

struct boardview {
    const char *const *protocols; /* borrowed */
    enum board_provisional provisional;
    const char *repo;
    uint64_t told;              /* version of what was told last; the writer's own */
    pthread_mutex_t news_mutex; /* guards the news */
    struct news *first_news, **last_news;
    /* Guards the boards, generated_at and version, and is held while a snapshot is made: the writer
     * only tries it. */
    pthread_mutex_t board_mutex;
    struct shared_board *board, *rebuilt; /* REBUILT: what follows a reset, shown when settled */
    char generated_at[32];
    uint64_t version;
    uint64_t kept; /* version of what is on the shelves; with board_mutex */
    atomic_ullong hits, misses;
    atomic_ullong shown; /* version of the contents that may still be given out */
    struct shelf *plain, *views;
    struct making *making;
};

static struct shared_board *shared_new(const struct boardview *view)
{
    struct shared_board *shared = memory_grow(NULL, sizeof *shared);
    atomic_init(&shared->users, 1);
    shared->board = board_new(view->protocols);
    board_count_provisional(shared->board, view->provisional);
    return shared;
}

static void shared_drop(struct shared_board *shared)
{
    if (!shared || atomic_fetch_sub(&shared->users, 1) != 1)
        return;
    board_free(shared->board);
    free(shared);
}

struct boardview *boardview_new(char *const *protocols, enum board_provisional provisional,
                                const char *repo)
{
    struct boardview *view = memory_grow(NULL, sizeof *view);
    memset(view, 0, sizeof *view);
    view->protocols = (const char *const *)protocols;
    view->provisional = provisional;
    view->repo = repo;
    view->board = shared_new(view);
    clock_iso(clock_wall_ms(), view->generated_at);
    view->last_news = &view->first_news;
    pthread_mutex_init(&view->news_mutex, NULL);
    pthread_mutex_init(&view->board_mutex, NULL);
    atomic_init(&view->shown, 0);
    atomic_init(&view->hits, 0);
    atomic_init(&view->misses, 0);
    view->plain = shelf_new(PLAIN_MOST);
    view->views = shelf_new(VIEWS_MOST);
    view->making = making_new();
    return view;
}

void boardview_free(struct boardview *view)
{
    if (!view)
        return;
    shelf_free(view->plain);
    shelf_free(view->views);
    making_free(view->making);
    for (struct news *news = view->first_news, *next; news; news = next) {
        next = news->next;
        free(news);
    }
    shared_drop(view->board);
    shared_drop(view->rebuilt);
    pthread_mutex_destroy(&view->news_mutex);
    pthread_mutex_destroy(&view->board_mutex);
    free(view);
}

/* BOARD_MUTEX is held. */
static void apply(struct boardview *view, const struct news *news)
{
    struct board *board = (view->rebuilt ? view->rebuilt : view->board)->board;
    switch (news->kind) {
    case NEWS_RESET:
        shared_drop(view->rebuilt);
        view->rebuilt = shared_new(view);
        return;
    case NEWS_ENTRY:
        /* What is no entry is left out of the board; the index keeps it. */
        (void)board_add(board, news->entry, news->size);
        return;
    case NEWS_REPLACED:
        (void)board_replace(board, news->entry, news->size);
        return;
    case NEWS_REMOVED:
        (void)board_remove(board, news->entry);
        return;
    case NEWS_SETTLED:
        if (view->rebuilt) {
            shared_drop(view->board);
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

static void told_replaced(void *context, const char *run_id, const char *entry, size_t size)
{
    if (entry)
        tell(context, (struct news){.kind = NEWS_REPLACED, .size = size}, entry);
    else
        tell(context, (struct news){.kind = NEWS_REMOVED, .size = strlen(run_id) + 1}, run_id);
}

static void told_settled(void *context)
{
    struct boardview *view = context;
    uint64_t version = ++view->told;
    tell(view, (struct news){.kind = NEWS_SETTLED, .version = version, .at_ms = clock_wall_ms()},
         "");
    atomic_store(&view->shown, version);
}

static void write_leaderboard(void *context, struct buffer *out)
{
    struct boardview *view = context;
    pthread_mutex_lock(&view->board_mutex);
    catch_up(view);
    board_write_leaderboard(view->board->board, out);
    pthread_mutex_unlock(&view->board_mutex);
}

struct store_listener boardview_listener(struct boardview *view)
{
    return (struct store_listener){.context = view,
                                   .reset = told_reset,
                                   .entry = told_entry,
                                   .replaced = told_replaced,
                                   .settled = told_settled,
                                   .leaderboard = write_leaderboard};
}

uint64_t boardview_version(const struct boardview *view)
{
    return atomic_load(&view->shown);
}

static void key_part(struct buffer *key, char name, const char *value)
{
    if (value)
        buffer_format(key, ";%c%zu:%s", name, strlen(value), value);
}

bool boardview_is_plain(const struct board_asked *asked)
{
    const struct board_query *query = &asked->query;
    bool plain = !query->words && !query->sort && asked->figure == FIGURE_COUNT && !asked->all;
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        plain = plain && !query->equal[i];
    return plain;
}

/* What is asked and the form as one text, digested: the parts' lengths keep them apart. */
static void make_key(enum board_form form, const struct board_asked *asked, uint64_t version,
                     char out[SHELF_KEY])
{
    BUFFER_SCOPE struct buffer key = {0};
    char hex[SHA256_HEX + 1];
    buffer_format(&key, "%d", form);
    for (int i = 0; i < BOARD_DIMENSIONS; i++)
        key_part(&key, (char)('0' + i), asked->query.equal[i]);
    key_part(&key, 'q', asked->query.words);
    key_part(&key, 's', asked->query.sort);
    if (form == BOARD_PAGE)
        buffer_format(&key, ";f%d;%d", asked->figure, asked->all);
    sha256_hex(buffer_string(&key), key.size, hex);
    snprintf(out, SHELF_KEY, "%" PRIu64 ";%s", version, hex);
}

static struct shelf *shelf_of(const struct boardview *view, const struct board_asked *asked)
{
    return boardview_is_plain(asked) ? view->plain : view->views;
}

struct content *boardview_find(struct boardview *view, enum board_form form,
                               const struct board_asked *asked)
{
    char key[SHELF_KEY];
    make_key(form, asked, atomic_load(&view->shown), key);
    struct content *content = shelf_find(shelf_of(view, asked), key);
    if (content)
        atomic_fetch_add(&view->hits, 1);
    return content;
}

void boardview_figures(struct boardview *view, struct boardview_figures *figures)
{
    size_t plain, views;
    figures->hits = atomic_load(&view->hits);
    figures->misses = atomic_load(&view->misses);
    figures->contents = shelf_count(view->plain, &plain) + shelf_count(view->views, &views);
    figures->bytes = plain + views;
}

/* What is kept of an older board nobody asks for again. BOARD_MUTEX is held. */
static void drop_outdated(struct boardview *view)
{
    if (view->kept == view->version)
        return;
    shelf_clear(view->plain);
    shelf_clear(view->views);
    view->kept = view->version;
}

/* What a page needs is read under the lock; the markup is made of it without. */
struct reading {
    struct arena arena;
    struct shared_board *board;
    char changed_at[32];
    bool found; /* ROW: there is such a row */
    struct board_view all;
    struct board_detail row;
};

/* BOARD_MUTEX is held. */
static void read_board(struct boardview *view, enum board_form form,
                       const struct board_asked *asked, struct reading *reading, struct buffer *out)
{
    struct board *board = view->board->board;
    const struct board_query *query = &asked->query;
    switch (form) {
    case BOARD_JSON:
        board_write_snapshot(board, query, view->repo, view->generated_at, out);
        return;
    case BOARD_CSV:
        board_write_csv(board, query, out);
        return;
    case BOARD_PAGE:
        board_view_make(board, query, &reading->arena, &reading->all);
        break;
    case BOARD_ROW:
        reading->found = board_view_row(board, query, &reading->arena, &reading->row);
        break;
    }
    memcpy(reading->changed_at, view->generated_at, sizeof reading->changed_at);
    reading->board = view->board;
    atomic_fetch_add(&view->board->users, 1);
}

static void write_page(enum board_form form, const struct board_asked *asked,
                       const struct reading *reading, struct buffer *out)
{
    if (form == BOARD_PAGE)
        board_page_write(out, &reading->all, asked, reading->changed_at);
    else if (form == BOARD_ROW && reading->found)
        row_page_write(out, &reading->row, &asked->query);
}

static struct content *make(struct boardview *view, enum board_form form,
                            const struct board_asked *asked)
{
    struct buffer out = {0};
    struct reading reading = {0};
    char key[SHELF_KEY];
    atomic_fetch_add(&view->misses, 1);
    pthread_mutex_lock(&view->board_mutex);
    catch_up(view);
    drop_outdated(view);
    make_key(form, asked, view->version, key);
    read_board(view, form, asked, &reading, &out);
    pthread_mutex_unlock(&view->board_mutex);
    write_page(form, asked, &reading, &out);
    shared_drop(reading.board);
    arena_free(&reading.arena);
    if (!out.size)
        return NULL;
    size_t size;
    char *data = buffer_take(&out, &size);
    struct content *content = content_new(data, size, NULL);
    shelf_keep(shelf_of(view, asked), key, content);
    return content;
}

struct content *boardview_get(struct boardview *view, enum board_form form,
                              const struct board_asked *asked)
{
    struct content *content = boardview_find(view, form, asked);
    if (content)
        return content;
    char key[SHELF_KEY];
    make_key(form, asked, 0, key); /* whatever version: a newer one serves both */
    bool first = making_begin(view->making, key);
    if (!first)
        content = boardview_find(view, form, asked);
    if (!content)
        content = make(view, form, asked);
    if (first)
        making_end(view->making, key);
    return content;
}

bool boardview_neighbours(struct boardview *view, const char *entry, size_t size,
                          struct arena *arena, struct neighbours *out)
{
    pthread_mutex_lock(&view->board_mutex);
    catch_up(view);
    bool found = board_neighbours(view->board->board, entry, size, arena, out);
    pthread_mutex_unlock(&view->board_mutex);
    return found;
}
