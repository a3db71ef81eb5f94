/* Manifest, segments and summary, against each other; entries are kept to be compared with their files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/index.h"
#include "archive/audit_state.h"
#include "github/rebuild/walk.h"

/* An entry as a worker read it. */
struct entry_read {
    const struct js_value *run_id, *path;
    bool flagged;
    size_t begin, end; /* of its bytes */
    unsigned char sha256[SHA256_SIZE];
};

/* A file of entries as a worker read it. */
struct segment_read {
    const char *problem; /* NULL: it is an array of entries */
    struct js_document document;
    struct entry_read *entries;
    size_t count;
    bool formed; /* its bytes are what JSON.stringify prints */
    char sha256[SHA256_HEX + 1];
};

struct indexing {
    struct auditing *audit;
    struct walk_list list;
    struct arena arena; /* of the manifest */
    struct buffer manifest_bytes, summary;
    struct js_document manifest;
    bool has_manifest, has_summary;
    bool summary_differs;   /* from the segments; that was said */
    size_t summary_at;      /* how far it was compared */
    size_t summary_entries; /* that it holds */
    size_t flagged;
    uint64_t accepted;   /* seq of the entry before; 0: without a line */
    size_t unordered;    /* entries that stand behind one that was accepted later */
    struct buffer lines; /* of the manifest, as the segments give them */
    struct leaderboard *leaderboard;
};

static bool read_entry(struct segment_read *segment, const struct walk_file *file,
                       const struct js_value *value, size_t *at, struct entry_read *entry)
{
    struct buffer json BUFFER_SCOPE = {0};
    const struct js_value *flagged = js_get(value, "flagged");
    *entry = (struct entry_read){.run_id = js_get(value, "runId"),
                                 .path = js_get(value, "path"),
                                 .flagged = flagged && flagged->type == JS_TRUE};
    js_print(&segment->document, value, &json);
    segment->formed = segment->formed && *at + json.size < file->size &&
                      !memcmp(file->bytes + *at, json.data, json.size);
    entry->begin = *at;
    entry->end = *at += json.size;
    sha256(json.data, json.size, entry->sha256);
    return entry->run_id && entry->run_id->type == JS_STRING && entry->path &&
           entry->path->type == JS_STRING;
}

static const char *read_segment(struct walk_file *file, struct segment_read *segment)
{
    struct js_error error;
    size_t at = 1, odd = 0;
    if (!file->bytes)
        return file->problem.message;
    sha256_hex(file->bytes, file->size, segment->sha256);
    if (!js_read(&file->arena, file->bytes, file->size, &segment->document, &error))
        return "is not JSON";
    const struct js_value *root = &segment->document.root;
    if (root->type != JS_ARRAY)
        return "is not an array";
    segment->formed = file->bytes[0] == '[';
    segment->entries = arena_take(&file->arena, root->size * sizeof *segment->entries);
    for (uint32_t i = 0; i < root->size; i++) {
        at += i > 0; /* a comma: whatever else it is makes the array no JSON */
        if (read_entry(segment, file, &root->items[i], &at, &segment->entries[segment->count]))
            segment->count++;
        else
            odd++;
    }
    segment->formed = segment->formed && at + 1 == file->size;
    return odd               ? "holds something without runId or path"
           : segment->formed ? NULL
                             : "is not as JSON.stringify prints it";
}

static void look_at_segment(void *context, struct walk_file *file)
{
    (void)context;
    struct segment_read *segment = file->result =
        arena_clear_take(&file->arena, 1, sizeof *segment);
    segment->problem = read_segment(file, segment);
}

static void take_entry(struct indexing *indexing, const struct walk_file *file,
                       const struct entry_read *entry)
{
    struct auditing *audit = indexing->audit;
    struct audited *run = audit_run(audit, entry->run_id->text, entry->run_id->size);
    size_t number = audit->counts->entries++;
    indexing->flagged += entry->flagged;
    if (run->accepted && audit->entries_with_line_from > number)
        audit->entries_with_line_from = number;
    if (run->accepted < indexing->accepted)
        indexing->unordered++;
    indexing->accepted = run->accepted;
    if (run->entry_path) {
        findings_add(audit->findings, FINDING_DUPLICATE_ENTRY, false, file->path,
                     "lists %s, which %s lists, too", run->item.key, run->entry_segment);
        return;
    }
    run->entry_path = audit_keep(audit, entry->path->text, entry->path->size);
    run->entry_segment = audit_keep(audit, file->path, strlen(file->path));
    run->entry_number = number;
    memcpy(run->entry, entry->sha256, sizeof run->entry);
}

/* The summary is the same entries in the same order, in one array, as far as it reaches. */
static void compare_summary(struct indexing *indexing, const struct walk_file *file,
                            const struct segment_read *segment)
{
    const struct buffer *summary = &indexing->summary;
    if (!indexing->has_summary || indexing->summary_differs || segment->count == 0)
        return;
    if (segment->problem) {
        indexing->summary_differs = true; /* from something that was said already */
        return;
    }
    size_t begin = indexing->summary_at ? indexing->summary_at + 1 : 1;
    if (begin + 1 > summary->size)
        return; /* it ends before */
    size_t left = summary->size - 1 - begin, i = segment->count;
    while (i > 0 && segment->entries[i - 1].end - 1 > left)
        i--;
    size_t size = i ? segment->entries[i - 1].end - 1 : 0;
    bool ends = i == segment->count || size == left;
    if (i && ends && !memcmp(summary->data + begin, file->bytes + 1, size) &&
        summary->data[begin - 1] == (indexing->summary_at ? ',' : '[')) {
        indexing->summary_at = begin + size;
        indexing->summary_entries += i;
        return;
    }
    indexing->summary_differs = true;
    findings_add(indexing->audit->findings, FINDING_SUMMARY, false, INDEX_SUMMARY_PATH,
                 "differs from what %s holds", file->path);
}

/* What is around the entries of the summary. */
static void compare_ends(struct indexing *indexing)
{
    const struct buffer *summary = &indexing->summary;
    struct findings *findings = indexing->audit->findings;
    size_t end = indexing->summary_at ? indexing->summary_at : 1;
    if (!indexing->has_summary)
        findings_add(findings, FINDING_SUMMARY, true, INDEX_SUMMARY_PATH, "is missing");
    else if (summary->size != end + 1 || summary->data[0] != '[' || summary->data[end] != ']')
        findings_add(findings, FINDING_SUMMARY, false, INDEX_SUMMARY_PATH,
                     "holds more or else than the entries of the segments");
}

static double count_of(const struct js_value *object, const char *name)
{
    const struct js_value *value = js_get(object, name);
    return value && value->type == JS_NUMBER ? value->number : NAN;
}

/* Against its line in the manifest. */
static void compare_line(struct indexing *indexing, const struct walk_file *file,
                         const struct segment_read *segment)
{
    struct findings *findings = indexing->audit->findings;
    const struct js_value *lines = js_get(&indexing->manifest.root, "segments"), *line = NULL;
    for (uint32_t i = 0; lines && lines->type == JS_ARRAY && i < lines->size; i++)
        if (js_equals(js_get(&lines->items[i], "path"), file->path))
            line = &lines->items[i];
    if (!indexing->has_manifest)
        return;
    if (!line)
        findings_add(findings, FINDING_SEGMENT, false, file->path, "is not in the manifest");
    else if (!js_equals(js_get(line, "sha256"), segment->sha256) ||
             count_of(line, "bytes") != (double)file->size ||
             count_of(line, "entries") != (double)segment->count)
        findings_add(findings, FINDING_SEGMENT, false, file->path,
                     "has %zu bytes and %zu entries: SHA-256 or counts differ from the manifest's",
                     file->size, segment->count);
}

/* What the manifest has to say of the segment. */
static void add_line(struct indexing *indexing, const struct walk_file *file,
                     const struct segment_read *segment)
{
    struct js_writer writer = {.out = &indexing->lines, .follows = indexing->lines.size > 0};
    js_write_begin(&writer, '{');
    js_write_key(&writer, "path");
    js_write_text(&writer, file->path);
    js_write_key(&writer, "entries");
    js_write_number(&writer, (double)segment->count);
    js_write_key(&writer, "bytes");
    js_write_number(&writer, (double)file->size);
    js_write_key(&writer, "sha256");
    js_write_text(&writer, segment->sha256);
    js_write_end(&writer, '}');
}

static bool take_segment(void *context, struct walk_file *file, struct store_error *error)
{
    struct indexing *indexing = context;
    const struct segment_read *segment = file->result;
    (void)error;
    if (segment->problem)
        findings_add(indexing->audit->findings, FINDING_SEGMENT, false, file->path, "%s",
                     segment->problem);
    for (size_t i = 0; i < segment->count; i++) {
        const struct entry_read *entry = &segment->entries[i];
        take_entry(indexing, file, entry);
        if (segment->formed)
            audit_leaderboard_entry(indexing->leaderboard, file->bytes + entry->begin,
                                    entry->end - entry->begin);
    }
    compare_line(indexing, file, segment);
    add_line(indexing, file, segment);
    if (strcmp(file->path, INDEX_SUMMARY_PATH) != 0)
        compare_summary(indexing, file, segment);
    indexing->audit->counts->segments++;
    return true;
}

/* Adds the content of PATH to OUT. *FOUND: it is there; a file that cannot be read is a finding. */
static void read_part(struct auditing *audit, const char *path, struct buffer *out, bool *found)
{
    struct store_error why;
    enum repository_found there = source_read(&audit->options->source, path, out, &why);
    *found = there == REPOSITORY_FOUND;
    if (there == REPOSITORY_FAULT)
        findings_add(audit->findings, FINDING_UNREADABLE, false, path, "%s", why.message);
}

static void read_manifest(struct indexing *indexing)
{
    struct js_error error;
    struct buffer *bytes = &indexing->manifest_bytes;
    read_part(indexing->audit, INDEX_MANIFEST_PATH, bytes, &indexing->has_manifest);
    if (!indexing->has_manifest)
        return;
    indexing->has_manifest =
        js_read(&indexing->arena, buffer_string(bytes), bytes->size, &indexing->manifest, &error) &&
        indexing->manifest.root.type == JS_OBJECT;
    if (!indexing->has_manifest)
        findings_add(indexing->audit->findings, FINDING_MANIFEST, false, INDEX_MANIFEST_PATH,
                     "is not JSON, or no object");
}

static bool is_listed(const struct walk_list *list, const struct js_value *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (js_equals(path, list->items[i].path))
            return true;
    return false;
}

static void compare_count(struct indexing *indexing, const char *name, size_t count)
{
    double said = count_of(&indexing->manifest.root, name);
    if (said != (double)count)
        findings_add(indexing->audit->findings, FINDING_MANIFEST, false, INDEX_MANIFEST_PATH,
                     "says %s %.0f, there are %zu", name, said, count);
}

static void write_number(struct js_writer *writer, const char *key, size_t number)
{
    js_write_key(writer, key);
    js_write_number(writer, (double)number);
}

/* Every byte of it, when nothing else was found: order, version, what it says of the summary. */
static void compare_bytes(struct indexing *indexing)
{
    struct findings *findings = indexing->audit->findings;
    struct buffer bytes BUFFER_SCOPE = {0};
    struct js_writer writer = {.out = &bytes};
    const struct js_value *complete = js_get(&indexing->manifest.root, "summaryComplete");
    bool all = indexing->summary_entries == indexing->audit->counts->entries;
    if (findings->met[FINDING_MANIFEST][0] || findings->met[FINDING_SEGMENT][0] ||
        findings->met[FINDING_SUMMARY][0])
        return;
    js_write_begin(&writer, '{');
    write_number(&writer, "version", 1);
    js_write_key(&writer, "segments");
    js_write_begin(&writer, '[');
    js_write_raw(&writer, indexing->lines.data, indexing->lines.size);
    js_write_end(&writer, ']');
    write_number(&writer, "entries", indexing->audit->counts->entries);
    write_number(&writer, "flagged", indexing->flagged);
    js_write_key(&writer, "summaryComplete");
    js_write_bool(&writer, all && complete && complete->type == JS_TRUE);
    write_number(&writer, "summaryEntries", indexing->summary_entries);
    js_write_end(&writer, '}');
    if (bytes.size != indexing->manifest_bytes.size ||
        memcmp(bytes.data, indexing->manifest_bytes.data, bytes.size) != 0)
        findings_add(findings, FINDING_MANIFEST, false, INDEX_MANIFEST_PATH,
                     "is not what the segments give, as JSON.stringify prints it");
}

/* What is left once all segments were met. */
static void compare_manifest(struct indexing *indexing)
{
    struct findings *findings = indexing->audit->findings;
    const struct js_value *root = &indexing->manifest.root, *lines = js_get(root, "segments"),
                          *complete = js_get(root, "summaryComplete");
    if (!indexing->has_manifest)
        return;
    for (uint32_t i = 0; lines && lines->type == JS_ARRAY && i < lines->size; i++) {
        const struct js_value *path = js_get(&lines->items[i], "path");
        if (!is_listed(&indexing->list, path))
            findings_add(findings, FINDING_SEGMENT, false, INDEX_MANIFEST_PATH,
                         "lists segment %u, which is missing", i + 1);
    }
    if (indexing->unordered)
        findings_add(findings, FINDING_SEGMENT, true, INDEX_MANIFEST_PATH,
                     "%zu entries do not stand in the order of acceptance", indexing->unordered);
    compare_count(indexing, "entries", indexing->audit->counts->entries);
    compare_count(indexing, "flagged", indexing->flagged);
    if (indexing->summary_differs)
        return;
    compare_count(indexing, "summaryEntries", indexing->summary_entries);
    compare_ends(indexing);
    if (complete && complete->type == JS_TRUE &&
        indexing->summary_entries != indexing->audit->counts->entries)
        findings_add(findings, FINDING_SUMMARY, false, INDEX_SUMMARY_PATH,
                     "lacks entries, and the manifest says that it is complete");
    compare_bytes(indexing);
}

static bool walk_segments(struct indexing *indexing)
{
    struct auditing *audit = indexing->audit;
    const struct walk walk = {.source = &audit->options->source,
                              .list = &indexing->list,
                              .context = indexing,
                              .look = look_at_segment,
                              .take = take_segment};
    read_manifest(indexing);
    read_part(audit, INDEX_SUMMARY_PATH, &indexing->summary, &indexing->has_summary);
    if (!walk_list_add(&indexing->list, walk.source, INDEX_SEGMENTS_FOLDER, ".json", audit->error))
        return false;
    bool archive = !indexing->has_manifest && !indexing->list.count && indexing->has_summary;
    if (archive &&
        !walk_list_add_file(&indexing->list, walk.source, INDEX_SUMMARY_PATH, audit->error))
        return false;
    audit->has_index = indexing->list.count > 0 || indexing->has_manifest;
    if (!audit->has_index)
        findings_add(audit->findings, FINDING_INDEX_MISSING, true, INDEX_MANIFEST_PATH,
                     "`benchledger index` makes one");
    else if (archive)
        findings_add(audit->findings, FINDING_MANIFEST, true, INDEX_MANIFEST_PATH,
                     "is missing: an older archive, which has only a summary");
    else if (!indexing->has_manifest)
        findings_add(audit->findings, FINDING_MANIFEST, false, INDEX_MANIFEST_PATH, "is missing");
    return walk_run(&walk, audit->error);
}

bool audit_index(struct auditing *audit)
{
    struct indexing indexing = {.audit = audit, .leaderboard = audit_leaderboard_begin(audit)};
    audit->entries_with_line_from = SIZE_MAX;
    bool fine = walk_segments(&indexing);
    if (fine)
        compare_manifest(&indexing);
    audit_leaderboard_end(audit, indexing.leaderboard);
    walk_list_free(&indexing.list);
    arena_free(&indexing.arena);
    buffer_free(&indexing.manifest_bytes);
    buffer_free(&indexing.summary);
    buffer_free(&indexing.lines);
    return fine;
}
