#!/usr/bin/env bats
# The scripts that start Python: a command of `arena`, or a tool. Their folders of packages are set up
# already, and the python in them prints its PYTHONPATH and its arguments.

setup() {
    root=$BATS_TEST_TMPDIR/root
    mkdir -p "$root/.venv/bin" "$root/.venv-fleet/bin"
    cp -r "$BATS_TEST_DIRNAME/../../scripts" "$root"
    cat >"$root/.venv/bin/python" <<'STUB'
#!/usr/bin/env bash
printf '<%s>' ${PYTHONPATH:+"path=$PYTHONPATH"} "$@"
exit "${ARENA_CODE:-0}"
STUB
    chmod +x "$root/.venv/bin/python"
    cp "$root/.venv/bin/python" "$root/.venv-fleet/bin/python"
    # What was installed, as venv.sh itself writes it down.
    # shellcheck source=scripts/venv.sh
    source "$root/scripts/venv.sh"
    cd "$root" || return
    local lock
    for lock in requirements.lock requirements-dev.lock; do
        : >"$lock"
        venv_contents "$lock" >".venv/.$lock.done"
    done
    : >requirements-fleet.lock
    venv_contents requirements-fleet.lock .venv-fleet >.venv-fleet/.requirements-fleet.lock.done
    cd /
    unset PYTHONPATH
}

# Print each script with its first words, and what python is given for them.
fronts() {
    local tool="<path=$root/lib:$root/fleet:$root><-P><-m>"
    cat <<TABLE
arena.sh list:<$root/lib><list>
benchmark.sh:<$root/lib><run>
validate.sh:<$root/lib><validate>
nightly.sh:<$root/lib><night>
fleet.sh:<$root/lib><fleet>
fleet.sh up local:<$root/lib><fleet><up><local>
site.sh serve:<$root/lib><site><serve>
site.sh check:$tool<tools.site_check>
arena.sh site check:$tool<tools.site_check>
bench_fleet.sh:$tool<tools.bench_fleet>
bench_generators.sh:$tool<tools.bench>
bench_instructions.sh:$tool<tools.bench_instructions>
bench_scenarios.sh:$tool<tools.bench_scenarios>
bench_sentinel.sh:$tool<tools.bench_sentinel>
digests.sh:$tool<tools.digests>
simulate_fleet.sh:$tool<tools.simulate_fleet>
simulate_ranking.sh:$tool<tools.simulate_ranking>
arena.sh bench-generators:$tool<tools.bench>
TABLE
}

@test "every argument is passed on as it is, from any folder" {
    local call given
    while IFS=: read -r call given; do
        # shellcheck disable=SC2086 # words
        run "$root/scripts/"$call grpc-go 'two words' --runs 3 '' '*'
        [ "$status" -eq 0 ]
        [ "$output" = "$given<grpc-go><two words><--runs><3><><*>" ]
    done < <(fronts)
}

@test "the exit code is handed on" {
    local call code
    while IFS=: read -r call _; do
        for code in 1 2 3 130; do
            # shellcheck disable=SC2086 # words
            ARENA_CODE=$code run "$root/scripts/"$call
            [ "$status" -eq "$code" ]
        done
    done < <(fronts)
}

@test "it works through a symbolic link in another folder" {
    local call given script
    mkdir "$BATS_TEST_TMPDIR/bin"
    while IFS=: read -r call given; do
        script=${call%% *}
        ln -sf "../root/scripts/$script" "$BATS_TEST_TMPDIR/bin/a-link"
        # shellcheck disable=SC2086 # words
        run "$BATS_TEST_TMPDIR/bin/a-link" ${call#"$script"}
        [ "$status" -eq 0 ]
        [ "$output" = "$given" ]
    done < <(fronts)
}

@test "so do the scripts that do not start Python" {
    local script
    for script in "$root"/scripts/*.sh; do
        # What a link is in the folder of, but for the help, which reads the file itself.
        # shellcheck disable=SC2016 # it is a pattern
        run grep -E 'dirname "\$(\{BASH_SOURCE|0)' "$script"
        [ -z "$output" ] || {
            echo "$script: $output"
            false
        }
    done
    printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >"$root/scripts/volley-packages.sh"
    mkdir "$BATS_TEST_TMPDIR/elsewhere"
    ln -s "$root/scripts/volley-wheel.sh" "$BATS_TEST_TMPDIR/elsewhere/wheel"
    run "$BATS_TEST_TMPDIR/elsewhere/wheel" --out 'a folder'
    [ "$status" -eq 0 ]
    [ "$output" = '<wheel><--out><a folder>' ]
}

@test "the help of the fleet installs nothing" {
    local words
    rm -r "$root/.venv-fleet"
    for words in --help -h 'up -h'; do
        # shellcheck disable=SC2086 # words
        run "$root/scripts/fleet.sh" $words
        [ "$status" -eq 0 ]
        [ "$output" = "<$root/lib><fleet><${words// /><}>" ]
        [ ! -e "$root/.venv-fleet" ]
    done
}

@test "site.sh alone builds" {
    run "$root/scripts/site.sh"
    [ "$output" = "<$root/lib><site><build>" ]
}

@test "the help of site.sh is its header" {
    local flag
    for flag in -h --help 'bench --help'; do
        # shellcheck disable=SC2086 # two words
        run "$root/scripts/site.sh" $flag
        [ "$status" -eq 0 ]
        [ "${lines[0]}" = 'Build the site of all records, from results/ alone, in site/public/.' ]
        [[ $output == *'site.sh [build]'*'site.sh serve'*'site.sh check'*'site.sh bench'* ]]
    done
}

@test "the bench of the site takes no arguments" {
    run "$root/scripts/site.sh" bench
    [ "$output" = "<path=$root/lib:$root/fleet:$root><-P><-m><tests.browser.bench>" ]
    run "$root/scripts/site.sh" bench 200
    [ "$status" -eq 2 ]
    [ "$output" = 'error: bench takes no arguments (see --help)' ]
}
