#!/bin/sh
# Makes .build: the packages of package-lock.json, of which deno is one, and beside them, where
# they are looked for, the server, whose types are checked. Does again only what a changed file,
# folder path or Node on the PATH asks for.
set -eu
cd "$(dirname "$0")"

packages=$(
    node --version
    pwd
    cat build.sh .npmrc package.json package-lock.json
)
code=$(cat ./*.ts deno.json benchmark.proto)

if [ "$packages" != "$(cat .build/packages 2>/dev/null)" ]; then
    rm -rf .build
    mkdir .build
    cp .npmrc package.json package-lock.json .build/
    # The package's script puts the program of this kind of machine in its place.
    (cd .build && npm ci --loglevel=error && npm rebuild --ignore-scripts=false --loglevel=error deno)
    printf '%s\n' "$packages" >.build/packages
fi
if [ "$code" != "$(cat .build/code 2>/dev/null)" ]; then
    cp ./*.ts deno.json benchmark.proto .build/
    (cd .build && DENO_DIR="$PWD/cache" node_modules/.bin/deno check --quiet main.ts worker.ts)
    printf '%s\n' "$code" >.build/code
fi
