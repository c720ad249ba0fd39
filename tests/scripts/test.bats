#!/usr/bin/env bats
# scripts/test.sh: which steps it takes, in a checkout whose tools are stubs that note their calls.

setup() {
    root=$BATS_TEST_TMPDIR/root calls=$BATS_TEST_TMPDIR/calls
    mkdir -p "$root"/{scripts,.ci,.venv/bin,.tools/bin,volley/edit,frameworks/grpc-go,tools/peers/{grpc-go,crud-go}}
    cp "$BATS_TEST_DIRNAME/../../scripts/test.sh" "$root/scripts"
    cp "$BATS_TEST_DIRNAME/../../.ci/run" "$root/.ci"
    printf 'ensure_venv() { :; }\n' >"$root/scripts/venv.sh"
    printf '#!/bin/sh\necho "golang: absent"\n' >"$root/scripts/standin-images.sh"
    chmod +x "$root/scripts/standin-images.sh"
    local tool
    for tool in ruff mypy lint-imports pytest; do
        stub "$root/.venv/bin/$tool"
    done
    mkdir "$BATS_TEST_TMPDIR/bin"
    for tool in shellcheck shfmt bats chromium dockerd docker debootstrap h2load nghttpd make g++ protoc \
        grpc_cpp_plugin ruby etcd go gofmt cargo cargo-fmt cargo-clippy node npm java mvn apt-get git; do
        stub "$BATS_TEST_TMPDIR/bin/$tool"
    done
    stub "$root/.tools/bin/actionlint" 'echo v1.7.12'
    stub "$root/scripts/volley-page.sh"
    # Headers and Ruby's gem are files of this host: what stands for them here is always there.
    sed -i 's,=/usr/[^] ]*,=/bin/sh,g' "$root/scripts/test.sh"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    unset ARENA_NO_SKIPS # set where --all runs these tests
}

# A program that notes how it was called, and fails if $BROKEN is its name.
stub() { # path, command
    cat >"$1" <<STUB
#!/bin/sh
printf '%s %s\n' "\${0##*/}" "\$*" >>"$calls"
${2:-:}
[ "\$BROKEN" != "\${0##*/}" ]
STUB
    chmod +x "$1"
}

never() { # pattern
    if grep -E "$1" "$calls"; then
        return 1
    fi
}

@test "before a commit, everything runs but what takes long, and pytest's summary is last" {
    stub "$root/.venv/bin/pytest" 'echo 3 passed'
    run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = '3 passed' ]
    grep -q '^bats tests/scripts$' "$calls"
    grep -q '^cargo test --locked$' "$calls"
    grep -q '^cargo clippy ' "$calls"
    grep -q '^npm test --silent$' "$calls"
    grep -qF -- '--ignore tests/browser -m smoke or not (integration or builds)' "$calls"
    never '^(cargo fuzz|docker)'
}

@test "each step is listed with the time it took" {
    run "$root/scripts/test.sh"
    local step
    for step in 'ruff, mypy, import-linter' bats 'volley: cargo test'; do
        [[ $output == *" s  $step"* ]]
    done
}

@test "with arguments for pytest, the linters and these tests run" {
    run "$root/scripts/test.sh" tests/lib -k 'two words'
    [ "$status" -eq 0 ]
    grep -q '^pytest tests/lib -k two words$' "$calls"
    grep -q '^ruff check' "$calls"
    never '^(bats|cargo (test|clippy))'
}

@test "a linter, a script or volley that fails ends it, by name, before pytest" {
    local tool
    for tool in ruff mypy lint-imports shellcheck shfmt go actionlint cargo bats; do
        : >"$calls"
        BROKEN=$tool run "$root/scripts/test.sh"
        [ "$status" -ne 0 ]
        [[ ${lines[-1]} == 'error: this step failed: '* ]]
        never '^pytest'
    done
}

@test "pytest's exit code is handed on" {
    BROKEN=pytest run "$root/scripts/test.sh"
    [ "$status" -eq 1 ]
}

@test "CI runs everything" {
    run "$root/.ci/run"
    [ "$status" -eq 0 ]
    grep -q '^cargo fuzz run .* hpack ' "$calls"
    grep -qE '^pytest --numprocesses [0-9]+ *$' "$calls"
}

@test "with --all, volley is linted beside pytest; a fault there ends it all the same, by name" {
    # shellcheck disable=SC2016 # words of the stub
    stub "$BATS_TEST_TMPDIR/bin/cargo" '[ "$1" != clippy ] || { echo an unused variable; exit 1; }'
    run "$root/scripts/test.sh" --all
    [ "$status" -eq 1 ]
    grep -q '^pytest ' "$calls"
    [[ $output == *'an unused variable'* ]]
    [ "${lines[-1]}" = 'error: this step failed: volley: clippy' ]
}

@test "--no-skips is --all" {
    run "$root/scripts/test.sh" --no-skips tests/lib
    [ "$status" -eq 0 ]
    grep -q '^cargo fuzz run .* frame ' "$calls"
    grep -q '^pytest .*tests/lib$' "$calls"
}

@test "a missing tool leaves its step out; where skips are forbidden, it is an error" {
    sed -i 's/^toolchains\(.*\)=(/&no-such-tool /; s/have bats/have no-such-tool/' "$root/scripts/test.sh"
    run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    [[ $output == *'Not on PATH: no-such-tool'*'SKIPPED: no no-such-tool'* ]]
    never '^bats'
    ARENA_NO_SKIPS=1 run "$root/scripts/test.sh"
    [ "$status" -eq 3 ]
    run "$root/scripts/test.sh" --all
    [ "$status" -eq 3 ]
}

@test "root installs a missing package; everybody else is told the command" {
    # shellcheck disable=SC2016 # words of the script, not of this one
    sed -i 's/\[shfmt\]=shfmt/[shfmt]=no-such-program/; s/\$EUID/0/' "$root/scripts/test.sh"
    run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    grep -q '^apt-get install .* shfmt$' "$calls"
    : >"$calls"
    sed -i 's/0 -ne 0/1000 -ne 0/' "$root/scripts/test.sh"
    run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    [[ $output == *'Not installed: shfmt. On Debian:'*'sudo apt-get install shfmt'* ]]
    never '^apt-get'
}

@test "base images that cannot be made end it after all the rest" {
    # shellcheck disable=SC2016 # it is for that script to expand
    printf '#!/bin/sh\n[ "$1" != --list ] || exec echo golang: absent; echo no debootstrap; exit 3\n' >"$root/scripts/standin-images.sh"
    run "$root/scripts/test.sh" --all
    [ "$status" -eq 3 ]
    [[ $output == *'no debootstrap'* ]]
    [ "${lines[-1]}" = 'error: this step failed: base images' ]
    never '^pytest'
}

@test "the help is the header" {
    run "$root/scripts/test.sh" --help
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = 'Run the tests.' ]
    [[ $output == *'--all'*'--no-skips'*'Exit code:'* ]]
}
