#!/bin/sh
# Makes .build: the packages of package-lock.json, of which bun is one, and beside them, where
# they are looked for, a copy of the server. Asks npm only when the lock file, this folder's
# path or the Node on the PATH has changed.
set -eu
cd "$(dirname "$0")"

stamp=$(
    node --version
    pwd
    cat build.sh .npmrc package.json package-lock.json
)
if [ "$stamp" != "$(cat .build/stamp 2>/dev/null)" ]; then
    rm -rf .build
    mkdir .build
    cp .npmrc package.json package-lock.json .build/
    # The package's script puts the program of this kind of machine in its place.
    (cd .build && npm ci --loglevel=error && npm rebuild --ignore-scripts=false --loglevel=error bun)
    printf '%s\n' "$stamp" >.build/stamp
fi
cp ./*.ts benchmark.proto .build/
