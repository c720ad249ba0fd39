#!/usr/bin/env bats
# scripts/arena.sh hands everything on to lib/, by a .venv that is set up already.

setup() {
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/.venv/bin"
    cp -r "$BATS_TEST_DIRNAME/../../scripts" "$root"
    : >"$root/requirements.lock"
    cat >"$root/.venv/bin/python" <<'STUB'
#!/usr/bin/env bash
printf '%s\n' "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$root/.venv/bin/python"
    # What was installed, as venv.sh itself writes it down.
    # shellcheck source=scripts/venv.sh
    source "$root/scripts/venv.sh"
    (cd "$root" && venv_contents requirements.lock >.venv/.requirements.lock.done)
}

@test "arena.sh hands over its arguments, spaces and all" {
    run "$root/scripts/arena.sh" list 'two words' '' '*'
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '%s\n' "$root/lib" list 'two words' '' '*')" ]
}

@test "arena.sh works from any folder" {
    cd /
    run "$root/scripts/arena.sh" list
    [ "$output" = "$(printf '%s\n' "$root/lib" list)" ]
}

@test "arena.sh works through a symbolic link in another folder" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s "$root/scripts/arena.sh" "$BATS_TEST_TMPDIR/bin/arena"
    cd /
    run "$BATS_TEST_TMPDIR/bin/arena" list
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '%s\n' "$root/lib" list)" ]
}
