#!/usr/bin/env bats
# scripts/site.sh is `arena site`: beside it lies an arena.sh that says what it is given.

setup() {
    mkdir "$BATS_TEST_TMPDIR/scripts"
    site=$BATS_TEST_TMPDIR/scripts/site.sh
    cp "$BATS_TEST_DIRNAME/../../scripts/site.sh" "$site"
    cat >"$BATS_TEST_TMPDIR/scripts/arena.sh" <<'STUB'
#!/usr/bin/env bash
printf '<%s>' "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$BATS_TEST_TMPDIR/scripts/arena.sh"
}

@test "alone it builds" {
    run "$site"
    [ "$status" -eq 0 ]
    [ "$output" = '<site><build>' ]
}

@test "every argument is passed on as it is, and the exit code handed back" {
    ARENA_CODE=3 run "$site" serve --port 8001 ''
    [ "$output" = '<site><serve><--port><8001><>' ]
    [ "$status" -eq 3 ]
    run "$site" check --help
    [ "$output" = '<site><check><--help>' ]
}

@test "its help is its header" {
    local flag
    for flag in -h --help 'bench --help'; do
        # shellcheck disable=SC2086 # two words
        run "$site" $flag
        [ "$status" -eq 0 ]
        [ "${lines[0]}" = 'The site of all records: pages made from results/ alone, in site/public/.' ]
        [[ $output == *'site.sh [build]'*'site.sh serve'*'site.sh check'*'site.sh bench'* ]]
    done
}

@test "it works through a symbolic link in another folder" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s ../scripts/site.sh "$BATS_TEST_TMPDIR/bin/site"
    cd /
    run "$BATS_TEST_TMPDIR/bin/site" check
    [ "$output" = '<site><check>' ]
}

@test "the bench runs in the tests' environment, and takes no arguments" {
    mkdir -p "$BATS_TEST_TMPDIR/.venv/bin"
    cat >"$BATS_TEST_TMPDIR/scripts/venv.sh" <<'STUB'
ensure_venv() { printf '<%s>' "$1"; }
STUB
    cat >"$BATS_TEST_TMPDIR/.venv/bin/python" <<'STUB'
#!/bin/sh
printf '<%s>' "$PYTHONPATH" "$@"
STUB
    chmod +x "$BATS_TEST_TMPDIR/.venv/bin/python"
    run "$site" bench
    [ "$output" = '<requirements-dev.lock><lib:.><-m><tests.browser.bench>' ]
    run "$site" bench 200
    [ "$status" -eq 2 ]
    [ "$output" = 'error: bench takes no arguments (see --help)' ]
}
