#!/usr/bin/env bash
# Check that a framework's server answers rightly, frame by frame, without measuring it.
#
#   ./scripts/validate.sh <framework|all> [profile]
#   ./scripts/validate.sh <framework> --running    # the server that runs already
#   ./scripts/validate.sh --help
#
# Prints a line for each framework: <name>  PASS|WARN|FAIL|SKIP  <what was wrong>
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/arena.sh" validate "$@"
