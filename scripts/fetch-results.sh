#!/usr/bin/env bash
# Fetch the records of a branch that push-results.sh has filled into results/.
#
#   ./scripts/fetch-results.sh [REMOTE [BRANCH]]    # default: origin results
#
# Only what is not there yet; nothing here is changed or deleted. A branch that is not there yet has
# no records, and that is no error.
#
# Exit code: 0 done, 2 bad usage, 3 it cannot be fetched.
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
        # Whole files take their place, by links from a hidden folder on the same disk, and what lies
        # beside a record before it: one that is there is complete. A later start clears the folder.
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
