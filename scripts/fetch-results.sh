#!/usr/bin/env bash
# Fetch records from the branch of push-results.sh into results/, loose and in bundles.
#
#   ./scripts/fetch-results.sh [REMOTE [BRANCH]]    # default: origin results
#
# Only missing files are fetched; nothing here is changed or deleted. Left out are loose copies of records that
# a bundle has with its raw outputs, the raw.tar.xz of a bundle that is here without it (remove its manifest.json
# as well to have it again), and bundles that are not what their manifest says. A branch that does not exist yet
# is not an error.
#
# Exit codes: 0 done, 2 bad usage, 3 it cannot be fetched, or a bundle is not what its manifest says.
set -euo pipefail
# shellcheck source=scripts/results.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/results.sh"
of_branch fetch "$@"
