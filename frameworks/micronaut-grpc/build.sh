#!/bin/sh
# Makes .build/classes and .build/lib. Does nothing when nothing it is made of has changed.
set -eu
cd "$(dirname "$0")"

stamp=$(find build.sh .mvn/maven.config pom.xml src -type f -exec cat {} +)
if [ -d .build/classes ] && [ "$stamp" = "$(cat .build/stamp 2>/dev/null)" ]; then
    exit 0
fi

rm -rf .build
mvn --batch-mode --quiet compile
printf '%s\n' "$stamp" >.build/stamp
