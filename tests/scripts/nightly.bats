#!/usr/bin/env bats
# scripts/nightly.sh is `arena night`: beside it lies an arena.sh that says what it is given.

setup() {
    mkdir "$BATS_TEST_TMPDIR/scripts"
    nightly=$BATS_TEST_TMPDIR/scripts/nightly.sh
    cp "$BATS_TEST_DIRNAME/../../scripts/nightly.sh" "$nightly"
    cat >"$BATS_TEST_TMPDIR/scripts/arena.sh" <<'STUB'
#!/usr/bin/env bash
printf '<%s>' "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$BATS_TEST_TMPDIR/scripts/arena.sh"
}

@test "every argument is passed on as it is" {
    run "$nightly" --budget 3m 'a name' --resume ''
    [ "$output" = '<night><--budget><3m><a name><--resume><>' ]
}

@test "the exit code is handed on" {
    local code
    for code in 0 1 2 3 130; do
        ARENA_CODE=$code run "$nightly" grpc-go
        [ "$status" -eq "$code" ]
    done
}

@test "it works through a symbolic link in another folder" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s ../scripts/nightly.sh "$BATS_TEST_TMPDIR/bin/nightly"
    cd /
    run "$BATS_TEST_TMPDIR/bin/nightly" grpc-go
    [ "$status" -eq 0 ]
    [ "$output" = '<night><grpc-go>' ]
}
