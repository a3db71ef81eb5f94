#include "server/api/assets.h"

#include <stdlib.h>
#include <string.h>

#include "pages/assets.h"
#include "server/http/request.h"

enum { NAME_ROOM = 72 };

struct asset_room {
    size_t count;
    struct content *contents[]; /* in the order of the table */
};

struct asset_room *assets_open(void)
{
    size_t count, size;
    const struct asset *table = assets(&count);
    struct asset_room *room = memory_grow(NULL, sizeof *room + count * sizeof(struct content *));
    room->count = count;
    for (size_t i = 0; i < count; i++) {
        char *copy = memcpy(memory_grow(NULL, table[i].size + 1), table[i].bytes, table[i].size);
        room->contents[i] = content_new(copy, table[i].size, table[i].version);
        (void)content_gzip(room->contents[i],
                           &size); /* now, so that the first reader does not wait */
    }
    return room;
}

void assets_close(struct asset_room *room)
{
    for (size_t i = 0; room && i < room->count; i++)
        content_unref(room->contents[i]);
    free(room);
}

static void send_asset(struct request *request, struct answer *answer, const char *name,
                       bool addressed)
{
    size_t count;
    const struct asset *table = assets(&count);
    size_t at = 0;
    while (at < count && strcmp(table[at].name, name) != 0)
        at++;
    if (at == count) {
        answer_error(answer, ERROR_NOT_FOUND, NULL);
        return;
    }
    const char *version = addressed ? request_query(request, "v") : NULL;
    bool kept = version && !strcmp(version, table[at].version);
    answer->status = 200;
    answer->type = table[at].type;
    answer->content = content_ref(request->service->assets->contents[at]);
    answer->cache_control = kept ? "public, max-age=31536000, immutable" : "no-cache";
}

void assets_answer(struct request *request, struct answer *answer)
{
    char name[NAME_ROOM];
    request_parameter(request, 0, name, sizeof name);
    send_asset(request, answer, name, true);
}

void assets_icon(struct request *request, struct answer *answer)
{
    assets_send(request, answer, "icon.svg");
}

void assets_send(struct request *request, struct answer *answer, const char *name)
{
    send_asset(request, answer, name, false);
}
