#!/usr/bin/env bash
# Sourced by push-results.sh and fetch-results.sh: the branch with the records, and its files.

fail() { # exit code, message
    printf 'error: %s\n' "$2" >&2
    exit "$1"
}

# Read the command line into `remote` and `branch`; make a `scratch` folder and an index in it. Both
# are removed at the end, and so is the folder that `draft` names, if any.
begin() { # [remote [branch]]
    if [[ ${1:-} == -h || ${1:-} == --help ]]; then
        sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "$0"
        exit 0
    fi
    [[ $# -le 2 && ${1:-} != -* && ${2:-} != -* ]] || fail 2 'usage: [REMOTE [BRANCH]]; see --help'
    remote=${1:-origin} branch=${2:-results}
    git check-ref-format --branch "$branch" >/dev/null 2>&1 || fail 2 "$branch is not a valid name for a branch"
    cd "$(dirname "$(readlink -f "$0")")/.." || exit 3
    [[ -d results ]] || fail 2 "there is no results/ in $PWD"
    scratch=$(mktemp -d) draft=
    trap 'rm -rf "$scratch" ${draft:+"$draft"}' EXIT
    trap 'exit 130' INT TERM HUP
    export GIT_INDEX_FILE=$scratch/index
}

# Fetch the branch and set `tip` to its newest commit; empty if there is no such branch yet.
fetch() {
    local found
    found=$(git ls-remote --heads "$remote" "refs/heads/$branch" 2>"$scratch/said") ||
        fail 3 "$remote cannot be reached: $(tail -n 1 "$scratch/said")"
    tip=${found%%$'\t'*}
    [[ -z $tip ]] || git fetch --quiet --no-tags "$remote" "refs/heads/$branch" 2>"$scratch/said" ||
        fail 3 "$branch cannot be fetched from $remote: $(tail -n 1 "$scratch/said")"
    [[ -z $tip ]] || tip=$(git rev-parse FETCH_HEAD)
}

# Print the branch's plain files, as paths below results/, sorted. Rounds belong to main.
branch_files() {
    [[ -z $tip ]] || git -c core.quotePath=false ls-tree -r "$tip" |
        sed -n '/\trounds\//d; s/^100644 blob [0-9a-f]*\t//p' | LC_ALL=C sort
}

# Print every record below results/ and the files beside it. Half-written ones are left out.
local_files() {
    local record
    (
        cd results || exit 3
        find . -mindepth 4 -maxdepth 4 -type f -name '*.json' -not -path './rounds/*' -not -path '*/.*/*' |
            sed 's,^\./,,' | LC_ALL=C sort | while read -r record; do
            printf '%s\n' "$record"
            [[ ! -d ${record%.json} ]] || find "${record%.json}" -type f
        done
    )
}
