#!/usr/bin/env bats
# scripts/venv.sh, as arena.sh uses it, with a python3 that notes its calls and makes a .venv whose
# python does the same.
# shellcheck disable=SC2016 # what is quoted is for the stubs to expand

bats_require_minimum_version 1.5.0

setup() {
    root=$BATS_TEST_TMPDIR/root
    export STUBS=$BATS_TEST_TMPDIR/stubs CALLS=$BATS_TEST_TMPDIR/calls TMPDIR=$BATS_TEST_TMPDIR
    mkdir -p "$root" "$STUBS"
    cp -r "$BATS_TEST_DIRNAME/../../scripts" "$root"
    echo 'click==1' >"$root/requirements.lock"
    echo 'distributed==1' >"$root/requirements-fleet.lock"
    : >"$root/pyproject.toml"
    : >"$CALLS"
    stub python3 <<'STUB'
echo "python3 $*" >>"$CALLS"
case "$*" in
*version_info*) exit "${TOO_OLD:-0}" ;;
*ensurepip*) [[ -z ${NO_VENV:-} || -e $STUBS/installed ]] || exit 1 ;;
'-m venv .venv' | '-m venv .venv-fleet')
    mkdir -p "$3/bin"
    ln -sf "$STUBS/venv-python" "$3/bin/python" ;;
esac
STUB
    stub venv-python <<'STUB'
echo "python $*" >>"$CALLS"
if [[ "$*" == *'pip install'* ]]; then
    # Says that it is there, and waits for a word that never comes.
    if [[ -n ${PIP_WAITS:-} ]]; then echo >"$STUBS/waiting" && exec cat "$STUBS/never"; fi
    for line in {1..9}; do echo "pip says $line"; done
    exit "${PIP_FAILS:-0}"
fi
exit "${ARENA_CODE:-0}"
STUB
    export PATH=$STUBS:$PATH
}

stub() { # name; the body on stdin
    { echo '#!/usr/bin/env bash' && cat; } >"$STUBS/$1"
    chmod +x "$STUBS/$1"
}

# PATH becomes one without apt-get, which is also what someone who is not root gets to see.
without_apt() {
    local tool
    for tool in bash cat dirname flock ln mkdir mktemp readlink rm sha256sum tail; do
        ln -s "$(command -v "$tool")" "$STUBS/$tool"
    done
    PATH=$STUBS
}

arena() {
    run "$root/scripts/arena.sh" "$@"
}

installs() {
    grep -c 'pip install' "$CALLS" || true # none is an answer too
}

@test "a first start sets up and says so once" {
    arena list
    [ "$status" -eq 0 ]
    [ "$output" = 'Setting up .venv from requirements.lock (once) …' ]
    grep -q 'pip install .*--require-hashes --only-binary :all: --no-deps .*-r requirements.lock' "$CALLS"
    [ "$(tail -n 1 "$CALLS")" = "python $root/lib list" ]
}

@test "a second start does nothing but run" {
    arena list
    : >"$CALLS"
    arena list
    [ "$status" -eq 0 ]
    [ "$output" = '' ]
    [ "$(cat "$CALLS")" = "python $root/lib list" ]
}

@test "a fleet's packages have a folder of their own" {
    arena list
    : >"$CALLS"
    run "$root/scripts/fleet.sh" status
    [ "$status" -eq 0 ]
    [ "$output" = 'Setting up .venv-fleet from requirements-fleet.lock (once) …' ]
    grep -q 'pip install .*--require-hashes --only-binary :all: --no-deps .*-r requirements-fleet.lock' "$CALLS"
    [ "$(tail -n 1 "$CALLS")" = "python $root/lib fleet status" ]
    : >"$CALLS"
    arena list
    [ "$(cat "$CALLS")" = "python $root/lib list" ]
}

@test "a changed lock is installed, once" {
    arena list
    echo 'click==2' >"$root/requirements.lock"
    arena list
    arena list
    [ "$(installs)" -eq 2 ]
}

@test "a set-up that was cut short is done again" {
    mkdir -p "$root/.venv/bin"
    ln -s "$STUBS/venv-python" "$root/.venv/bin/python"
    arena list
    [ "$status" -eq 0 ]
    [ "$(installs)" -eq 1 ]
}

@test "a .venv whose interpreter has gone is made anew" {
    arena list
    ln -sf /nowhere/python "$root/.venv/bin/python"
    touch "$root/.venv/old"
    arena list
    [ "$status" -eq 0 ]
    [ ! -e "$root/.venv/old" ]
    [ "$(installs)" -eq 2 ]
}

@test "of two first starts at once one sets up" {
    "$root/scripts/arena.sh" one &
    "$root/scripts/arena.sh" two
    wait "$!"
    [ "$(installs)" -eq 1 ]
    grep -q "^python $root/lib one" "$CALLS"
    grep -q "^python $root/lib two" "$CALLS"
}

@test "a failing pip shows its last lines and where the rest is" {
    PIP_FAILS=1 arena list
    [ "$status" -eq 3 ]
    [ "${lines[1]}" = 'pip says 5' ]
    [ "${lines[5]}" = 'pip says 9' ]
    [[ ${lines[6]} == 'error: .venv could not be set up; the whole output is in '* ]]
    grep -q 'pip says 1' "${lines[6]##* }"
    run ! grep "^python $root/lib" "$CALLS"
    arena list
    [ "$status" -eq 0 ]
}

@test "an interrupted pip ends with 130 and leaves no log" {
    mkfifo "$STUBS/waiting" "$STUBS/never"
    export TMPDIR=$BATS_TEST_TMPDIR/logs
    mkdir "$TMPDIR"
    set -m # a process group of its own, as a terminal gives it, and one that heeds SIGINT
    PIP_WAITS=1 env --default-signal=INT "$root/scripts/arena.sh" list >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
    set +m
    read -r <"$STUBS/waiting"
    [ "$(ls "$TMPDIR")" != '' ]
    kill -INT -- "-$!"
    local status=0
    wait "$!" || status=$?
    [ "$status" -eq 130 ]
    [ "$(ls "$TMPDIR")" = '' ]
    run ! grep "^python $root/lib" "$CALLS"
    arena list
    [ "$status" -eq 0 ]
}

@test "a Python that is too old is one line" {
    TOO_OLD=1 arena list
    [ "$status" -eq 3 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == 'error: Python 3.11 or newer is needed as python3'* ]]
    [ ! -e "$root/.venv" ]
}

@test "no Python at all is one line" {
    rm "$STUBS/python3"
    without_apt
    arena list
    [ "$status" -eq 3 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == 'error: Python 3.11 or newer is needed as python3'* ]]
}

@test "a Python without venv is one line for those who cannot install it" {
    without_apt
    NO_VENV=1 arena list
    [ "$status" -eq 3 ]
    [ "$output" = 'error: Python has no venv module: install it with: apt-get install python3-venv' ]
}

@test "a Python without venv is completed by root" {
    sed -i 's/\$EUID/0/' "$root/scripts/venv.sh"
    stub apt-get <<<'echo "apt-get $*" >>"$CALLS"; [[ $1 != install ]] || touch "$STUBS/installed"'
    NO_VENV=1 arena list
    [ "$status" -eq 0 ]
    grep -q 'apt-get install .*python3-venv' "$CALLS"
    [ "$(installs)" -eq 1 ]
}
