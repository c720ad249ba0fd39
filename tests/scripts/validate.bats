#!/usr/bin/env bats
# scripts/validate.sh is `arena validate`: beside it lies an arena.sh that says what it is given.

setup() {
    mkdir "$BATS_TEST_TMPDIR/scripts"
    validate=$BATS_TEST_TMPDIR/scripts/validate.sh
    cp "$BATS_TEST_DIRNAME/../../scripts/validate.sh" "$validate"
    cat >"$BATS_TEST_TMPDIR/scripts/arena.sh" <<'STUB'
#!/usr/bin/env bash
printf '<%s>' "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$BATS_TEST_TMPDIR/scripts/arena.sh"
}

@test "every argument is passed on as it is" {
    run "$validate" grpc-go 'a profile' --running ''
    [ "$output" = '<validate><grpc-go><a profile><--running><>' ]
}

@test "the exit code is handed on" {
    local code
    for code in 0 1 2 3 130; do
        ARENA_CODE=$code run "$validate" grpc-go
        [ "$status" -eq "$code" ]
    done
}

@test "it works through a symbolic link in another folder" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s ../scripts/validate.sh "$BATS_TEST_TMPDIR/bin/validate"
    cd /
    run "$BATS_TEST_TMPDIR/bin/validate" grpc-go
    [ "$status" -eq 0 ]
    [ "$output" = '<validate><grpc-go>' ]
}
