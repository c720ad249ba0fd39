#!/bin/sh
# Makes .build/classes and .build/lib. Does nothing when nothing they are made of has changed.
set -eu
cd "$(dirname "$0")"

stamp=$(cat build.sh .mvn/maven.config pom.xml src/main/java/items/*.java)
if [ -d .build/classes ] && [ "$stamp" = "$(cat .build/stamp 2>/dev/null)" ]; then
    exit 0
fi

rm -rf .build
mvn --batch-mode --quiet compile
printf '%s\n' "$stamp" >.build/stamp
