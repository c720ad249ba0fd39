#!/usr/bin/env bash
# Try the checks: is a server found that lies only under load, under volley, ghz and h2load?
#
#   ./scripts/trial_lies.sh                                   # 10 sessions of each of 36 cells: 90 minutes
#   ./scripts/trial_lies.sh --tell time --generator ghz       # one row of three cells
#   ./scripts/trial_lies.sh --help
#
# Prints a line for each cell: in how many sessions the lie was found, and by what. Saves nothing.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
run_tool "$root" requirements.lock tools.trial_lies "$@"
