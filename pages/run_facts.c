#include "pages/run_parts.h"

enum { DEPTH_MOST = 6, LIST_MOST = 60 };

struct fact_list {
    struct buffer *out;
    size_t rows, skipped;
};

static bool is_omitted(const char *const *omit, const struct js_value *key)
{
    for (; omit && *omit; omit++)
        if (js_equals(key, *omit))
            return true;
    return false;
}

static void put_scalar(struct buffer *out, const struct js_value *value)
{
    switch (value->type) {
    case JS_NULL:
        buffer_text(out, "not known");
        return;
    case JS_FALSE:
        buffer_text(out, "no");
        return;
    case JS_TRUE:
        buffer_text(out, "yes");
        return;
    case JS_NUMBER:
        html_put(out, "{}", html_number(value->number));
        return;
    case JS_STRING:
        html_put(out, "{}", html_slice(text_of(value), HTML_TEXT_MOST));
        return;
    default:
        html_put(out, "({} items)", html_number(value->size));
    }
}

/* An object in a list: its plain members one after another. */
static void put_inline(struct buffer *out, const struct js_value *object)
{
    for (uint32_t i = 0; i < object->size && i < LIST_MOST; i++) {
        html_put(out, i ? "; {} " : "{} ", html_string(&object->members[i].key));
        put_scalar(out, &object->members[i].value);
    }
}

static void put_list(struct buffer *out, const struct js_value *array)
{
    for (uint32_t i = 0; i < array->size && i < LIST_MOST && !run_is_full(out); i++) {
        if (i)
            buffer_text(out, ", ");
        if (array->items[i].type == JS_OBJECT)
            put_inline(out, &array->items[i]);
        else
            put_scalar(out, &array->items[i]);
    }
    if (array->size > LIST_MOST)
        html_put(out, " and {} more", html_number(array->size - LIST_MOST));
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* A name that is too long for its place breaks between its words: before a capital, behind a mark. */
static void put_name(struct buffer *out, struct text name)
{
    size_t from = 0;
    for (size_t i = 1; i < name.size && name.size <= HTML_NAME_MOST; i++) {
        char before = name.data[i - 1], c = name.data[i];
        bool word = (is_capital(c) && before >= 'a' && before <= 'z') || before == '/' ||
                    before == '.' || before == '_';
        if (!word)
            continue;
        html_put(out, "{}<wbr>",
                 html_slice((struct text){name.data + from, i - from}, HTML_NAME_MOST));
        from = i;
    }
    html_put(out, "{}",
             html_slice((struct text){name.data + from, name.size - from}, HTML_NAME_MOST));
}

static void put_object(struct fact_list *list, const struct js_value *object,
                       const char *const *omit, int depth);

static void put_member(struct fact_list *list, const struct js_member *member, int depth)
{
    const struct js_value *value = &member->value;
    list->rows++;
    if (value->type == JS_OBJECT && value->size && depth < DEPTH_MOST) {
        buffer_text(list->out, "<dt class=\"group\">");
        put_name(list->out, text_of(&member->key));
        buffer_text(list->out, "</dt><dd class=\"group\"><dl class=\"facts\">");
        put_object(list, value, NULL, depth + 1);
        buffer_text(list->out, "</dl></dd>");
        return;
    }
    buffer_text(list->out, "<dt>");
    put_name(list->out, text_of(&member->key));
    buffer_text(list->out, "</dt><dd>");
    if (value->type == JS_ARRAY)
        put_list(list->out, value);
    else
        put_scalar(list->out, value);
    buffer_text(list->out, "</dd>");
}

/* Members behind the last row are counted only, so that a page costs no more than what it shows. */
static void put_object(struct fact_list *list, const struct js_value *object,
                       const char *const *omit, int depth)
{
    for (uint32_t i = 0; i < object->size; i++) {
        const struct js_member *member = &object->members[i];
        if (is_omitted(omit, &member->key))
            continue;
        if (list->rows == RUN_FACTS || run_is_full(list->out)) {
            list->skipped++;
            continue;
        }
        put_member(list, member, depth);
    }
}

bool run_is_full(const struct buffer *out)
{
    return out->size > RUN_PAGE_MOST;
}

void run_more(struct buffer *out, size_t count, const char *of_what)
{
    if (count)
        html_put(out, "<p class=\"soft\">And {} more {} in the file.</p>",
                 html_number((double)count), html_text(of_what));
}

bool run_has_facts(const struct js_value *object, const char *const *omit)
{
    for (uint32_t i = 0; object && object->type == JS_OBJECT && i < object->size; i++)
        if (!is_omitted(omit, &object->members[i].key))
            return true;
    return false;
}

void run_facts(struct buffer *out, const struct js_value *object, const char *const *omit)
{
    struct fact_list list = {.out = out};
    if (!run_has_facts(object, omit))
        return;
    buffer_text(out, "<dl class=\"facts\">");
    put_object(&list, object, omit, 0);
    buffer_text(out, "</dl>");
    run_more(out, list.skipped, "members");
}

void run_error(struct buffer *out, const struct js_value *error)
{
    static const char *const shown[] = {"name",      "message",    "cause",
                                        "causeName", "causeStack", NULL};
    html_put(out, "<p class=\"failure\"><b>{}</b> {}</p>", html_string(js_get(error, "name")),
             html_slice(text_of(js_get(error, "message")), HTML_TEXT_MOST));
    const struct js_value *cause = js_get(error, "cause"), *name = js_get(error, "causeName"),
                          *stack = js_get(error, "causeStack");
    if (cause || name)
        html_put(out, "<p>Caused by <b>{}</b> {}</p>", html_string(name),
                 html_slice(text_of(cause), HTML_TEXT_MOST));
    if (stack)
        html_put(out, "<details><summary>Stack of the cause</summary><pre>{}</pre></details>",
                 html_slice(text_of(stack), HTML_TEXT_MOST));
    run_facts(out, error, shown);
}
