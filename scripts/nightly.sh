#!/usr/bin/env bash
# Measure every framework under every profile, as far as the time goes, and rebuild the site.
#
#   ./scripts/nightly.sh [--budget 3m] [--only-changed] [--resume] [framework]...
#   ./scripts/nightly.sh --help
#
# A framework that fails never stops the night. Killed, a night loses the session in progress and no
# more: --resume goes on with it.
set -euo pipefail
exec "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/arena.sh" night "$@"
