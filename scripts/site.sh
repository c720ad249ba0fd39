#!/usr/bin/env bash
# The site of all records: pages made from results/ alone, in site/public/.
#
#   ./scripts/site.sh [build]           make what has changed since the last time
#   ./scripts/site.sh serve [--port N]  build it, and show it at http://127.0.0.1:8000/
#   ./scripts/site.sh check             no error in the HTML, no link that leads nowhere
#   ./scripts/site.sh bench             how long a board of 200 rows takes in a browser
#
# Needs Python 3.11; `bench` needs Debian's chromium too. Everything else sets itself up.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help || "$*" == "bench -h" || "$*" == "bench --help" ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
scripts=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
if [[ ${1:-} == bench ]]; then
    if [[ $# -gt 1 ]]; then
        printf 'error: bench takes no arguments (see --help)\n' >&2
        exit 2
    fi
    # It shares its browser and its records with the tests, and what they are installed from.
    cd "$scripts/.."
    # shellcheck source=scripts/venv.sh
    source scripts/venv.sh
    ensure_venv requirements-dev.lock
    PYTHONPATH=lib:. exec .venv/bin/python -m tests.browser.bench
fi
exec "$scripts/arena.sh" site "${@:-build}"
