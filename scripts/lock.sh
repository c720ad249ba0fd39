#!/usr/bin/env bash
# Update the lock files (requirements*.lock) from pyproject.toml.
#
#   ./scripts/lock.sh [--upgrade]
#
# A pinned version is kept if it still fits; --upgrade takes the newest versions. Needs uv
# (`pip install uv`). Packages are named without an index, so any mirror works.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

compile=(uv pip compile --quiet --universal --python-version 3.11 --generate-hashes
    --no-emit-index-url --no-header pyproject.toml)
# grpcio-tools names these two, but the protoc in it needs neither: a third of what would be installed.
small=(--no-emit-package grpcio --no-emit-package setuptools)
"${compile[@]}" "${small[@]}" "$@" --output-file requirements.lock
"${compile[@]}" "${small[@]}" "$@" --group fleet --constraint requirements.lock \
    --output-file requirements-fleet.lock
"${compile[@]}" "$@" --group dev --constraint requirements.lock --output-file requirements-dev.lock
