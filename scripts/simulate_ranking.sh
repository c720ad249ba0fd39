#!/usr/bin/env bash
# Measure how often the ranks of blocks are wrong, on simulated servers whose true rates are known.
#
#   ./scripts/simulate_ranking.sh [--nights N] [--blocks 8,10] [--frameworks N] [--json]
#   ./scripts/simulate_ranking.sh --help
#
# Prints, for each of ten kinds of noise: how often identical servers are told apart, how often a
# server that is 5 % slower is found, and how often the intervals hold the truth. A thousand nights
# take a few minutes.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# shellcheck source=scripts/venv.sh
source "$root/scripts/venv.sh"
run_tool "$root" requirements.lock tools.simulate_ranking "$@"
