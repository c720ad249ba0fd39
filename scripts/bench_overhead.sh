#!/usr/bin/env bash
# Measure once and print the overhead: wall time minus build, warm-up and run windows.
#
#   ./scripts/bench_overhead.sh [framework [profile]]
#
# Waits until the host was quiet for five seconds. Measures natively (default: grpc-go stream-grpc)
# and saves the record as usual.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# shellcheck source=scripts/venv.sh
source scripts/venv.sh
(run_tool "$PWD" requirements.lock tools.quiet)
began=$(date +%s.%N)
output=$(./scripts/benchmark.sh "${1:-grpc-go}" "${2:-stream-grpc}" --runtime native)
ended=$(date +%s.%N)
record=$(sed -n 's/^record: //p' <<<"$output")
printf '%s\n' "$output"
.venv/bin/python - "$record" "$began" "$ended" <<'PYTHON'
import json
import sys

record = json.load(open(sys.argv[1]))
wall = float(sys.argv[3]) - float(sys.argv[2])
profile, stages = record["profile"], record["provenance"]["stages_s"]
windows = profile["runs"] * profile["load"]["duration_s"]
rest = wall - stages["build"] - profile["warmup_s"] - windows
parts = [
    ("generator before and after its windows",
     stages["warm-up"] + stages["runs"] - profile["warmup_s"] - windows),
    ("start and stop", stages["start"] + stages["stop"]),
    ("contract", stages["contract"]),
    ("contract after the runs", stages["contract after the runs"]),
]
parts.append(("this program, record and site", rest - sum(seconds for _, seconds in parts)))
for name, seconds in [
    ("wall time", wall),
    ("build", stages["build"]),
    ("warm-up window", profile["warmup_s"]),
    (f"{profile['runs']} run windows", windows),
    ("overhead", rest),
    *((f"  of it: {name}", seconds) for name, seconds in parts),
]:
    print(f"{name:<50} {seconds:7.2f} s")
PYTHON
