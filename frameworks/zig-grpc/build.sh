#!/bin/sh
# Makes .build/venv, which has the Zig compiler, from requirements.txt, and .build/bin/server with it.
# Does nothing when neither these files, this folder's path nor the Python on the PATH have changed.
set -eu
cd "$(dirname "$0")"

stamp=$(
    python3 -c 'import sys; print(sys.version)'
    pwd
    cat build.sh requirements.txt build.zig src/*
)
if [ -x .build/bin/server ] && [ "$stamp" = "$(cat .build/stamp 2>/dev/null)" ]; then
    exit 0
fi

rm -f .build/stamp
python3 -m venv --clear .build/venv
.build/venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --require-hashes --requirement requirements.txt
ZIG_GLOBAL_CACHE_DIR="$PWD/.build/zig" .build/venv/bin/python -m ziglang build \
    --release --prefix .build --cache-dir .build/cache
printf '%s\n' "$stamp" >.build/stamp
