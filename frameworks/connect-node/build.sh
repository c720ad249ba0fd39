#!/bin/sh
# Makes .build: the packages of package-lock.json, and beside them, where Node looks for
# packages, the code generated from benchmark.proto and the compiled server, .build/dist.
# Does again only what a changed file, folder path or Node on the PATH asks for.
set -eu
cd "$(dirname "$0")"

packages=$(
    node --version
    pwd
    cat build.sh .npmrc package.json package-lock.json
)
code=$(cat ./*.ts buf.gen.yaml tsconfig.json benchmark.proto)

if [ "$packages" != "$(cat .build/packages 2>/dev/null)" ]; then
    rm -rf .build
    mkdir .build
    cp .npmrc package.json package-lock.json .build/
    (cd .build && npm ci --loglevel=error)
    printf '%s\n' "$packages" >.build/packages
fi
if [ "$code" != "$(cat .build/code 2>/dev/null)" ]; then
    cp ./*.ts buf.gen.yaml tsconfig.json benchmark.proto .build/
    (cd .build && BUF_CACHE_DIR="$PWD/buf-cache" npm run --silent build)
    printf '%s\n' "$code" >.build/code
fi
