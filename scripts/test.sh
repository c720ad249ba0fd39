#!/usr/bin/env bash
# Run every test: linters, type checks, scripts, units, and real servers under real load.
#
#   ./scripts/test.sh [--no-skips] [PYTEST_ARGUMENT...]
#
#   --no-skips   what CI does: a missing tool, Docker daemon or base image fails instead of being
#                skipped; as root, this installs Docker, starts a daemon for the tests' time and
#                builds stand-ins for base images that cannot be pulled; volley's parsers are fuzzed
#                for half a minute each
#
# Missing tools are installed by apt when run as root; otherwise it says what was skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# shellcheck source=scripts/venv.sh
source scripts/venv.sh

# The file or command that proves a Debian package to be there.
declare -A proof_of=(
    [shellcheck]=shellcheck [shfmt]=shfmt [bats]=bats [chromium]=chromium
    [docker.io]=dockerd [debootstrap]=debootstrap
    ['nghttp2-client']=h2load ['nghttp2-server']=nghttpd
    [make]=make ['g++']=g++ ['libssl-dev']=/usr/include/openssl/ssl.h
    ['libgrpc++-dev']=/usr/include/grpcpp/grpcpp.h ['libprotobuf-dev']=/usr/include/google/protobuf/message.h
    ['protobuf-compiler']=protoc ['protobuf-compiler-grpc']=grpc_cpp_plugin
    ['libnghttp2-dev']=/usr/include/nghttp2/nghttp2.h
    [ruby]=ruby ['ruby-grpc']=/usr/share/doc/ruby-grpc
)

# What servers in frameworks/ are built with, beside Go, Rust, Python, Node, a JDK and Maven.
server_packages=(make g++ libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
    libnghttp2-dev libssl-dev ruby ruby-grpc)

# The linter of .github/workflows, built by Go.
actionlint=v1.7.12

# What a whole run writes: Rust's and the servers' builds, images, what the tests keep.
needed_gb=6

fuzz_targets=(frame hpack splitter connection)
fuzz_seconds=30

say() {
    printf '\n== %s\n' "$*"
}

install_missing() { # package...
    local package missing=()
    for package in "$@"; do
        [[ -e ${proof_of[$package]} ]] || command -v "${proof_of[$package]}" >/dev/null || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
        printf 'not installed: %s (apt-get install them, or run this as root)\n' "${missing[*]}"
        return 0
    fi
    say "installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# A full disk fails half of the tests, each in its own words; better one line before it all.
check_disk() {
    local free_gb
    free_gb=$(($(stat --file-system --format '%a * %S / 1000000000' .)))
    [[ $free_gb -ge $needed_gb ]] && return 0
    printf 'error: %s GB are free in this folder, and a whole run needs %s\n' "$free_gb" "$needed_gb" >&2
    return 3
}

docker_answers() {
    docker version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# Start a Docker daemon for as long as this script runs.
start_docker() {
    local log tries=0
    log=$(mktemp)
    say "starting dockerd (log: $log)"
    dockerd >"$log" 2>&1 &
    dockerd_pid=$!
    trap stop_docker EXIT
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

stop_docker() {
    kill "$dockerd_pid"
    wait "$dockerd_pid" || true # its exit status after a SIGTERM says nothing
}

# Real base images where a registry can be reached; stand-ins take the place of the others.
pull_images() {
    local image
    for image in $(./scripts/standin-images.sh --list | sed -n 's/: absent$//p'); do
        # The first failure means that no registry can be reached.
        timeout 120 docker pull --quiet "$image" </dev/null || break
    done
}

lint_scripts() {
    local scripts
    mapfile -t scripts < <(git ls-files --cached --others --exclude-standard 'scripts/*.sh' .ci/run '*.sh' '*.bats' | sort -u)
    if need shellcheck; then
        shellcheck --external-sources "${scripts[@]}"
    fi
    if need shfmt; then
        shfmt -i 4 -d "${scripts[@]}"
    fi
}

lint_workflows() {
    say 'actionlint'
    local there=''
    [[ ! -x .tools/bin/actionlint ]] || there=$(.tools/bin/actionlint -version | head -n 1)
    [[ $there == "$actionlint" ]] ||
        GOBIN=$PWD/.tools/bin go install "github.com/rhysd/actionlint/cmd/actionlint@$actionlint"
    .tools/bin/actionlint
}

lint_volley() {
    if need cargo-fmt; then
        say 'volley: cargo fmt'
        (cd volley && cargo fmt --check && cargo fmt --check --manifest-path fuzz/Cargo.toml)
    fi
    if need cargo-clippy; then
        say 'volley: cargo clippy'
        (cd volley && cargo clippy --all-targets --locked -- -D warnings)
    fi
}

test_volley() {
    say 'volley: cargo test'
    (cd volley && cargo test --locked)
    # Where the runner builds it too: the tests that need the program find it made.
    say 'volley: release build'
    (cd volley && cargo build --release --locked --target-dir ../.tools/volley-target)
}

# libFuzzer needs sanitizers, which a stable compiler has too, for those who ask it like this.
cargo_fuzz() {
    (cd volley && PATH=$PWD/../.tools/bin:$PATH RUSTC_BOOTSTRAP=1 cargo fuzz "$@")
}

# Feed each of volley's parsers arbitrary bytes, two at a time.
fuzz_volley() {
    local at target running=() failed=()
    say "volley: fuzzing, $fuzz_seconds s each: ${fuzz_targets[*]}"
    cargo install --quiet --root .tools --locked cargo-fuzz@0.13.2
    cargo_fuzz build
    for ((at = 0; at < ${#fuzz_targets[@]}; at += 2)); do
        running=()
        for target in "${fuzz_targets[@]:at:2}"; do
            cargo_fuzz run "$target" -- -max_total_time="$fuzz_seconds" >".tools/fuzz-$target.log" 2>&1 &
            running+=("$target=$!")
        done
        for target in "${running[@]}"; do
            wait "${target#*=}" || failed+=("${target%=*}")
        done
    done
    for target in "${failed[@]+"${failed[@]}"}"; do
        tail -n 40 ".tools/fuzz-$target.log" >&2
        printf 'error: fuzzing %s found something, see .tools/fuzz-%s.log\n' "$target" "$target" >&2
    done
    [[ ${#failed[@]} -eq 0 ]]
}

# Say that a step is skipped because its tool is missing; with --no-skips that is an error.
need() { # command
    if command -v "$1" >/dev/null; then
        return 0
    fi
    printf 'SKIPPED: no %s\n' "$1"
    [[ -z $no_skips ]] || exit 3
    return 1
}

main() {
    no_skips=
    case ${1:-} in
    -h | --help)
        sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
        return 0
        ;;
    --no-skips)
        no_skips=yes
        # Nobody builds on these crates again, or debugs them.
        export ARENA_NO_SKIPS=1 CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=line-tables-only
        shift
        ;;
    esac

    [[ -z $no_skips ]] || check_disk
    install_missing shellcheck shfmt bats chromium
    ensure_venv requirements-dev.lock

    say 'ruff, mypy, import-linter'
    .venv/bin/ruff check .
    .venv/bin/ruff format --check .
    .venv/bin/mypy
    PYTHONPATH=lib .venv/bin/lint-imports

    say 'shellcheck, shfmt'
    lint_scripts

    if need go; then
        say 'gofmt, go vet'
        local unformatted
        unformatted=$(gofmt -l frameworks scaffold tests)
        [[ -z $unformatted ]] || { printf 'not formatted: %s\n' "$unformatted" && return 1; }
        (cd frameworks/grpc-go && go vet ./...)
        (cd tools/peers/grpc-go-counting && go vet ./...)
        lint_workflows
    fi

    lint_volley

    if need bats; then
        say 'bats'
        bats tests/scripts
    fi

    if need cargo; then
        test_volley
        if [[ -n $no_skips ]]; then
            fuzz_volley
        fi
    fi

    if [[ -n $no_skips ]]; then
        install_missing docker.io debootstrap nghttp2-client nghttp2-server "${server_packages[@]}"
        docker_answers || start_docker
        say 'base images'
        pull_images
        ./scripts/standin-images.sh
    fi

    say 'pytest'
    .venv/bin/pytest "$@"
}

main "$@"
