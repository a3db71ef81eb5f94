#!/bin/sh
# Compares the table of configuration keys in README.md with what the binary prints; --write renews it.
# Usage: tests/readme.sh [--write] [BINARY]; the default is build/server/benchledger
set -eu
cd "$(dirname "$0")/.."
write=
[ "${1:-}" != --write ] || {
    write=yes
    shift
}
binary=${1:-build/server/benchledger}
new=$(mktemp)
table=$(mktemp)
trap 'rm -f "$new" "$table"' EXIT
"$binary" serve --help-markdown >"$table"
awk -v table="$table" '
    /^<!-- end -->$/ { inside = 0 }
    !inside { print }
    /^<!-- begin: serve --help-markdown -->$/ {
        inside = 1
        while ((getline line < table) > 0)
            print line
    }' README.md >"$new"
if [ -n "$write" ]; then
    cp "$new" README.md
else
    diff -u README.md "$new"
    echo "# pass 1" # as node says it, for tests/run.sh
fi
