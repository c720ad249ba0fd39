#!/bin/sh
# Makes .build/venv, of PyPy, from requirements.txt and .build/pb from benchmark.proto.
# Does nothing when neither they, this folder's path nor the PyPy and the protoc on the PATH
# have changed.
set -eu
cd "$(dirname "$0")"

stamp=$(
    pypy3 -c 'import sys; print(sys.version)'
    protoc --version
    pwd
    cat build.sh requirements.txt benchmark.proto
)
if [ -x .build/venv/bin/pypy3 ] && [ "$stamp" = "$(cat .build/stamp 2>/dev/null)" ]; then
    exit 0
fi

rm -rf .build
mkdir -p .build/pb
pypy3 -m venv .build/venv
.build/venv/bin/pypy3 -m pip install --quiet --disable-pip-version-check \
    --require-hashes --requirement requirements.txt
protoc --proto_path=. --plugin=.build/venv/bin/protoc-gen-grpclib_python \
    --python_out=.build/pb --grpclib_python_out=.build/pb benchmark.proto
printf '%s\n' "$stamp" >.build/stamp
