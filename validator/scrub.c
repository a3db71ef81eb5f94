#include "validator/scrub.h"

#include <math.h>

#include "validator/calendar.h"
#include "validator/text.h"

enum { REPORTED_GPU_UNITS = 64, SCHEMA_SCRUBBED = 3 };

struct editor {
    struct arena *arena;
    struct scrubbed *scrubbed;
};

static void note(struct editor *editor, const char *path)
{
    struct scrubbed *scrubbed = editor->scrubbed;
    if (scrubbed->removed_count < SCRUB_REMOVED_MAX)
        scrubbed->removed[scrubbed->removed_count++] = path;
}

/* A private copy of an object's members with room for one more. */
static struct js_member *own_members(struct editor *editor, struct js_value *object)
{
    struct js_member *members =
        arena_take(editor->arena, (object->size + (size_t)1) * sizeof *members);
    if (object->size)
        memcpy(members, object->members, object->size * sizeof *members);
    object->members = members;
    return members;
}

static struct js_member *find_member(struct js_member *members, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (js_equals(&members[i].key, name))
            return &members[i];
    return NULL;
}

/* The object at PARENTS (names, NULL-terminated) as private copies all the way down; the path
 * exists. */
static struct js_value *own_object(struct editor *editor, const char *const *parents)
{
    struct js_value *object = &editor->scrubbed->document.root;
    for (; *parents; parents++) {
        struct js_member *members = own_members(editor, object);
        object = &find_member(members, object->size, *parents)->value;
    }
    return object;
}

static const struct js_value *find_path(const struct js_value *root, const char *const *parents)
{
    for (; root && *parents; parents++)
        root = js_get(root, *parents);
    return root && root->type == JS_OBJECT ? root : NULL;
}

/* Removes NAME from the object at PARENTS; whether it was there. */
static bool take_out(struct editor *editor, const char *const *parents, const char *name)
{
    const struct js_value *there = find_path(&editor->scrubbed->document.root, parents);
    if (!js_get(there, name))
        return false;
    struct js_value *object = own_object(editor, parents);
    struct js_member *members = own_members(editor, object),
                     *member = find_member(members, object->size, name);
    memmove(member, member + 1, (size_t)(members + object->size - member - 1) * sizeof *member);
    object->size--;
    return true;
}

/* Gives NAME of the object at PARENTS a value; a new name is appended. */
static void put_in(struct editor *editor, const char *const *parents, const char *name,
                   struct js_value value)
{
    struct js_value *object = own_object(editor, parents);
    struct js_member *members = own_members(editor, object),
                     *member = find_member(members, object->size, name);
    if (!member) {
        member = &members[object->size++];
        member->key = js_make_string(name, strlen(name));
    }
    member->value = value;
}

static const char *const of_root[] = {NULL};
static const char *const of_environment[] = {"environment", NULL};
static const char *const of_power[] = {"environment", "power", NULL};
static const char *const of_hardware[] = {"environment", "userReportedHardware", NULL};
static const char *const of_locale[] = {"environment", "locale", NULL};
static const char *const of_display[] = {"environment", "display", NULL};

static bool round_level(struct editor *editor)
{
    const struct js_value *power = find_path(&editor->scrubbed->document.root, of_power),
                          *level = js_get(power, "level");
    if (!level || level->type != JS_NUMBER)
        return false;
    double quarter = floor(level->number * 4 + 0.5) / 4;
    if (quarter == level->number || !isfinite(quarter))
        return false; /* a level near the largest double has no quarters to round to */
    put_in(editor, of_power, "level", js_make_number(quarter));
    return true;
}

static bool tidy_gpu(struct editor *editor)
{
    const struct js_value *hardware = find_path(&editor->scrubbed->document.root, of_hardware),
                          *gpu = js_get(hardware, "gpu");
    if (!gpu || gpu->type != JS_STRING)
        return false;
    struct text tidied = text_line(editor->arena, text_of(gpu), REPORTED_GPU_UNITS);
    if (tidied.size == gpu->size && memcmp(tidied.data, gpu->text, gpu->size) == 0)
        return false;
    put_in(editor, of_hardware, "gpu", js_make_string(tidied.data, tidied.size));
    return true;
}

static const struct {
    const char *const *parents;
    const char *name;
    bool (*change)(struct editor *editor); /* NULL: the field is removed */
    const char *path;
    const char *what; /* for people; NULL: removed */
} steps[] = {
    {of_locale, "timeZone", NULL, "environment.locale.timeZone", NULL},
    {of_locale, "timeZoneOffsetMinutes", NULL, "environment.locale.timeZoneOffsetMinutes", NULL},
    {of_locale, "calendar", NULL, "environment.locale.calendar", NULL},
    {of_environment, "languages", NULL, "environment.languages", NULL},
    {of_power, "chargingTimeSec", NULL, "environment.power.chargingTimeSec", NULL},
    {of_power, "dischargingTimeSec", NULL, "environment.power.dischargingTimeSec", NULL},
    {of_power, "level", round_level, "environment.power.level", "rounded to the nearest quarter"},
    {of_display, "prefersReducedMotion", NULL, "environment.display.prefersReducedMotion", NULL},
    {of_display, "prefersColorScheme", NULL, "environment.display.prefersColorScheme", NULL},
    {of_hardware, "gpu", tidy_gpu, "environment.userReportedHardware.gpu",
     "control characters taken out, white space tidied, cut to 64 characters"},
};

const char *scrub_step(size_t i, const char **what)
{
    if (i >= sizeof steps / sizeof *steps)
        return NULL;
    *what = steps[i].what ? steps[i].what : "removed";
    return steps[i].path;
}

static void stamp(struct editor *editor, double now_ms)
{
    struct js_document *document = &editor->scrubbed->document;
    const struct js_value *schema = js_get(&document->root, "schemaVersion");
    if (schema && schema->type == JS_NUMBER && schema->number < SCHEMA_SCRUBBED) {
        put_in(editor, of_root, "schemaVersion", js_make_number(SCHEMA_SCRUBBED));
        note(editor, "schemaVersion");
    }
    char *now = arena_take(editor->arena, CALENDAR_SIZE);
    calendar_print(now_ms, now);
    put_in(editor, of_root, "scrubbedAt", js_make_string(now, strlen(now)));
    char *digest = arena_take(editor->arena, SHA256_HEX + 1);
    digest_compute(document, digest, NULL);
    put_in(editor, of_root, "digest", js_make_string(digest, SHA256_HEX));
}

void scrub(struct arena *arena, const struct js_document *document, enum digest_status digest,
           double now_ms, struct scrubbed *scrubbed)
{
    struct editor editor = {arena, scrubbed};
    *scrubbed = (struct scrubbed){.document = *document};
    if (take_out(&editor, of_root, "nonce")) {
        note(&editor, "nonce");
        scrubbed->changed = digest == DIGEST_LEGACY;
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].change ? steps[i].change(&editor)
                            : take_out(&editor, steps[i].parents, steps[i].name)) {
            note(&editor, steps[i].path);
            scrubbed->changed = true;
        }
    }
    if (scrubbed->changed)
        stamp(&editor, now_ms);
    const struct js_value *published = js_get(&scrubbed->document.root, "digest");
    if (published && published->type == JS_STRING && published->size == SHA256_HEX)
        memcpy(scrubbed->digest, published->text, SHA256_HEX);
}
