#!/bin/sh
# Makes .build: the packages of package-lock.json, and beside them, where Node looks for
# packages, a copy of the server. Asks npm only when the lock file, this folder's path or
# the Node on the PATH has changed.
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
    (cd .build && npm ci --omit=dev --loglevel=error)
    printf '%s\n' "$stamp" >.build/stamp
fi
cp ./*.js benchmark.proto .build/
