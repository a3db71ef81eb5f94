/* The ledger's chain, line by line; unlike the service, the audit goes on behind a break. */
#include <stdlib.h>
#include <string.h>

#include "archive/audit_state.h"
#include "github/repository/source.h"
#include "validator/calendar.h"

struct chain {
    struct auditing *audit;
    const char *path; /* of the day file */
    char day[LEDGER_DAY + 1];
    size_t number; /* of the line in it, from 1 */
    uint64_t seq;  /* of the line before */
    char last[SHA256_HEX + 1];
};

static void difference(const struct chain *chain, enum finding finding, const char *text)
{
    findings_add(chain->audit->findings, finding, false, chain->path, "line %zu %s", chain->number,
                 text);
}

/* A line is canonical JSON (spec 03, "Ledger"): its bytes are those that its values give. */
static bool is_canonical(const struct ledger_line *line, const char *text, size_t size)
{
    struct buffer bytes BUFFER_SCOPE = {0};
    js_print_canonical(line->document, &line->document->root, NULL, &bytes);
    return bytes.size == size && !memcmp(bytes.data, text, size);
}

static void check_place(struct chain *chain, const struct ledger_line *line)
{
    if (line->seq != chain->seq + 1)
        findings_add(chain->audit->findings, FINDING_LEDGER_CHAIN, false, chain->path,
                     "line %zu has seq %llu, the line before it %llu", chain->number,
                     (unsigned long long)line->seq, (unsigned long long)chain->seq);
    if (!js_equals(line->prev, chain->last))
        difference(chain, FINDING_LEDGER_CHAIN, "does not hold the SHA-256 of the line before it");
    double ms;
    int year, month;
    if (!line->at || line->at->size != CALENDAR_SIZE - 1 ||
        !calendar_read(text_of(line->at), &ms, &year, &month))
        difference(chain, FINDING_LEDGER_LINE, "has no time as YYYY-MM-DDTHH:MM:SS.mmmZ");
    else if (memcmp(line->at->text, chain->day, LEDGER_DAY) > 0)
        difference(chain, FINDING_LEDGER_LINE, "has a time that is later than its day file");
}

static const char *misfit(const struct ledger_line *line, const struct audited *run,
                          const struct run_state *state)
{
    if (js_equals(line->event, "accept"))
        return run->accepted ? "accepts a run a second time" : NULL;
    if (run->redacted)
        return "is about a run that was redacted";
    if (line->revision && line->revision->number != (double)state->revision)
        return "was decided about another state of the run";
    return NULL;
}

/* The event itself, and what is known of the run from then on. */
static void take_event(struct chain *chain, const struct ledger_line *line)
{
    char run_id[RUN_ID_MAX + 1];
    struct run_state state = {0};
    uint64_t accepted;
    if (!line->known)
        return;
    memcpy(run_id, line->run_id->text, line->run_id->size);
    run_id[line->run_id->size] = '\0';
    struct audited *run = audit_run(chain->audit, line->run_id->text, line->run_id->size);
    bool known = catalogue_find(chain->audit->catalogue, run_id, &state, &accepted);
    const char *problem = misfit(line, run, &state);
    if (problem)
        difference(chain, FINDING_LEDGER_EVENT, problem);
    if (known)
        run_state_free(&state);
    if (js_equals(line->event, "accept")) {
        run->accepted = line->seq;
        run->accepted_flagged =
            line->path && line->path->size > 11 && !memcmp(line->path->text, "quarantine/", 11);
    } else if (run->accepted && !js_equals(line->action, "keep")) {
        chain->audit->decisions++; /* about an entry */
    }
    run->redacted = run->redacted || js_equals(line->event, "redact");
    /* Far in the future every nonce is too old to be kept. */
    catalogue_line(chain->audit->catalogue, line, 1e18);
}

static void take_line(struct chain *chain, const char *text, size_t size)
{
    struct arena arena ARENA_SCOPE = {0};
    struct ledger_line line = {0};
    const char *problem = "is too long";
    bool fine = size <= LEDGER_LINE_MAX && ledger_parse(&arena, text, size, &line, &problem);
    if (!fine)
        difference(chain, FINDING_LEDGER_LINE, problem);
    if (line.document) {
        check_place(chain, &line);
        if (!is_canonical(&line, text, size))
            difference(chain, FINDING_LEDGER_LINE, "is not canonical JSON");
    }
    if (fine)
        take_event(chain, &line);
    chain->seq = line.seq ? line.seq : chain->seq + 1;
    sha256_hex(text, size, chain->last);
    chain->audit->counts->lines++;
}

static void take_day(struct chain *chain, const struct buffer *bytes)
{
    chain->number = 0;
    for (size_t from = 0; from < bytes->size;) {
        const char *line = bytes->data + from;
        const char *end = memchr(line, '\n', bytes->size - from);
        size_t size = end ? (size_t)(end - line) : bytes->size - from;
        chain->number++;
        if (!end)
            difference(chain, FINDING_LEDGER_LINE, "is cut off: its newline is missing");
        take_line(chain, line, size);
        from += size + 1;
    }
}

static bool note_day(void *context, const char *path)
{
    struct auditing *audit = context;
    char day[LEDGER_DAY + 1];
    if (!ledger_path_day(path, day)) {
        findings_add(audit->findings, FINDING_LEDGER_LINE, false, path, "is no day of a ledger");
        return true;
    }
    audit->days = memory_grow(audit->days, (audit->day_count + 1) * sizeof *audit->days);
    audit->days[audit->day_count++] =
        (struct ledger_file){.path = audit_keep(audit, path, strlen(path))};
    return true;
}

bool audit_ledger(struct auditing *audit)
{
    const struct source *source = &audit->options->source;
    struct chain chain = {.audit = audit};
    memset(chain.last, '0', SHA256_HEX);
    if (!source_list(source, "ledger", note_day, audit, audit->error))
        return false;
    audit->has_ledger = audit->day_count > 0;
    for (size_t i = 0; i < audit->day_count; i++) {
        struct ledger_file *day = &audit->days[i];
        struct store_error why = {"is gone"};
        chain.path = day->path;
        ledger_path_day(day->path, chain.day);
        if (source_read(source, day->path, &day->bytes, &why) == REPOSITORY_FOUND)
            take_day(&chain, &day->bytes);
        else
            findings_add(audit->findings, FINDING_UNREADABLE, false, day->path, "%s", why.message);
    }
    return true;
}
