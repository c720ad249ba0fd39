#!/usr/bin/env bash
# Run the tests.
#
#   ./scripts/test.sh                       before a commit: linters, types, unit tests, scripts, volley,
#                                           and one real server under one real load (minutes)
#   ./scripts/test.sh --all                 everything (half an hour on two CPUs)
#   ./scripts/test.sh PYTEST_ARGUMENT...    linters (without volley's clippy) and types, then pytest with
#                                           the given arguments: tests/lib/arena/judge, or -k blast -x
#
# --all adds tests of every framework (built and checked), of every simulated fault of a server or
# host, of Docker, of every page in a browser, and a short fuzzing of each of volley's
# parsers. It skips nothing: a missing tool, Docker daemon or base image is an error. --no-skips is
# another name for it.
#
# As root on Debian, missing tools are installed by apt; --all also starts a Docker daemon while it
# runs, and builds stand-ins for the base images that its tests need and that cannot be pulled.
# Without root, what is missing is listed, with the command that installs it. ARENA_NO_SKIPS=1 makes
# a missing tool an error without --all, too.
#
# Exit code: 0 all passed, 3 the host cannot do it, any other: what failed is the last thing shown.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# shellcheck source=scripts/venv.sh
source scripts/venv.sh

# A program or file that proves that a Debian package is installed.
declare -A proof_of=(
    [shellcheck]=shellcheck [shfmt]=shfmt [bats]=bats [chromium]=chromium
    [docker.io]=dockerd [debootstrap]=debootstrap
    ['nghttp2-client']=h2load ['nghttp2-server']=nghttpd ['nginx-light']=/usr/sbin/nginx [caddy]=caddy
    [make]=make ['g++']=g++ ['libssl-dev']=/usr/include/openssl/ssl.h
    ['libgrpc++-dev']=/usr/include/grpcpp/grpcpp.h ['libprotobuf-dev']=/usr/include/google/protobuf/message.h
    ['protobuf-compiler']=protoc ['protobuf-compiler-grpc']=grpc_cpp_plugin
    ['libnghttp2-dev']=/usr/include/nghttp2/nghttp2.h
    ['pkg-config']=pkg-config ['etcd-server']=etcd [ruby]=ruby ['ruby-grpc']=/usr/share/doc/ruby-grpc
    ['libgrpc-dev']=/usr/include/grpc/grpc.h ['libprotobuf-c-dev']=/usr/include/protobuf-c/protobuf-c.h
    ['protobuf-c-compiler']=protoc-c [ghc]=ghc ['libghc-warp-tls-dev']=/usr/share/doc/libghc-warp-tls-dev
    [luajit]=luajit ['lua-http']=/usr/share/doc/lua-http ['lua-posix']=/usr/share/doc/lua-posix
    ['pypy3-venv']=/usr/share/doc/pypy3-venv
)
tools=(shellcheck shfmt bats make g++)
tools_of_all=(chromium docker.io debootstrap nghttp2-client nghttp2-server nginx-light caddy libgrpc++-dev
    libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libnghttp2-dev libssl-dev pkg-config ruby ruby-grpc
    libgrpc-dev libprotobuf-c-dev protobuf-c-compiler ghc libghc-warp-tls-dev luajit lua-http lua-posix pypy3-venv
    etcd-server)
# Toolchains that Debian's packages are too old for, or that people install in their own way.
toolchains=(go cargo)
toolchains_of_all=(node npm java mvn)

# The linter of .github/workflows, built by Go.
actionlint=v1.7.12

# What --all writes: Rust's and the servers' builds, images, what the tests keep.
needed_gb=10

fuzz_targets=(frame hpack splitter connection http1 run spec part template reflection pointer csv_feed scenario import)
fuzz_seconds=10

# ---- steps: each is named when it begins, and timed

current=''
took=()

say() {
    printf '\n== %s\n' "$*"
}

step() { # name, command...
    local began=$SECONDS
    current=$1
    say "$1"
    shift
    "$@"
    took+=("$(printf '%5d s  %s' $((SECONDS - began)) "$current")")
    current=''
}

# Run a step beside the others. Its output ends with its seconds, and is shown when it is awaited.
beside() { # name, command...
    local name=$1 log
    log=$(mktemp)
    say "$name, beside what follows (log: $log)"
    shift
    set -m # a process group of its own, which can be ended as a whole
    timed "$@" >"$log" 2>&1 </dev/null &
    set +m
    beside+=("$!:$log:$name")
}

timed() { # command...
    local began=$SECONDS
    "$@"
    printf '%s\n' $((SECONDS - began))
}

await_beside() {
    local pid log code
    while [[ ${#beside[@]} -gt 0 ]]; do
        IFS=: read -r pid log current <<<"${beside[0]}"
        code=0
        wait "$pid" || code=$?
        beside=("${beside[@]:1}")
        if [[ $code -ne 0 ]]; then
            cat "$log" >&2
            return "$code"
        fi
        cat "$log"
        took+=("$(printf '%5d s  %s (beside others)' "$(tail -n 1 "$log")" "$current")")
        current=''
    done
}

end() {                                  # process, or -group
    kill -- "$1" 2>/dev/null || return 0 # it has ended by itself
    wait "${1#-}" || true                # its exit status after a SIGTERM says nothing
}

finish() {
    local code=$? each
    for each in "${beside[@]+"${beside[@]}"}"; do
        end "-${each%%:*}"
    done
    [[ -z $dockerd_pid ]] || end "$dockerd_pid"
    [[ $code -eq 0 || -z $current ]] || printf '\nerror: this step failed: %s\n' "$current" >&2
}

# ---- what must be there

install_missing() { # package...
    local package missing=()
    for package in "$@"; do
        [[ -e ${proof_of[$package]} ]] || command -v "${proof_of[$package]}" >/dev/null || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
        printf 'Not installed: %s. On Debian:\n  sudo apt-get install %s\n' "${missing[*]}" "${missing[*]}"
        [[ -z ${ARENA_NO_SKIPS:-} ]] || return 3
        return 0
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

need_toolchains() {
    local program missing=()
    for program in "$@"; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    printf 'Not on PATH: %s\n' "${missing[*]}"
    [[ -z ${ARENA_NO_SKIPS:-} ]] || return 3
}

# True if the program is there. If not, its step is left out.
have() { # command
    if command -v "$1" >/dev/null; then
        return 0
    fi
    printf 'SKIPPED: no %s\n' "$1"
    [[ -z ${ARENA_NO_SKIPS:-} ]] || exit 3
    return 1
}

# A full disk fails half of the tests, each in its own words; better one line before it all.
check_disk() {
    local free_gb
    free_gb=$(($(stat --file-system --format '%a * %S / 1000000000' .)))
    [[ $free_gb -ge $needed_gb ]] && return 0
    printf 'error: --all needs %s GB of free disk space in this folder; %s GB are free\n' "$needed_gb" "$free_gb" >&2
    return 3
}

# ---- linters

check_python() {
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/mypy
    PYTHONPATH=lib .venv/bin/lint-imports
}

check_scripts() {
    local scripts
    mapfile -t scripts < <(git ls-files --cached --others --exclude-standard .ci/run '*.sh' '*.bats')
    if have shellcheck; then
        shellcheck --external-sources "${scripts[@]}"
    fi
    if have shfmt; then
        shfmt -i 4 -d "${scripts[@]}"
    fi
}

check_go() {
    have go || return 0
    local unformatted module
    unformatted=$(gofmt -l frameworks scaffold tools)
    [[ -z $unformatted ]] || {
        printf 'not formatted by gofmt: %s\n' "$unformatted"
        return 1
    }
    for module in frameworks/grpc-go tools/peers/grpc-go tools/peers/crud-go; do
        (cd "$module" && go vet ./...)
    done
}

check_workflows() {
    local there=''
    [[ ! -x .tools/bin/actionlint ]] || there=$(.tools/bin/actionlint -version | head -n 1)
    if [[ $there != "$actionlint" ]]; then
        have go || return 0
        GOBIN=$PWD/.tools/bin go install "github.com/rhysd/actionlint/cmd/actionlint@$actionlint"
    fi
    .tools/bin/actionlint
}

check_format_of_volley() {
    if have cargo-fmt; then
        (cd volley && cargo fmt --check && cargo fmt --check --manifest-path fuzz/Cargo.toml)
    fi
}

lint_volley() {
    if have cargo-clippy; then
        (cd volley && cargo clippy --all-targets --locked -- -D warnings)
    fi
}

# ---- tests

test_scripts() {
    if have bats; then
        bats tests/scripts
    fi
}

# This also builds the volley that other tests run: not optimised, which takes a quarter of the time.
# The runner builds another one for what is measured.
test_volley() {
    have cargo || return 0
    ./scripts/volley-page.sh --if-possible
    # Most of the slow ones wait: for a deadline, or for the end of a load.
    (cd volley && RUST_TEST_THREADS=$((2 * $(nproc))) cargo test --locked)
}
tested_volley=$(cd volley && realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")/debug/volley

test_page() {
    have npm || return 0
    ./scripts/volley-page.sh
    (cd volley/edit && npm test --silent)
}

# volley has no unsafe code, so it needs no sanitizer.
cargo_fuzz() { # command, argument...
    local command=$1
    shift
    (cd volley && PATH=$PWD/../.tools/bin:$PATH cargo fuzz "$command" --sanitizer none --codegen-units 16 "$@")
}

# Run a command beside tests that may be measuring: it takes only the time that they leave.
in_time_left() ( # command...
    renice -n 19 "$BASHPID" >/dev/null
    "$@"
)

# Feed each of volley's parsers arbitrary bytes.
fuzz_volley() {
    local target failed=()
    cargo install --quiet --root .tools --locked cargo-fuzz@0.13.2
    cargo_fuzz build
    for target in "${fuzz_targets[@]}"; do
        cargo_fuzz run "$target" -- -max_total_time="$fuzz_seconds" -timeout=60 >".tools/fuzz-$target.log" 2>&1 ||
            failed+=("$target")
    done
    for target in "${failed[@]+"${failed[@]}"}"; do
        tail -n 40 ".tools/fuzz-$target.log" >&2
        printf 'error: fuzzing %s found a fault, see .tools/fuzz-%s.log\n' "$target" "$target" >&2
    done
    [[ ${#failed[@]} -eq 0 ]]
}

docker_answers() {
    docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# Start a Docker daemon, if none answers, for as long as this script runs.
start_docker() {
    local log tries=0
    docker_answers && return 0
    if [[ $EUID -ne 0 ]]; then
        printf 'error: no Docker daemon answers: start it (sudo systemctl start docker)\n' >&2
        return 3
    fi
    log=$(mktemp)
    printf 'starting dockerd (log: %s)\n' "$log"
    dockerd >"$log" 2>&1 &
    dockerd_pid=$!
    until docker_answers; do
        sleep 0.5
        tries=$((tries + 1))
        if [[ $tries -gt 120 ]] || ! kill -0 "$dockerd_pid"; then
            tail -n 20 "$log" >&2
            printf 'error: dockerd does not answer\n' >&2
            return 3
        fi
    done
}

# The base images of what tests build: real ones where a registry can be reached, or else stand-ins.
provide_images() {
    local image images # see tests/integration/test_docker_frameworks.py
    mapfile -t images < <(awk -f scripts/standin/from-lines.awk docker/ghz.Dockerfile \
        frameworks/{grpc-go,grpc-node,grpcio-python}/Dockerfile tests/fixtures/httparena/*/Dockerfile)
    for image in $(./scripts/standin-images.sh --list "${images[@]}" | sed -n 's/: absent.*//p'); do
        # The first failure means that no registry can be reached.
        timeout 120 docker pull --quiet "$image" </dev/null || break
    done
    mapfile -t images < <(./scripts/standin-images.sh --list "${images[@]}" | sed -n 's/: absent$//p')
    [[ ${#images[@]} -eq 0 ]] || ./scripts/standin-images.sh "${images[@]}"
    # What tests build from sources: for them, it is in Docker's cache then.
    docker build --quiet frameworks/grpc-go
    docker build --quiet --file docker/ghz.Dockerfile docker
}

# A worker for each CPU. Whatever needs the ports of the host stays in one of them (tests/conftest.py).
run_pytest() { # argument...
    local workers
    workers=$(nproc)
    [[ ! -x $tested_volley ]] || export TESTED_VOLLEY=$tested_volley
    .venv/bin/pytest --numprocesses "$((workers < 2 ? 2 : workers > 8 ? 8 : workers))" "$@"
}

main() {
    all='' beside=() dockerd_pid=''
    case ${1:-} in
    -h | --help)
        sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' scripts/test.sh
        return 0
        ;;
    --all | --no-skips)
        all=yes
        export ARENA_NO_SKIPS=1
        shift
        ;;
    esac
    trap finish EXIT
    # Smaller, faster builds of volley, and the same ones with --all and without.
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=line-tables-only

    if [[ -n $all ]]; then
        check_disk
        toolchains+=("${toolchains_of_all[@]}")
        # Without root, all that is missing is listed at once.
        [[ $EUID -eq 0 ]] || tools+=("${tools_of_all[@]}")
    fi
    step 'tools' install_missing "${tools[@]}"
    need_toolchains "${toolchains[@]}"
    if [[ -n $all || $# -eq 0 ]]; then
        beside 'volley: cargo test' test_volley
    fi
    if [[ -n $all ]]; then
        step 'tools of --all' install_missing "${tools_of_all[@]}"
        step 'Docker daemon' start_docker
        beside 'base images' provide_images
    fi
    ensure_venv requirements-dev.lock

    step 'ruff, mypy, import-linter' check_python
    step 'shellcheck, shfmt' check_scripts
    step 'gofmt, go vet' check_go
    step 'actionlint' check_workflows
    step 'volley: cargo fmt' check_format_of_volley
    if [[ -n $all || $# -eq 0 ]]; then
        step 'bats' test_scripts
        step 'volley: page of edit' test_page
    fi
    if [[ -z $all && $# -eq 0 ]]; then
        step 'volley: clippy' lint_volley
    fi
    await_beside
    say 'what each step took'
    printf '%s\n' "${took[@]}"

    if [[ -n $all ]]; then
        beside 'volley: clippy' in_time_left lint_volley
        beside "volley: fuzzing, $fuzz_seconds s each: ${fuzz_targets[*]}" in_time_left fuzz_volley
        say 'pytest'
        run_pytest "$@"
        await_beside >/dev/null # pytest's summary is the last line
        return
    fi
    say 'pytest'
    if [[ $# -gt 0 ]]; then
        .venv/bin/pytest "$@"
    else
        run_pytest --ignore tests/browser -m 'smoke or not (integration or builds)'
    fi
}

main "$@"
