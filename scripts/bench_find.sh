#!/usr/bin/env bash
# Count how often the interval of `volley find` holds the truth, against a real server whose truth is known:
# `volley serve --service exp:1ms --servers 4` is an M/M/4 queue.
#
#   ./scripts/bench_find.sh [SEEDS]
#   ./scripts/bench_find.sh --help
#
# Prints the answer for each seed (default: 20, a minute and a half each), and how many intervals hold the
# rate that Erlang's C formula gives. Of 20, at least 17 should. Builds volley first; needs Rust and a quiet
# host: where volley or the server waits for a CPU, intervals lie below the truth.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
    exit 0
fi
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
seeds=${1:-20}
# What `the_truth_is_erlangs` in volley/crates/find/tests/queue.rs computes, rounded.
truth=3501

cargo build --quiet --locked --release --manifest-path "$root/volley/Cargo.toml"
volley=${CARGO_TARGET_DIR:-$root/volley/target}/release/volley
server=
trap '[[ -z $server ]] || kill "$server"' EXIT

held=0
for ((seed = 1; seed <= seeds; seed++)); do
    exec {lines}< <(exec "$volley" serve --listen 127.0.0.1:0 --service exp:1ms --servers 4 --seed "$seed" --threads 1)
    server=$!
    read -r _ _ address <&"$lines"
    answer=$("$volley" find --p99 10ms --insecure --call benchmark.BenchmarkService/GetSum --connections 4 --threads 1 \
        "$address" | tail -n 1)
    kill "$server"
    # It prints its counts when it stops: its output is read until then.
    cat <&"$lines" >/dev/null
    server=
    exec {lines}<&-
    verdict=no
    if [[ $answer =~ \(95\ %:\ ([0-9,]+)–([0-9,]+)\) ]]; then
        low=${BASH_REMATCH[1]//,/} high=${BASH_REMATCH[2]//,/}
        if ((low <= truth && truth <= high)); then
            verdict=yes
            held=$((held + 1))
        fi
    fi
    printf 'seed %d: %s; holds %s: %s\n' "$seed" "$answer" "$truth" "$verdict"
done
printf '%d of %d intervals hold %s calls/s\n' "$held" "$seeds" "$truth"
