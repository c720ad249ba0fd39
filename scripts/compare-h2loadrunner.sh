#!/usr/bin/env bash
# Check that volley sends what h2loadrunner sends, if it imports its files with --as-run.
#
#   H2LOADRUNNER=PROGRAM [VOLLEY=PROGRAM] ./scripts/compare-h2loadrunner.sh
#
# The first 1,000 requests of each case are compared: heads without user-agent and content-length,
# and bodies. Without VOLLEY, the volley of this checkout is built, with all its features.
#
# Exit codes: 0 they are the same, 1 they differ (the first difference is shown), 2 there is no
# h2loadrunner, 3 the host cannot do it.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# shellcheck source=scripts/venv.sh
source scripts/venv.sh
run_tool "$PWD" requirements-dev.lock tools.first_requests "$@"
