#include "server/receipt/ring.h"

#include <stdio.h>
#include <string.h>

#include "server/http/request.h"
#include "server/receipt/key.h"

/* More than anybody rotates to. Others who write to the dataset could put more there. */
enum { KEYS_MOST = 32, PATH_ROOM = 64 };

void ring_file(const struct receipt_key *key, struct ring_file *out)
{
    const char *pem = receipt_key_public(key);
    snprintf(out->path, sizeof out->path, "keys/%s.pub", receipt_key_id(key));
    out->file = (struct store_file){.path = out->path, .bytes = pem, .size = strlen(pem)};
}

struct names {
    size_t count;
    char paths[KEYS_MOST][PATH_ROOM];
};

static void note_path(void *context, const char *path)
{
    struct names *names = context;
    if (names->count < KEYS_MOST && strlen(path) < PATH_ROOM)
        snprintf(names->paths[names->count++], PATH_ROOM, "%s", path);
}

static void write_key(struct js_writer *writer, const struct receipt_key *key, bool current)
{
    js_write_begin(writer, '{');
    js_write_key(writer, "keyId");
    js_write_text(writer, receipt_key_id(key));
    js_write_key(writer, "algorithm");
    js_write_text(writer, "Ed25519");
    js_write_key(writer, "publicKey");
    js_write_text(writer, receipt_key_public(key));
    js_write_key(writer, "current");
    js_write_bool(writer, current);
    js_write_end(writer, '}');
}

/* What is no key, or is not named by its id, is passed over: it could not verify anything. */
static void write_past(struct store *store, const char *path, const struct receipt_key *current,
                       struct js_writer *writer)
{
    struct store_blob blob;
    struct store_error error;
    const char *problem;
    char wanted[PATH_ROOM];
    if (!store_read(store, path, true, &blob, &error))
        return;
    struct receipt_key *key = receipt_key_parse_public(blob.data, blob.size, &problem);
    store_blob_free(&blob);
    if (!key)
        return;
    snprintf(wanted, sizeof wanted, "keys/%s.pub", receipt_key_id(key));
    if (!strcmp(wanted, path) &&
        !(current && !strcmp(receipt_key_id(key), receipt_key_id(current))))
        write_key(writer, key, false);
    receipt_key_free(key);
}

void ring_keys(struct request *request, struct answer *answer)
{
    const struct service *service = request->service;
    struct names names = {0};
    struct js_writer writer = {.out = &answer->body};
    answer->status = 200;
    answer->cache_control = "public, max-age=300";
    js_write_begin(&writer, '{');
    js_write_key(&writer, "keys");
    js_write_begin(&writer, '[');
    if (service->receipts)
        write_key(&writer, service->receipts, true);
    if (service->store)
        store_list(service->store, "keys", note_path, &names);
    for (size_t i = 0; i < names.count; i++)
        write_past(service->store, names.paths[i], service->receipts, &writer);
    js_write_end(&writer, ']');
    js_write_end(&writer, '}');
}
