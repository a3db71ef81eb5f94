/* import: exported runs, taken in by a maintainer. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregate/candidate.h"
#include "github/rebuild/import.h"
#include "github/rebuild/walk.h"
#include "server/clock.h"
#include "server/command.h"
#include "server/commands/dataset.h"
#include "server/commands/judging.h"
#include "server/commands/progress.h"

enum { NAME_UNITS = 64 };

struct taking {
    struct import *import;
    struct judging judging;
    const char *by;
    size_t most; /* bytes of a file */
    size_t added, flagged, known, refused;
    struct store_error error;
};

static void tell(void *context, const char *run_id, enum import_end end, const char *path,
                 const char *commit)
{
    struct taking *taking = context;
    BUFFER_SCOPE struct buffer line = {0};
    if (end == IMPORT_DUPLICATE) {
        taking->refused++;
        offline_complain(run_id, "duplicate-run: another run has this id");
        return;
    }
    bool added = end == IMPORT_ADDED;
    taking->added += added;
    taking->known += !added;
    taking->flagged += added && !strncmp(path, "quarantine/", 11);
    buffer_text(&line, added ? "added " : "known ");
    offline_add_safely(&line, path, strlen(path));
    buffer_format(&line, "%s%s\n", *commit ? " in commit " : "", commit);
    offline_print(&line);
}

static void refuse(struct taking *taking, const char *name, const struct candidate *candidate)
{
    char problem[REPORT_PROBLEM_MAX];
    taking->refused++;
    switch (candidate->fault) {
    case CANDIDATE_NO_JSON:
        report_json_problem(&candidate->json, problem);
        offline_complain(name, problem);
        break;
    case CANDIDATE_DIGEST:
        snprintf(problem, sizeof problem, "digest-mismatch: the content gives %s",
                 candidate->digest.computed);
        offline_complain(name, problem);
        break;
    case CANDIDATE_SHAPE:
        offline_complain_shape(name, &candidate->errors);
        break;
    case CANDIDATE_SECRET:
    case CANDIDATE_FINE:
        offline_complain(name, candidate->message);
    }
}

static bool add(struct taking *taking, struct candidate *candidate, double now_ms)
{
    const struct publication *publication = &candidate->publication;
    const struct js_value *id = candidate->verdict.identity->run_id;
    const struct js_value *digest = js_get(&candidate->document.root, "digest");
    BUFFER_SCOPE struct buffer codes = {0};
    struct js_writer writer = {.out = &codes};
    char at[32];
    clock_iso((int64_t)now_ms, at);
    verdict_write_codes(&candidate->verdict, &writer);
    const struct change change = {.run_id = arena_copy(&candidate->arena, id->text, id->size),
                                  .path = publication->path,
                                  .bytes = publication->bytes.data,
                                  .bytes_size = publication->bytes.size,
                                  .entry = publication->entry.data,
                                  .entry_size = publication->entry.size,
                                  .flagged = publication->flagged,
                                  .at = at,
                                  .digest = publication->digest,
                                  .submitted_digest =
                                      arena_copy(&candidate->arena, digest->text, digest->size),
                                  .rules = candidate->verdict.rules_version,
                                  .flags = buffer_string(&codes),
                                  .by = taking->by};
    return import_add(taking->import, &change, &taking->error);
}

/* The way of a submission, but for the nonce. False: the dataset cannot be written. */
static bool take(struct taking *taking, const char *name)
{
    CANDIDATE_SCOPE struct candidate candidate = {0};
    BUFFER_SCOPE struct buffer text = {0};
    const double now_ms = (double)clock_wall_ms();
    taking->judging.policy.accepted_ms = now_ms;
    if (!offline_read(name, &text)) {
        taking->refused++;
        return true;
    }
    if (text.size > taking->most) {
        taking->refused++;
        offline_complain(name, "payload-too-large: see --max-body");
        return true;
    }
    if (candidate_parse(&candidate, buffer_string(&text), text.size) &&
        candidate_digest(&candidate) &&
        candidate_judge(&candidate, &taking->judging.policy, taking->judging.key, now_ms) &&
        candidate_publish(&candidate, now_ms) && candidate_bait(&candidate)) {
        if (candidate.publication.bytes.size > WALK_FILE_MOST) {
            taking->refused++;
            offline_complain(name, "payload-too-large: as it would be published");
            return true;
        }
        return add(taking, &candidate, now_ms);
    }
    refuse(taking, name, &candidate);
    return true;
}

static bool take_all(struct taking *taking, int count, char **names)
{
    for (int i = 0; i < count; i++) {
        if (!take(taking, names[i]))
            return false;
        if (!progress_step((size_t)i + 1, (size_t)count, 0))
            return error_set(&taking->error, "stopped; what is not told above was not added");
    }
    return import_flush(taking->import, &taking->error);
}

static int run_import(struct taking *taking, const struct import_options *options, int count,
                      char **names)
{
    bool opened = import_open(options, &taking->import, &taking->error);
    bool fine = opened && take_all(taking, count, names);
    if (!fine)
        offline_complain(options->dataset, taking->error.message);
    if (opened && import_needs_index(taking->import) &&
        dataset_rebuild(options->dataset) != OFFLINE_OK)
        fine = false;
    import_close(taking->import);
    printf("added %zu (%zu quarantined), known %zu, refused %zu\n", taking->added, taking->flagged,
           taking->known, taking->refused);
    return !fine ? OFFLINE_UNREADABLE : taking->refused ? OFFLINE_REFUSED : OFFLINE_OK;
}

_Static_assert(WALK_FILE_MOST == 67108864, "what is told below");

static bool read_limit(const char *text, size_t most, size_t *limit)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    *limit = (size_t)value;
    return *text >= '0' && *text <= '9' && !*end && value <= most;
}

int import_command(int count, char **arguments)
{
    static const struct manual manual = {
        .usage = "import [OPTION]... --by NAME DATASET FILE...",
        .summary =
            "Takes exported runs into a dataset, as the service takes submissions but without a\n"
            "nonce: digest, shape, verdict, scrub, ledger line (with NAME), index "
            "entry.\n" DATASET_HELP
            "\nIn a bare repository the result is committed; a service may run meanwhile, and\n"
            "follows.",
        .exits =
            "  0  every run is in the dataset\n"
            "  2  some were refused; the others are in the dataset\n"
            "  3  the dataset cannot be read or written, another import or index works in it,\n"
            "     or the command was stopped by a signal: what was told is in the dataset\n"
            "  64 wrong usage",
        .operands_least = 2,
        .operands_most = INT_MAX};
    ARENA_SCOPE struct arena arena = {0};
    struct taking taking = {0};
    const char *by = "", *limit = "20000000", *most = "4194304";
    struct option_list archives = {0};
    struct import_options options = {
        .author = {"benchledger", "benchledger@localhost"}, .tell = tell, .context = &taking};
    const struct option_row rows[] = {
        {.name = "by", .value = "NAME", .text = &by, .help = "who does it, for the ledger; needed"},
        JUDGING_PROTOCOLS(taking.judging),
        JUDGING_RULES(taking.judging),
        JUDGING_OPTIONS(taking.judging),
        {.name = "summary-limit",
         .value = "BYTES",
         .text = &limit,
         .help = "as the service's (20000000): past it index/summary.json is left alone, in a bare "
                 "repository"},
        {.name = "max-body",
         .value = "BYTES",
         .text = &most,
         .help =
             "largest file that is taken (4194304, as the service's); at most 67108864, which the "
             "other commands read"},
        {.name = "archive",
         .value = "DATASET",
         .list = &archives,
         .help = "an earlier repository of the dataset; may be repeated"},
        {.name = "author-name",
         .value = "NAME",
         .text = &options.author.name,
         .help = "of the commits in a bare repository"},
        {.name = "author-email",
         .value = "MAIL",
         .text = &options.author.email,
         .help = "of the same commits"},
        {0}};
    int exit_code;
    int operands = options_parse(&manual, rows, count, arguments, &exit_code);
    if (operands < 0)
        return exit_code;
    taking.by = offline_line(&arena, by, NAME_UNITS);
    if (!taking.by) {
        offline_complain(arguments[0], "--by NAME is needed, in UTF-8");
        return EXIT_USAGE;
    }
    if (!read_limit(limit, SIZE_MAX / 2, &options.summary_limit) ||
        !read_limit(most, WALK_FILE_MOST, &taking.most)) {
        offline_complain(arguments[0], "--summary-limit and --max-body are numbers of bytes, the "
                                       "second of at most 67108864");
        return EXIT_USAGE;
    }
    options.archives = archives.values; /* one more than may be given, so that it ends with NULL */
    if ((exit_code = judging_begin(&taking.judging, &arena)) != OFFLINE_OK)
        return exit_code;
    options.dataset = arguments[0];
    progress_begin("import");
    exit_code = run_import(&taking, &options, operands - 1, arguments + 1);
    return offline_printed() ? exit_code : OFFLINE_UNREADABLE;
}
