#!/usr/bin/env bash
# Fetch records from the branch of push-results.sh into results/.
#
#   ./scripts/fetch-results.sh [REMOTE [BRANCH]]    # default: origin results
#
# Only missing files are fetched, and only records and the files beside them; nothing here is changed
# or deleted. A branch that does not exist yet is not an error.
#
# Exit codes: 0 done, 2 bad usage, 3 it cannot be fetched.
set -euo pipefail
# shellcheck source=scripts/results.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/results.sh"
of_branch fetch "$@"
