#!/usr/bin/env bash
# Try the sentinel: does it void windows with a burst of foreign CPU, and is it calm without one?
#
#   ./scripts/bench_sentinel.sh [framework [profile]]           # 100 windows with a burst, 100 without
#   ./scripts/bench_sentinel.sh 'grpc-go,tonic-grpc' --scatter 10   # scatter with and without the wait
#   ./scripts/bench_sentinel.sh --beside 2                         # beside two loops of 1 % of a CPU each
#   ./scripts/bench_sentinel.sh --help
#
# Prints figures side by side: windows voided and by what, steal, what the wait and the watching cost,
# the host's background and who makes it.
# Measures natively under volley, and saves nothing. 200 windows take about an hour.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
run_tool "$root" requirements.lock tools.bench_sentinel "$@"
