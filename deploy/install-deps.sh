#!/bin/sh
# Installs what building benchledger needs on Debian 12; with --tests also what its tests need.
# Installs only what is missing, so that it asks for no rights on a machine that has everything.
set -eu

build="gcc libc6-dev meson ninja-build pkg-config python3 git libmicrohttpd-dev libjansson-dev
libgit2-dev libssl-dev zlib1g-dev libinih-dev libhiredis-dev libcurl4-openssl-dev
clang lld wasi-libc libclang-rt-14-dev-wasm32"
tests="check curl git-filter-repo clang-format clang-tidy nginx fcgiwrap openssl redis-server chromium
python3-pandas time"

wanted=$build
for argument in "$@"; do
    case $argument in
    --tests)
        wanted="$wanted $tests"
        # Any Node from 18 on will do, wherever it comes from.
        command -v node >/dev/null 2>&1 || wanted="$wanted nodejs"
        command -v npm >/dev/null 2>&1 || wanted="$wanted npm"
        ;;
    *)
        echo "Usage: $0 [--tests]" >&2
        exit 64
        ;;
    esac
done

missing=
for package in $wanted; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) in
    installed) ;;
    *) missing="$missing $package" ;;
    esac
done
if [ -z "$missing" ]; then
    echo "install-deps: nothing is missing"
    exit 0
fi

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "install-deps: installing$missing"
$sudo apt-get update -qq
# The tests start nginx, fcgiwrap and redis themselves: installing must not, and need not be able to.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '$sudo rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
    $sudo chmod 755 "$policy"
fi
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
