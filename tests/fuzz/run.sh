#!/bin/sh
# Fuzzes each target for SECONDS (default 600) with ASan and UBSan. New inputs go to build-fuzz/corpus; a
# crash is written to build-fuzz and ends the run with an error. Usage: tests/fuzz/run.sh [SECONDS]
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-600}
[ -d build-fuzz ] || CC=clang meson setup build-fuzz -Dfuzz=true -Db_lundef=false \
    -Db_sanitize=address,undefined -Dbuildtype=debugoptimized \
    -Dc_args=-fsanitize=fuzzer-no-link >/dev/null
ninja -C build-fuzz tests/fuzz/fuzz_js tests/fuzz/fuzz_validate >/dev/null
for target in js validate; do
    mkdir -p "build-fuzz/corpus/$target"
    (cd build-fuzz && UBSAN_OPTIONS=halt_on_error=1 "tests/fuzz/fuzz_$target" \
        -max_total_time="$seconds" -max_len=65536 -timeout=10 -print_final_stats=1 \
        "corpus/$target" "../tests/fuzz/corpus/$target" >"fuzz_$target.log" 2>&1) &
    eval "pid_$target=$!"
done
status=0
wait "$pid_js" || status=1
wait "$pid_validate" || status=1
for target in js validate; do
    echo "== $target"
    grep -E 'stat::number_of_executed_units|SUMMARY|ERROR|Test unit written' "build-fuzz/fuzz_$target.log" || true
done
exit $status
