#include "pages/frame.h"

#include <assert.h>

#include "pages/assets.h"

static const struct {
    const char *path, *label;
} places[] = {
    {"/", "Board"}, {"/review", "Review"}, {"/check", "Check"}, {"/methodology", "Methods"}};

static void put_asset(struct buffer *out, const char *form, const char *name)
{
    const struct asset *asset = asset_find(name);
    assert(asset);
    html_put(out, form, html_text(asset->name), html_text(asset->version));
}

void frame_open(struct buffer *out, const struct frame *frame)
{
    html_put(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<meta name=\"color-scheme\" content=\"light dark\"><title>{} \xC2\xB7 benchledger</title>",
        html_slice(frame->title, HTML_NAME_MOST));
    put_asset(out, "<link rel=\"icon\" href=\"/assets/{}?v={}\">", "icon.svg");
    put_asset(out, "<link rel=\"stylesheet\" href=\"/assets/{}?v={}\">", "style.css");
    if (frame->feed)
        html_put(out, "<link rel=\"alternate\" type=\"application/atom+xml\" href=\"{}\">",
                 html_text(frame->feed));
    if (frame->script)
        put_asset(out, "<script type=\"module\" src=\"/assets/{}?v={}\"></script>", frame->script);
    buffer_text(out, "</head><body><a class=\"skip\" href=\"#main\">Skip to content</a>");
    if (frame->table)
        html_put(out, "<a class=\"skip\" href=\"#{}\">Skip to the table</a>",
                 html_text(frame->table));
    buffer_text(out, "<header class=\"top\"><nav aria-label=\"Site\">"
                     "<a class=\"brand\" href=\"/\">benchledger</a>");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool here = frame->here && !strcmp(frame->here, places[i].path);
        html_put(out, "<a href=\"{}\"{}>{}</a>", html_text(places[i].path),
                 html_markup(here ? " aria-current=\"page\"" : ""), html_text(places[i].label));
    }
    buffer_text(out, "</nav></header><main id=\"main\">");
}

void frame_close(struct buffer *out)
{
    buffer_text(out, "</main><footer><p>Every figure is recomputed from its raw trace. "
                     "<a href=\"/api/bench/leaderboard\">JSON</a> "
                     "<a href=\"/openapi.json\">API</a> "
                     "<a href=\"/index/manifest.json\">Index</a></p></footer></body></html>\n");
}

void frame_message(struct buffer *out, const char *title, const char *message)
{
    const struct frame frame = {.title = {title, strlen(title)}};
    frame_open(out, &frame);
    html_put(out, "<h1>{}</h1><p>{}</p><p><a href=\"/\">To the board</a></p>", html_text(title),
             html_text(message));
    frame_close(out);
}
