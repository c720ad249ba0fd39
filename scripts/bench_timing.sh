#!/usr/bin/env bash
# Print how fast volley is where its tests do not look at the clock: how late a window opens, how long
# until an order is obeyed, and others.
#
#   ./scripts/bench_timing.sh [--json] [--runs N]
#   ./scripts/bench_timing.sh --help
#
# Prints figures beside their limits: the median of five runs each, in about two minutes. Builds volley
# first, and waits until the host was quiet for five seconds. Needs Rust.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
cd "$root/volley"
cargo bench --quiet --locked --bench timing --no-run
(run_tool "$root" requirements.lock tools.quiet) >&2
exec cargo bench --quiet --locked --bench timing -- "$@"
