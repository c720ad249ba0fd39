#!/usr/bin/env bats
# The bench of times: Rust is played by a stub, and so is the wait for a quiet host.

setup() {
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/volley" "$root/bin" "$root/scripts"
    cp "$BATS_TEST_DIRNAME/../../scripts/bench_timing.sh" "$root/scripts"
    cat >"$root/scripts/venv.sh" <<'STUB'
run_tool() { printf '%s\n' "waits: $3"; }
STUB
    cat >"$root/bin/cargo" <<'STUB'
#!/usr/bin/env bash
printf '%s\n' "$PWD: $*"
STUB
    chmod +x "$root/bin/cargo"
    PATH=$root/bin:$PATH
}

@test "volley is built, the host gets quiet, and the figures are taken as asked" {
    run "$root/scripts/bench_timing.sh" --json --runs 3
    [ "$status" -eq 0 ]
    local bench="$root/volley: bench --quiet --locked --bench timing"
    [ "$output" = "$bench --no-run
waits: tools.quiet
$bench -- --json --runs 3" ]
}

@test "the help is the header, and starts nothing" {
    local flag
    for flag in -h --help; do
        run "$root/scripts/bench_timing.sh" "$flag"
        [ "$status" -eq 0 ]
        [[ ${lines[0]} == 'Print how fast volley is'* ]]
        [[ $output == *'bench_timing.sh [--json] [--runs N]'* && $output != *cargo* ]]
    done
}
