#!/usr/bin/env bash
# Build what volley is installed from, without installing anything on the host. Nothing is published.
#
#   ./scripts/volley-packages.sh wheel           a wheel of this host's architecture: pip install DIR/*.whl
#   ./scripts/volley-packages.sh static [ARCH]   a static program for x86_64, aarch64, or (default) both
#   ./scripts/volley-packages.sh                 all of it
#
# The results go to volley/target/packages ($VOLLEY_PACKAGES), with SHA256SUMS. Needs Rust with rustup,
# which fetches the standard library for musl, Python, and a C compiler and make, with which LuaJIT builds
# what builds it; zig, the compiler and linker for the packages, comes from PyPI.
# With Node.js and npm, the program has the page of `volley edit`.
# The wheel runs with glibc 2.17 and newer, a static program on any Linux.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

target=${CARGO_TARGET_DIR:-$PWD/volley/target}
packages=${VOLLEY_PACKAGES:-$PWD/volley/target/packages}
tools=$PWD/.tools/packages

# Only the library of LuaJIT is used. Its own program would not link with zig, and not be stripped for
# another architecture.
export TARGET_LD=true TARGET_STRIP=true

main() {
    local what=${1:-all} arch=${2:-}
    case $what:$arch in
    all: | wheel: | static: | static:x86_64 | static:aarch64) ;;
    *)
        printf 'error: %s: no such package (see --help)\n' "$*" >&2
        exit 2
        ;;
    esac
    install_tools
    ./scripts/volley-page.sh --if-possible
    mkdir -p "$packages"
    if [[ $what != static ]]; then
        build_wheel
    fi
    if [[ $what != wheel ]]; then
        for arch in ${arch:-x86_64 aarch64}; do
            build_static "$arch"
        done
    fi
    (
        cd "$packages"
        rm -f SHA256SUMS
        sums=$(sha256sum -- *)
        printf '%s\n' "$sums" | tee SHA256SUMS
    )
}

# maturin and cargo-zigbuild call cargo, and find zig beside themselves.
install_tools() {
    local lock=volley/packaging/requirements.lock
    if [[ ! -f $tools/.done || $(<"$tools/.done") != "$(sha256sum "$lock")" ]]; then
        python3 -m venv "$tools"
        "$tools/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
        sha256sum "$lock" >"$tools/.done"
    fi
    PATH=$tools/bin:$PATH
}

build_wheel() {
    rm -f "$packages"/*.whl
    maturin build --profile dist --zig --compatibility manylinux2014 --target-dir "$target" \
        --manifest-path volley/Cargo.toml --out "$packages"
}

build_static() { # arch
    local triple=$1-unknown-linux-musl
    if [[ ! -d $(rustc --print sysroot)/lib/rustlib/$triple/lib ]]; then
        rustup target add "$triple"
    fi
    cargo zigbuild --profile dist --locked --config profile.dist.strip=true \
        --target "$triple" --target-dir "$target" --manifest-path volley/Cargo.toml
    install -D "$target/$triple/dist/volley" "$packages/volley-linux-$1"
}

main "$@"
