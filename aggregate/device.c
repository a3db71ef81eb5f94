#include "aggregate/device.h"

static const char NO_WEBGPU[] = "/no-webgpu";

static struct text finish(struct arena *arena, struct buffer *text)
{
    struct text copy = {arena_copy(arena, text->data, text->size), text->size};
    buffer_free(text);
    return copy;
}

struct text device_class(struct arena *arena, struct text platform, bool gpu_available,
                         const struct js_value *vendor, const struct js_value *architecture)
{
    struct buffer name = {0};
    struct text lower = text_lower(arena, platform);
    const char *end = lower.data + lower.size;
    bool space = false;
    for (const char *at = lower.data; at < end;) {
        uint32_t code = text_next(&at, end);
        if (!text_is_space(code))
            text_put(&name, code);
        else if (!space)
            buffer_byte(&name, '-');
        space = text_is_space(code);
    }
    if (!gpu_available) {
        buffer_text(&name, NO_WEBGPU);
        return finish(arena, &name);
    }
    struct text first = vendor ? text_of(vendor) : (struct text){"gpu", 3};
    struct text second = text_of(architecture);
    buffer_byte(&name, '/');
    buffer_add(&name, first.data, first.size);
    if (first.size && second.size)
        buffer_byte(&name, '-');
    buffer_add(&name, second.data, second.size);
    return finish(arena, &name);
}

static bool ends_with(struct text text, const char *end)
{
    size_t size = strlen(end);
    return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

static bool has_digit(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] >= '0' && text.data[i] <= '9')
            return true;
    return false;
}

/* Without the trade marks. */
static struct text without_marks(struct arena *arena, struct text text)
{
    static const char *const marks[] = {"(tm)", "(r)", "(c)"};
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
        size_t size = strlen(marks[m]);
        struct buffer kept = {0};
        for (size_t i = 0; i < text.size;) {
            if (text.size - i >= size && memcmp(text.data + i, marks[m], size) == 0)
                i += size;
            else
                buffer_byte(&kept, text.data[i++]);
        }
        text = finish(arena, &kept);
    }
    return text;
}

static struct text without_mesa(struct text text)
{
    const char *at = text.data + 4, *end = text.data + text.size;
    if (text.size <= 4 || memcmp(text.data, "mesa", 4) != 0 || !text_is_space(text_next(&at, end)))
        return text;
    struct text rest = {text.data + 4, text.size - 4};
    return text_trim(rest);
}

static struct text slug(struct arena *arena, struct text model)
{
    struct text lower = without_mesa(without_marks(arena, text_lower(arena, model)));
    struct buffer name = {0};
    bool gap = false;
    for (size_t i = 0; i < lower.size; i++) {
        char c = lower.data[i];
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) {
            gap = true;
            continue;
        }
        if (gap && name.size)
            buffer_byte(&name, '-');
        gap = false;
        buffer_byte(&name, c);
    }
    return finish(arena, &name);
}

struct text device_subclass(struct arena *arena, struct text device_class,
                            const struct js_value *gpu_model)
{
    struct text model = text_trim(text_of(gpu_model));
    const char *slash = memchr(device_class.data, '/', device_class.size);
    if (!model.size || !slash || ends_with(device_class, NO_WEBGPU) ||
        text_contains(model, "or similar") || !has_digit(model))
        return device_class;
    struct text refined = slug(arena, model);
    if (!refined.size)
        return device_class;
    struct buffer name = {0};
    buffer_add(&name, device_class.data, (size_t)(slash - device_class.data) + 1);
    buffer_add(&name, refined.data, refined.size);
    return finish(arena, &name);
}
