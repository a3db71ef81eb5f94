"""Writes files as a C table of assets, by name: bundle.py OUTPUT NAME=FILE[+FILE...] ...

Files joined by + become one, in that order."""
import hashlib
import sys

TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
    "wasm": "application/wasm",
}


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def array(number, data):
    lines = [",".join(map(str, data[at:at + 24])) for at in range(0, len(data), 24)]
    return "static const unsigned char bytes_%d[] = {\n%s};\n" % (number, ",\n".join(lines))


target, *items = sys.argv[1:]
pairs = sorted(item.split("=", 1) for item in items)
rows = []
with open(target, "w", encoding="ascii") as out:
    out.write('#include "pages/assets.h"\n\n#include <string.h>\n\n')
    for number, (name, files) in enumerate(pairs):
        data = b"".join(read(path) for path in files.split("+"))
        out.write(array(number, data))
        rows.append('    {"%s", "%s", bytes_%d, sizeof bytes_%d, "%s"},\n' % (
            name, TYPES[name.rsplit(".", 1)[1]], number, number,
            hashlib.sha256(data).hexdigest()[:16]))
    out.write("\nstatic const struct asset table[] = {\n%s};\n" % "".join(rows))
    out.write("""
const struct asset *assets(size_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}

const struct asset *asset_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}
""")
