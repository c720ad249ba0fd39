#!/usr/bin/env bash
# Count volley's instructions for each message, call and request, and compare them with those that
# are committed: exit 1 if one is more than 2 % above.
#
#   ./scripts/bench_instructions.sh [--json]
#   ./scripts/bench_instructions.sh --write           # commit the figures of today
#   ./scripts/bench_instructions.sh --against PATH    # another volley beside it
#   ./scripts/bench_instructions.sh --help
#
# It does not matter what else the host does. Needs valgrind, and Rust for volley.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
run_tool "$root" requirements.lock tools.bench_instructions "$@"
