"""Writes a file as a C function that returns it: embed.py INPUT OUTPUT NAME."""
import sys

source, target, name = sys.argv[1:4]
with open(source, "rb") as stream:
    data = stream.read()
lines = [",".join(str(byte) for byte in data[at:at + 24]) for at in range(0, len(data), 24)]
with open(target, "w", encoding="ascii") as stream:
    stream.write('#include "server/embedded.h"\n\n')
    stream.write("static const unsigned char bytes[] = {\n%s};\n\n" % ",\n".join(lines))
    stream.write("const char *%s(size_t *size)\n{\n    *size = sizeof bytes;\n" % name)
    stream.write("    return (const char *)bytes;\n}\n")
