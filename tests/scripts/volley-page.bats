#!/usr/bin/env bats
# scripts/volley-page.sh, with an npm that notes its calls.

setup() {
    root=$BATS_TEST_TMPDIR/root calls=$BATS_TEST_TMPDIR/calls
    mkdir -p "$root"/{scripts,volley/edit/{src,dist}} "$BATS_TEST_TMPDIR/bin"
    cp "$BATS_TEST_DIRNAME/../../scripts/volley-page.sh" "$root/scripts"
    touch "$root"/volley/edit/{build.mjs,package.json,package-lock.json,src/main.js} "$calls"
    for tool in bash dirname readlink sha256sum flock rm; do
        ln -s "$(command -v "$tool")" "$BATS_TEST_TMPDIR/bin"
    done
}

with_npm() { # command
    printf '#!/bin/bash\necho "$*" >>%q\n%s\n' "$calls" "${1:-:}" >"$BATS_TEST_TMPDIR/bin/npm"
    chmod +x "$BATS_TEST_TMPDIR/bin/npm"
}

page() { # argument...
    PATH=$BATS_TEST_TMPDIR/bin run bash "$root/scripts/volley-page.sh" "$@"
}

@test "the page is made once, and again when its sources change" {
    with_npm
    page
    [ "$status" -eq 0 ]
    [ "$(<"$calls")" = $'ci --no-audit --no-fund --loglevel=error\nrun --silent build' ]
    page
    [ "$(wc -l <"$calls")" -eq 2 ]
    echo changed >"$root/volley/edit/src/main.js"
    page
    [ "$(wc -l <"$calls")" -eq 4 ]
}

@test "without npm, or if it fails, that is an error only if the page must be there" {
    page
    [ "$status" -eq 3 ]
    page --if-possible
    [ "$status" -eq 0 ]
    [[ $output == 'no npm: '* ]]
    with_npm 'exit 7'
    echo old >"$root/volley/edit/dist/page.js"
    page
    [ "$status" -eq 7 ]
    page --if-possible
    [ "$status" -eq 0 ]
    [[ $output == *'npm failed: '* ]]
    # A page of other sources would be worse than none.
    [ ! -e "$root/volley/edit/dist/page.js" ]
}
