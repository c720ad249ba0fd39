#!/usr/bin/env bash
# Start the coordinator of a fleet over SSH (docs/fleet.md): coordinator.sh HOST
# The host has a checkout at ${root}, with its certificates in .fleet.
set -euo pipefail
ssh "${1:?the name of the host}" \
    'cd ${root} && mkdir -p .tools && setsid ./scripts/fleet.sh coordinator ${options} >.tools/coordinator.log 2>&1 </dev/null &'
