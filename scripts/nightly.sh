#!/usr/bin/env bash
# Measure frameworks under profiles as far as the time goes, then build the leaderboard and the site.
#
#   ./scripts/nightly.sh [FRAMEWORKS]... [PROFILES]...    # default: all of both
#   ./scripts/nightly.sh --budget 3m 'grpc-go,tonic*' 'stream-*'
#   ./scripts/nightly.sh --help
#
# A framework that fails does not stop the night. A night that is killed loses only the session in
# progress; --resume continues it.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/arena.sh" night "$@"
