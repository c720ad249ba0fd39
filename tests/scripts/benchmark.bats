#!/usr/bin/env bats
# scripts/benchmark.sh is `arena run`: beside it lies an arena.sh that says what it is given.

setup() {
    mkdir "$BATS_TEST_TMPDIR/scripts"
    benchmark=$BATS_TEST_TMPDIR/scripts/benchmark.sh
    cp "$BATS_TEST_DIRNAME/../../scripts/benchmark.sh" "$benchmark"
    cat >"$BATS_TEST_TMPDIR/scripts/arena.sh" <<'STUB'
#!/usr/bin/env bash
printf '<%s>' "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$BATS_TEST_TMPDIR/scripts/arena.sh"
}

@test "every argument is passed on as it is" {
    run "$benchmark" grpc-go 'a profile' --runs 3 ''
    [ "$output" = '<run><grpc-go><a profile><--runs><3><>' ]
}

@test "the exit code is handed on" {
    local code
    for code in 0 1 2 3 130; do
        ARENA_CODE=$code run "$benchmark" grpc-go
        [ "$status" -eq "$code" ]
    done
}

@test "it works through a symbolic link in another folder" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s ../scripts/benchmark.sh "$BATS_TEST_TMPDIR/bin/benchmark"
    cd /
    run "$BATS_TEST_TMPDIR/bin/benchmark" grpc-go
    [ "$status" -eq 0 ]
    [ "$output" = '<run><grpc-go>' ]
}
