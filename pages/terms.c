#include "pages/terms.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "pages/html.h"
#include "validator/bench_run.h"

/* A number of the code as a word of a formula. */
#define QUOTED(number) #number
#define TEXT_OF(number) QUOTED(number)

/* clang-format off */
static const struct term table[] = {
    {TERM_FIGURE, "ttftMs", "TTFT", "ms", -1, 1,
     "Time to first token: from the start of the request to the first chunk of the stream that holds text. Only of "
     "incremental streams.",
     "t(first chunk with text) \xE2\x88\x92 startT"},
    {TERM_FIGURE, "decodeCharsPerSec", "Decode", "chars/s", 1, 1,
     "How fast text arrives after the first chunk, which is left out because it also pays for the prompt. In "
     "characters (UTF-16 units), so that models with different tokenizers can be compared. Only of incremental "
     "streams.",
     "(characters \xE2\x88\x92 characters of the first chunk with text) / (t(last chunk) \xE2\x88\x92 t(first chunk with text)) "
     "\xC3\x97 1000"},
    {TERM_FIGURE, "decodeChunksPerSec", "Decode", "chunks/s", 1, 1,
     "The same in chunks of the stream. A chunk is a token in many runtimes, not in all.",
     "(number of chunks \xE2\x88\x92 1) / (t(last chunk) \xE2\x88\x92 t(first chunk with text)) \xC3\x97 1000"},
    {TERM_FIGURE, "generatedChars", "Generated", "chars", 0, 0,
     "Length of the generated text in UTF-16 units.", "sum of the characters of all chunks"},
    {TERM_FIGURE, "prefillTokPerSecApprox", "Prefill, approximate", "tokens/s", 1, 1,
     "How fast the prompt was read, taking TTFT for the time it took. The prompts have about 128 and 512 tokens; only "
     "workloads with such a prompt have the figure.",
     "prompt tokens / TTFT \xC3\x97 1000"},
    {TERM_FIGURE, "totalMs", "Total", "ms", -1, 1,
     "Duration of the whole request.", "endT \xE2\x88\x92 startT"},
    {TERM_FIGURE, "overallCharsPerSec", "End to end", "chars/s", 1, 1,
     "Characters over the duration of the whole request: reading the prompt and writing the answer together. Known of "
     "every stream, also of one that came in a burst.",
     "characters / (endT \xE2\x88\x92 startT) \xC3\x97 1000"},
    {TERM_FIGURE, "singleLatencyMs", "Embedding latency", "ms", -1, 1,
     "Duration of a request that embeds one text.", "endT \xE2\x88\x92 startT"},
    {TERM_FIGURE, "batchTextsPerSec", "Embedding rate", "texts/s", 1, 1,
     "Texts embedded a second in requests of several texts.", "count / (endT \xE2\x88\x92 startT) \xC3\x97 1000"},
    {TERM_FIGURE, "loadMs", "Load", "ms", -1, 0,
     "Time until the model was ready. Cold when it had to be downloaded, warm when the browser had it.",
     "load.endT \xE2\x88\x92 load.startT"},
    {TERM_FIGURE, "loadColdMs", "Cold load", "ms", -1, 0,
     "Load of a model that the browser did not have, download included.", "load.endT \xE2\x88\x92 load.startT"},
    {TERM_FIGURE, "loadWarmMs", "Warm load", "ms", -1, 0,
     "Load of a model that the browser had in its cache.", "load.endT \xE2\x88\x92 load.startT"},
    {TERM_FIGURE, "qualityScore", "Quality", "", 1, 2,
     "Share of a fixed set of questions answered as its key says. It tells how true a runtime and a quantization are "
     "to the model, not how able the model is.",
     "hits / questions"},
    {TERM_FIGURE, "qualityParseRate", "Parse rate", "", 1, 2,
     "Share of the answers that could be read as one of the choices. Where it is low, the form of the answers limits "
     "the score.",
     "answers read / questions"},
    {TERM_STATISTIC, "n", "n", "", 0, 0, "Number of values.", NULL},
    {TERM_STATISTIC, "median", "Median", "", 0, 0,
     "Half of the values are above, half below; of an even number the mean of the two in the middle. The headline of "
     "every figure.",
     "quantile 0.5"},
    {TERM_STATISTIC, "quantile", "Quantile", "", 0, 0,
     "Type 7, as in R and NumPy: between the two neighbouring sorted values, in proportion.",
     "p = (n \xE2\x88\x92 1)q; l = \xE2\x8C\x8Ap\xE2\x8C\x8B, h = \xE2\x8C\x88p\xE2\x8C\x89; s[l] + (s[h] \xE2\x88\x92 s[l]) \xC3\x97 (p \xE2\x88\x92 l)"},
    {TERM_STATISTIC, "mean", "Mean", "", 0, 0, "Arithmetic mean, summed in the order of the file.", "\xCE\xA3x / n"},
    {TERM_STATISTIC, "sd", "SD", "", 0, 0,
     "Sample standard deviation in two passes; 0 of one value.", "\xE2\x88\x9A(\xCE\xA3(x \xE2\x88\x92 mean)\xC2\xB2 / (n \xE2\x88\x92 1))"},
    {TERM_STATISTIC, "iqr", "IQR", "", 0, 0,
     "Interquartile range: the middle half of the values lies in it.", "quantile 0.75 \xE2\x88\x92 quantile 0.25"},
    {TERM_STATISTIC, "range", "Range", "", 0, 0,
     "From the smallest to the largest value. On the board, of the runs' medians; given beside a median from two "
     "values on.",
     "min \xE2\x80\x93 max"},
    {TERM_STATISTIC, "ci95", "95 % CI", "", 0, 0,
     "Half the width of the 95 % confidence interval of the mean, by Student's t; 0 of one value.",
     "t(0.975, n \xE2\x88\x92 1) \xC3\x97 sd / \xE2\x88\x9An"},
    {TERM_STATISTIC, "cv", "CV", "", 0, 0, "Coefficient of variation: the spread as a share of the mean.", "sd / |mean|"},
    {TERM_STATISTIC, "geomean", "Geometric mean", "", 0, 0,
     "Over the workloads of one model and runtime within one run. Never over devices, runs or models: those are no "
     "repetitions of each other.",
     "exp(\xCE\xA3 ln x / n)"},
    {TERM_MARK, "provisional", "provisional", "", 0, 0,
     "Fewer than three runs stand behind the row, or, where the service counts devices, runs of fewer than three devices: "
     "the next one may change it.",
     "submissions < 3, or devices < 3 where provisional_by is devices"},
    {TERM_MARK, "highVariance", "high variance", "", 0, 0,
     "In a contributing cell the values of a figure scatter by more than 5 % of their mean.", "cv > " TEXT_OF(HIGH_VARIANCE_CV) " and n \xE2\x89\xA5 2"},
    {TERM_MARK, "e2e", "e2e", "", 0, 0,
     "The stream of a contributing cell came in a burst instead of piece by piece, so TTFT and decode rate cannot be "
     "measured: the end-to-end rate stands in their place.",
     "not incremental"},
    {TERM_MARK, "incremental", "incremental", "", 0, 0,
     "A stream whose chunks arrive while the answer is made: at least two chunks with text, and the time between the "
     "first and the last of them is at least a fifth of the request.",
     "(t(last with text) \xE2\x88\x92 t(first with text)) / (endT \xE2\x88\x92 startT) \xE2\x89\xA5 " TEXT_OF(INCREMENTAL_SPAN)},
    {TERM_MARK, "submissions", "Runs", "", 0, 0, "How many runs contribute to the row.", "distinct run ids"},
    {TERM_MARK, "devices", "Devices", "", 0, 0,
     "How many different devices the contributing runs come from. An index entry has neither a screen nor a userAgent, so "
     "that equal machines count once, and one whose browser was updated in between twice.",
     "distinct gpuModel, os, osVersion, architecture, cores, deviceMemoryGB, browser, browserVersion, engine, deviceModel"},
};
/* clang-format on */

const struct term *terms(size_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}

const struct term *term(const char *key)
{
    size_t at = 0;
    while (strcmp(table[at].key, key) != 0) {
        at++;
        assert(at < sizeof table / sizeof *table);
    }
    return &table[at];
}

void term_link(struct buffer *out, const char *key, struct text protocol)
{
    const struct term *found = term(key);
    html_put(out, "<a class=\"term\" href=\"/methodology/{}#{}\" title=\"{}\">{}</a>",
             html_slice(protocol, HTML_NAME_MOST), html_text(key), html_text(found->meaning),
             html_text(found->label));
}

struct html_value term_value(const struct term *known, double value)
{
    return html_rounded(value, known->decimals);
}

void term_cell(struct buffer *out, const struct term *known, double value)
{
    if (isnan(value))
        buffer_text(out, "<td></td>");
    else
        html_put(out, "<td class=\"number\" data-of=\"{}{}{}\">{}</td>", html_text(known->label),
                 html_markup(*known->unit ? ", " : ""), html_text(known->unit),
                 term_value(known, value));
}
