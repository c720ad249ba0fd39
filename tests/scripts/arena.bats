#!/usr/bin/env bats
# scripts/arena.sh hands everything on to lib/, by a .venv that is set up already.

setup() {
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/.venv/bin"
    cp -r "$BATS_TEST_DIRNAME/../../scripts" "$root"
    : >"$root/requirements.lock"
    (cd "$root" && sha256sum requirements.lock >.venv/.requirements.lock.sha256)
    cat >"$root/.venv/bin/python" <<'STUB'
#!/usr/bin/env bash
printf '%s\n' "in $PWD" "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$root/.venv/bin/python"
}

@test "arena.sh hands over its arguments, spaces and all" {
    run "$root/scripts/arena.sh" list 'two words' '' '*'
    [ "$status" -eq 0 ]
    [ "$output" = "$(printf '%s\n' "in $root" lib list 'two words' '' '*')" ]
}

@test "arena.sh works from any folder" {
    cd /
    run "$root/scripts/arena.sh" list
    [ "${lines[0]}" = "in $root" ]
}
