#!/usr/bin/env bash
# Simulate how the phases of a fleet's load scale from 4 to 256 generator hosts.
#
#   ./scripts/simulate_fleet.sh
#   ./scripts/simulate_fleet.sh --help
#
# Prints how long the clocks, a call to all hosts and the collection take, and how far the windows
# of all hosts are apart.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
run_tool "$root" requirements.lock tools.simulate_fleet "$@"
