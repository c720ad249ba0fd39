#!/usr/bin/env bats
# scripts/lock.sh, as far as it goes without uv.

setup() {
    lock=$BATS_TEST_DIRNAME/../../scripts/lock.sh
    mkdir "$BATS_TEST_TMPDIR/bin"
    local tool
    for tool in bash dirname readlink sed; do
        ln -s "$(command -v "$tool")" "$BATS_TEST_TMPDIR/bin/$tool"
    done
}

@test "its help is its header, and needs no uv" {
    local flag
    for flag in -h --help; do
        PATH=$BATS_TEST_TMPDIR/bin run "$lock" "$flag"
        [ "$status" -eq 0 ]
        [ "${lines[0]}" = 'Update the lock files (requirements*.lock) from pyproject.toml.' ]
        [ "${lines[1]}" = '  ./scripts/lock.sh [--upgrade]' ]
        [[ ${lines[-1]} == *'any mirror works.' ]]
    done
}
