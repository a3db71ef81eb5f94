#!/bin/sh
# Fuzzes each target for SECONDS (default 600) with ASan and UBSan, all at once or, with targets named, those. New
# inputs go to build-fuzz/corpus; a crash is written to build-fuzz and ends the run with an error.
# Usage: tests/fuzz/run.sh [SECONDS [TARGET...]]
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-600}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- js validate run_page board_page
[ -d build-fuzz ] || CC=clang meson setup build-fuzz -Dfuzz=true -Db_lundef=false \
    -Db_sanitize=address,undefined -Dbuildtype=debugoptimized \
    -Dc_args=-fsanitize=fuzzer-no-link >/dev/null
pids=
for target; do
    ninja -C build-fuzz "tests/fuzz/fuzz_$target" >/dev/null
done
for target; do
    mkdir -p "build-fuzz/corpus/$target"
    (cd build-fuzz && UBSAN_OPTIONS=halt_on_error=1 exec "tests/fuzz/fuzz_$target" \
        -max_total_time="$seconds" -max_len=65536 -timeout=10 -print_final_stats=1 \
        "corpus/$target" "../tests/fuzz/corpus/$target" >"fuzz_$target.log" 2>&1) &
    pids="$pids $!"
done
status=0
for pid in $pids; do
    wait "$pid" || status=1
done
for target; do
    echo "== $target"
    grep -E 'stat::number_of_executed_units|SUMMARY|ERROR|Test unit written' "build-fuzz/fuzz_$target.log" || true
done
exit $status
