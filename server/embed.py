"""Writes a file as a C array: embed.py INPUT OUTPUT NAME."""
import sys

source, target, name = sys.argv[1:4]
with open(source, "rb") as stream:
    data = stream.read()
lines = [",".join(str(byte) for byte in data[at:at + 24]) for at in range(0, len(data), 24)]
with open(target, "w", encoding="ascii") as stream:
    stream.write('#include "server/embedded.h"\n\n')
    stream.write("const unsigned char %s[] = {\n%s};\n" % (name, ",\n".join(lines)))
    stream.write("const size_t %s_size = sizeof %s;\n" % (name, name))
