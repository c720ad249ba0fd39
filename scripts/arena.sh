#!/usr/bin/env bash
# The `arena` command: everything the runner can do, one subcommand each.
#
#   ./scripts/arena.sh <command> [options]
#   ./scripts/arena.sh --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# shellcheck source=scripts/venv.sh
source scripts/venv.sh
ensure_venv requirements.lock
exec .venv/bin/python lib "$@"
