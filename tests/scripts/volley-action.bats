#!/usr/bin/env bats
# .github/actions/volley: its steps, with a volley that notes its words and a gh that notes its calls.

setup() {
    root=$BATS_TEST_DIRNAME/../..
    export calls=$BATS_TEST_TMPDIR/calls GITHUB_STEP_SUMMARY=$BATS_TEST_TMPDIR/summary RUNNER_TEMP=$BATS_TEST_TMPDIR
    export GITHUB_REPOSITORY=owner/repository BASELINE=$BATS_TEST_TMPDIR/old.json REPORT=new.json FAIL_IF='' COMMENT=false
    export PULL_REQUEST=7 STATUS=0 EXIT=0 GITHUB_OUTPUT=$BATS_TEST_TMPDIR/output
    mkdir "$BATS_TEST_TMPDIR/bin"
    for tool in volley gh; do
        # The last word, after -o, is where a comparison goes.
        # shellcheck disable=SC2016
        printf '#!/bin/bash\nprintf "%%s" "${0##*/}" >>"$calls"\nprintf " [%%s]" "$@" >>"$calls"\necho >>"$calls"
            [[ $1 != compare ]] || echo compared >"${@: -1}"; exit "$EXIT"\n' >"$BATS_TEST_TMPDIR/bin/$tool"
        chmod +x "$BATS_TEST_TMPDIR/bin/$tool"
    done
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

# Run the script of the step with this name, as a runner does.
step() { # name
    awk -v name="- name: $1" '
        index($0, "- name: ") { inside = index($0, name); script = 0 }
        script { print substr($0, 9) }
        inside && /^ *run: \|$/ { script = 1 }' "$root/.github/actions/volley/action.yml" >"$BATS_TEST_TMPDIR/step"
    [[ -s $BATS_TEST_TMPDIR/step ]]
    run bash --noprofile --norc -eo pipefail "$BATS_TEST_TMPDIR/step"
}

@test "the flags of a run are words as in a shell, and nothing in them is carried out" {
    ARGS="--insecure -d '{\"a\": 1}' --name \$(id) localhost:1" step 'Run the load'
    [ "$status" = 0 ]
    # shellcheck disable=SC2016
    [ "$(<"$calls")" = 'volley [--insecure] [-d] [{"a": 1}] [--name] [$(id)] [localhost:1] [-O] [json] [-o] [new.json]' ]
}

@test "flags that no shell could split fail the step, and nothing is run" {
    ARGS='--insecure --name "open localhost:1' step 'Run the load'
    [ "$status" != 0 ]
    [[ $output == *'unmatched double quote'* ]]
    [ ! -e "$calls" ]
}

@test "a run that met its --fail-if is still compared, and fails the job then" {
    ARGS='localhost:1' EXIT=99 step 'Run the load'
    [ "$status" = 0 ]
    [ "$(<"$GITHUB_OUTPUT")" = status=99 ]
    touch "$BASELINE"
    STATUS=99 step 'Compare it'
    [ "$status" = 99 ]
    [ "$(<"$GITHUB_STEP_SUMMARY")" = compared ]
}

@test "a run that failed ends the step with its status" {
    ARGS='localhost:1' EXIT=3 step 'Run the load'
    [ "$status" = 3 ]
    [ ! -e "$GITHUB_OUTPUT" ]
}

@test "a comparison goes to the summary, with a condition a line" {
    touch "$BASELINE"
    FAIL_IF=$'p99 ratio > 1.1\n\nfailed > 0.1%\n' step 'Compare it'
    [ "$status" = 0 ]
    [ "$(<"$GITHUB_STEP_SUMMARY")" = compared ]
    grep -F "[--fail-if] [p99 ratio > 1.1] [--fail-if] [failed > 0.1%] [-O] [markdown]" "$calls"
    [ "$(grep -c ^gh "$calls")" = 0 ]
}

@test "a condition that was met is shown, commented on, and fails the job" {
    touch "$BASELINE"
    EXIT=99 COMMENT=true step 'Compare it'
    [ "$status" = 99 ]
    [ "$(<"$GITHUB_STEP_SUMMARY")" = compared ]
    grep -F "gh [pr] [comment] [7] [--repo] [owner/repository]" "$calls"
}

@test "reports that are no pair fail the job and are not shown" {
    touch "$BASELINE"
    EXIT=2 COMMENT=true step 'Compare it'
    [ "$status" = 2 ]
    [ ! -e "$GITHUB_STEP_SUMMARY" ]
}

@test "without a baseline nothing is compared" {
    step 'Compare it'
    [ "$status" = 0 ]
    [[ $output == *'nothing is compared'* ]]
    [ ! -e "$calls" ]
}
