#!/usr/bin/env bash
# Write the digests of images into the FROM lines of all Dockerfiles, so that a tag is one image for ever.
#
#   ./scripts/digests.sh            # asks the registry of each image; a line with a digest stays
#   ./scripts/digests.sh --check    # lists the lines without one, and writes nothing
#   ./scripts/digests.sh --help
#
# Exit codes: 0 done, 1 lines without a digest (--check), 2 bad usage, 3 a registry cannot be asked.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
run_tool "$root" requirements.lock tools.digests "$@"
