#!/usr/bin/env bash
# Count volley's lines of Rust that are neither blank nor comment, by room.
#
#   ./scripts/count-lines.sh [FOLDER]
#   ./scripts/count-lines.sh --help
#
# Prints a table: each room (a module of src/, a crate of crates/, or what else is there), the lines of its code,
# and those of its tests; then their sums. Tests are what `#[cfg(test)]` compiles, with the files that only such a
# `mod` reaches, tests.rs, what is below tests/, and the crate testkit. Counts volley/, or FOLDER, but nothing below
# a target/.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
if [[ $# -gt 1 || ${1:-} == -* ]]; then
    echo 'usage: ./scripts/count-lines.sh [FOLDER]' >&2
    exit 2
fi
cd "${1:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../volley}"

# shellcheck disable=SC2016
program='
FNR == 1 {
    comments = open = 0
    ends = ""
    of_test = ""
}

{
    left = strip($0)
    is_test = in_test(left)
    if (filled) lines[FILENAME, is_test]++
}

# A line without its comments, and without what is in quotes. Sets `filled`: it is neither blank nor comment.
function strip(line, left, before, token) {
    left = ""
    filled = 0
    while (line != "") {
        if (comments > 0) {
            if (!match(line, /\/\*|\*\//)) return left
            comments += substr(line, RSTART, 1) == "/" ? 1 : -1
            line = substr(line, RSTART + 2)
        } else if (ends != "") {
            if (line ~ /[^ \t\r]/) filled = 1
            if (!unquote(line)) return left
            line = substr(line, RSTART + RLENGTH)
        } else if (match(line, /"|\/\/|\/\*|\047/)) {
            before = substr(line, 1, RSTART - 1)
            token = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            left = left before
            if (before ~ /[^ \t\r]/ || token !~ /^\//) filled = 1
            if (token == "//") return left
            if (token == "/*") comments = 1
            if (token == "\"") quote(before)
            # A character; or else a lifetime.
            if (token == "\047" && match(line, /^([^\047\\]|[\300-\377][\200-\277]+|\\.[^\047]*)\047/))
                line = substr(line, RLENGTH + 1)
        } else {
            if (line ~ /[^ \t\r]/) filled = 1
            return left line
        }
    }
    return left
}

# Notes what ends the text whose quotes are after `before`.
function quote(before) {
    ends = "\""
    is_raw = match(before, /(^|[^A-Za-z0-9_])[bc]?r#*$/)
    if (is_raw) {
        sub(/^.*r/, "", before)
        ends = ends before
    }
}

# Finds the end of the present text.
function unquote(line) {
    if (!is_raw) {
        if (!match(line, /^([^"\\]|\\.)*"/)) return 0
    } else {
        RSTART = index(line, ends)
        RLENGTH = length(ends)
        if (!RSTART) return 0
    }
    ends = ""
    return 1
}

# Whether a line, or a part of it, is compiled only for tests.
function in_test(left, found, char) {
    found = open
    while (left != "") {
        if (!open) {
            if (!match(left, /#\[cfg\((all\()?test[,)][^]]*\]/)) return found
            left = substr(left, RSTART + RLENGTH)
            open = found = 1
            depth = 0
            item = ""
        } else if (match(left, /[][(){};]/)) {
            char = substr(left, RSTART, 1)
            item = item " " substr(left, 1, RSTART - 1)
            left = substr(left, RSTART + 1)
            if (char == ";" && depth == 0) {
                reach(item)
                open = 0
            } else if (char ~ /[[({]/) depth++
            else if (char != ";" && --depth == 0 && char == "}" && item !~ /^[ \t]*(pub *)?use /) open = 0
        } else {
            item = item " " left
            return 1
        }
    }
    return found
}

# Notes the files of a module that only tests have.
function reach(item, folder) {
    if (!match(item, /(^|[ \t])mod [a-z0-9_]+ *$/)) return
    item = substr(item, RSTART)
    gsub(/^ *mod | *$/, "", item)
    folder = FILENAME
    if (!sub(/\/(mod|lib|main)\.rs$/, "", folder)) sub(/\.rs$/, "", folder)
    reached[folder "/" item]
}

function of_tests(path, part) {
    if (("/" path) ~ /\/tests(\/|\.rs$)|^\/crates\/testkit\//) return 1
    sub(/\.rs$/, "", path)
    while (path ~ /\//) {
        if (path in reached) return 1
        sub(/\/[^\/]*$/, "", path)
    }
    return 0
}

function room(path) {
    if (path ~ /^crates\//) return substr(path, 1, index(substr(path, 8) "/", "/") + 6)
    sub(/^src\//, "", path)
    sub(/(\.rs$|\/.*)/, "", path)
    return path
}

END {
    for (key in lines) {
        split(key, part, SUBSEP)
        to = part[2] || of_tests(part[1])
        rooms[name = room(part[1])]
        sum[name, to] += lines[key]
        total[to] += lines[key]
    }
    for (name in rooms) printf "%-24s %8d %8d\n", name, sum[name, 0], sum[name, 1] | "sort"
    close("sort")
    printf "%-24s %8d %8d\n", "all", total[0], total[1]
}
'
printf '%-24s %8s %8s\n' room code tests
mapfile -d '' files < <(find . -name target -prune -o -name '*.rs' -printf '%P\0')
LC_ALL=C awk "$program" "${files[@]}"
