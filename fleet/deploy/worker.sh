#!/usr/bin/env bash
# Start ${started}${of_rack} of a fleet over SSH (docs/fleet.md): worker.sh ${hosts}
# Each host has a checkout at ${root}, with its certificates in .fleet.${only_one}
set -euo pipefail
for host in "$@"; do
    ssh "$host" \
        'cd ${root} && mkdir -p .tools && setsid ./scripts/fleet.sh worker ${options} >.tools/worker.log 2>&1 </dev/null &'
done
