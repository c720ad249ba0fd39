#!/usr/bin/env bash
# Sourced by push-results.sh and fetch-results.sh. Python alone is enough, without packages.

# Replace this process by the program for the branch of records, or print the script's header.
of_branch() { # verb, argument...
    if [[ ${2:-} == -h || ${2:-} == --help ]]; then
        sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "$0"
        exit 0
    fi
    local root
    root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
    # shellcheck source=scripts/venv.sh
    source "$root/scripts/venv.sh"
    require_python
    PYTHONPATH=$root/lib exec python3 -P -m arena.record.branch "$1" "$root" "${@:2}"
}
