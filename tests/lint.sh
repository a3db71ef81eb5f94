#!/bin/sh
# Warnings at the strict level with gcc and clang, clang-format and clang-tidy. Silent but for findings.
set -eu
cd "$(dirname "$0")/.."

sources=$(git ls-files '*.c' '*.h' | grep -v -e '^validator/powers\.h$' -e '^validator/lower\.h$' \
    -e '^tests/unit/number_sample\.h$')
# shellcheck disable=SC2086
clang-format --dry-run --Werror $sources

for compiler in gcc clang; do
    build=build-lint-$compiler
    [ -d "$build" ] || CC=$compiler meson setup "$build" -Dwerror=true --buildtype=release >/dev/null
    ninja -C "$build" | grep -E '(warning|error):' && exit 1
    ninja -C "$build" >/dev/null
done

# shellcheck disable=SC2046
git ls-files '*.c' | xargs -P 2 -n 8 clang-tidy --quiet -p build-lint-clang >build-lint-clang/tidy.log \
    2>/dev/null || {
    cat build-lint-clang/tidy.log
    exit 1
}
echo "lint: nothing to say"
