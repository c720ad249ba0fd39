#!/usr/bin/env bats
# scripts/standin-images.sh against stubs: a docker that keeps its images as files holding the
# image's `of` label, and a debootstrap that makes a few directories.
# shellcheck disable=SC2016 # what is quoted is for the stubs and Dockerfiles to expand

setup() {
    script=$BATS_TEST_DIRNAME/../../scripts/standin-images.sh
    export STUBS=$BATS_TEST_TMPDIR/stubs IMAGES=$BATS_TEST_TMPDIR/images CALLS=$BATS_TEST_TMPDIR/calls
    export HTTPARENA_ROOT=$BATS_TEST_TMPDIR/root TMPDIR=$BATS_TEST_TMPDIR/tmp PROVIDES='go1.26.8'
    mkdir -p "$STUBS" "$IMAGES" "$HTTPARENA_ROOT/frameworks/one" "$HTTPARENA_ROOT/docker" "$TMPDIR"
    : >"$CALLS"
    export PATH=$STUBS:$PATH

    stub docker <<'STUB'
printf '%s\n' "docker $*" >>"$CALLS"
file() { printf '%s/%s' "$IMAGES" "${1//\//+}"; }
case "$1 $2" in
'version '*) [[ -z ${NO_DAEMON:-} ]] || exit 1 ;;
'image ls')
    [[ -z ${LS_FAILS:-} ]] || { echo 'docker: broken' >&2; exit 1; }
    case "$*" in
    *--format*) (cd "$IMAGES" && grep -L '^real$' -- * | tr + /) ;;
    *"label=httparena.standin.of="*) [[ $(cat "$(file "$6")" 2>/dev/null) != "${5#*.of=}" ]] || echo id ;;
    *) [[ ! -e $(file "$4") ]] || echo id ;;
    esac ;;
'image rm') rm "$(file "$3")" ;;
'image inspect') echo "$PROVIDES" ;;
'import '*)
    mkdir -p "$BATS_TEST_TMPDIR/imported" && tar -x -C "$BATS_TEST_TMPDIR/imported"
    echo "${!#}" >"$(file "${!#}")" ;;
'build --network')
    tar -x -C "$BATS_TEST_TMPDIR" # the context
    [[ -z ${BUILD_FAILS:-} ]] || { echo 'cannot reach the registry'; exit 1; }
    echo trial >"$(file "$6")" ;;
'build --tag') cat "$5" >>"$CALLS"; echo "$3" >"$(file "$3")" ;;
'run '*) [[ -z ${RUN_FAILS:-} ]] || { echo 'GLIBC_9 not found' >&2; exit 1; }; echo "$PROVIDES" ;;
esac
STUB
    stub debootstrap <<'STUB'
printf '%s\n' "debootstrap $*" >>"$CALLS"
[[ -z ${DEBOOTSTRAP_HANGS:-} ]] || { echo $$ >"$DEBOOTSTRAP_HANGS"; sleep 60; }
mkdir -p "$4"/{etc/apt/apt.conf.d,etc/dpkg/dpkg.cfg.d,etc/ssl/certs,usr/sbin,usr/share/doc,usr/local/share/ca-certificates}
# Debian knows the first of the host's certificates.
bundle=/etc/ssl/certs/ca-certificates.crt
if [[ -r $bundle ]]; then sed '/END CERTIFICATE/q' "$bundle"; fi >"$4$bundle"
STUB
    stub unshare <<<'exec "${@:5}"'
    stub chroot <<<':'
    stub id <<<'echo "${FAKE_UID:-0}"'
    stub apt-get <<'STUB'
echo 'deb http://third.example/x/ bookworm stable'
echo 'deb http://updates.example/debian/ bookworm-updates main'
echo 'deb http://mirror.example/debian/ bookworm main'
STUB
    stub go <<<'echo "$STUBS/goroot"'
    mkdir -p "$STUBS"/goroot/{bin,test}
    touch "$STUBS"/goroot/{bin/go,test/big}
}

stub() { # name; the body on stdin
    { echo '#!/usr/bin/env bash' && cat; } >"$STUBS/$1"
    chmod +x "$STUBS/$1"
}

dockerfile() { # path under the root; its text on stdin
    mkdir -p "$(dirname "$HTTPARENA_ROOT/$1")"
    cat >"$HTTPARENA_ROOT/$1"
}

have_standin() { echo "$1" >"$IMAGES/${1//\//+}"; }
have_real() { echo real >"$IMAGES/${1//\//+}"; }
have_built_from_standin() { echo debian:bookworm-slim >"$IMAGES/${1//\//+}"; }

nothing_was_made() {
    ! grep -E '^debootstrap|^docker (build|import|tag|load|commit|image tag)' "$CALLS"
}

@test "--help is the header comment" {
    run "$script" --help
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "Build local stand-ins for official base images, for a host that reaches package registries" ]
    [ "${lines[-1]}" = "Exit codes: 0 done, 2 bad usage or an image it cannot make, 3 the host cannot do it." ]
}

@test "an unknown option is bad usage" {
    run "$script" --frobnicate
    [ "$status" -eq 2 ]
    [ "$output" = "error: unknown option --frobnicate; see --help" ]
}

@test "verbs exclude each other" {
    run "$script" --list --remove
    [ "$status" -eq 2 ]
    run "$script" --force --remove
    [ "$status" -eq 2 ]
}

@test "a digest in a FROM line changes no stand-in" {
    dockerfile frameworks/a/Dockerfile <<<"FROM golang:1.26-bookworm@sha256:$(printf 'ab%.0s' {1..32}) AS build"
    dockerfile frameworks/b/Dockerfile <<<'FROM golang:1.26-bookworm'
    have_standin golang:1.26-bookworm
    run "$script" --list
    [ "$status" -eq 0 ]
    [ "$(grep -c golang:1.26-bookworm <<<"$output")" -eq 1 ]
    [[ $output != *sha256* ]]
}

@test "images that cannot be made are bad usage, before anything is done" {
    for image in redis:7 golang:1.26-alpine debian:trixie-slim debian:latest python:3.14-rc golang debian:bookworm@sha256:00; do
        run "$script" debian:bookworm "$image"
        [ "$status" -eq 2 ]
        [[ $output == "error: $image: no stand-in is possible"* ]]
    done
    [ ! -s "$CALLS" ]
}

@test "without a docker daemon the error names the remedy" {
    NO_DAEMON=1 run "$script" debian:bookworm
    [ "$status" -eq 3 ]
    [ "$output" = "error: no docker daemon answers: start it (systemctl start docker, or dockerd)" ]
}

@test "without docker the error names the remedy" {
    mkdir "$BATS_TEST_TMPDIR/bare"
    ln -s "$(command -v dirname)" "$(command -v readlink)" "$BATS_TEST_TMPDIR/bare"
    PATH=$BATS_TEST_TMPDIR/bare run "$BASH" "$script" debian:bookworm
    [ "$status" -eq 3 ]
    [ "$output" = "error: no docker on PATH: install it (Debian: apt-get install docker.io)" ]
}

@test "making the base without root says so" {
    FAKE_UID=1000 run "$script" debian:bookworm
    [ "$status" -eq 3 ]
    [[ $output == "error: debootstrap needs root"* ]]
}

@test "without debootstrap the error names the package" {
    rm "$STUBS/debootstrap"
    mkdir "$BATS_TEST_TMPDIR/bare"
    for tool in awk bash cat dirname mktemp mkdir readlink rm sleep; do
        ln -s "$(command -v "$tool")" "$BATS_TEST_TMPDIR/bare/$tool"
    done
    PATH=$STUBS:$BATS_TEST_TMPDIR/bare run "$script" debian:bookworm
    [ "$status" -eq 3 ]
    [ "$output" = "error: no debootstrap: apt-get install debootstrap" ]
}

@test "the images are those of the FROM lines" {
    dockerfile frameworks/one/Dockerfile <<'DOCKERFILE'
# FROM comment:1
ARG GO=1.26
ARG SUITE="bookworm" UNUSED
ARG NONE
FROM --platform=$BUILDPLATFORM golang:${GO}-$SUITE AS Build
ARG GO=9
RUN echo a \
    # a comment does not end it
    FROM inside:1
from BUILD as tested
FROM rust:$GO
FROM ${RUNTIME:-debian:bookworm-slim}
FROM scratch
FROM node:$NONE
COPY --from=build /a /a
DOCKERFILE
    dockerfile docker/tool.Dockerfile <<<$'FROM golang:1.26-bookworm\nFROM build'
    dockerfile docker/notes.txt <<<'FROM other:1'
    dockerfile tests/fixtures/entries/two/Dockerfile <<<'FROM node:22-slim'
    run "$script" --list
    [ "$status" -eq 0 ]
    [ "$output" = 'golang:1.26-bookworm: absent
rust:1.26: absent
debian:bookworm-slim: absent
node:$NONE: absent, and not possible
node:22-slim: absent
build: absent, and not possible' ]
}

@test "the tags that HttpArena's entries build on are possible, if their system is Debian's" {
    run "$script" --list golang:1.25 rust:1.88 python:3.13-slim node:22 node:22-slim \
        node:22-bookworm-slim maven:3-eclipse-temurin-21 maven:3.9-eclipse-temurin-25 \
        eclipse-temurin:21-jre debian:bookworm-slim debian:12-slim
    [ "$status" -eq 0 ]
    [[ $output != *'not possible'* ]]
    run "$script" --list golang:1.25-alpine python:3.13-slim-trixie eclipse-temurin:21-jre-alpine \
        debian:trixie-slim alpine:3.20 gcr.io/distroless/static-debian12:nonroot
    [ "$(grep -c 'not possible$' <<<"$output")" -eq 6 ]
}

@test "--list tells stand-ins, real images and absent ones apart, and makes nothing" {
    have_standin golang:1.26-bookworm
    have_real debian:bookworm
    have_built_from_standin python:3.11-slim
    run "$script" --list golang:1.26-bookworm debian:bookworm python:3.11-slim node:20 example.com/x:1
    [ "$status" -eq 0 ]
    [ "$output" = 'golang:1.26-bookworm: stand-in, go1.26.8
debian:bookworm: a real image
python:3.11-slim: a real image
node:20: absent
example.com/x:1: absent, and not possible' ]
    nothing_was_made
}

@test "a real image is never replaced, not even with --force" {
    have_real golang:1.26-bookworm
    for option in '' --force; do
        run "$script" $option golang:1.26-bookworm
        [ "$status" -eq 0 ]
        [ "$output" = "golang:1.26-bookworm: a real image is there, left alone" ]
    done
    nothing_was_made
    [ "$(cat "$IMAGES/golang:1.26-bookworm")" = real ]
}

@test "an image built from a stand-in is not a stand-in" {
    have_built_from_standin golang:1.26-bookworm
    run "$script" --force golang:1.26-bookworm
    [ "$output" = "golang:1.26-bookworm: a real image is there, left alone" ]
    nothing_was_made
}

@test "when docker cannot list images nothing is taken for absent" {
    LS_FAILS=1 run "$script" debian:bookworm
    [ "$status" -eq 3 ]
    [[ $output == *"error: docker cannot list its images"* ]]
    nothing_was_made
}

@test "a stand-in is left alone, and built again with --force" {
    have_standin golang:1.26-bookworm
    have_standin httparena-standin:bookworm
    run "$script" golang:1.26-bookworm
    [ "$output" = "golang:1.26-bookworm: already there" ]
    nothing_was_made
    run "$script" --force golang:1.26-bookworm
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "httparena-standin:bookworm: built in "* ]]
    [[ ${lines[1]} == "golang:1.26-bookworm: built in "*" s (go1.26.8)" ]]
}

@test "a stand-in says in its labels what it stands for and provides" {
    run "$script" golang:1.26-bookworm
    [ "$status" -eq 0 ]
    grep -qxF 'LABEL httparena.standin=true httparena.standin.of=golang:1.26-bookworm httparena.standin.provides="go1.26.8"' "$CALLS"
}

@test "a version the tag does not name is warned of and labelled" {
    run "$script" golang:1.2-bookworm
    [ "$status" -eq 0 ]
    [[ $output == *"warning: golang:1.2-bookworm: asks for 1.2, but this host provides go1.26.8"* ]]
    grep -q 'httparena.standin.mismatch="1.2"' "$CALLS"
}

@test "major and minor decide whether a version fits" {
    for image in golang:1 golang:1.26 golang:1.26.3-bookworm golang:latest; do
        run "$script" "$image"
        [ "$status" -eq 0 ]
        [[ $output != *warning* ]]
    done
}

@test "the toolchain comes with the build, without what nobody builds with" {
    run "$script" golang:1.26-bookworm
    [ -e "$BATS_TEST_TMPDIR/copies/usr/local/go/bin/go" ]
    [ ! -e "$BATS_TEST_TMPDIR/copies/usr/local/go/test" ]
    grep -qx 'COPY copies /' "$BATS_TEST_TMPDIR/Dockerfile"
}

@test "the base is made once, from this host's mirror" {
    run "$script" debian:bookworm debian:bookworm-slim
    [ "$status" -eq 0 ]
    [ "$(grep -c ^debootstrap "$CALLS")" -eq 1 ]
    grep -q '^debootstrap --variant=minbase .* http://mirror.example/debian/$' "$CALLS"
    run cat "$BATS_TEST_TMPDIR/imported/etc/apt/sources.list"
    [ "$output" = 'deb http://updates.example/debian/ bookworm-updates main
deb http://mirror.example/debian/ bookworm main' ]
}

@test "the base has this host's certificates" {
    bundle=/etc/ssl/certs/ca-certificates.crt
    [ -r "$bundle" ] || skip "this host has no $bundle"
    run "$script" debian:bookworm
    cmp "$bundle" "$BATS_TEST_TMPDIR/imported$bundle"
    # Those that Debian does not have are also where update-ca-certificates takes them from.
    local own=("$BATS_TEST_TMPDIR"/imported/usr/local/share/ca-certificates/host-*.crt)
    [ "${#own[@]}" -eq $(($(grep -c 'BEGIN CERTIFICATE' "$bundle") - 1)) ]
    [ "$(grep -c 'BEGIN CERTIFICATE' "${own[0]}")" -eq 1 ]
}

@test "what cannot be made is one line, and the others are made" {
    dockerfile frameworks/one/Dockerfile <<<$'FROM example.com/sdk:8.0\nFROM debian:bookworm-slim'
    have_standin httparena-standin:bookworm
    run "$script"
    [ "$status" -eq 0 ]
    [[ ${lines[0]} == "example.com/sdk:8.0: not possible; stand-ins exist for bookworm tags of: debian "* ]]
    [[ ${lines[1]} == "debian:bookworm-slim: built in "* ]]
    [ "${#lines[@]}" -eq 2 ]
}

@test "a missing toolchain is exit 3, and the others are made" {
    have_standin httparena-standin:bookworm
    mkdir "$BATS_TEST_TMPDIR/bare"
    for tool in awk bash cat cut dirname mktemp mkdir readlink rm sleep tail tar tr; do
        ln -s "$(command -v "$tool")" "$BATS_TEST_TMPDIR/bare/$tool"
    done
    PATH=$STUBS:$BATS_TEST_TMPDIR/bare run "$script" rust:1 debian:bookworm
    [ "$status" -eq 3 ]
    [ "${lines[0]}" = "error: rust:1: needs rustup on this host: install it, or pull the image" ]
    [[ ${lines[1]} == "debian:bookworm: built in "* ]]
}

@test "a failed build shows its log, leaves no name and no temporary files" {
    have_standin httparena-standin:bookworm
    BUILD_FAILS=1 run "$script" golang:1.26-bookworm
    [ "$status" -eq 3 ]
    [[ $output == *"cannot reach the registry"*"error: building golang:1.26-bookworm failed"* ]]
    [ ! -e "$IMAGES/golang:1.26-bookworm" ]
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "a toolchain that does not run gets no name" {
    RUN_FAILS=1 run "$script" golang:1.26-bookworm
    [ "$status" -eq 3 ]
    [[ $output == *"error: this host's golang does not run in the stand-in: GLIBC_9 not found" ]]
    [ "$(ls "$IMAGES")" = httparena-standin:bookworm ]
}

@test "a build leaves no temporary files and no trial image" {
    run "$script" golang:1.26-bookworm
    [ -z "$(ls -A "$TMPDIR")" ]
    [ "$(ls "$IMAGES")" = $'golang:1.26-bookworm\nhttparena-standin:bookworm' ]
}

@test "an interrupt ends debootstrap at once and leaves no temporary files" {
    DEBOOTSTRAP_HANGS=$BATS_TEST_TMPDIR/pid "$script" debian:bookworm 3>&- &
    local main=$! tries=0
    until [ -s "$BATS_TEST_TMPDIR/pid" ] || [ $((tries += 1)) -gt 500 ]; do sleep 0.01; done
    kill -TERM "$main"
    local status=0
    wait "$main" || status=$?
    [ "$status" -eq 130 ]
    run kill -0 "$(cat "$BATS_TEST_TMPDIR/pid")"
    [ "$status" -eq 1 ]
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "--remove removes the stand-ins named, and no real image" {
    have_standin golang:1.26-bookworm
    have_real debian:bookworm
    run "$script" --remove golang:1.26-bookworm debian:bookworm node:20
    [ "$status" -eq 0 ]
    [ "$output" = 'golang:1.26-bookworm: removed
debian:bookworm: a real image, left alone
node:20: not there' ]
    [ "$(ls "$IMAGES")" = debian:bookworm ]
}

@test "--remove alone removes all stand-ins, but not what was built from them" {
    have_standin golang:1.26-bookworm
    have_standin httparena-standin:bookworm
    have_built_from_standin httparena/grpc-go:latest
    have_real debian:bookworm
    run "$script" --remove
    [ "$status" -eq 0 ]
    [ "$output" = $'golang:1.26-bookworm: removed\nhttparena-standin:bookworm: removed' ]
    [ "$(ls "$IMAGES")" = $'debian:bookworm\nhttparena+grpc-go:latest' ]
}
