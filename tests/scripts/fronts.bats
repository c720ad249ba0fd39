#!/usr/bin/env bats
# Scripts that are a subcommand of `arena`: beside each lies an arena.sh that says what it is given.

# Print each script, and the subcommand that it is.
fronts() {
    cat <<'TABLE'
benchmark.sh run
validate.sh validate
nightly.sh night
bench_generators.sh bench-generators
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
            ARENA_CODE=$code run "$scripts/$script" check
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
        run "$BATS_TEST_TMPDIR/bin/a-link" check
        rm "$BATS_TEST_TMPDIR/bin/a-link"
        [ "$status" -eq 0 ]
        [ "$output" = "<$command><check>" ]
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
        [ "${lines[0]}" = 'The site of all records: pages made from results/ alone, in site/public/.' ]
        [[ $output == *'site.sh [build]'*'site.sh serve'*'site.sh check'*'site.sh bench'* ]]
    done
}

@test "that of what it passes on is the subcommand's" {
    run "$scripts/site.sh" check --help
    [ "$output" = '<site><check><--help>' ]
}

@test "the bench of the site runs in the tests' environment, and takes no arguments" {
    mkdir -p "$BATS_TEST_TMPDIR/.venv/bin"
    cat >"$scripts/venv.sh" <<'STUB'
ensure_venv() { printf '<%s>' "$1"; }
STUB
    cat >"$BATS_TEST_TMPDIR/.venv/bin/python" <<'STUB'
#!/bin/sh
printf '<%s>' "$PYTHONPATH" "$@"
STUB
    chmod +x "$BATS_TEST_TMPDIR/.venv/bin/python"
    run "$scripts/site.sh" bench
    [ "$output" = '<requirements-dev.lock><lib:.><-m><tests.browser.bench>' ]
    run "$scripts/site.sh" bench 200
    [ "$status" -eq 2 ]
    [ "$output" = 'error: bench takes no arguments (see --help)' ]
}
