#!/bin/sh
# Every benchmark, with figures beside limits that were measured in the same run. A few minutes on 2 cores.
set -eu
cd "$(dirname "$0")/../.."
build=build-bench
[ -d "$build" ] || meson setup "$build" --buildtype=release >/dev/null
ninja -C "$build" >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== one submission without the store, one core"
node tests/bench/make_files.mjs "$work"
"$build/tests/bench/bench_pipeline" server/data/tinymmlu-key.json "$work/run-70k.json" "$work/run-1400k.json"
echo
echo "== benchledger check against plain Node code"
BENCHLEDGER_BINARY=$PWD/$build/server/benchledger node tests/bench/check_vs_node.mjs
echo
echo "== one commit, small and large dataset"
"$build/tests/bench/bench_commit"
echo
echo "== the cached board"
BENCHLEDGER_BINARY=$PWD/$build/server/benchledger node tests/bench/board.mjs
echo
echo "== the board as a page"
BENCHLEDGER_BINARY=$PWD/$build/server/benchledger node tests/bench/pages.mjs
echo
echo "== submissions beside wrong tokens"
BENCHLEDGER_BINARY=$PWD/$build/server/benchledger node tests/bench/tokens.mjs
echo
echo "== a whole archive: audit, index, export"
BENCHLEDGER_BINARY=$PWD/$build/server/benchledger node tests/bench/archive.mjs
echo
echo "== growth: 100 and 50,000 runs"
BENCHLEDGER_BINARY=$PWD/$build/server/benchledger node tests/bench/growth.mjs
