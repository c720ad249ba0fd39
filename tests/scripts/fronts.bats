#!/usr/bin/env bats
# Scripts that call a command of `arena` or a tool: beside each lies an arena.sh, and below it a
# python, which print their arguments.

# Print each script, and the subcommand that it is.
fronts() {
    cat <<'TABLE'
benchmark.sh run
validate.sh validate
nightly.sh night
site.sh site
TABLE
}

setup() {
    local script
    scripts=$BATS_TEST_TMPDIR/scripts
    mkdir "$scripts"
    while read -r script _; do
        cp "$BATS_TEST_DIRNAME/../../scripts/$script" "$scripts"
    done < <(fronts)
    cp "$BATS_TEST_DIRNAME/../../scripts/"{bench_generators,venv}.sh "$scripts"
    cat >"$scripts/arena.sh" <<'STUB'
#!/usr/bin/env bash
printf '<%s>' "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$scripts/arena.sh"
}

@test "every argument is passed on as it is" {
    local script command
    while read -r script command; do
        run "$scripts/$script" grpc-go 'two words' --runs 3 ''
        [ "$output" = "<$command><grpc-go><two words><--runs><3><>" ]
    done < <(fronts)
}

@test "the exit code is handed on" {
    local script code
    while read -r script _; do
        for code in 0 1 2 3 130; do
            ARENA_CODE=$code run "$scripts/$script" serve
            [ "$status" -eq "$code" ]
        done
    done < <(fronts)
}

@test "it works through a symbolic link in another folder" {
    local script command
    mkdir "$BATS_TEST_TMPDIR/bin"
    cd /
    while read -r script command; do
        ln -s "../scripts/$script" "$BATS_TEST_TMPDIR/bin/a-link"
        run "$BATS_TEST_TMPDIR/bin/a-link" serve
        rm "$BATS_TEST_TMPDIR/bin/a-link"
        [ "$status" -eq 0 ]
        [ "$output" = "<$command><serve>" ]
    done < <(fronts)
}

@test "site.sh alone builds" {
    run "$scripts/site.sh"
    [ "$status" -eq 0 ]
    [ "$output" = '<site><build>' ]
}

@test "the help of site.sh is its header" {
    local flag
    for flag in -h --help 'bench --help'; do
        # shellcheck disable=SC2086 # two words
        run "$scripts/site.sh" $flag
        [ "$status" -eq 0 ]
        [ "${lines[0]}" = 'Build the site of all records, from results/ alone, in site/public/.' ]
        [[ $output == *'site.sh [build]'*'site.sh serve'*'site.sh check'*'site.sh bench'* ]]
    done
}

# Put a python into a .venv that is set up already. It prints its PYTHONPATH and its arguments.
stub_python() {
    mkdir -p "$BATS_TEST_TMPDIR/.venv/bin"
    cat >"$BATS_TEST_TMPDIR/.venv/bin/python" <<'STUB'
#!/bin/sh
printf '<%s>' "$PYTHONPATH" "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$BATS_TEST_TMPDIR/.venv/bin/python"
    # shellcheck source=scripts/venv.sh
    source "$scripts/venv.sh"
    cd "$BATS_TEST_TMPDIR" || return
    local lock
    for lock in requirements.lock requirements-dev.lock; do
        : >"$lock"
        venv_contents "$lock" >".venv/.$lock.done"
    done
}

@test "a tool is started with its arguments, from any folder, and its exit code is handed on" {
    stub_python
    cp "$BATS_TEST_DIRNAME/../../scripts/arena.sh" "$scripts"
    local path="<$BATS_TEST_TMPDIR/lib:$BATS_TEST_TMPDIR>" call
    cd /
    for call in bench_generators.sh 'arena.sh bench-generators'; do
        # shellcheck disable=SC2086 # two words
        ARENA_CODE=3 run "$scripts/"$call --json 'two words'
        [ "$status" -eq 3 ]
        [ "$output" = "$path<-m><tools.bench><--json><two words>" ]
    done
    for call in site.sh 'arena.sh site'; do
        # shellcheck disable=SC2086 # two words
        run "$scripts/"$call check --help
        [ "$output" = "$path<-m><tools.site_check><--help>" ]
    done
}

@test "the bench of the site takes no arguments" {
    stub_python
    run "$scripts/site.sh" bench
    [ "$output" = "<$BATS_TEST_TMPDIR/lib:$BATS_TEST_TMPDIR><-m><tests.browser.bench>" ]
    run "$scripts/site.sh" bench 200
    [ "$status" -eq 2 ]
    [ "$output" = 'error: bench takes no arguments (see --help)' ]
}
