#!/bin/sh
# Makes .build/venv from requirements.txt. Does nothing when neither it, this folder's path nor the
# Python on the PATH have changed.
set -eu
cd "$(dirname "$0")"

stamp=$(
    python3 -c 'import sys; print(sys.version)'
    pwd
    cat build.sh requirements.txt
)
if [ -x .build/venv/bin/python ] && [ "$stamp" = "$(cat .build/stamp 2>/dev/null)" ]; then
    exit 0
fi

rm -rf .build
mkdir .build
python3 -m venv .build/venv
.build/venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --require-hashes --requirement requirements.txt
printf '%s\n' "$stamp" >.build/stamp
