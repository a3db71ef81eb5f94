/* Shared machinery of shape checks (spec 02, "Shape"): tables of fields read into structs, errors
 * with their RFC 6901 pointer. Each protocol family brings its own tables. Pure. */
#ifndef BENCHLEDGER_VALIDATOR_SHAPE_H
#define BENCHLEDGER_VALIDATOR_SHAPE_H

#include <stdint.h>

#include "validator/validate.h"

enum { SHAPE_PATH_MAX = 12, INDEXED_UNITS_MAX = 200 };

/* A boolean that may be absent. */
enum said { UNSAID, SAID_NO, SAID_YES };

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_BOOL, FIELD_OBJECT, FIELD_ARRAY };
enum field_option {
    FIELD_REQUIRED = 1,
    FIELD_NULLABLE = 2, /* null counts as absent */
    FIELD_INDEXED = 4,  /* goes into the index: at most INDEXED_UNITS_MAX units */
};
enum { FIELD_CHECKED_ONLY = UINT16_MAX };

/* One field. What it is read into, at OFFSET of the target: text, object, array: const struct
 * js_value * (NULL when absent); number: double (NAN when absent); boolean: enum said. */
struct field {
    const char *name;
    uint8_t kind, options;
    uint16_t offset;
    const struct field *fields; /* of an object; they share the target; ends with a NULL name */
};

struct shape_step {
    const char *name; /* NULL: an index */
    size_t name_size, index;
};
struct shape {
    struct arena *arena;
    struct shape_errors *errors;
    struct shape_step path[SHAPE_PATH_MAX];
    size_t depth;
};

void shape_enter(struct shape *shape, const char *name);
void shape_enter_key(struct shape *shape, const struct js_value *key);
void shape_enter_index(struct shape *shape, size_t index);
void shape_leave(struct shape *shape);
/* Records an error at the present path, or at its member NAME when that is not NULL. */
void shape_error(struct shape *shape, const char *name, const char *message);

/* Reads the fields of OBJECT into TARGET and records every wrong one. OBJECT may be NULL or of
 * another type: then all are absent and nothing is recorded (the caller has recorded the object).
 */
void shape_fields(struct shape *shape, const struct js_value *object, const struct field *fields,
                  void *target);
/* Whether VALUE is of TYPE; records an error at the present path when it is not. */
bool shape_is(struct shape *shape, const struct js_value *value, enum js_type type);

/* The items of ARRAY, member NAME of the present object, are all of TYPE, or objects with FIELDS
 * that are only checked. ARRAY may be NULL or of another type: then there is nothing to check here.
 */
void shape_scalars(struct shape *shape, const struct js_value *array, const char *name,
                   enum js_type type);
void shape_objects(struct shape *shape, const struct js_value *array, const char *name,
                   const struct field *fields);
/* A string TEXT, member NAME, has at most LIMIT units. TEXT may be NULL. */
void shape_units(struct shape *shape, const struct js_value *text, const char *name, size_t limit,
                 const char *message);

/* Whether VALUE is a number without fraction from LOW to HIGH. */
bool shape_integer(double value, double low, double high);

#endif
