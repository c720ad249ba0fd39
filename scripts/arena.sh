#!/usr/bin/env bash
# The `arena` command: everything the runner can do, one subcommand each.
#
#   ./scripts/arena.sh <command> [options]
#   ./scripts/arena.sh --help
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
(cd "$root" && ensure_venv requirements.lock)
PYTHONPATH=$root exec "$root/.venv/bin/python" "$root/lib" "$@"
