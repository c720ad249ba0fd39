#!/usr/bin/env bash
# Build local stand-ins for official base images, for a host that reaches package registries
# (Debian, PyPI, Go, npm, ...) but no image registry.
#
#   ./scripts/standin-images.sh [--list | --remove | --force] [IMAGE...]
#
#   IMAGE      for example golang:1.26-bookworm; default: every image in a FROM line of
#              frameworks/*/Dockerfile, docker/*.Dockerfile or tests/fixtures/*/*/Dockerfile
#   --list     print the state of each image, and build nothing
#   --force    build stand-ins again, and their common base
#   --remove   remove the named stand-ins, or all of them and their base
#
# Made from Debian bookworm (debootstrap) and this host's own toolchains:
#   debian                    a minimal system with ca-certificates
#   golang rust node          the host's Go, active rustup toolchain, or Node.js and npm
#   eclipse-temurin maven     the host's JDK and Maven; JAVA_HOME chooses the JDK
#   python                    Debian's Python; -slim has no compiler and no C headers
#
# Every stand-in has the labels httparena.standin=true, httparena.standin.of=<image> and
# httparena.standin.provides=<version>. If its tag names another version, it also has
# httparena.standin.mismatch=<that version>. Images built from a stand-in inherit the labels, so an
# image is a stand-in only if `of` is its own name. Other images are never replaced or removed.
#
# Needs docker; the first image also needs root and debootstrap. Uses the host's CA certificates and
# Debian mirror. HTTPARENA_ROOT contains frameworks/, docker/ and tests/ (default: this repository).
#
# Exit codes: 0 done, 2 bad usage or an image it cannot make, 3 the host cannot do it.
set -euo pipefail
shopt -s inherit_errexit
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

# shellcheck source=scripts/standin/base.sh
source "$here/standin/base.sh"
# shellcheck source=scripts/standin/recipes.sh
source "$here/standin/recipes.sh"

base=httparena-standin:bookworm
trial=httparena-standin-trial:$$
label=httparena.standin
bundle=/etc/ssl/certs/ca-certificates.crt
system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
compilers='curl g++ gcc git libc6-dev make pkg-config wget'
fail() { # exit code, message
    printf 'error: %s\n' "$2" >&2
    exit "$1"
}

# Run a long command with its output in a log that is shown only if it fails. In the background
# with a process group of its own (set -m), so that a signal ends it at once and completely.
child=''
quietly() { # what it does, command...
    local what=$1
    shift
    set -m
    "$@" >"$work/log" 2>&1 </dev/null &
    child=$!
    set +m
    if ! wait "$child"; then
        child=''
        tail -n 20 "$work/log" >&2
        fail 3 "$what failed; its last lines are above"
    fi
    child=''
}

clean_up() {
    if [[ -n $child ]]; then
        kill -KILL -- "-$child" 2>/dev/null || true # it may have ended by itself just now
        wait "$child" 2>/dev/null || true           # its status is that of the kill
    fi
    docker image rm "$trial" >/dev/null 2>&1 || true # mostly it is not there
    # A killed debootstrap's last processes may still write for a moment.
    rm -rf --one-file-system "$work" 2>/dev/null || { sleep 1 && rm -rf --one-file-system "$work"; }
}

# ---- which images

default_images() {
    local root=${HTTPARENA_ROOT:-$here/..} files=()
    shopt -s nullglob
    files=("$root"/{frameworks,tests/fixtures/*}/*/Dockerfile "$root"/docker/*.Dockerfile)
    shopt -u nullglob
    [[ ${#files[@]} -eq 0 ]] || awk -f "$here/standin/from-lines.awk" "${files[@]}"
}

# Images built from stand-ins bear the label too: only those that are their own `of`.
all_standins() {
    local image state
    docker image ls --filter "label=$label=true" --format '{{.Repository}}:{{.Tag}}' | while read -r image; do
        state=$(state_of "$image")
        [[ $state != standin ]] || printf '%s\n' "$image"
    done
}

# Only tags whose every part is understood: an alpine or a trixie is something else.
can_make() { # image
    local repository=${1%%:*} tag=${1#*:}
    local part='([0-9][0-9._]*|bookworm|slim|latest|lts|current|jdk|jre|eclipse|temurin)'
    [[ -n ${version_of[$repository]:-} && $1 == *:* && $tag =~ ^$part(-$part)*$ ]] || return 1
    [[ $repository != debian || $tag =~ ^(bookworm|12) ]]
}

# absent, standin or real. `docker image ls` tells "not there" from "docker failed"; inspect does not.
state_of() { # image
    local all ours
    all=$(docker image ls --quiet "$1") || fail 3 'docker cannot list its images; see above'
    ours=$(docker image ls --quiet --filter "label=$label.of=$1" "$1") ||
        fail 3 'docker cannot list its images; see above'
    if [[ -z $all ]]; then
        printf 'absent'
    elif [[ -n $ours ]]; then
        printf 'standin'
    else
        printf 'real'
    fi
}

# ---- how they are made

# Build the trial image from what `recipe` set, its context streamed from where the files are.
build_trial() {
    local pair from name paths=()
    {
        printf 'FROM %s\n' "$base"
        [[ -z $packages ]] || printf 'RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y %s %s %s\n' \
            --no-install-recommends "$packages" '&& rm -rf /var/lib/apt/lists/*'
        [[ ${#copies[@]} -eq 0 ]] || printf 'COPY copies /\n'
        printf '%s\n' "$lines"
    } >"$work/Dockerfile"
    # Debian's JDK and Maven link to files all over the system; links within a tree are kept.
    local options=(-P '--mode=u+w,a+rX' "--transform=s,^$work/,,S")
    for pair in ${copies[@]+"${copies[@]}"}; do
        from=$(readlink -f "${pair%%=*}")
        options+=("--transform=s,^$from,copies${pair#*=},S")
        paths+=("$from")
    done
    for name in ${excludes[@]+"${excludes[@]}"}; do
        options+=("--exclude=$name")
    done
    [[ $lines != *JAVA_HOME* ]] || options+=(--dereference)
    tar "${options[@]}" -c "$work/Dockerfile" ${paths[@]+"${paths[@]}"} |
        docker build --network host --force-rm --tag "$trial" -
}

# The versions in a tag (to major.minor) that the stand-in does not provide.
mismatch() { # tag, provides
    local part asked
    for part in ${1//-/ }; do
        [[ $part == [0-9]* ]] || continue
        asked=$(cut -d. -f1,2 <<<"${part%%_*}")
        [[ " ${2//[!0-9.]/ }" == *" $asked"[!0-9]* || " ${2//[!0-9.]/ }" == *" $asked" ]] || printf '%s ' "$asked"
    done
}

make_image() { # image
    local repository=${1%%:*} tag=${1#*:} began=$SECONDS provides missed
    recipe "$repository" "$tag"
    quietly "building $1" build_trial
    provides=$(docker run --rm --network none "$trial" sh -c "${version_of[$repository]}" 2>"$work/log") ||
        fail 3 "this host's $repository does not run in the stand-in: $(tail -n 1 "$work/log")"
    missed=$(mismatch "$tag" "$provides")
    {
        printf 'FROM %s\nLABEL %s=true %s.of=%s %s.provides="%s"' "$trial" "$label" "$label" "$1" "$label" "$provides"
        [[ -z $missed ]] || printf ' %s.mismatch="%s"' "$label" "${missed% }"
        printf '\n'
    } >"$work/Dockerfile"
    # The image gets its name only here, when all of it is known to work.
    quietly "labelling $1" docker build --tag "$1" --file "$work/Dockerfile" "$work/empty"
    docker image rm "$trial" >/dev/null
    [[ -z $missed ]] || printf 'warning: %s: asks for %s, but this host provides %s\n' "$1" "${missed% }" "$provides" >&2
    printf '%s: built in %d s (%s)\n' "$1" $((SECONDS - began)) "$provides"
}

# ---- the verbs

list_images() { # image...
    local image state
    for image in "$@"; do
        state=$(state_of "$image")
        case $state in
        standin) printf '%s: stand-in, %s\n' "$image" \
            "$(docker image inspect --format "{{index .Config.Labels \"$label.provides\"}}" "$image")" ;;
        real) printf '%s: a real image\n' "$image" ;;
        *) if can_make "$image"; then
            printf '%s: absent\n' "$image"
        else
            printf '%s: absent, and not possible\n' "$image"
        fi ;;
        esac
    done
}

remove_images() { # image...
    local image state
    for image in "$@"; do
        state=$(state_of "$image")
        case $state in
        standin)
            docker image rm "$image" >/dev/null || fail 3 "$image: docker could not remove it; see above"
            printf '%s: removed\n' "$image"
            ;;
        real) printf '%s: a real image, left alone\n' "$image" ;;
        *) printf '%s: not there\n' "$image" ;;
        esac
    done
}

build_images() { # image...
    local image state tool base_state status=0
    base_state=$(state_of "$base")
    [[ $force == no ]] || base_state=old
    for image in "$@"; do
        state=$(state_of "$image")
        tool=${host_tool[${image%%:*}]:-}
        if [[ $state == real ]]; then
            printf '%s: a real image is there, left alone\n' "$image"
        elif [[ $state == standin && $force == no ]]; then
            printf '%s: already there\n' "$image"
        elif ! can_make "$image"; then
            printf '%s: not possible; stand-ins exist for bookworm tags of: %s\n' "$image" "$known"
        elif [[ -n $tool ]] && ! command -v "$tool" >/dev/null; then
            printf 'error: %s: needs %s on this host: install it, or pull the image\n' "$image" "$tool" >&2
            status=3
        else
            [[ $base_state == standin ]] || make_base
            base_state=standin
            make_image "$image"
        fi
    done
    return "$status"
}

main() {
    local verb=build image images=() found=''
    force=no
    while [[ $# -gt 0 ]]; do
        case $1 in
        -h | --help)
            sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
            return 0
            ;;
        --list | --remove)
            [[ $verb == build ]] || fail 2 "$1 and --$verb exclude each other"
            verb=${1#--}
            ;;
        --force) force=yes ;;
        -*) fail 2 "unknown option $1; see --help" ;;
        *) images+=("$1") ;;
        esac
        shift
    done
    [[ $force == no || $verb == build ]] || fail 2 "--force and --$verb exclude each other"
    local given=${#images[@]}
    for image in ${images[@]+"${images[@]}"}; do
        [[ $verb != build ]] || can_make "$image" ||
            fail 2 "$image: no stand-in is possible; only bookworm tags of: $known"
    done

    command -v docker >/dev/null || fail 3 'no docker on PATH: install it (Debian: apt-get install docker.io)'
    docker version --format '{{.Server.Version}}' >/dev/null 2>&1 ||
        fail 3 'no docker daemon answers: start it (systemctl start docker, or dockerd)'
    if [[ $given -eq 0 && $verb == remove ]]; then
        found=$(all_standins)
    elif [[ $given -eq 0 ]]; then
        found=$(default_images)
    fi
    [[ -z $found ]] || mapfile -t images <<<"$found"

    work=$(mktemp -d)
    mkdir "$work/empty"
    trap clean_up EXIT
    trap 'exit 130' INT TERM HUP
    "${verb}_images" ${images[@]+"${images[@]}"}
}

main "$@"
