#!/usr/bin/env bash
# Build the site of all records, from results/ alone, in site/public/.
#
#   ./scripts/site.sh [build]           build what has changed since the last time
#   ./scripts/site.sh serve [--port N]  build it and serve it on 127.0.0.1, port 8000 or the next free one
#   ./scripts/site.sh check             find HTML errors and broken links
#   ./scripts/site.sh bench             time a board of 200 rows in a browser
#
# Needs Python 3.11 or newer; `bench` also needs Debian's chromium. Everything else sets itself up.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help || "$*" == "bench -h" || "$*" == "bench --help" ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
case ${1:-} in
check) run_tool "$root" requirements.lock tools.site_check "${@:2}" ;;
bench)
    if [[ $# -gt 1 ]]; then
        printf 'error: bench takes no arguments (see --help)\n' >&2
        exit 2
    fi
    # It shares its browser and its records with the tests, and their packages.
    run_tool "$root" requirements-dev.lock tests.browser.bench
    ;;
*) exec "$root/scripts/arena.sh" site "${@:-build}" ;;
esac
