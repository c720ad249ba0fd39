#!/bin/sh
# Makes .build/spring-grpc-1.jar. Does nothing when nothing it is made of has changed.
set -eu
cd "$(dirname "$0")"

stamp=$(find build.sh .mvn/maven.config pom.xml src -type f -exec cat {} +)
if [ -f .build/spring-grpc-1.jar ] && [ "$stamp" = "$(cat .build/stamp 2>/dev/null)" ]; then
    exit 0
fi

rm -rf .build
mvn --batch-mode --quiet package
printf '%s\n' "$stamp" >.build/stamp
