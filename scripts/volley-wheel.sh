#!/usr/bin/env bash
# Build a wheel: `pip install` of it gives the program `volley`. See ./scripts/volley-packages.sh --help.
#
#   ./scripts/volley-wheel.sh
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/volley-packages.sh" wheel "$@"
