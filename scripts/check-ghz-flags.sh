#!/usr/bin/env bash
# Check that volley/GHZ.md has a row for every flag of ghz, and volley a flag for every row.
#
#   ./scripts/check-ghz-flags.sh GHZ VOLLEY    # the two programs
#
# A row that says "refused:" needs no flag. Each difference is a line.
#
# Exit codes: 0 they agree, 1 they do not, 2 bad usage.
set -euo pipefail
shopt -s inherit_errexit

table=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../volley/GHZ.md

# The long names of the flags in a help text.
flags_of() {
    "$1" --help 2>&1 | sed -nE 's/^  (-[[:alpha:]], |    )--([[:alpha:]-]+).*/\2/p' | LC_ALL=C sort -u
}

# The flags in rows of the table.
rows() {
    sed -nE 's/^[|] .--([[:alpha:]-]+).*/\1/p' | LC_ALL=C sort
}

# What is only in the first of two lists, after these words.
only() {
    local words=$1 flag
    while read -r flag; do
        printf '%s: --%s\n' "$words" "$flag"
        differs=1
    done < <(LC_ALL=C comm -23 <(printf '%s\n' "$2") <(printf '%s\n' "$3"))
}

main() {
    [[ $# == 2 ]] || {
        printf 'usage: %s GHZ VOLLEY\n' "$0" >&2
        exit 2
    }
    local differs=0 of_ghz of_volley listed taken
    of_ghz=$(flags_of "$1")
    of_volley=$(flags_of "$2")
    listed=$(rows <"$table")
    taken=$(grep -v '| refused:' "$table" | rows)
    only 'not in volley/GHZ.md' "$of_ghz" "$listed"
    only 'not a flag of ghz' "$listed" "$of_ghz"
    only 'not a flag of volley' "$taken" "$of_volley"
    return "$differs"
}

main "$@"
