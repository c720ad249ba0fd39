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
mkdir -p .build/pb/gen
python3 -m venv .build/venv
.build/venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --require-hashes --requirement requirements.txt
# The generator looks for its formatter, ruff, on the PATH.
PATH="$PWD/.build/venv/bin:$PATH" python -m grpc_tools.protoc --proto_path=. \
    --plugin=.build/venv/bin/protoc-gen-python_betterproto2 \
    --python_betterproto2_opt=server_generation=async,client_generation=none \
    --python_betterproto2_out=.build/pb/gen benchmark.proto
printf '%s\n' "$stamp" >.build/stamp
