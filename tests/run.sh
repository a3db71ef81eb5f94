#!/bin/sh
# Installs what is missing, builds with ASan and UBSan, runs every test of the suite. The last line is
# `N passed, N failed`. Longer runs (fuzzing, benchmarks) have commands of their own, see README.
set -eu
cd "$(dirname "$0")/.."

deploy/install-deps.sh --tests
# Meson leaves out what it cannot build or run: here that would be a suite that passes by being absent.
npm ci --prefix tests/browser --silent
for need in 'node --version' 'pkg-config --exists check' 'chromium --version'; do
    $need >/dev/null || {
        echo "tests: $need fails" >&2
        exit 1
    }
done
build=build-test
[ -d "$build" ] || meson setup "$build" -Dwerror=true -Dwasm=enabled -Db_sanitize=address,undefined -Db_lundef=false
ninja -C "$build"

export ASAN_OPTIONS=detect_stack_use_after_return=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
status=0
meson test -C "$build" --print-errorlogs --num-processes 2 || status=$?

# Check says "Checks: N, Failures: N, Errors: N", node "# pass N", "# fail N" and "# skipped N", a replay
# "N inputs replayed". A program that broke without saying any of it is one failure.
awk -v status="$status" '
    match($0, /Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/) {
        split(substr($0, RSTART, RLENGTH), n, /[^0-9]+/)
        passed += n[2] - n[3] - n[4]
        failed += n[3] + n[4]
    }
    /^# pass [0-9]+$/ { passed += $3 }
    /^# fail [0-9]+$/ { failed += $3 }
    /^# skipped [0-9]+$/ { skipped += $3 }
    /^[0-9]+ inputs replayed$/ { passed += $1 }
    END {
        if (status != 0 && failed == 0)
            failed = 1
        if (passed == 0 && failed == 0)
            failed = 1
        if (skipped)
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        else
            printf "%d passed, %d failed\n", passed, failed
        exit failed != 0
    }' "$build/meson-logs/testlog.txt"
