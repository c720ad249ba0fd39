#!/usr/bin/env bash
# Push the records below results/ to a branch of their own, as new files only.
#
#   ./scripts/push-results.sh [--pack FILE] [REMOTE [BRANCH]]    # default: origin results
#
#   --pack FILE   do not push: write the new files to a tar file, for an account that may push
#
# The branch holds each record and the files beside it, but no rounds and nothing that is generated.
# Its files are never changed or deleted: if a file here differs from the branch's, nothing is pushed.
# Records that somebody else pushes at the same time are kept.
#
# Exit codes: 0 pushed, or nothing new; 2 bad usage, or a file differs; 3 it cannot be pushed.
set -euo pipefail
shopt -s inherit_errexit

# shellcheck source=scripts/results.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/results.sh"

# Add every record to the index in GIT_INDEX_FILE, byte for byte.
add_records() {
    local_files >"$scratch/paths"
    sed 's,^,results/,' "$scratch/paths" | git hash-object -w --no-filters --stdin-paths >"$scratch/hashes"
    paste "$scratch/hashes" "$scratch/paths" | sed 's/^/100644 /' | git update-index --add --index-info
}

# Set `commit` to a commit that adds the new files to the branch's tip; empty if none are new.
make_commit() {
    local base=$tip tree parent=() altered
    commit=
    if [[ -n $tip ]]; then
        git read-tree "$tip"
        parent=(-p "$tip")
    else
        git read-tree --empty
        base=$(git hash-object -w -t tree /dev/null)
    fi
    add_records
    git diff-index --cached --no-renames --name-status "$base" >"$scratch/changes"
    altered=$(sed -n '/^A/!{s/^[^\t]*\t//p;q}' "$scratch/changes")
    [[ -z $altered ]] || fail 2 "results/$altered: differs from $branch on $remote, and records are never changed"
    [[ -s $scratch/changes ]] || return 0
    tree=$(git write-tree)
    count=$(sed -n '\,^A\t[^/]*/[^/]*/[^/]*/[^/]*$,p' "$scratch/changes" | wc -l)
    commit=$(git commit-tree "$tree" ${parent[@]+"${parent[@]}"} -m "$count new records")
}

# Write the files that the branch does not have into a tar file.
pack() { # file
    fetch
    branch_files >"$scratch/there"
    local_files | LC_ALL=C sort | LC_ALL=C comm -23 - "$scratch/there" >"$scratch/new"
    tar --create --file "$1" --directory results --verbatim-files-from --files-from "$scratch/new" ||
        fail 3 "$1 cannot be written; see above"
    printf '%s new files in %s\n' "$(wc -l <"$scratch/new")" "$1"
}

main() {
    local packed=
    if [[ ${1:-} == --pack ]]; then
        packed=$(readlink -m -- "${2:?names no file}")
        shift 2
    fi
    begin "$@"
    if [[ -n $packed ]]; then
        pack "$packed"
        return 0
    fi
    # A commit needs an author, even where git has no user.
    git config user.email >/dev/null || export GIT_AUTHOR_NAME=nightly GIT_AUTHOR_EMAIL=nightly@localhost \
        GIT_COMMITTER_NAME=nightly GIT_COMMITTER_EMAIL=nightly@localhost
    local before=none
    fetch
    while [[ $tip != "$before" ]]; do
        make_commit
        if [[ -z $commit ]]; then
            printf 'nothing new for %s\n' "$branch"
            return 0
        fi
        if git push --quiet "$remote" "$commit:refs/heads/$branch" 2>"$scratch/refused"; then
            printf '%s new records in %s\n' "$count" "$branch"
            return 0
        fi
        # A new tip means that somebody else was faster.
        before=$tip
        fetch
    done
    fail 3 "$remote refuses $branch: $(grep -v '^hint:' "$scratch/refused" | tail -n 1)"
}

main "$@"
