#include "validator/shape.h"

#include <math.h>

static struct shape_step *step(struct shape *shape)
{
    /* Deeper than any table goes; the last step is then shared and the pointer is cut. */
    size_t at = shape->depth < SHAPE_PATH_MAX ? shape->depth : SHAPE_PATH_MAX - 1;
    shape->depth++;
    return &shape->path[at];
}

void shape_enter(struct shape *shape, const char *name)
{
    *step(shape) = (struct shape_step){.name = name, .name_size = strlen(name)};
}

void shape_enter_key(struct shape *shape, const struct js_value *key)
{
    *step(shape) = (struct shape_step){.name = key->text, .name_size = key->size};
}

void shape_enter_index(struct shape *shape, size_t index)
{
    *step(shape) = (struct shape_step){.index = index};
}

void shape_leave(struct shape *shape)
{
    shape->depth--;
}

static void add_step(struct buffer *pointer, const char *name, size_t size)
{
    buffer_byte(pointer, '/');
    for (size_t i = 0; i < size; i++) {
        if (name[i] == '~')
            buffer_add(pointer, "~0", 2);
        else if (name[i] == '/')
            buffer_add(pointer, "~1", 2);
        else
            buffer_byte(pointer, name[i]);
    }
}

void shape_error(struct shape *shape, const char *name, const char *message)
{
    struct shape_errors *errors = shape->errors;
    if (errors->count == SHAPE_ERRORS_MAX)
        return;
    BUFFER_SCOPE struct buffer pointer = {0};
    for (size_t i = 0; i < shape->depth && i < SHAPE_PATH_MAX; i++) {
        const struct shape_step *at = &shape->path[i];
        if (at->name)
            add_step(&pointer, at->name, at->name_size);
        else
            buffer_format(&pointer, "/%zu", at->index);
    }
    if (name)
        add_step(&pointer, name, strlen(name));
    errors->items[errors->count++] =
        (struct shape_error){.path = arena_copy(shape->arena, pointer.data, pointer.size),
                             .message = message,
                             .path_size = pointer.size};
}

bool shape_is(struct shape *shape, const struct js_value *value, enum js_type type)
{
    static const char *const messages[] = {
        "must be null",     "must be false",    "must be true",     "must be a number",
        "must be a string", "must be an array", "must be an object"};
    if (value->type == type)
        return true;
    shape_error(shape, NULL, messages[type]);
    return false;
}

static bool is_kind(const struct js_value *value, enum field_kind kind)
{
    switch (kind) {
    case FIELD_TEXT:
        return value->type == JS_STRING;
    case FIELD_NUMBER:
        return value->type == JS_NUMBER;
    case FIELD_BOOL:
        return value->type == JS_FALSE || value->type == JS_TRUE;
    case FIELD_OBJECT:
        return value->type == JS_OBJECT;
    case FIELD_ARRAY:
        return value->type == JS_ARRAY;
    }
    return false;
}

/* The value of a field, NULL when it is absent or wrong (and then recorded). */
static const struct js_value *find_field(struct shape *shape, const struct js_value *object,
                                         const struct field *field)
{
    static const char *const expected[] = {"must be a string", "must be a number",
                                           "must be true or false", "must be an object",
                                           "must be an array"};
    const struct js_value *value = js_get(object, field->name);
    if (!value) {
        if (object && (field->options & FIELD_REQUIRED))
            shape_error(shape, field->name, "is required");
        return NULL;
    }
    if (value->type == JS_NULL && (field->options & FIELD_NULLABLE))
        return NULL;
    if (!is_kind(value, field->kind)) {
        shape_error(shape, field->name, expected[field->kind]);
        return NULL;
    }
    if ((field->options & FIELD_INDEXED) && js_units(value) > INDEXED_UNITS_MAX)
        shape_error(shape, field->name, "is longer than 200 UTF-16 units");
    return value;
}

static void store_field(const struct field *field, const struct js_value *value, void *target)
{
    void *place = (char *)target + field->offset;
    if (field->kind == FIELD_NUMBER) {
        double number = value ? value->number : NAN;
        memcpy(place, &number, sizeof number);
    } else if (field->kind == FIELD_BOOL) {
        enum said said = !value ? UNSAID : value->type == JS_TRUE ? SAID_YES : SAID_NO;
        memcpy(place, &said, sizeof said);
    } else {
        memcpy(place, &value, sizeof(const struct js_value *));
    }
}

void shape_fields(struct shape *shape, const struct js_value *object, const struct field *fields,
                  void *target)
{
    if (object && object->type != JS_OBJECT)
        object = NULL;
    for (const struct field *field = fields; field->name; field++) {
        const struct js_value *value = find_field(shape, object, field);
        if (target && field->offset != FIELD_CHECKED_ONLY)
            store_field(field, value, target);
        if (field->fields) {
            shape_enter(shape, field->name);
            shape_fields(shape, value, field->fields, target);
            shape_leave(shape);
        }
    }
}

bool shape_integer(double value, double low, double high)
{
    return value >= low && value <= high && floor(value) == value;
}

void shape_scalars(struct shape *shape, const struct js_value *array, const char *name,
                   enum js_type type)
{
    shape_enter(shape, name);
    for (uint32_t i = 0; array && array->type == JS_ARRAY && i < array->size; i++) {
        shape_enter_index(shape, i);
        shape_is(shape, &array->items[i], type);
        shape_leave(shape);
    }
    shape_leave(shape);
}

void shape_objects(struct shape *shape, const struct js_value *array, const char *name,
                   const struct field *fields)
{
    shape_enter(shape, name);
    for (uint32_t i = 0; array && array->type == JS_ARRAY && i < array->size; i++) {
        shape_enter_index(shape, i);
        if (shape_is(shape, &array->items[i], JS_OBJECT))
            shape_fields(shape, &array->items[i], fields, NULL);
        shape_leave(shape);
    }
    shape_leave(shape);
}

void shape_units(struct shape *shape, const struct js_value *text, const char *name, size_t limit,
                 const char *message)
{
    if (text && text->type == JS_STRING && js_units(text) > limit)
        shape_error(shape, name, message);
}
