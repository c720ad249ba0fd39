#!/bin/sh
# Makes .build/venv from requirements.txt and .build/pb from benchmark.proto.
# Does nothing when neither they, this folder's path nor the Python on the PATH have changed.
set -eu
cd "$(dirname "$0")"

stamp=$(
    python3 -c 'import sys; print(sys.version)'
    pwd
    cat build.sh requirements.txt benchmark.proto
)
if [ -x .build/venv/bin/python ] && [ "$stamp" = "$(cat .build/stamp 2>/dev/null)" ]; then
    exit 0
fi

rm -rf .build
mkdir -p .build/pb
python3 -m venv .build/venv
.build/venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --require-hashes --requirement requirements.txt
.build/venv/bin/python -m grpc_tools.protoc --proto_path=. \
    --plugin=.build/venv/bin/protoc-gen-purerpc \
    --python_out=.build/pb --pyi_out=.build/pb --purerpc_out=.build/pb benchmark.proto
printf '%s\n' "$stamp" >.build/stamp
