#!/usr/bin/env bats
# scripts/push-results.sh and fetch-results.sh, with bare repositories as remotes.

setup() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
    unset GIT_INDEX_FILE
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    remote=$BATS_TEST_TMPDIR/remote.git
    mkdir "$TMPDIR"
    git init --quiet --bare "$remote"
    checkout here
    checkout there
}

teardown() {
    [ -z "$(ls -A "$TMPDIR")" ]
}

# A checkout without a commit is enough: the branch has a history of its own.
checkout() { # name
    local root=$BATS_TEST_TMPDIR/$1
    git init --quiet "$root"
    git -C "$root" remote add origin "$remote"
    mkdir "$root/results"
    cp -r "$BATS_TEST_DIRNAME"/../../{lib,scripts} "$root"
}

record() { # checkout, key, time
    local beside=$BATS_TEST_TMPDIR/$1/results/$2/2026-11-28T00-00-00.$3Z
    mkdir -p "$beside"
    printf '{"of": "%s %s"}\r\n' "$2" "$3" >"$beside.json"
    printf 'raw of %s' "$3" >"$beside/run-1.json"
    printf 'a log\n' >"$beside/server.log"
}

push() { # checkout, argument...
    local root=$BATS_TEST_TMPDIR/$1
    shift
    run "$root/scripts/push-results.sh" "$@"
}

fetch() { # checkout, argument...
    local root=$BATS_TEST_TMPDIR/$1
    shift
    run "$root/scripts/fetch-results.sh" "$@"
}

branch() {
    git -C "$remote" ls-tree -r --name-only "${1:-results}"
}

key=stream-grpc/64/grpc-go
at=2026-11-28T00-00-00

@test "records are pushed with the files beside them, byte for byte, and nothing else" {
    record here "$key" 1
    local results=$BATS_TEST_TMPDIR/here/results
    mkdir -p "$results/nights" "$results/$key/half-written" "$results/rounds/first/$key" "$results/.httparena-draft-x/a/b"
    touch "$results/leaderboard.json" "$results/nights/1.jsonl" "$results/$key/half-written/run-1.json"
    touch "$results/rounds/first/$key/$at.1Z.json" "$results/rounds/first/round.json" "$results/.httparena-draft-x/a/b/c.json"
    push here
    [ "$status" -eq 0 ]
    [ "$output" = '1 new records in results' ]
    [ "$(branch)" = "$key/$at.1Z.json
$key/$at.1Z/run-1.json
$key/$at.1Z/server.log" ]
    git -C "$remote" show "results:$key/$at.1Z.json" | cmp - "$results/$key/$at.1Z.json"
}

bundle() { # checkout, time
    local folder=$BATS_TEST_TMPDIR/$1/results/nights/2026-11-28T00-00-00.00000$2Z
    mkdir -p "$folder"
    PYTHONPATH=$BATS_TEST_TMPDIR/$1/lib python3 -c '
import sys
from pathlib import Path
from arena.record.bundle import Kept, write_bundle
folder = Path(sys.argv[1])
write_bundle(folder, folder.name, [Kept("a/1/b/2026-11-28T00-00-00.000000Z.json", b"{}", {})])
' "$folder"
}

@test "bundles are pushed and fetched as they are" {
    record here "$key" 1
    bundle here 1
    bundle here 2
    push here
    [ "$status" -eq 0 ]
    [ "$output" = '1 new records and 2 new bundles in results' ]
    fetch there
    [ "$status" -eq 0 ]
    diff -r "$BATS_TEST_TMPDIR/here/results/nights" "$BATS_TEST_TMPDIR/there/results/nights"
}

@test "of a bundle that is here, raw outputs that were removed stay away" {
    bundle here 1
    bundle here 2
    push here
    fetch there
    rm "$BATS_TEST_TMPDIR"/there/results/nights/*/raw.tar.xz
    rm "$BATS_TEST_TMPDIR"/there/results/nights/*1Z/records.jsonl.xz
    fetch there
    [ "$output" = '1 new files from results' ]
    [ -z "$(find "$BATS_TEST_TMPDIR/there" -name raw.tar.xz)" ]
    # Without its manifest, a bundle is here no more.
    rm "$BATS_TEST_TMPDIR"/there/results/nights/*1Z/manifest.json
    fetch there
    [ "$output" = '2 new files from results' ]
    cmp "$BATS_TEST_TMPDIR"/{here,there}/results/nights/*1Z/raw.tar.xz
}

@test "loose copies of records that a bundle has are not fetched or unpacked" {
    record here "$key" 1
    mkdir -p "$BATS_TEST_TMPDIR/here/results/a/1/b/2026-11-28T00-00-00.000000Z"
    printf '{ }\n' >"$BATS_TEST_TMPDIR/here/results/a/1/b/2026-11-28T00-00-00.000000Z.json"
    touch "$BATS_TEST_TMPDIR/here/results/a/1/b/2026-11-28T00-00-00.000000Z/run-1.json"
    bundle here 1
    push here --pack "$BATS_TEST_TMPDIR/new.tar"
    push here
    [ "$output" = '2 new records and 1 new bundles in results' ]
    for _ in 1 2; do
        fetch there
        [ "$status" -eq 0 ]
        [ ! -e "$BATS_TEST_TMPDIR/there/results/a" ]
        [ -e "$BATS_TEST_TMPDIR/there/results/$key/$at.1Z.json" ]
    done
    [ "$output" = '0 new files from results' ]
    rm -r "$BATS_TEST_TMPDIR/there/results/nights" "$BATS_TEST_TMPDIR/there/results/stream-grpc"
    push there --unpack "$BATS_TEST_TMPDIR/new.tar"
    [ "$output" = "6 new files from $BATS_TEST_TMPDIR/new.tar" ]
    [ ! -e "$BATS_TEST_TMPDIR/there/results/a" ]
}

@test "a loose copy is taken if the raw outputs of its bundle are neither here nor there" {
    mkdir -p "$BATS_TEST_TMPDIR/here/results/a/1/b/2026-11-28T00-00-00.000000Z"
    printf '{ }\n' >"$BATS_TEST_TMPDIR/here/results/a/1/b/2026-11-28T00-00-00.000000Z.json"
    touch "$BATS_TEST_TMPDIR/here/results/a/1/b/2026-11-28T00-00-00.000000Z/run-1.json"
    push here --pack "$BATS_TEST_TMPDIR/new.tar"
    push here
    bundle there 1
    local folder=$BATS_TEST_TMPDIR/there/results
    rm "$folder"/nights/*/raw.tar.xz
    fetch there
    [ "$output" = '2 new files from results' ]
    rm -r "$folder/a"
    push there --unpack "$BATS_TEST_TMPDIR/new.tar"
    [ -e "$folder/a/1/b/2026-11-28T00-00-00.000000Z/run-1.json" ]
    # What was removed here, and is on the branch, stays away.
    rm -r "$folder/a"
    bundle here 1
    push here
    fetch there
    [ "$output" = '0 new files from results' ]
}

@test "bundles of one moment from two machines are both fetched" {
    local folder
    for where in here there; do
        bundle "$where" 1
        folder=$BATS_TEST_TMPDIR/$where/results/nights/2026-11-28T00-00-00.000001Z
        rm -r "$folder"
        mkdir "$folder"
        PYTHONPATH=$BATS_TEST_TMPDIR/here/lib python3 -c '
import sys
from pathlib import Path
from arena.base.reading import sha256_of
from arena.record.bundle import MANIFEST, Kept, write_bundle
folder = Path(sys.argv[1])
kept = Kept(f"a/1/{sys.argv[2]}/2026-11-28T00-00-00.000000Z.json", b"[\"%s\"]" % sys.argv[2].encode(), {})
manifest = write_bundle(folder, folder.name, [kept])
folder.rename(folder.with_name(manifest.names(sha256_of(folder / MANIFEST))[0]))
' "$folder" "$where"
        push "$where"
        [ "$output" = '1 new bundles in results' ]
    done
    fetch here
    [ "$output" = '3 new files from results' ]
    [ "$(find "$BATS_TEST_TMPDIR/here/results/nights" -name manifest.json | wc -l)" -eq 2 ]
}

@test "a bundle whose parts are not those of its manifest is not taken" {
    record here "$key" 1
    bundle here 1
    bundle here 2
    push here
    local raw=nights/2026-11-28T00-00-00.000001Z/raw.tar.xz
    printf x >>"$BATS_TEST_TMPDIR/here/results/$raw"
    push here "$remote" other
    [ "$status" -eq 2 ]
    [ "$output" = "error: results/$raw: is not what its manifest names" ]
    # Somebody has pushed it all the same.
    local blob tree
    blob=$(git -C "$remote" hash-object -w "$BATS_TEST_TMPDIR/here/results/$raw")
    local with_index=(env "GIT_INDEX_FILE=$BATS_TEST_TMPDIR/index" git -C "$remote")
    "${with_index[@]}" read-tree results
    "${with_index[@]}" update-index --cacheinfo "100644,$blob,$raw"
    tree=$("${with_index[@]}" write-tree)
    git -C "$remote" update-ref refs/heads/results "$(git -C "$remote" -c user.name=x -c user.email=x commit-tree -p results -m x "$tree")"
    fetch there
    [ "$status" -eq 3 ]
    [ "$output" = "error: results: left out $raw: is not what its manifest names" ]
    [ "$(ls "$BATS_TEST_TMPDIR/there/results/nights")" = 2026-11-28T00-00-00.000002Z ]
    [ -f "$BATS_TEST_TMPDIR/there/results/$key/$at.1Z.json" ]
    rm -r "$BATS_TEST_TMPDIR/there/results"
    mkdir "$BATS_TEST_TMPDIR/there/results"
    push here --pack "$BATS_TEST_TMPDIR/new.tar" "$remote" other
    push there --unpack "$BATS_TEST_TMPDIR/new.tar"
    [ "$status" -eq 2 ]
    [ -z "$(find "$BATS_TEST_TMPDIR/there/results" -type f)" ]
}

@test "a bundle in the folder of another one is neither pushed nor taken" {
    bundle here 1
    local nights=$BATS_TEST_TMPDIR/here/results/nights
    local said=nights/2026-11-28T00-00-00.000002Z/manifest.json:\ is\ that\ of\ 2026-11-28T00-00-00.000001Z-
    mv "$nights"/*1Z "$nights/2026-11-28T00-00-00.000002Z"
    push here
    [ "$status" -eq 2 ]
    [[ $output == "error: results/$said"* ]]
    push here --pack "$BATS_TEST_TMPDIR/new.tar"
    push there --unpack "$BATS_TEST_TMPDIR/new.tar"
    [ "$status" -eq 2 ]
    [[ $output == "error: $BATS_TEST_TMPDIR/new.tar: $said"* ]]
    [ -z "$(find "$BATS_TEST_TMPDIR/there/results" -type f)" ]
}

@test "what is there already is not pushed again" {
    record here "$key" 1
    push here
    local tip
    tip=$(git -C "$remote" rev-parse results)
    push here
    [ "$status" -eq 0 ]
    [ "$output" = 'nothing new for results' ]
    [ "$(git -C "$remote" rev-parse results)" = "$tip" ]
    record here "$key" 2
    push here
    [ "$output" = '1 new records in results' ]
    [ "$(git -C "$remote" rev-parse results~)" = "$tip" ]
}

@test "without any record there is nothing to push" {
    push here
    [ "$status" -eq 0 ]
    [ "$output" = 'nothing new for results' ]
    run git -C "$remote" rev-parse --verify --quiet results
    [ "$status" -ne 0 ]
}

@test "what was removed here stays there" {
    record here "$key" 1
    push here
    rm -r "$BATS_TEST_TMPDIR/here/results/$key"
    record here "$key" 2
    push here
    [ "$status" -eq 0 ]
    [ "$(branch | grep -c 'json$')" -eq 4 ]
}

@test "a file that differs from the one there is refused, and nothing is pushed" {
    record here "$key" 1
    push here
    local tip
    tip=$(git -C "$remote" rev-parse results)
    for file in "$key/$at.1Z.json" "$key/$at.1Z/server.log"; do
        record here "$key" 1
        record here "$key" 2
        echo nicer >>"$BATS_TEST_TMPDIR/here/results/$file"
        push here
        [ "$status" -eq 2 ]
        [ "$output" = "error: results/$file: differs from results on origin, and records are never changed" ]
        [ "$(git -C "$remote" rev-parse results)" = "$tip" ]
    done
}

@test "two machines that know nothing of each other both get through" {
    record here "$key" 1
    record there "$key" 2
    push here
    push there
    [ "$status" -eq 0 ]
    [ "$(branch | grep -c 'json$')" -eq 4 ]
}

@test "who is overtaken between fetching and pushing tries again" {
    record here "$key" 1
    record there "$key" 2
    # The other one pushes just before the first push of this one arrives.
    cat >"$remote/hooks/pre-receive" <<HOOK
#!/usr/bin/env bash
[[ ! -e $BATS_TEST_TMPDIR/overtaken ]] || exit 0
touch $BATS_TEST_TMPDIR/overtaken
env -u GIT_DIR -u GIT_QUARANTINE_PATH -u GIT_OBJECT_DIRECTORY -u GIT_ALTERNATE_OBJECT_DIRECTORIES \
    $BATS_TEST_TMPDIR/there/scripts/push-results.sh
HOOK
    chmod +x "$remote/hooks/pre-receive"
    push here
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = '1 new records in results' ]
    [ -e "$BATS_TEST_TMPDIR/overtaken" ]
    [ "$(branch | grep -c 'json$')" -eq 4 ]
}

@test "a remote that takes nothing is one line" {
    record here "$key" 1
    printf '#!/bin/sh\necho no room >&2\nexit 1\n' >"$remote/hooks/pre-receive"
    chmod +x "$remote/hooks/pre-receive"
    push here
    [ "$status" -eq 3 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == 'error: origin refuses results: '* ]]
}

@test "a remote that cannot be reached is one line" {
    record here "$key" 1
    for verb in push fetch; do
        "$verb" here /nowhere/remote.git
        [ "$status" -eq 3 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ $output == 'error: /nowhere/remote.git cannot be reached: '* ]]
    done
}

@test "another remote and another branch can be named" {
    record here "$key" 1
    push here "$remote" nights
    [ "$output" = '1 new records in nights' ]
    [ "$(branch nights | wc -l)" -eq 3 ]
    fetch there "$remote" nights
    [ "$output" = '3 new files from nights' ]
}

@test "bad usage is one line" {
    for verb in push fetch; do
        for words in '--force' 'origin a..b' 'origin results more'; do
            # shellcheck disable=SC2086 # several words
            "$verb" here $words
            [ "$status" -eq 2 ]
            [ "${#lines[@]}" -eq 1 ]
            [[ $output == 'error: '* ]]
        done
    done
}

@test "--help is the header" {
    push here --help
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == 'Push the records below results/'* ]]
    fetch here --help
    [[ ${lines[0]} == 'Fetch records from the branch'* ]]
}

@test "the index and the files of the checkout stay as they are" {
    record here "$key" 1
    local root=$BATS_TEST_TMPDIR/here
    echo staged >"$root/file"
    git -C "$root" add file
    push here
    [ "$status" -eq 0 ]
    [ "$(git -C "$root" ls-files)" = file ]
}

@test "what others have pushed is fetched, and nothing here is changed" {
    record there "$key" 1
    record there unary-grpc/256/tonic 2
    push there
    record here "$key" 3
    record here "$key" 1
    local results=$BATS_TEST_TMPDIR/here/results
    echo mine >"$results/$key/$at.1Z.json"
    fetch here
    [ "$status" -eq 0 ]
    [ "$output" = '3 new files from results' ]
    [ "$(cat "$results/$key/$at.1Z.json")" = mine ]
    [ -e "$results/$key/$at.3Z.json" ]
    cmp "$results/unary-grpc/256/tonic/$at.2Z.json" "$BATS_TEST_TMPDIR/there/results/unary-grpc/256/tonic/$at.2Z.json"
    [ -z "$(find "$results" -name '.*' -print)" ]
    fetch here
    [ "$output" = '0 new files from results' ]
}

@test "a branch that is not there yet has no records" {
    fetch here
    [ "$status" -eq 0 ]
    [ "$output" = 'origin has no branch results yet' ]
}

@test "who may not push packs what the branch lacks, and another one pushes it" {
    record here "$key" 1
    push here
    record here "$key" 2
    push here --pack "$BATS_TEST_TMPDIR/new.tar"
    [ "$status" -eq 0 ]
    [ "$output" = "3 new files in $BATS_TEST_TMPDIR/new.tar" ]
    [ "$(branch | grep -c "$key/$at.2Z")" -eq 0 ]
    [ "$(tar -tf "$BATS_TEST_TMPDIR/new.tar" | sort | head -n 1)" = "$key/$at.2Z.json" ]
    push there --unpack "$BATS_TEST_TMPDIR/new.tar"
    [ "$output" = "3 new files from $BATS_TEST_TMPDIR/new.tar" ]
    push there
    [ "$output" = "1 new records in results" ]
    branch | grep "$key/$at.2Z/run-1.json"
    push here --pack "$BATS_TEST_TMPDIR/new.tar"
    [ "$output" = "0 new files in $BATS_TEST_TMPDIR/new.tar" ]
    [ -z "$(tar -tf "$BATS_TEST_TMPDIR/new.tar")" ]
}

@test "packing says what is wrong with its file" {
    record here "$key" 1
    push here --pack
    [ "$status" -ne 0 ]
    push here --pack "$BATS_TEST_TMPDIR/nowhere/new.tar"
    [ "$status" -eq 3 ]
}

@test "of an archive that means harm, records are taken and pushed, and nothing else" {
    record here "$key" 1
    local results=$BATS_TEST_TMPDIR/here/results beside=$BATS_TEST_TMPDIR/here/results/$key/$at.1Z
    ln -s ../../../../../.git/config "$beside/link"
    mkdir -p "$beside/bad"$'\n'"$key"
    echo text >"$beside/bad"$'\n'"$key/x"
    mkdir -p "$results/rounds/new/$key" "$results/host" "$beside/.hidden"
    touch "$results/rounds/new/$key/$at.1Z.json" "$results/host/limits.json" "$results/leaderboard.json"
    printf '* text\n' | tee "$results/.gitattributes" "$beside/.gitattributes" >"$beside/.hidden/x"
    tar --create --file "$BATS_TEST_TMPDIR/evil.tar" --directory "$results" .
    push there --unpack "$BATS_TEST_TMPDIR/evil.tar"
    [ "$status" -eq 0 ]
    [ "$output" = "3 new files from $BATS_TEST_TMPDIR/evil.tar" ]
    push there
    push here "$remote" other
    [ "$(branch)" = "$(branch other)" ]
    [ "$(branch)" = "$key/$at.1Z.json
$key/$at.1Z/run-1.json
$key/$at.1Z/server.log" ]
}

@test "a broken archive is one line, and nothing is taken" {
    head -c 700 /dev/urandom >"$BATS_TEST_TMPDIR/broken.tar"
    push here --unpack "$BATS_TEST_TMPDIR/broken.tar"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    push here --unpack "$BATS_TEST_TMPDIR/none.tar"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/here/results")" ]
}

@test "a branch brings records byte for byte, and nothing else" {
    local root=$BATS_TEST_TMPDIR/there
    record there "$key" 1
    mkdir -p "$root/results/rounds/2026-12/$key" "$root/results/host"
    touch "$root/results/rounds/2026-12/$key/a"$'\t'"b.json" "$root/results/rounds/2026-12/round.json" "$root/results/host/limits.json"
    printf '* text eol=lf\n' >"$root/results/.gitattributes"
    ln -s /etc/passwd "$root/results/$key/$at.1Z/link"
    (
        cd "$root/results"
        export GIT_INDEX_FILE=$BATS_TEST_TMPDIR/index
        git --work-tree=. -c core.autocrlf=false add --all --force .
        git update-index --add --cacheinfo "100644,$(git hash-object -w --no-filters "$key/$at.1Z.json"),$key/$at.1Z.json"
        commit=$(git -c user.name=a -c user.email=a@a commit-tree -m r "$(git write-tree)")
        git push --quiet origin "$commit:refs/heads/results"
    )
    fetch here
    [ "$output" = '3 new files from results' ]
    [ "$(cd "$BATS_TEST_TMPDIR/here/results" && find . -type f -o -type l | sort)" = "./$key/$at.1Z.json
./$key/$at.1Z/run-1.json
./$key/$at.1Z/server.log" ]
    cmp "$BATS_TEST_TMPDIR/here/results/$key/$at.1Z.json" "$root/results/$key/$at.1Z.json"
}
