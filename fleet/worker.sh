#!/usr/bin/env bash
# Start workers over SSH, each a ${role}${of_rack} of a fleet (docs/fleet.md): worker.sh HOST...
# Each host has a checkout at ${root}, with its certificates in .fleet.
set -euo pipefail
for host in "$@"; do
    ssh "$host" \
        'cd ${root} && mkdir -p .tools && setsid ./scripts/fleet.sh worker ${options} >.tools/worker.log 2>&1 </dev/null &'
done
