#!/usr/bin/env bash
# Drive one server from several generator hosts.
#
#   ./scripts/fleet.sh up local --hosts 3     # three generator hosts on this machine, to try it
#   ./scripts/fleet.sh status                 # which hosts are there, and whether they are ready
#   ./scripts/fleet.sh down local
#   ./scripts/fleet.sh --help
#
# The first command installs Dask.distributed into a folder of its own. docs/fleet.md has the rest.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# The help needs no Dask.
for word in "$@"; do
    [[ $word != -h && $word != --help ]] || exec "$root/scripts/arena.sh" fleet "$@"
done

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
(cd "$root" && ensure_venv requirements-fleet.lock .venv-fleet)
exec "$root/.venv-fleet/bin/python" "$root/lib" fleet "$@"
