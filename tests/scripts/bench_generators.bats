#!/usr/bin/env bats
# scripts/bench_generators.sh is `arena bench-generators`: beside it lies an arena.sh that says what
# it is given.

setup() {
    mkdir "$BATS_TEST_TMPDIR/scripts"
    bench=$BATS_TEST_TMPDIR/scripts/bench_generators.sh
    cp "$BATS_TEST_DIRNAME/../../scripts/bench_generators.sh" "$bench"
    cat >"$BATS_TEST_TMPDIR/scripts/arena.sh" <<'STUB'
#!/usr/bin/env bash
printf '<%s>' "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$BATS_TEST_TMPDIR/scripts/arena.sh"
}

@test "every argument is passed on as it is, and the exit code handed back" {
    ARENA_CODE=3 run "$bench" --json ''
    [ "$output" = '<bench-generators><--json><>' ]
    [ "$status" -eq 3 ]
}

@test "it works through a symbolic link in another folder" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s ../scripts/bench_generators.sh "$BATS_TEST_TMPDIR/bin/bench"
    cd /
    run "$BATS_TEST_TMPDIR/bin/bench"
    [ "$status" -eq 0 ]
    [ "$output" = '<bench-generators>' ]
}
