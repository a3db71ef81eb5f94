#include "aggregate/board_columns.h"
#include "aggregate/export_row.h"

static void put(struct js_writer *writer, const char *key, const char *text)
{
    js_write_key(writer, key);
    js_write_text(writer, text);
}

/* One column, as Table Schema describes it. */
static void write_field(struct js_writer *writer, const char *name, const char *type,
                        const char *unit, const char *about)
{
    js_write_begin(writer, '{');
    put(writer, "name", name);
    put(writer, "type", type);
    if (!strcmp(type, "datetime"))
        put(writer, "format", "any"); /* createdAt may have an offset and any number of digits */
    put(writer, "description", about);
    if (unit)
        put(writer, "unit", unit);
    js_write_end(writer, '}');
}

static const char *type_name(enum export_type type)
{
    static const char *const names[] = {
        [EXPORT_TEXT] = "string",     [EXPORT_NUMBER] = "number", [EXPORT_FIGURE] = "number",
        [EXPORT_INTEGER] = "integer", [EXPORT_BOOL] = "boolean",  [EXPORT_TIME] = "datetime",
        [EXPORT_ANY] = "any",         [EXPORT_LIST] = "string",   [EXPORT_VERSIONS] = "string"};
    return names[type];
}

static void write_fields(struct js_writer *writer, const struct export_layout *layout,
                         const struct export_packages *packages)
{
    for (size_t i = 0; i < layout->count; i++) {
        const struct export_column *column = &layout->columns[i];
        const char *type = type_name(column->type);
        if (column->type != EXPORT_VERSIONS) {
            write_field(writer, column->name, type, column->unit, column->about);
            continue;
        }
        for (size_t package = 0; package < packages->count; package++)
            write_field(writer, packages->names[package], type, column->unit, column->about);
    }
}

static void write_board_fields(struct js_writer *writer)
{
    static const char *const types[] = {[COLUMN_TEXT] = "string",
                                        [COLUMN_COUNT] = "integer",
                                        [COLUMN_FIGURE] = "number",
                                        [COLUMN_NAMES] = "string",
                                        [COLUMN_BOOL] = "boolean"};
    size_t count;
    const struct column *columns = board_columns(&count);
    for (size_t i = 0; i < count; i++)
        if (columns[i].csv)
            write_field(writer, columns[i].key, types[columns[i].kind], columns[i].unit,
                        columns[i].about);
}

static void write_text_fields(struct js_writer *writer)
{
    static const struct {
        const char *name, *type, *about;
    } fields[] = {{"runId", "string", "id of the run"},
                  {"cellId", "string", "id of the cell within its run"},
                  {"iteration", "integer", "from 1"},
                  {"text", "string", "what was generated; may hold lone surrogates, escaped"}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        write_field(writer, fields[i].name, fields[i].type, NULL, fields[i].about);
}

/* A resource up to its schema. */
static void begin_resource(struct js_writer *writer, const char *name, const char *extension,
                           const char *mediatype, const char *about)
{
    BUFFER_SCOPE struct buffer path = {0};
    buffer_format(&path, "%s.%s", name, extension);
    js_write_begin(writer, '{');
    put(writer, "name", name);
    put(writer, "path", buffer_string(&path));
    put(writer, "description", about);
    put(writer, "format", extension);
    put(writer, "mediatype", mediatype);
    put(writer, "encoding", "utf-8");
}

static void begin_schema(struct js_writer *writer)
{
    js_write_key(writer, "schema");
    js_write_begin(writer, '{');
    js_write_key(writer, "fields");
    js_write_begin(writer, '[');
}

static void end_schema(struct js_writer *writer)
{
    js_write_end(writer, ']');
    js_write_key(writer, "missingValues");
    js_write_begin(writer, '[');
    js_write_text(writer, "");
    js_write_end(writer, ']');
    js_write_end(writer, '}');
    js_write_end(writer, '}');
}

static void write_dialect(struct js_writer *writer)
{
    js_write_key(writer, "dialect");
    js_write_begin(writer, '{');
    put(writer, "delimiter", ",");
    put(writer, "lineTerminator", "\n");
    put(writer, "quoteChar", "\"");
    js_write_key(writer, "doubleQuote");
    js_write_bool(writer, true);
    js_write_key(writer, "header");
    js_write_bool(writer, true);
    js_write_end(writer, '}');
}

static void begin_csv(struct js_writer *writer, const char *name, const char *about)
{
    begin_resource(writer, name, "csv", "text/csv", about);
    put(writer, "profile", "tabular-data-resource");
    write_dialect(writer);
    begin_schema(writer);
}

static void write_resources(struct js_writer *writer, const struct export_packages *packages)
{
    begin_csv(writer, "leaderboard", "The board: one row per device, runtime, model and workload.");
    write_board_fields(writer);
    end_schema(writer);
    for (int table = 0; table < EXPORT_TABLES; table++) {
        struct export_layout layout = export_layout((enum export_table)table);
        begin_csv(writer, export_table_name((enum export_table)table), layout.about);
        write_fields(writer, &layout, packages);
        end_schema(writer);
    }
    begin_resource(writer, "texts", "jsonl", "application/jsonl",
                   "What was generated: one JSON object per line and iteration.");
    begin_schema(writer);
    write_text_fields(writer);
    end_schema(writer);
    begin_resource(writer, "validation", "txt", "text/plain",
                   "One line per run, parted by blanks: its id, ok or not-ok, and each flag as "
                   "severity:code.");
    js_write_end(writer, '}');
}

void export_write_package(const struct export_packages *packages, const char *licence,
                          struct buffer *out)
{
    struct js_writer writer = {.out = out};
    js_write_begin(&writer, '{');
    put(&writer, "profile", "data-package");
    put(&writer, "name", "benchledger-runs");
    put(&writer, "title", "Speed of AI models in browsers");
    put(&writer, "description",
        "Rows follow the runs by createdAt, then path, then the order of the file. Figures in ms "
        "and rates are "
        "rounded to two decimals, all else is as in the run file. A text that begins with =, +, - "
        "or @ has a "
        "leading apostrophe, which is not part of it.");
    js_write_key(&writer, "licenses");
    js_write_begin(&writer, '[');
    js_write_begin(&writer, '{');
    put(&writer, "name", licence);
    js_write_end(&writer, '}');
    js_write_end(&writer, ']');
    js_write_key(&writer, "resources");
    js_write_begin(&writer, '[');
    write_resources(&writer, packages);
    js_write_end(&writer, ']');
    js_write_end(&writer, '}');
    buffer_byte(out, '\n');
}
