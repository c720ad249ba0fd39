#!/usr/bin/env bash
# Run the tests.
#
#   ./scripts/test.sh                       before a commit: linters, types, unit tests, scripts, volley,
#                                           and one real server under one real load (on two
#                                           cores three to four minutes, the first time seven)
#   ./scripts/test.sh --all                 everything (half an hour on two cores)
#   ./scripts/test.sh PYTEST_ARGUMENT...    linters (without volley's clippy) and types, then pytest with
#                                           the given arguments and the terminal: tests/lib/arena/judge,
#                                           -k blast -x, or --pdb
#
# A step that fails does not keep the next one from running. The end is a table of all steps, with the first
# lines of each failure and the path of its log (.tools/test/), and pytest's summary as the last line; with
# arguments, the table is before pytest. A step whose program is missing (Rust, Go, Node.js, a linter) is left
# out, and the table says so.
#
# --all adds tests of every framework (built and checked), of every simulated fault of a server or
# host, of Docker, of every page in a browser, a comparison of volley with protoc, and a short fuzzing
# of each of volley's parsers. It skips nothing: a missing tool, Docker daemon or base image is an error. --no-skips is
# another name for it.
#
# As root on Debian, missing tools are installed by apt; --all also starts a Docker daemon while it
# runs, and builds stand-ins for the base images that its tests need and that cannot be pulled.
# Without root, what is missing is listed, with the command that installs it. ARENA_NO_SKIPS=1 makes
# a missing tool an error without --all, too.
#
# Exit code: 0 all passed, 1 something failed, 3 the host cannot do it, 130 interrupted.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# shellcheck source=scripts/venv.sh
source scripts/venv.sh
# shellcheck source=scripts/steps.sh
source scripts/steps.sh

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
    ['pypy3-venv']=/usr/share/doc/pypy3-venv [valgrind]=valgrind
)
tools=(shellcheck shfmt bats make g++)
tools_of_all=(chromium docker.io debootstrap nghttp2-client nghttp2-server nginx-light caddy libgrpc++-dev
    libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libnghttp2-dev libssl-dev pkg-config ruby ruby-grpc
    libgrpc-dev libprotobuf-c-dev protobuf-c-compiler ghc libghc-warp-tls-dev luajit lua-http lua-posix pypy3-venv
    etcd-server valgrind)
# Toolchains that Debian's packages are too old for, or that people install in their own way.
toolchains=(go cargo)
toolchains_of_all=(node npm java mvn)

# The linter of .github/workflows, built by Go.
actionlint=v1.7.12

# What --all writes: Rust's and the servers' builds, images, what the tests keep.
needed_gb=10

fuzz_targets=(frame hpack splitter connection http1 reply_run spec part template reflection pointer csv_feed scenario import proto)
fuzz_seconds=5

# ---- what must be there

install_missing() { # step, package...
    local name=$1 package missing=()
    shift
    for package in "$@"; do
        [[ -e ${proof_of[$package]} ]] || command -v "${proof_of[$package]}" >/dev/null || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
        step "$name" apt_install "${missing[@]}"
        return 0
    fi
    printf 'Not installed: %s. On Debian:\n  sudo apt-get install %s\n' "${missing[*]}" "${missing[*]}"
    [[ -z ${ARENA_NO_SKIPS:-} ]] || exit "$host_cannot"
}

apt_install() { # package...
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

need_toolchains() {
    local program missing=()
    for program in "$@"; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    printf 'Not on PATH: %s\n' "${missing[*]}"
    [[ -z ${ARENA_NO_SKIPS:-} ]] || exit "$host_cannot"
}

# A full disk fails half of the tests, each in its own words; better one line before it all.
check_disk() {
    local free_gb
    free_gb=$(($(stat --file-system --format '%a * %S / 1000000000' .)))
    [[ $free_gb -ge $needed_gb ]] && return 0
    printf 'error: --all needs %s GB of free disk space in this folder; %s GB are free\n' "$needed_gb" "$free_gb" >&2
    exit "$host_cannot"
}

docker_answers() {
    docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# Start a Docker daemon, if none answers, for as long as this script runs.
start_docker() {
    local log=$logs/dockerd.log tries=0
    docker_answers && return 0
    if [[ $EUID -ne 0 ]]; then
        printf 'error: no Docker daemon answers: start it (sudo systemctl start docker)\n' >&2
        return "$host_cannot"
    fi
    # In a session of its own: it ends after the tests that use it.
    setsid dockerd >"$log" 2>&1 &
    printf '%s\n' $! >"$logs/dockerd.pid"
    until docker_answers; do
        sleep 0.5
        tries=$((tries + 1))
        if [[ $tries -gt 120 ]] || ! kill -0 $!; then
            tail -n 20 "$log" >&2
            printf 'error: dockerd does not answer\n' >&2
            return "$host_cannot"
        fi
    done
}

end_docker() {
    local pid tries=0
    [[ -s $logs/dockerd.pid ]] || return 0
    pid=$(<"$logs/dockerd.pid")
    kill "$pid" 2>/dev/null || return 0
    while kill -0 "$pid" 2>/dev/null && [[ $tries -lt 100 ]]; do
        sleep 0.2
        tries=$((tries + 1))
    done
}

# The base images of what tests build: real ones where a registry can be reached, or else stand-ins.
provide_images() {
    local image images # see tests/integration/test_docker_frameworks.py
    mapfile -t images < <(awk -f scripts/standin/from-lines.awk docker/ghz.Dockerfile \
        frameworks/{grpc-go,grpc-node,grpcio-python}/Dockerfile tests/fixtures/httparena/*/Dockerfile)
    for image in $(./scripts/standin-images.sh --list "${images[@]}" | sed -n 's/: absent.*//p'); do
        # The first failure means that no registry can be reached.
        timeout --foreground 120 docker pull --quiet "$image" || break
    done
    mapfile -t images < <(./scripts/standin-images.sh --list "${images[@]}" | sed -n 's/: absent$//p')
    [[ ${#images[@]} -eq 0 ]] || ./scripts/standin-images.sh "${images[@]}"
    # What tests build from sources: for them, it is in Docker's cache then.
    docker build --quiet frameworks/grpc-go
    docker build --quiet --file docker/ghz.Dockerfile docker
}

# ---- linters

# The second lock has all of the first, but each has a mark. Without that of the first, a bench would set .venv
# up while pytest uses it.
provide_packages() {
    ensure_venv requirements.lock
    ensure_venv requirements-dev.lock
}

python_tool() { # program of the virtual environment, argument...
    need ".venv/bin/$1"
    ".venv/bin/$1" "${@:2}"
}

of_scripts() { # command...
    local scripts
    need "$1"
    mapfile -t scripts < <(git ls-files --cached --others --exclude-standard .ci/run '*.sh' '*.bats')
    "$@" "${scripts[@]}"
}

check_gofmt() {
    local unformatted
    need gofmt
    unformatted=$(gofmt -l frameworks scaffold tools)
    [[ -n $unformatted ]] || return 0
    printf 'not formatted by gofmt: %s\n' "$unformatted"
    return 1
}

# With the flags of ghz's build and the servers', which find compiled what is compiled here.
go_once() { # argument...
    CGO_ENABLED=0 GOFLAGS=-trimpath go "$@"
}

check_go() {
    local module failed=()
    need go
    for module in frameworks/grpc-go tools/peers/grpc-go tools/peers/crud-go; do
        go_once -C "$module" vet ./... || failed+=("$module")
    done
    [[ ${#failed[@]} -eq 0 ]]
}

check_workflows() {
    local there=''
    [[ ! -x .tools/bin/actionlint ]] || there=$(.tools/bin/actionlint -version | head -n 1)
    if [[ $there != "$actionlint" ]]; then
        need go
        GOBIN=$PWD/.tools/bin go_once install "github.com/rhysd/actionlint/cmd/actionlint@$actionlint"
    fi
    .tools/bin/actionlint
}

# ---- tests of scripts and of volley

run_bats() {
    need bats
    bats tests/scripts
}

in_volley() { # program that must be there, command...
    need "$1"
    cd volley
    "${@:2}"
}

make_page() {
    need npm
    ./scripts/volley-page.sh
    npm --prefix volley/edit test --silent
}

count_instructions() {
    need cargo
    need valgrind
    ./scripts/bench_instructions.sh
}

compare_with_protoc() {
    need cargo
    ./scripts/compare-protoc.sh --seconds 60
}

# Feed each of volley's parsers arbitrary bytes. volley has no unsafe code, so it needs no sanitizer.
# For a long search: `cargo fuzz run TARGET --sanitizer none`.
fuzz_volley() {
    local target failed=()
    cd volley/fuzz # its .cargo/config.toml has the flags, which these would replace
    unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
    cargo build --release --locked
    for target in "${fuzz_targets[@]}"; do
        mkdir -p "corpus/$target" "artifacts/$target"
        cargo run --release --locked --bin "$target" -- -max_total_time="$fuzz_seconds" -timeout=60 \
            -artifact_prefix="artifacts/$target/" "corpus/$target" >"../../.tools/fuzz-$target.log" 2>&1 ||
            failed+=("$target")
    done
    for target in "${failed[@]}"; do
        printf 'error: fuzzing %s found a fault, see .tools/fuzz-%s.log\n' "$target" "$target"
        tail -n 40 "../../.tools/fuzz-$target.log"
    done
    [[ ${#failed[@]} -eq 0 ]]
}

# ---- lanes

lint() {
    step 'packages of Python' of_host provide_packages
    step 'ruff check' python_tool ruff check .
    step 'ruff format' python_tool ruff format --check .
    step 'mypy' python_tool mypy
    PYTHONPATH=lib:fleet step 'import-linter' python_tool lint-imports
    step 'shellcheck' of_scripts shellcheck --external-sources
    step 'shfmt' of_scripts shfmt -i 4 -d
    step 'gofmt' check_gofmt
    step 'go vet' check_go
    step 'actionlint' check_workflows
    step 'volley: fmt' in_volley cargo-fmt cargo fmt --all --check
    step 'volley: fmt of fuzz' in_volley cargo-fmt cargo fmt --check --manifest-path fuzz/Cargo.toml
}

test_scripts() {
    step 'bats' run_bats
}

# This also builds the volley that other tests run.
build_volley() {
    step 'volley: page of edit' make_page
    step 'volley: build' in_volley cargo cargo test --no-run --workspace --locked --features docs
}

# Most of the slow tests wait: for a deadline, or for the end of a load.
test_volley() {
    RUST_TEST_THREADS=$((2 * $(nproc))) step 'volley: test' in_volley cargo cargo test --workspace --locked --features docs --no-fail-fast
    step 'volley: clippy' in_volley cargo-clippy cargo clippy --workspace --all-targets --locked --features docs -- -D warnings
}

# Beside tests that may be measuring, these take only the time that those leave.
test_in_time_left() {
    renice -n 19 "$BASHPID" >/dev/null
    test_scripts
    test_volley
    step 'volley: protoc' compare_with_protoc
    step 'volley: instructions' count_instructions
    step 'volley: fuzzing' fuzz_volley
}

provide_docker() {
    step 'Docker daemon' of_host start_docker
    step 'base images' of_host provide_images
}

run_pytest() {
    step 'pytest' python_tool pytest "${pytest_words[@]}"
}

# The terminal is pytest's, as in `--pdb`.
pytest_in_foreground() { # argument...
    local code=0
    .venv/bin/pytest "$@" || code=1
    [[ -x .venv/bin/pytest ]] || code=$host_cannot
    note "$code" 0 'pytest' ''
}

main() {
    local all='' workers pytest_words=("$@")
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
    # Smaller, faster builds of volley, and the same ones with --all and without.
    export CARGO_INCREMENTAL=0
    begin_steps
    trap 'end_lanes; end_docker' EXIT
    # A worker for each CPU. Whatever needs the ports of the host stays in one of them (tests/conftest.py).
    workers=$(nproc)
    workers=$((workers < 2 ? 2 : workers > 8 ? 8 : workers))

    if [[ -n $all ]]; then
        check_disk
        toolchains+=("${toolchains_of_all[@]}")
        # Without root, all that is missing is listed at once.
        [[ $EUID -eq 0 ]] || tools+=("${tools_of_all[@]}")
    fi
    install_missing 'tools' "${tools[@]}"
    need_toolchains "${toolchains[@]}"
    if [[ -n $all ]]; then
        pytest_words=(--numprocesses "$workers" "$@")
        beside build_volley
        install_missing 'more tools' "${tools_of_all[@]}"
        beside provide_docker
        beside lint
        await_lanes
        beside test_in_time_left
        beside run_pytest
    elif [[ $# -gt 0 ]]; then
        beside lint
        await_lanes
        tell_steps
        pytest_in_foreground "$@"
        code_of_steps
        return
    else
        pytest_words=(--numprocesses "$workers" --ignore tests/browser -m 'smoke or not (integration or builds)')
        beside build_volley test_volley
        beside lint test_scripts run_pytest
    fi
    await_lanes
    tell_steps
    code_of_steps
}

main "$@"
