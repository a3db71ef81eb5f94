#include "aggregate/device.h"
#include "pages/run_page.h"
#include "pages/run_parts.h"

/* An address may hold no more of a value (see pages/board_links.h, which the module does without). */
enum { VALUE_MOST = 1024 };

static struct text subclass_of(struct arena *arena, const struct bench_run *run)
{
    struct text class = device_class(arena, text_of(run->platform), run->gpu_available == SAID_YES,
                                     run->gpu_vendor, run->gpu_architecture);
    return device_subclass(arena, class, run->gpu_model);
}

/* Whether the board can be asked for VALUE: an empty one is none, and no address holds a NUL. */
static bool can_ask(struct text value)
{
    return value.size && value.size <= VALUE_MOST && !memchr(value.data, 0, value.size);
}

void run_row_address(struct buffer *out, const struct run_view *view, const struct bench_cell *cell)
{
    ARENA_SCOPE struct arena arena = {0};
    const struct {
        const char *name;
        struct text value;
    } keys[] = {{"protocol", view->protocol},
                {"deviceSubclass", subclass_of(&arena, view->run)},
                {"runtimeId", text_of(cell->runtime_id)},
                {"benchModelId", text_of(cell->bench_model_id)},
                {"workloadId", text_of(cell->workload_id)}};
    enum { KEYS = sizeof keys / sizeof *keys };
    bool has_row = view->on_board && cell->status == CELL_OK;
    for (size_t i = 0; i < KEYS; i++)
        has_row = has_row && can_ask(keys[i].value);
    for (size_t i = 0; has_row && i < KEYS; i++)
        html_put(out, "{}{}={}", html_markup(i ? "&amp;" : "/row?"), html_text(keys[i].name),
                 html_query(keys[i].value));
}

static void put_device(const struct run_view *view)
{
    ARENA_SCOPE struct arena arena = {0};
    struct text device = subclass_of(&arena, view->run);
    struct html_value name = html_slice(device, HTML_NAME_MOST);
    if (view->on_board && can_ask(device))
        html_put(view->out, "<a href=\"/?deviceSubclass={}\"><bdi>{}</bdi></a>", html_query(device),
                 name);
    else
        html_put(view->out, "<bdi>{}</bdi>", name);
}

void run_device(const struct run_view *view)
{
    const struct bench_run *run = view->run;
    size_t ok = 0;
    for (size_t i = 0; i < run->cell_count; i++)
        ok += run->cells[i].status == CELL_OK;
    buffer_text(view->out, "<p class=\"measured\">Measured on ");
    put_device(view);
    html_put(view->out,
             " with <bdi>{} {}</bdi> on <bdi>{} {}</bdi>: <a href=\"#results\">{} of {} cells "
             "ok</a></p>",
             html_string(run->browser), html_string(run->browser_version),
             html_string(run->platform), html_string(run->os_version), html_number((double)ok),
             html_number((double)run->cell_count));
}

void run_page_title(struct buffer *out, const struct verdict *verdict)
{
    ARENA_SCOPE struct arena arena = {0};
    struct text device = subclass_of(&arena, bench_run_of(verdict->run)),
                run_id = text_of(verdict->identity->run_id);
    enum { DEVICE_BYTES = 100 }; /* so that the run still shows */
    if (device.size <= DEVICE_BYTES) {
        buffer_add(out, device.data, device.size);
        buffer_text(out, ": ");
    }
    buffer_add(out, run_id.data, run_id.size);
}
