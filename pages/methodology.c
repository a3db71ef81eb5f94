#include "pages/methodology.h"

#include "pages/terms.h"
#include "validator/scrub.h"

/* What changed from version to version of localmode-bench, newest first. */
static const struct {
    const char *id, *change;
} history[] = {
    {"localmode-bench/5", "The llama.cpp lanes run on half of the logical processors, at least "
                          "two, and with a context of 2,048 tokens. "
                          "Everything else is as in version 4."},
    {"localmode-bench/4",
     "The llama.cpp lanes load language models for text only, without their vision part."},
    {"localmode-bench/3", "llama.cpp on the processor (wllama) and llama.cpp on WebGPU "
                          "(wllama-webgpu) are two lanes over the same model "
                          "files."},
    {"localmode-bench/2", "One llama.cpp lane (wllama), which ran on WebGPU wherever the browser "
                          "had it and recorded wasm all the same: "
                          "compare its rows with care."},
    {"localmode-bench/1", "Archived runs only. What version 2 changed is not on record here."},
};

static const char *const limits[] = {
    "Plausible is not proven. A trace that was made up with care and stays inside all limits "
    "passes the rules; what "
    "keeps it honest is that every run is public, and that several independent ones stand behind a "
    "row.",
    "Rates are in characters, because tokenizers differ. Two models that write the same text at "
    "the same rate may "
    "have made very different numbers of tokens.",
    "A chunk is what the runtime hands to the page. Runtimes that collect several tokens give "
    "fewer, larger chunks.",
    "Browsers round their clocks and report memory and processors with a ceiling; both are "
    "recorded as they come.",
    "Prefill is an approximation: it takes the whole time to first token for the reading of the "
    "prompt.",
    "What a device does beside the run (other tabs, a hot summer day) is in the spread and not in "
    "any field.",
    "Quality tells how true a runtime is to a model. It does not rank models.",
};

static void put_terms(struct buffer *out, enum term_kind kind, const char *id, const char *title)
{
    size_t count;
    const struct term *table = terms(&count);
    html_put(out, "<section><h2 id=\"{}\">{}</h2><dl class=\"terms\">", html_text(id),
             html_text(title));
    for (size_t i = 0; i < count; i++) {
        const struct term *term = &table[i];
        if (term->kind != kind)
            continue;
        html_put(
            out,
            "<dt id=\"{}\">{} <span class=\"soft\">{}</span> <code>{}</code></dt><dd><p>{}</p>",
            html_text(term->key), html_text(term->label), html_text(term->unit),
            html_text(term->key), html_text(term->meaning));
        if (term->formula)
            html_put(out, "<p class=\"formula\">{}</p>", html_text(term->formula));
        buffer_text(out, "</dd>");
    }
    buffer_text(out, "</dl></section>");
}

bool methodology_knows(const char *protocol)
{
    for (size_t i = 0; i < sizeof history / sizeof *history; i++)
        if (!strcmp(history[i].id, protocol))
            return true;
    return false;
}

/* The condition with the limits of its row in it. */
static void put_condition(struct buffer *out, const struct rule_text *rule)
{
    size_t used = 0;
    const char *form = rule->when;
    for (const char *at = strstr(form, "{}"); at; at = strstr(form, "{}")) {
        html_put(out, "{}{}", html_slice((struct text){form, (size_t)(at - form)}, HTML_TEXT_MOST),
                 html_number(used < RULE_LIMITS_MAX ? rule->limits[used] : 0));
        used++;
        form = at + 2;
    }
    html_put(out, "{}", html_text(form));
    if (rule->rejects)
        html_put(out, "; rejects when {}", html_text(rule->rejects));
}

static void put_severity(struct buffer *out, enum severity severity)
{
    html_put(out, "<span class=\"mark {}\">{}</span>",
             html_text(severity == SEVERITY_REJECT ? "bad" : "warn"),
             html_text(severity_name(severity)));
}

void methodology_severity(struct buffer *out, const struct rule_text *rule)
{
    put_severity(out, rule->severity);
    if (!rule->rejects)
        return;
    buffer_text(out, " or ");
    put_severity(out, SEVERITY_REJECT);
}

static void put_rules(struct buffer *out, const struct protocol *family, int rules)
{
    struct rule_text rule;
    html_put(
        out,
        "<section><h2 id=\"rules\">Plausibility rules, set {}</h2><p>A run that a rule rejects is "
        "published "
        "in quarantine, with its flags, and stays off the board until a person decides. A warning "
        "stands beside "
        "the run. Only cells with status ok are judged, but for the comparison with the client's "
        "own figures.</p>"
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Rules\"><table "
        "class=\"rules\"><thead><tr>"
        "<th scope=\"col\">Rule</th><th scope=\"col\">Severity</th><th scope=\"col\">Looks at</th>"
        "<th scope=\"col\">Raised when</th><th scope=\"col\">What to do</th></tr></thead><tbody>",
        html_number(rules));
    for (size_t i = 0; family->rule(rules, i, &rule); i++) {
        html_put(out, "<tr id=\"{}\"><th scope=\"row\"><code>{}</code></th><td>",
                 html_text(rule.code), html_text(rule.code));
        methodology_severity(out, &rule);
        html_put(out, "</td><td>{}</td><td>", html_text(rule.scope));
        put_condition(out, &rule);
        html_put(out, "</td><td>{}</td></tr>", html_text(rule.advice));
    }
    buffer_text(out, "</tbody></table></div></section>");
}

static void put_privacy(struct buffer *out)
{
    const char *what, *path;
    buffer_text(
        out,
        "<section><h2 id=\"privacy\">Privacy</h2><p>A public file must not identify a device. "
        "Before a "
        "run is committed for the first time, this is taken out or made coarse; the digest is then "
        "computed again.</p><ul><li><code>nonce</code>: removed</li>");
    for (size_t i = 0; (path = scrub_step(i, &what)); i++)
        html_put(out, "<li><code>{}</code>: {}</li>", html_text(path), html_text(what));
    buffer_text(out, "</ul><p>The <a href=\"/check\">file check</a> shows what would be taken out "
                     "of a file of yours "
                     "without sending it.</p></section>");
}

static void put_history(struct buffer *out, const struct protocol *family, struct text protocol)
{
    size_t size = strlen(family->family);
    html_put(out,
             "<section><h2 id=\"versions\">Versions</h2><p>A run is judged once and stays "
             "published under the "
             "version that it was measured with. Rows of two versions never mix.</p><ol "
             "class=\"versions\">{}",
             html_text(""));
    for (size_t i = 0; i < sizeof history / sizeof *history; i++) {
        const char *id = history[i].id;
        if (strncmp(id, family->family, size) != 0 || id[size] != '/')
            continue;
        bool here = protocol.size == strlen(id) && !memcmp(protocol.data, id, protocol.size);
        html_put(out, "<li>{}<a href=\"/methodology/{}\">{}</a>: {}</li>",
                 html_markup(here ? "<b>This page:</b> " : ""), html_text(id), html_text(id),
                 html_text(history[i].change));
    }
    buffer_text(out, "</ol></section>");
}

static void put_limits(struct buffer *out)
{
    buffer_text(out, "<section><h2 id=\"limits\">Known limits</h2><ul>");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        html_put(out, "<li>{}</li>", html_text(limits[i]));
    buffer_text(out, "</ul></section>");
}

void methodology_write(struct buffer *out, const struct protocol *family, struct text protocol,
                       int rules, const char *licence)
{
    html_put(
        out,
        "<article class=\"methodology\"><h1>Methodology of <bdi>{}</bdi></h1>"
        "<p>A client sends the raw trace: when each piece of an answer arrived and how long it "
        "was. Nothing that it "
        "computed is believed. Every figure is computed here, by the formulas below, in double "
        "precision and in the "
        "order in which they are written, so that anybody gets the same number to the last bit.</p>"
        "<nav aria-label=\"On this page\"><ul class=\"inline\"><li><a "
        "href=\"#figures\">Figures</a></li>"
        "<li><a href=\"#statistics\">Statistics</a></li><li><a href=\"#marks\">Marks</a></li>"
        "<li><a href=\"#rules\">Rules</a></li><li><a href=\"#privacy\">Privacy</a></li>"
        "<li><a href=\"#versions\">Versions</a></li><li><a href=\"#limits\">Limits</a></li>"
        "<li><a href=\"#licence\">Licence</a></li></ul></nav>",
        html_slice(protocol, HTML_NAME_MOST));
    put_terms(out, TERM_FIGURE, "figures", "Figures");
    put_terms(out, TERM_STATISTIC, "statistics", "Statistics");
    put_terms(out, TERM_MARK, "marks", "Marks");
    put_rules(out, family, rules);
    put_privacy(out);
    put_history(out, family, protocol);
    put_limits(out);
    html_put(out,
             "<section><h2 id=\"licence\">Licence of the data</h2><p>{}</p></section></article>",
             html_text(licence && *licence ? licence : "Not stated by whoever runs this service."));
}

void methodology_list(struct buffer *out, const char *const *protocols)
{
    buffer_text(out, "<h1>Methodology</h1><p>The protocols that the board shows:</p><ul>");
    for (; *protocols; protocols++)
        html_put(out, "<li><a href=\"/methodology/{}\">{}</a></li>", html_text(*protocols),
                 html_text(*protocols));
    buffer_text(out, "</ul>");
}
