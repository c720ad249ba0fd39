#!/usr/bin/env bats
# scripts/count-lines.sh, on folders of its own.

setup() {
    count=$BATS_TEST_DIRNAME/../../scripts/count-lines.sh
    folder=$BATS_TEST_TMPDIR/volley
    mkdir -p "$folder/src"
}

# What the table says: room code tests.
table() {
    "$count" "$folder" | tr -s ' '
}

@test "comments and blank lines do not count, whatever is in quotes does" {
    cat >"$folder/src/lib.rs" <<'RUST'
//! Says what this is.

/* A comment /* within
   another */ of two lines. */
fn a<'a>(of: &'a str) -> char { // code
    /* also code */ let url = "http://a"; /*
    let b = 1;
    */
    let text = "a \" // b
        // still text

    ";
    let raw = r#"a " /* b"#;
    let bare = r"\"; // all of it
    let quotes = ['"', '\'', '\u{2f}', '€']; // "
    let slash = b'/'; /* " */
    quotes[0]
}
RUST
    run table
    [ "$status" -eq 0 ]
    [ "$output" = 'room code tests
lib 11 0
all 11 0' ]
}

@test "what only tests compile counts apart" {
    mkdir -p "$folder/src/a/samples" "$folder/src/a/kept/tests" "$folder/tests/engine"
    cat >"$folder/src/a/mod.rs" <<'RUST'
#[cfg(test)]
pub(super) mod samples;
#[cfg(all(test, feature = "docs"))]
mod written {
    const BRACE: &str = "}";
}
mod kept;
#[cfg(test)]
use kept::{One, Two};
#[cfg(test)]
#[derive(Debug)]
fn of_test(bytes: [u8; 2]) -> u8 {
    bytes[0]
}
#[cfg(feature = "testing")]
fn code() {}
#[cfg(not(test))]
fn also_code() {}
RUST
    echo 'fn test() {}' | tee "$folder/src/a/samples.rs" "$folder/src/a/samples/more.rs" \
        "$folder/src/a/kept/tests.rs" "$folder/src/a/kept/tests/more.rs" "$folder/tests/engine/main.rs"
    printf 'fn code() {}\n\n#[cfg(test)]\nmod tests;\nfn more() {}\n' >"$folder/src/a/kept.rs"
    run table
    [ "$output" = 'room code tests
a 7 19
tests 0 1
all 7 20' ]
}

@test "a room is a module, a crate or a folder; what was built is none" {
    mkdir -p "$folder/src/a/b" "$folder/crates/volley-net/src/a" "$folder/crates/volley-net/tests" \
        "$folder/crates/testkit/src" "$folder/target" "$folder/fuzz/target"
    echo 'fn code() {}' | tee "$folder/src/a.rs" "$folder/src/a/b/c.rs" "$folder/build.rs" \
        "$folder/crates/volley-net/src/lib.rs" "$folder/crates/volley-net/src/a/b.rs" \
        "$folder/crates/volley-net/tests/a.rs" "$folder/crates/testkit/src/lib.rs" "$folder/target/built.rs" "$folder/fuzz/target/built.rs"
    run table
    [ "$output" = 'room code tests
a 2 0
build 1 0
crates/testkit 0 1
crates/volley-net 2 1
all 5 2' ]
}

@test "a text that does not end belongs to its own file" {
    echo 'const OPEN: &str = "' >"$folder/src/a.rs"
    printf '// nothing\n\n' >"$folder/src/b.rs"
    run table
    [ "${lines[-1]}" = 'all 1 0' ]
}

@test "its help is its header, and more than a folder is an error" {
    run "$count" --help
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == 'Count volley'* ]]
    local arguments
    for arguments in --wrong 'a b'; do
        # shellcheck disable=SC2086
        run "$count" $arguments
        [ "$status" -eq 2 ]
        [[ $output == usage:* ]]
    done
}
