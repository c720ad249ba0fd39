#!/bin/sh
# Makes .build/venv, which has the Zig compiler, from requirements.txt, and .build/bin/server with it.
# Does again only what a changed file, folder path or Python on the PATH asks for.
set -eu
cd "$(dirname "$0")"

compiler=$(
    python3 -c 'import sys; print(sys.version)'
    pwd
    cat build.sh requirements.txt
)
code=$(cat build.zig src/*)

if [ "$compiler" != "$(cat .build/compiler 2>/dev/null)" ]; then
    rm -rf .build
    python3 -m venv .build/venv
    .build/venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --require-hashes --requirement requirements.txt
    printf '%s\n' "$compiler" >.build/compiler
fi
if [ "$code" != "$(cat .build/code 2>/dev/null)" ]; then
    ZIG_GLOBAL_CACHE_DIR="$PWD/.build/zig" .build/venv/bin/python -m ziglang build \
        --release --prefix .build --cache-dir .build/cache
    printf '%s\n' "$code" >.build/code
fi
