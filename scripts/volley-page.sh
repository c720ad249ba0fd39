#!/usr/bin/env bash
# Make the page of `volley edit`. The next build of volley embeds it.
#
#   ./scripts/volley-page.sh                 make it, unless it is there already. Needs Node.js and npm
#   ./scripts/volley-page.sh --if-possible   the same, but if it cannot be made, say so and succeed: volley is
#                                            then built without it, and only `volley edit` does not work
#
# npm installs into volley/edit/node_modules; the page goes to volley/edit/dist.
#
# Exit code: 0 it is there, 3 npm is missing, any other: npm failed.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../volley/edit"

marker=dist/sources.sha256

sources() {
    sha256sum build.mjs package.json package-lock.json src/*
}

# What is there is of no use if its sources have changed: a stale page would be embedded.
make_page() {
    rm -f "$marker" dist/page.* dist/licenses.txt
    npm ci --no-audit --no-fund --loglevel=error && npm run --silent build && sources >"$marker"
}

main() {
    local code=0
    if [[ -f $marker && $(<"$marker") == "$(sources)" ]]; then
        return 0
    fi
    if ! command -v npm >/dev/null; then
        printf 'no npm: volley is built without the page of "volley edit"\n' >&2
        [[ ${1:-} == --if-possible ]] && return 0
        return 3
    fi
    # One at a time.
    exec 9>dist/lock
    flock 9
    if [[ -f $marker && $(<"$marker") == "$(sources)" ]]; then
        return 0
    fi
    make_page >&2 || code=$?
    if [[ $code -ne 0 && ${1:-} == --if-possible ]]; then
        printf 'npm failed: volley is built without the page of "volley edit"\n' >&2
        return 0
    fi
    return "$code"
}

main "$@"
