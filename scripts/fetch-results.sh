#!/usr/bin/env bash
# Fetch records from the branch of push-results.sh into results/.
#
#   ./scripts/fetch-results.sh [REMOTE [BRANCH]]    # default: origin results
#
# Only missing files are fetched; nothing here is changed or deleted. A branch that does not exist yet
# is not an error.
#
# Exit codes: 0 done, 2 bad usage, 3 it cannot be fetched.
set -euo pipefail
shopt -s inherit_errexit

# shellcheck source=scripts/results.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/results.sh"

main() {
    begin "$@"
    fetch
    if [[ -z $tip ]]; then
        printf '%s has no branch %s yet\n' "$remote" "$branch"
        return 0
    fi
    local missing=$scratch/missing
    (cd results && find . -mindepth 1 -type f -o -type l) | sed 's,^\./,,' | LC_ALL=C sort >"$scratch/here"
    branch_files | LC_ALL=C comm -23 - "$scratch/here" >"$missing"
    if [[ -s $missing ]]; then
        # Files are linked into place from a hidden folder on the same disk, so each appears whole. A
        # record comes after the files beside it: a record that is there is complete. If this is
        # killed, a later start removes the folder.
        draft=$(mktemp -d results/.httparena-draft-XXXXXX)
        git read-tree "$tip"
        git -c core.autocrlf=false checkout-index --prefix="$draft/" --stdin <"$missing"
        find "$draft" -mindepth 5 -type f -printf '%P\0' | link_from "$draft"
        find "$draft" -maxdepth 4 -type f -printf '%P\0' | link_from "$draft"
    fi
    printf '%s new files from %s\n' "$(wc -l <"$missing")" "$branch"
}

link_from() { # folder; names on stdin
    (cd "$1" && xargs -0 -r cp --parents --link --target-directory=..) || fail 3 'results/ cannot be written; see above'
}

main "$@"
