#!/usr/bin/env bash
# Check that servers answer correctly, frame by frame; measure nothing.
#
#   ./scripts/validate.sh FRAMEWORKS [PROFILES]...
#   ./scripts/validate.sh 'grpc-*' stream-grpc unary-grpc
#   ./scripts/validate.sh grpc-go --running    # the server that is already running
#   ./scripts/validate.sh --help
#
# Prints a line for each framework: <name>  PASS|WARN|FAIL|SKIP  <reason>
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/arena.sh" validate "$@"
