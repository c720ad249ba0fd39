#!/usr/bin/env bash
# Sourced by test.sh. A step is a command with a log of its own: one that fails does not hide the next. The
# steps of a lane run one after the other; lanes run beside each other. At the end there is one table of all
# steps, with the first lines of each failure.

logs=.tools/test

# Exit codes of a step that could not run. Only `give_up` ends a step with one: of other programs, they mean what
# they like, and the step has failed.
left_out=75
host_cannot=3

begin_steps() {
    rm -rf "$logs"
    mkdir -p "$logs"
    : >"$logs/steps"
    lanes=()
    trap end_lanes EXIT
    trap 'exit 130' INT TERM
}

# What pytest prints is shown as well.
step() { # name, command...
    local name=$1 began=$SECONDS code log gave_up_file
    log=${name//:/}
    log=$logs/${log// /-}.log
    gave_up_file=$log.gave-up
    shift
    printf '== %s\n' "$name"
    # Not in a condition, which would switch off `set -e` in the command as well.
    set +e
    if [[ $name == pytest ]]; then
        command_of_step "$@" 2>&1 | tee --ignore-interrupts "$log"
        code=${PIPESTATUS[0]}
    else
        command_of_step "$@" >"$log" 2>&1
        code=$?
    fi
    set -e
    if [[ $code -ne 0 ]]; then
        code=1
        [[ ! -s $gave_up_file ]] || code=$(<"$gave_up_file")
    fi
    note "$code" $((SECONDS - began)) "$name" "$log"
    printf '== %s: %s\n' "$name" "$(verdict "$code" "$log")"
}

note() { # exit code, seconds, name, log
    printf '%s\t%s\t%s\t%s\n' "$@" >>"$logs/steps"
}

command_of_step() ( # command...
    trap 'exit 130' INT TERM
    set -e
    "$@" </dev/null
)

give_up() { # exit code
    printf '%s\n' "$1" >"$gave_up_file"
    exit "$1"
}

# A step leaves itself out if a program is not there. Where skips are forbidden, it fails.
need() { # program
    command -v "$1" >/dev/null && return 0
    printf 'no %s\n' "$1"
    [[ -z ${ARENA_NO_SKIPS:-} ]] || give_up "$host_cannot"
    give_up "$left_out"
}

# A step whose command says with 3 that the host cannot do it.
of_host() { # command...
    trap '[[ $? -ne $host_cannot ]] || give_up "$host_cannot"' EXIT
    "$@"
}

verdict() { # exit code, log
    case $1 in
    0) printf 'passed' ;;
    "$left_out") printf 'left out: %s' "$(tail -n 1 "$2")" ;;
    *) printf 'failed' ;;
    esac
}

beside() { # function...
    set -m # a process group of its own, which can be ended as a whole
    lane "$@" &
    set +m
    lanes+=($!)
}

lane() { # function...
    local each
    set +m
    trap - EXIT
    trap 'exit 130' INT TERM
    for each in "$@"; do
        "$each"
    done
}

# A lane whose steps fail ends well. One that dies is a failed step itself.
await_lanes() {
    local pid code log=$logs/a-lane.log
    for pid in "${lanes[@]}"; do
        code=0
        wait "$pid" || code=$?
        if [[ $code -ne 0 ]]; then
            printf 'It ended with exit code %s, and its last steps did not run.\n' "$code" >>"$log"
            note 1 0 'a lane' "$log"
        fi
    done
    lanes=()
}

# End what still runs; what has not ended after half a minute is killed.
end_lanes() {
    local pid tries=0
    for pid in "${lanes[@]}"; do
        kill -INT -- "-$pid" 2>/dev/null || true # it may have ended by itself
    done
    for pid in "${lanes[@]}"; do
        while kill -0 "$pid" 2>/dev/null && [[ $tries -lt 300 ]]; do
            sleep 0.1
            tries=$((tries + 1))
        done
        kill -KILL -- "-$pid" 2>/dev/null || true # mostly, nothing is left of it
    done
}

# Print the table, the first lines of each failure and, last of all, pytest's summary.
tell_steps() {
    local code seconds name log
    printf '\n%-24s %8s  %s\n' step time verdict
    while IFS=$'\t' read -r code seconds name log; do
        printf '%-24s %6d s  %s\n' "$name" "$seconds" "$(verdict "$code" "$log")"
    done <"$logs/steps"
    while IFS=$'\t' read -r code seconds name log; do
        if [[ $(verdict "$code" "$log") == failed ]]; then
            printf '\n%s failed; its whole log is %s\n' "$name" "$log"
            first_lines "$log" | sed 's/^/    /'
        fi
    done <"$logs/steps"
    printf '\n'
    [[ ! -s $logs/pytest.log ]] || tail -n 1 "$logs/pytest.log"
}

# Print a log from where it begins to tell of a failure; its end, if that is not known.
first_lines() { # log
    grep -E -m 1 -A 19 '^(FAILED|ERROR) tests/|^failures:$|^not ok|^error|: error' "$1" || tail -n 20 "$1"
}

# 0 if all passed, 1 if one failed, 3 if what failed needs another host.
code_of_steps() {
    cut -f 1 "$logs/steps" | sort -u | awk -v left_out="$left_out" -v host_cannot="$host_cannot" '
        $1 && $1 != left_out { code = $1 == host_cannot && code != 1 ? host_cannot : 1 }
        END { exit code }'
}
