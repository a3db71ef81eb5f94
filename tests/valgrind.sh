#!/bin/sh
# The unit tests and the replay of the fuzz corpus under valgrind, without sanitizers.
set -eu
cd "$(dirname "$0")/.."
build=build-valgrind
[ -d "$build" ] || meson setup "$build" --buildtype=debugoptimized >/dev/null
ninja -C "$build" >/dev/null
CK_FORK=no CK_DEFAULT_TIMEOUT=0 meson test -C "$build" --suite unit --suite fuzz-regress \
    --timeout-multiplier 20 --print-errorlogs \
    --wrap 'valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite'
