#!/usr/bin/env bash
# Try a fleet of four generator hosts, played by network and time namespaces of this machine.
#
#   ./scripts/bench_fleet.sh                            # 20 loads of each kind, 100 faults: half an hour
#   ./scripts/bench_fleet.sh --runs 5 --faults 8        # minutes
#   ./scripts/bench_fleet.sh --help
#
# Prints figures beside their bars: counts against the server's own, how far windows are apart, what a
# fault leaves behind. Needs root, and saves nothing. All hosts share this machine's CPUs.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
(cd "$root" && ensure_venv requirements-fleet.lock .venv-fleet)
PYTHONPATH=$root/lib:$root/fleet:$root exec "$root/.venv-fleet/bin/python" -P -m tools.bench_fleet "$@"
