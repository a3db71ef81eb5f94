#!/bin/sh
# From a fresh checkout to a served dataset: installs what is missing, builds, starts the service on
# 127.0.0.1:8080 with a local store, submits a sample run as a browser would, and shows what became of it.
# The service keeps running; --once stops it at the end. The state is kept in ./state.
set -eu
cd "$(dirname "$0")/.."

once=
case ${1:-} in
'') ;;
--once) once=yes ;;
*)
    echo "Usage: $0 [--once]" >&2
    exit 64
    ;;
esac

url=http://127.0.0.1:8080
build=build-release
binary=$build/server/benchledger
state=state

deploy/install-deps.sh
command -v curl >/dev/null 2>&1 || {
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get install -y -qq --no-install-recommends curl
}
[ -d "$build" ] || meson setup "$build" --buildtype=release -Dtests=false >/dev/null
ninja -C "$build" server/benchledger | tail -n 1

mkdir -p "$state"
log=$state/serve-$(date -u +%Y%m%dT%H%M%SZ).log
: >"$log"
"$binary" serve --listen 127.0.0.1:8080 --state-dir "$state" --store "$state/dataset.git" \
    2>"$log" &
service=$!
stop() {
    kill "$service" 2>/dev/null && wait "$service" || true
}
fail() {
    echo "quickstart: $1" >&2
    cat "$log" >&2
    stop
    exit 1
}

# Ready as soon as it says so; gone if it could not start.
tries=0
until grep -q '^listening on ' "$log"; do
    kill -0 "$service" 2>/dev/null || fail "the service did not start"
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || fail "the service did not say that it listens"
    sleep 0.1
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run=quickstart-$(date -u +%Y%m%d%H%M%S)-$$
created=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)

echo
echo "1. A nonce, one for each submission"
nonce=$(curl -sS "$url/api/bench/nonce" | sed 's/.*"nonce":"\([^"]*\)".*/\1/')
echo "   $nonce"

echo "2. The run file with its digest (SHA-256 over canonical JSON)"
sed -e "s/@RUN_ID@/$run/" -e "s/@CREATED_AT@/$created/" -e "s/@NONCE@/$nonce/" \
    deploy/sample-run.json >"$work/run.json"
digest=$("$binary" digest "$work/run.json")
sed -i "s/@DIGEST@/$digest/" "$work/run.json"
echo "   $run, $(wc -c <"$work/run.json") bytes, digest $digest"

echo "3. POST /api/bench/submit"
curl -sS -X POST -H 'Content-Type: application/json' --data-binary "@$work/run.json" \
    "$url/api/bench/submit" >"$work/answer.json"
sed 's/^/   /' "$work/answer.json"
echo
grep -q '"ok":true' "$work/answer.json" || fail "the sample run was refused"

echo "4. Its commit in the dataset"
git --git-dir "$state/dataset.git" log -1 --stat --format='   %H%n   %s' | cat

echo "5. Its row on the board"
curl -sS "$url/api/bench/leaderboard?format=csv" | sed 's/^/   /'

echo
if [ -n "$once" ]; then
    stop
    echo "The service was stopped. The dataset is $state/dataset.git"
else
    echo "The service runs at $url (process $service, log $log)."
    echo "Open $url for the board and $url/run/$run for the run."
    echo "Stop it with: kill $service"
fi
