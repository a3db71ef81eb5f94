#include "pages/check_page.h"

#include "pages/assets.h"
#include "pages/frame.h"
#include "pages/methodology.h"
#include "validator/protocol.h"
#include "validator/text.h"

/* Where the script finds NAME; nothing when the build left it out. */
static void put_address(struct buffer *out, const char *attribute, const char *name)
{
    const struct asset *asset = asset_find(name);
    if (asset)
        html_put(out, " data-{}=\"/assets/{}?v={}\"", html_text(attribute), html_text(name),
                 html_text(asset->version));
}

/* What the script spells out of a file's texts, as the inside of a class of a regular expression. */
static void put_controls(struct buffer *out)
{
    uint32_t first, last;
    buffer_text(out, " data-controls=\"");
    for (size_t i = 0; text_control_range(i, &first, &last); i++)
        buffer_format(out, "\\u{%x}-\\u{%x}", first, last);
    buffer_text(out, "\"");
}

static void put_form(struct buffer *out)
{
    buffer_text(out, "<form id=\"check\" class=\"drop\" hidden");
    put_address(out, "worker", "check_worker.js");
    put_address(out, "validator", "validator.wasm");
    put_controls(out);
    buffer_text(out, "><label for=\"check-files\">Run files</label>"
                     "<input id=\"check-files\" type=\"file\" accept=\".json,application/json\" "
                     "multiple aria-describedby=\"check-how\">"
                     "<p id=\"check-how\" class=\"soft\">Choose exported run files, or drop them "
                     "anywhere on this page.</p></form>"
                     "<p id=\"check-mode\" class=\"soft\" hidden></p>"
                     "<p id=\"check-status\" role=\"status\"></p>"
                     "<button id=\"check-stop\" type=\"button\" hidden>Stop</button>"
                     "<div id=\"check-results\"></div>");
}

/* What a flag means and what helps: read by people, and by the script for the flags that it shows. */
static void put_rules(struct buffer *out, int rules)
{
    const struct protocol *family = protocol_localmode_bench();
    struct rule_text rule;
    buffer_text(out, "<details id=\"check-rules\"><summary>What the rules look for, and what to do "
                     "about each</summary><dl class=\"rules\">");
    for (size_t i = 0; family->rule(rules, i, &rule); i++) {
        html_put(out, "<div data-rule=\"{}\"><dt><code>{}</code> ", html_text(rule.code),
                 html_text(rule.code));
        methodology_severity(out, &rule);
        html_put(out, "</dt><dd>{}.</dd><dd class=\"advice\">{}</dd></div>",
                 html_text(rule.message), html_text(rule.advice));
    }
    buffer_text(out, "</dl></details>");
}

/* Shown by the script: without it there are no codes. */
static void put_withdrawal(struct buffer *out)
{
    buffer_text(
        out,
        "<section id=\"withdraw\" hidden><h2>Take a run back</h2>"
        "<p>Whoever submitted a run has a code that takes it off the board again. The codes of "
        "runs "
        "that were submitted with this browser are kept in it. <strong>A public git history keeps "
        "what was published</strong>: the run's file leaves the board and the folder of runs, not "
        "the "
        "copies that others have made.</p>"
        "<form><p><label for=\"withdraw-run\">Run id</label> "
        "<input id=\"withdraw-run\" required maxlength=\"64\" autocomplete=\"off\" "
        "spellcheck=\"false\"></p>"
        "<p><label for=\"withdraw-code\">Code</label> "
        "<input id=\"withdraw-code\" type=\"password\" required maxlength=\"43\" "
        "autocomplete=\"off\"></p>"
        "<p><button>Take it off the board</button></p></form><p role=\"status\"></p>"
        "<ul class=\"plain\" aria-label=\"Runs whose codes are kept here\"></ul></section>");
}

void check_page_write(struct buffer *out, bool own_rules, int rules)
{
    static const char title[] = "Check a file";
    const struct frame frame = {
        .title = {title, strlen(title)}, .here = "/check", .script = "check.js"};
    frame_open(out, &frame);
    buffer_text(
        out,
        "<h1>Check a run file</h1>"
        "<p>See what the service would say about an exported run before anybody else sees it: the "
        "verdict, every recomputed figure with its trace, and exactly what would be published.</p>"
        "<noscript><p class=\"note\">This page needs JavaScript. The command line does the same, "
        "offline: <code>benchledger check FILE</code> judges a file, <code>benchledger scrub "
        "FILE</code> prints what would be published.</p></noscript>");
    if (own_rules)
        buffer_text(out, "<p class=\"note\">This service takes other protocols or smaller files, "
                         "or has another answer key or rule set "
                         "than the validator in this page knows: its own verdict may differ.</p>");
    put_form(out);
    put_withdrawal(out);
    put_rules(out, rules);
    frame_close(out);
}
