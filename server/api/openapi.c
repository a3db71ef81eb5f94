#include "server/api/openapi.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/content.h"
#include "server/api/routes.h"
#include "server/version.h"

/* jansson fails here only without memory, at start: the service cannot describe itself, so it
 * stops. */
static json_t *need(json_t *value)
{
    if (!value)
        abort();
    return value;
}

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, need(value)) != 0)
        abort();
}

static json_t *text(const char *value)
{
    return need(json_string(value));
}

static json_t *described(const char *description)
{
    json_t *object = need(json_object());
    set(object, "description", text(description));
    return object;
}

/* "/runs/{year}/{file:class}" without the classes. */
static void plain_path(const char *pattern, char *out, size_t room)
{
    size_t used = 0;
    bool skips = false;
    for (; *pattern && used + 1 < room; pattern++) {
        if (*pattern == ':')
            skips = true;
        if (*pattern == '}')
            skips = false;
        if (!skips)
            out[used++] = *pattern;
    }
    out[used] = '\0';
}

static json_t *make_parameter(const char *name, size_t size, const char *place, const char *help,
                              const char *values)
{
    json_t *object = need(json_object()), *schema = need(json_object());
    set(object, "name", json_stringn(name, size));
    set(object, "in", text(place));
    set(object, "required", json_boolean(!strcmp(place, "path")));
    if (help)
        set(object, "description", text(help));
    set(schema, "type", text("string"));
    if (values) {
        json_t *list = need(json_array());
        for (const char *at = values; *at;) {
            size_t length = strcspn(at, "|");
            json_array_append_new(list, need(json_stringn(at, length)));
            at += length + (at[length] == '|');
        }
        set(schema, "enum", list);
    }
    set(object, "schema", schema);
    return object;
}

static json_t *make_parameters(const struct route *route, const char *path)
{
    json_t *list = need(json_array());
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{'))
        json_array_append_new(list,
                              make_parameter(at + 1, strcspn(at + 1, "}"), "path", NULL, NULL));
    for (const struct parameter *row = route->query; row && row->name; row++)
        json_array_append_new(
            list, make_parameter(row->name, strlen(row->name), "query", row->help, row->values));
    for (const struct parameter *row = route->headers; row && row->name; row++)
        json_array_append_new(
            list, make_parameter(row->name, strlen(row->name), "header", row->help, row->values));
    return list;
}

static bool has_csv(const struct route *route)
{
    for (const struct parameter *row = route->query; row && row->name; row++)
        if (row->values && strstr(row->values, "csv"))
            return true;
    return false;
}

static void add_success(json_t *responses, const struct route *route)
{
    for (const char *at = route->success; at && *at;) {
        size_t size = strcspn(at, "|");
        char status[4] = {0}, line[256];
        memcpy(status, at, 3);
        snprintf(line, sizeof line, "%.*s", (int)(size - 4), at + 4);
        json_t *response = described(line);
        if (strcmp(status, "304") != 0) {
            json_t *content = need(json_object());
            set(content, route->type ? route->type : "application/json", json_object());
            if (has_csv(route))
                set(content, "text/csv", json_object());
            set(response, "content", content);
        }
        set(responses, status, response);
        at += size + (at[size] == '|');
    }
}

/* Several codes may share a status: they are listed in one description. */
static void add_error(json_t *responses, enum error error)
{
    const struct error_row *row = error_row(error);
    char status[8], line[512];
    snprintf(status, sizeof status, "%u", row->status);
    json_t *response = json_object_get(responses, status);
    const char *before =
        response ? json_string_value(json_object_get(response, "description")) : NULL;
    if (before)
        snprintf(line, sizeof line, "%s; `%s`: %s", before, row->code, row->message);
    else
        snprintf(line, sizeof line, "`%s`: %s", row->code, row->message);
    if (!response) {
        response = need(json_object());
        json_t *content = need(json_object()), *media = need(json_object());
        json_t *schema = need(json_object());
        set(schema, "$ref", text("#/components/schemas/Error"));
        set(media, "schema", schema);
        set(content, "application/json", media);
        set(response, "content", content);
        set(responses, status, response);
    }
    set(response, "description", text(line));
}

static json_t *make_responses(const struct route *route)
{
    json_t *responses = need(json_object());
    add_success(responses, route);
    for (const enum error *error = route->errors; error && *error != ERROR_COUNT; error++)
        add_error(responses, *error);
    if (strchr(route->path, '{') && !json_object_get(responses, "404"))
        add_error(responses, ERROR_NOT_FOUND);
    add_error(responses, ERROR_INTERNAL);
    return responses;
}

static json_t *make_body(const struct route *route, const struct config *config)
{
    char line[256];
    snprintf(line, sizeof line,
             "%s. At most %lld bytes before and after decompression; Content-Encoding may be gzip.",
             route->body, (long long)config->limits.max_body);
    json_t *body = described(line), *content = need(json_object()), *media = need(json_object());
    json_t *schema = need(json_object());
    set(schema, "type", text("object"));
    set(media, "schema", schema);
    set(content, "application/json", media);
    set(body, "content", content);
    set(body, "required", json_true());
    return body;
}

static json_t *make_operation(const struct route *route, const char *path, bool head,
                              const struct config *config)
{
    json_t *operation = need(json_object());
    set(operation, "summary", text(route->summary));
    json_t *parameters = make_parameters(route, path);
    if (json_array_size(parameters))
        set(operation, "parameters", parameters);
    else
        json_decref(parameters);
    if (route->secured)
        set(operation, "security", need(json_pack("[{s:[]}]", "maintainer")));
    if (route->body)
        set(operation, "requestBody", make_body(route, config));
    json_t *responses = make_responses(route);
    const char *key;
    json_t *response;
    if (head)
        json_object_foreach(responses, key, response) json_object_del(response, "content");
    set(operation, "responses", responses);
    return operation;
}

static json_t *make_paths(const struct config *config)
{
    json_t *paths = need(json_object());
    size_t count;
    const struct route *table = routes(&count);
    for (size_t i = 0; i < count; i++) {
        char path[128];
        plain_path(table[i].path, path, sizeof path);
        json_t *item = json_object_get(paths, path);
        if (!item) {
            item = need(json_object());
            set(paths, path, item);
        }
        bool get = table[i].method == METHOD_GET;
        set(item, get ? "get" : "post", make_operation(&table[i], path, false, config));
        if (get)
            set(item, "head", make_operation(&table[i], path, true, config));
    }
    return paths;
}

static json_t *make_error_schema(void)
{
    json_t *schema = need(json_object()), *properties = need(json_object());
    json_t *codes = need(json_array()), *code = need(json_object());
    for (int i = 0; i < ERROR_COUNT; i++)
        json_array_append_new(codes, text(error_row((enum error)i)->code));
    set(code, "type", text("string"));
    set(code, "enum", codes);
    set(properties, "ok", need(json_pack("{s:b}", "const", 0)));
    set(properties, "code", code);
    set(properties, "message", need(json_pack("{s:s}", "type", "string")));
    set(schema, "type", text("object"));
    set(schema, "required", need(json_pack("[sss]", "ok", "code", "message")));
    set(schema, "properties", properties);
    return schema;
}

/* The limits in effect, so that a client need not find them out by running into them. */
static json_t *make_limits(const struct config *config)
{
    json_t *limits = need(json_object());
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++)
        if (keys[i].limit)
            set(limits, keys[i].name, json_integer(config_number(config, &keys[i])));
    return limits;
}

struct content *openapi_make(const struct config *config)
{
    json_t *root = need(json_object()), *info = need(json_object());
    json_t *components = need(json_object()), *schemas = need(json_object());
    set(root, "openapi", text("3.1.0"));
    set(info, "title", text("benchledger"));
    set(info, "version", text(BENCHLEDGER_VERSION));
    set(info, "description",
        text("Verifies, judges and publishes benchmark runs. Every response carries X-Request-Id; "
             "HEAD works where GET does; OPTIONS answers preflights."));
    set(info, "license", need(json_pack("{s:s}", "name", "MIT")));
    set(root, "info", info);
    if (*config->public_url)
        set(root, "servers", need(json_pack("[{s:s}]", "url", config->public_url)));
    set(root, "paths", make_paths(config));
    set(schemas, "Error", make_error_schema());
    set(components, "schemas", schemas);
    set(components, "securitySchemes",
        need(json_pack("{s:{s:s,s:s,s:s}}", "maintainer", "type", "http", "scheme", "bearer",
                       "description", "The token of a maintainer.")));
    set(root, "components", components);
    set(root, "x-limits", make_limits(config));
    char *made = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    if (!made)
        abort();
    return content_new(made, strlen(made), NULL);
}
