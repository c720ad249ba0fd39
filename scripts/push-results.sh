#!/usr/bin/env bash
# Push the records below results/, loose and in bundles, to a branch of their own, as new files only.
#
#   ./scripts/push-results.sh [REMOTE [BRANCH]]                # default: origin results
#   ./scripts/push-results.sh --pack FILE [REMOTE [BRANCH]]    # write what is new to a tar file, for an account that may push
#   ./scripts/push-results.sh --unpack FILE                    # add the records of such a file to results/
#
# The branch holds bundles, and each loose record with the files beside it; no rounds, and nothing that is generated.
# Its files are never changed or deleted: if a file here differs from the branch's, or a bundle from its
# manifest, nothing is pushed. Records that somebody else pushes at the same time are kept. Of a tar file, only
# plain files with the names of records and bundles are taken, but no loose copy of a record that a bundle has
# with its raw outputs, and nothing in results/ is overwritten.
#
# Exit codes: 0 done, or nothing new; 2 bad usage, a file or a bundle differs, or a broken tar file; 3 it cannot
# be pushed.
set -euo pipefail
# shellcheck source=scripts/results.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/results.sh"
of_branch push "$@"
