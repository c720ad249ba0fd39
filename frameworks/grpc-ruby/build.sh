#!/bin/sh
# Makes .build/pb from benchmark.proto, if one of the two has changed.
set -eu
cd "$(dirname "$0")"

stamp=$(
    protoc --version
    cat build.sh benchmark.proto
)
if [ "$stamp" = "$(cat .build/stamp 2>/dev/null)" ]; then
    exit 0
fi

rm -rf .build
mkdir -p .build/pb
protoc --plugin=protoc-gen-grpc="$(command -v grpc_ruby_plugin)" \
    --ruby_out=.build/pb --grpc_out=.build/pb benchmark.proto
printf '%s\n' "$stamp" >.build/stamp
