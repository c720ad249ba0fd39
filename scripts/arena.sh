#!/usr/bin/env bash
# Run a command of the benchmark suite.
#
#   ./scripts/arena.sh <command> [options]
#   ./scripts/arena.sh --help
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# Two commands are tools of their own.
[[ ${1:-} != bench-generators ]] || exec "$root/scripts/bench_generators.sh" "${@:2}"
[[ "${*:1:2}" != 'site check' ]] || exec "$root/scripts/site.sh" "${@:2}"

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
(cd "$root" && ensure_venv requirements.lock)
exec "$root/.venv/bin/python" "$root/lib" "$@"
