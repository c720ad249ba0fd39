#!/usr/bin/env bash
# Sourced by the other scripts. `ensure_venv LOCK [FOLDER]` installs the packages of LOCK, pinned by
# version and hash, into FOLDER (default: .venv), and prints something only if there is something to
# do. `run_tool` runs a module of this checkout.

# Replace this process by a module of the checkout.
run_tool() { # root, lock, module, arguments...
    local root=$1 lock=$2
    (cd "$root" && ensure_venv "$lock")
    PYTHONPATH=$root/lib:$root/fleet:$root exec "$root/.venv/bin/python" -P -m "${@:3}"
}

# The marker records what was installed. It is written last, so an interrupted set-up is redone.
ensure_venv() { # lock, folder
    local lock=$1 venv=${2:-.venv}
    local marker=$venv/.$lock.done
    if venv_is_made "$lock" "$marker" "$venv"; then
        return 0
    fi
    require_python
    # If two first starts meet, the second waits here and then finds the work done.
    local guard
    exec {guard}<pyproject.toml
    flock "$guard"
    if venv_is_made "$lock" "$marker" "$venv"; then
        exec {guard}<&-
        return 0
    fi
    local log began=$SECONDS
    printf 'Setting up %s from %s (once) …\n' "$venv" "$lock" >&2
    log=$(mktemp)
    trap 'rm -f "$log"; printf "interrupted\n" >&2; exit 130' INT TERM
    if ! (make_venv "$lock" "$venv") >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        printf 'error: %s could not be set up; the whole output is in %s\n' "$venv" "$log" >&2
        return 3
    fi
    trap - INT TERM
    rm -f "$log"
    venv_contents "$lock" "$venv" >"$marker"
    exec {guard}<&-
    if ((SECONDS - began > 2)); then
        printf 'Setting up %s: %d s\n' "$venv" $((SECONDS - began)) >&2
    fi
}

venv_is_made() { # lock, marker, folder
    [[ -x $3/bin/python && -f $2 && $(<"$2") == "$(venv_contents "$1" "$3")" ]]
}

# The lock's checksum and the interpreter: an upgraded interpreter does not find the packages.
venv_contents() { # lock, folder
    sha256sum "$1"
    readlink -f "${2:-.venv}/bin/python"
}

# A lock has all that is needed, so pip looks for nothing else. No package is built here, and Python
# compiles the modules that it loads.
make_venv() { # lock, folder
    "$2/bin/python" -c 'import pip' 2>/dev/null || rm -rf "$2"
    python3 -m venv "$2" &&
        "$2/bin/python" -m pip install --disable-pip-version-check --require-hashes \
            --only-binary :all: --no-deps --no-compile -r "$1"
}

require_python() {
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        printf 'error: Python 3.11 or newer is needed as python3 (Debian: apt-get install python3 python3-venv)\n' >&2
        return 3
    fi
    if python3 -c 'import ensurepip, venv' 2>/dev/null; then
        return 0
    fi
    # Debian ships Python without these two modules.
    if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
        printf 'error: Python has no venv module: install it with: apt-get install python3-venv\n' >&2
        return 3
    fi
    printf 'Installing python3-venv …\n' >&2
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
}
