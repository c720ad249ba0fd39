#!/usr/bin/env bats
# scripts/test.sh: which steps it takes, in a checkout whose tools are stubs that note their calls.

setup() {
    root=$BATS_TEST_TMPDIR/root calls=$BATS_TEST_TMPDIR/calls
    mkdir -p "$root"/{scripts,.ci,.venv/bin,.tools/bin,volley/{edit,fuzz},frameworks/grpc-go,tools/peers/{grpc-go,crud-go}}
    cp "$BATS_TEST_DIRNAME"/../../scripts/{test,steps}.sh "$root/scripts"
    cp "$BATS_TEST_DIRNAME/../../.ci/run" "$root/.ci"
    # shellcheck disable=SC2016 # words of the stub
    printf 'ensure_venv() { echo "ensure_venv $*" >>%q; [[ ${BROKEN:-} != "*" ]]; }\n' "$calls" >"$root/scripts/venv.sh"
    stub "$root/scripts/standin-images.sh" 'echo "golang: absent"'
    local tool
    for tool in ruff mypy lint-imports; do
        stub "$root/.venv/bin/$tool"
    done
    stub "$root/.venv/bin/pytest" 'echo "FAILED tests/test_x.py::test_x"; echo "= 3 in 1 s ="'
    mkdir "$BATS_TEST_TMPDIR/bin"
    for tool in shellcheck shfmt bats chromium dockerd docker debootstrap h2load nghttpd make g++ protoc \
        grpc_cpp_plugin ruby etcd valgrind go gofmt cargo cargo-fmt cargo-clippy node npm java mvn apt-get git; do
        stub "$BATS_TEST_TMPDIR/bin/$tool"
    done
    stub "$root/.tools/bin/actionlint" 'echo v1.7.12'
    for tool in volley-page bench_instructions compare-protoc; do
        stub "$root/scripts/$tool.sh"
    done
    # Headers and Ruby's gem are files of this host: what stands for them here is always there.
    sed -i 's,=/usr/[^] ]*,=/bin/sh,g' "$root/scripts/test.sh"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    unset ARENA_NO_SKIPS # set where --all runs these tests
}

# A program that notes how it was called, and fails if that matches $BROKEN.
stub() { # path, command
    cat >"$1" <<STUB
#!/bin/sh
call="\${0##*/} \$*"
printf '%s\n' "\$call" >>"$calls"
${2:-:}
case \$call in \$BROKEN) exit 1 ;; esac
STUB
    chmod +x "$1"
}

never() { # pattern
    if grep -E "$1" "$calls"; then
        return 1
    fi
}

# Whether the program that has noted its process id has ended.
ended() { # program
    [ "$(ps -o stat= -p "$(<"$root/$1")" | grep -v Z)" = '' ]
}

# The steps that the table says this of, without their times.
table() { # verdict
    sed -n '/^step  *time  *verdict$/,/^$/p' <<<"$output" | sed -nE "s/ +[0-9]+ s  $1//p"
}

before_a_commit='actionlint
bats
go vet
gofmt
import-linter
mypy
packages of Python
pytest
ruff check
ruff format
shellcheck
shfmt
volley: build
volley: clippy
volley: fmt
volley: fmt of fuzz
volley: page of edit
volley: test'

@test "before a commit, everything runs but what takes long, and pytest's summary is last" {
    run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    [ "$(table passed | sort)" = "$before_a_commit" ]
    [ "${lines[-1]}" = '= 3 in 1 s =' ]
    grep -q '^bats tests/scripts$' "$calls"
    grep -q '^cargo test --workspace --locked --features docs --no-fail-fast$' "$calls"
    grep -q '^cargo clippy ' "$calls"
    # A bench beside pytest finds its lock installed.
    [ "$(grep '^ensure_venv' "$calls")" = $'ensure_venv requirements.lock\nensure_venv requirements-dev.lock' ]
    grep -q '^npm .*test --silent$' "$calls"
    grep -qF -- '--ignore tests/browser -m smoke or not (integration or builds)' "$calls"
    never '^(cargo run|docker)'
}

@test "no failure hides another: each is in the table, with its first lines and its log" {
    BROKEN='*' run "$root/scripts/test.sh"
    [ "$status" -eq 1 ]
    [ "$(table failed | sort)" = "$before_a_commit" ]
    [ "$(grep -c 'failed; its whole log is .tools/test/.*\.log$' <<<"$output")" -eq 18 ]
    [[ $output == *$'pytest failed; its whole log is .tools/test/pytest.log\n    FAILED tests/test_x.py'* ]]
    [ "${lines[-1]}" = '= 3 in 1 s =' ]
}

@test "with --all, no failure hides another either" {
    BROKEN='*' run "$root/scripts/test.sh" --all
    [ "$status" -eq 1 ]
    # A package that this host does not have is one more.
    [ "$(table failed | grep -v tools | sort)" = "$(sort <<<"$before_a_commit"$'\nDocker daemon\nbase images\nvolley: fuzzing\nvolley: instructions\nvolley: protoc')" ]
    [ "${lines[-1]}" = '= 3 in 1 s =' ]
}

@test "one failure is enough" {
    local call
    for call in 'ruff check*' 'cargo test --no-run*' 'pytest*'; do
        BROKEN=$call run "$root/scripts/test.sh"
        [ "$status" -eq 1 ]
        [ "$(table passed | wc -l)" -eq 17 ]
        [ "$(table failed | wc -l)" -eq 1 ]
    done
}

@test "an exit code of another program leaves nothing out, and is not the host's fault" {
    local code
    for code in 3 75; do
        stub "$root/.venv/bin/pytest" "exit $code"
        stub "$BATS_TEST_TMPDIR/bin/shellcheck" "exit $code"
        ARENA_NO_SKIPS=1 run "$root/scripts/test.sh"
        [ "$status" -eq 1 ]
        [ "$(table failed)" = $'shellcheck\npytest' ]
    done
}

@test "Python's packages that cannot be had are the host's fault" {
    # shellcheck disable=SC2016 # words of the stub
    printf 'ensure_venv() { local log=x; (exit 3); }\n' >"$root/scripts/venv.sh"
    run "$root/scripts/test.sh"
    [ "$status" -eq 3 ]
    [ "$(table failed)" = 'packages of Python' ]
}

@test "a lane that dies is in the table, and hides no other" {
    sed -i 's/^test_scripts() {$/& false/' "$root/scripts/test.sh"
    run "$root/scripts/test.sh"
    [ "$status" -eq 1 ]
    [ "$(table failed)" = 'a lane' ]
    [ "$(table passed | wc -l)" -eq 16 ]
    [[ $output == *'a lane failed; '*'It ended with exit code 1, '* ]]
}

@test "a step ends where a command of it fails" {
    BROKEN='volley-page.sh*' run "$root/scripts/test.sh"
    [ "$(table failed)" = 'volley: page of edit' ]
    never '^npm'
}

@test "with arguments for pytest, the linters and these tests run" {
    run "$root/scripts/test.sh" tests/lib -k 'two words'
    [ "$status" -eq 0 ]
    grep -q '^pytest tests/lib -k two words$' "$calls"
    grep -q '^ruff check' "$calls"
    never '^(bats|cargo (test|clippy))'
    BROKEN='ruff check*' run "$root/scripts/test.sh" tests/lib
    [ "$status" -eq 1 ]
    [ "$(table failed)" = 'ruff check' ]
    [ "${lines[-1]}" = '= 3 in 1 s =' ]
    grep -q '^pytest tests/lib$' "$calls"
    BROKEN='pytest*' run "$root/scripts/test.sh" tests/lib
    [ "$status" -eq 1 ]
    rm "$root/.venv/bin/pytest"
    run "$root/scripts/test.sh" tests/lib
    [ "$status" -eq 3 ]
}

@test "with arguments, pytest has the terminal" {
    # shellcheck disable=SC2016 # words of the stub
    stub "$root/.venv/bin/pytest" '[ -t 0 ] && [ -t 1 ] && read -r word && echo "= $word ="'
    run script --quiet --return --echo never --command "'$root/scripts/test.sh' tests/lib" /dev/null <<<typed
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == '= typed ='* ]]
}

@test "CI runs everything" {
    run "$root/.ci/run"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = '= 3 in 1 s =' ]
    grep -q '^cargo run .* hpack ' "$calls"
    grep -qE '^pytest --numprocesses [0-9]+ *$' "$calls"
}

@test "--no-skips is --all" {
    run "$root/scripts/test.sh" --no-skips tests/lib
    [ "$status" -eq 0 ]
    grep -q '^cargo run .* frame ' "$calls"
    grep -q '^pytest .*tests/lib$' "$calls"
}

@test "without Rust, Go and Node.js, the table says what is left out, and the rest runs" {
    local tool
    for tool in cargo cargo-fmt cargo-clippy go gofmt npm; do
        rm "$BATS_TEST_TMPDIR/bin/$tool"
    done
    PATH=$BATS_TEST_TMPDIR/bin:$(without_toolchains) run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    [[ $output == *'Not on PATH: go cargo'* ]]
    [ "$(table 'left out: no cargo$')" = $'volley: build\nvolley: test' ]
    [ "$(table 'left out: no go$')" = 'go vet' ]
    [ "$(table 'left out: no npm$')" = 'volley: page of edit' ]
    [ "$(table passed | wc -l)" -eq 10 ]
    never '^(cargo|go|npm) '
}

# A folder with the programs that the script itself needs.
without_toolchains() {
    local name folder=$BATS_TEST_TMPDIR/few
    mkdir -p "$folder"
    for name in awk bash cut dirname env git grep head mkdir nproc readlink rm sed sh sort tail tee; do
        ln -sf "$(type -P "$name")" "$folder/$name"
    done
    printf '%s\n' "$folder"
}

@test "where skips are forbidden, a missing tool is an error" {
    sed -i 's/^toolchains\(.*\)=(/&no-such-tool /; s/need bats/need no-such-tool/' "$root/scripts/test.sh"
    run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    [[ $output == *'Not on PATH: no-such-tool'* ]]
    [ "$(table 'left out: no no-such-tool')" = bats ]
    ARENA_NO_SKIPS=1 run "$root/scripts/test.sh"
    [ "$status" -eq 3 ]
    run "$root/scripts/test.sh" --all
    [ "$status" -eq 3 ]
}

@test "a step that finds its program missing fails where skips are forbidden" {
    sed -i 's/need bats/need no-such-tool/' "$root/scripts/test.sh"
    ARENA_NO_SKIPS=1 run "$root/scripts/test.sh"
    [ "$status" -eq 3 ]
    [ "$(table failed)" = bats ]
    [[ $output == *'bats failed; its whole log is .tools/test/bats.log'*'no no-such-tool'* ]]
}

@test "root installs a missing package; everybody else is told the command" {
    # shellcheck disable=SC2016 # words of the script, not of this one
    sed -i 's/\[shfmt\]=shfmt/[shfmt]=no-such-program/; s/\$EUID/0/' "$root/scripts/test.sh"
    run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    grep -q '^apt-get install .* shfmt$' "$calls"
    : >"$calls"
    sed -i 's/0 -eq 0/1000 -eq 0/' "$root/scripts/test.sh"
    run "$root/scripts/test.sh"
    [ "$status" -eq 0 ]
    [[ $output == *'Not installed: shfmt. On Debian:'*'sudo apt-get install shfmt'* ]]
    never '^apt-get'
}

@test "base images that cannot be made are the host's fault, and all the rest runs" {
    # shellcheck disable=SC2016 # it is for that script to expand
    printf '#!/bin/sh\n[ "$1" != --list ] || exec echo golang: absent; echo no debootstrap; exit 3\n' >"$root/scripts/standin-images.sh"
    run "$root/scripts/test.sh" --all
    [ "$status" -eq 3 ]
    [ "$(table failed)" = 'base images' ]
    [[ $output == *'no debootstrap'* ]]
    grep -q '^pytest ' "$calls"
}

@test "a Docker daemon that was started ends with the tests" {
    # shellcheck disable=SC2016 # words of the script, not of this one
    sed -i 's/\$EUID/0/' "$root/scripts/test.sh"
    stub "$BATS_TEST_TMPDIR/bin/docker" "[ -e '$root/dockerd' ]"' || exit 1'
    stub "$BATS_TEST_TMPDIR/bin/dockerd" "echo \$\$ >'$root/dockerd'; exec sleep 30"
    run "$root/scripts/test.sh" --all
    [ "$status" -eq 0 ]
    ended dockerd
}

@test "an interrupt ends all that runs" {
    local code=0 main tool
    stub "$root/.venv/bin/pytest" "echo \$\$ >'$root/pytest'; exec sleep 600"
    stub "$BATS_TEST_TMPDIR/bin/cargo" "[ \"\$1\" != test ] || { echo \$\$ >'$root/cargo'; exec sleep 600; }"
    env --default-signal=INT "$root/scripts/test.sh" >"$BATS_TEST_TMPDIR/output" 3>&- &
    main=$!
    for tool in pytest cargo; do
        until [ -s "$root/$tool" ]; do
            sleep 0.05
        done
    done
    kill -INT "$main"
    wait "$main" || code=$?
    [ "$code" -eq 130 ]
    for tool in pytest cargo; do
        ended "$tool"
    done
}

@test "the help is the header" {
    run "$root/scripts/test.sh" --help
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = 'Run the tests.' ]
    [[ $output == *'--all'*'--no-skips'*'Exit code:'* ]]
}
