#!/usr/bin/env bash
# Sourced by the other scripts. `ensure_venv LOCK` installs the packages of LOCK, pinned by version
# and hash, into .venv, and prints something only if there is something to do. `run_tool` runs a
# module of this checkout.

# Replace this process by a module of the checkout.
run_tool() { # root, lock, module, arguments...
    local root=$1 lock=$2
    (cd "$root" && ensure_venv "$lock")
    PYTHONPATH=$root/lib:$root exec "$root/.venv/bin/python" -m "${@:3}"
}

# The marker records what was installed. It is written last, so an interrupted set-up is redone.
ensure_venv() {
    local lock=$1
    local marker=.venv/.$lock.done
    if venv_is_made "$lock" "$marker"; then
        return 0
    fi
    require_python
    # If two first starts meet, the second waits here and then finds the work done.
    local guard
    exec {guard}<pyproject.toml
    flock "$guard"
    if venv_is_made "$lock" "$marker"; then
        exec {guard}<&-
        return 0
    fi
    printf 'Setting up .venv from %s (once) …\n' "$lock" >&2
    local log
    log=$(mktemp)
    trap 'rm -f "$log"; printf "interrupted\n" >&2; exit 130' INT TERM
    if ! (make_venv "$lock") >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        printf 'error: .venv could not be set up; the whole output is in %s\n' "$log" >&2
        return 3
    fi
    trap - INT TERM
    rm -f "$log"
    venv_contents "$lock" >"$marker"
    exec {guard}<&-
}

venv_is_made() { # lock, marker
    [[ -x .venv/bin/python && -f $2 && $(<"$2") == "$(venv_contents "$1")" ]]
}

# The lock's checksum and the interpreter: an upgraded interpreter does not find the packages.
venv_contents() { # lock
    sha256sum "$1"
    readlink -f .venv/bin/python
}

make_venv() { # lock
    .venv/bin/python -c 'import pip' 2>/dev/null || rm -rf .venv
    python3 -m venv .venv &&
        .venv/bin/python -m pip install --disable-pip-version-check --require-hashes -r "$1"
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
