#include "validator/model_catalogue.h"

#include <math.h>

static bool is_list(const struct js_value *value)
{
    return value && value->type == JS_ARRAY && value->size <= MODEL_CATALOGUE_ITEMS_MAX;
}

static bool is_name(const struct js_value *value)
{
    return value && value->type == JS_STRING && value->size > 0;
}

static const struct text *read_names(struct arena *arena, const struct js_value *list,
                                     size_t *count)
{
    if (!is_list(list))
        return NULL;
    struct text *names = arena_clear_take(arena, list->size, sizeof *names);
    for (*count = 0; *count < list->size; ++*count) {
        if (!is_name(&list->items[*count]))
            return NULL;
        names[*count] = text_of(&list->items[*count]);
    }
    return names;
}

static bool read_model(const struct js_value *value, struct catalogue_model *model)
{
    const struct js_value *id = js_get(value, "benchModelId"), *name = js_get(value, "displayName"),
                          *size = js_get(value, "smallestBytes");
    if (!is_name(id) || !is_name(name) || (size && !(size->type == JS_NUMBER && size->number > 0)))
        return false;
    *model = (struct catalogue_model){text_of(id), text_of(name), size ? size->number : NAN};
    return true;
}

static const struct catalogue_model *read_models(struct arena *arena, const struct js_value *list,
                                                 size_t *count)
{
    if (!is_list(list))
        return NULL;
    struct catalogue_model *models = arena_clear_take(arena, list->size, sizeof *models);
    for (*count = 0; *count < list->size; ++*count)
        if (!read_model(&list->items[*count], &models[*count]))
            return NULL;
    return models;
}

bool model_catalogue_read(struct arena *arena, const char *text, size_t size,
                          struct model_catalogue *catalogue, const char **problem)
{
    struct js_document document;
    struct js_error error;
    *catalogue = (struct model_catalogue){0};
    if (!js_read(arena, text, size, &document, &error)) {
        *problem = error.message;
        return false;
    }
    const struct js_value *root = &document.root;
    catalogue->runtimes = read_names(arena, js_get(root, "runtimes"), &catalogue->runtime_count);
    catalogue->workloads = read_names(arena, js_get(root, "workloads"), &catalogue->workload_count);
    catalogue->models = read_models(arena, js_get(root, "models"), &catalogue->model_count);
    *problem = !catalogue->runtimes    ? "`runtimes` is no array of at most 2,000 names"
               : !catalogue->workloads ? "`workloads` is no array of at most 2,000 names"
               : !catalogue->models
                   ? "`models` is no array of at most 2,000 objects with `benchModelId`, "
                     "`displayName` and a `smallestBytes` above 0, if any"
                   : NULL;
    return !*problem;
}

static bool is_same(struct text a, struct text b)
{
    return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

static bool has_name(const struct text *names, size_t count, struct text name)
{
    for (size_t i = 0; i < count; i++)
        if (is_same(names[i], name))
            return true;
    return false;
}

bool model_catalogue_has_runtime(const struct model_catalogue *catalogue, struct text id)
{
    return has_name(catalogue->runtimes, catalogue->runtime_count, id);
}

bool model_catalogue_has_workload(const struct model_catalogue *catalogue, struct text id)
{
    return has_name(catalogue->workloads, catalogue->workload_count, id);
}

const struct catalogue_model *model_catalogue_find(const struct model_catalogue *catalogue,
                                                   struct text id)
{
    for (size_t i = 0; i < catalogue->model_count; i++)
        if (is_same(catalogue->models[i].id, id))
            return &catalogue->models[i];
    return NULL;
}
