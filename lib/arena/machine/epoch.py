"""The epoch: what an administrator or an update may change on a host between two records."""

import os
import platform
from collections.abc import Iterable
from pathlib import Path

from arena.base.hashing import sha256_of
from arena.base.workspace import Workspace
from arena.machine import needs
from arena.machine.cpus import first_line
from arena.machine.facts import cpu_facts
from arena.record.record import Epoch
from arena.what.framework import source_files

# What shapes an HTTP/2 load over the loopback interface, as files below /proc/sys.
_SYSCTLS = (
    "kernel/numa_balancing",
    "kernel/sched_autogroup_enabled",
    "net/core/busy_poll",
    "net/core/netdev_budget",
    "net/core/netdev_max_backlog",
    "net/core/rmem_default",
    "net/core/rmem_max",
    "net/core/somaxconn",
    "net/core/wmem_default",
    "net/core/wmem_max",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_autocorking",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_max_syn_backlog",
    "net/ipv4/tcp_notsent_lowat",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_wmem",
    "vm/swappiness",
)

# The runner's own lock files, and the names of those that a framework may have.
_OWN_LOCKS = ("requirements.lock", "volley/Cargo.lock")
_LOCKS = {
    "composer.lock",
    "Cargo.lock",
    "Gemfile.lock",
    "go.sum",
    "gradle.lockfile",
    "mix.lock",
    "Package.resolved",
    "package-lock.json",
    "packages.lock.json",
    "Pipfile.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "requirements.lock",
    "rebar.lock",
    "uv.lock",
    "yarn.lock",
}


def epoch_of(
    workspace: Workspace, framework: str, wanted: Iterable[str], root: Path = Path("/")
) -> Epoch:
    """Return the host's epoch for a framework; `wanted` are the needs whose versions matter.

    What the host does not tell is None or left out.
    """
    system = os.uname()
    versions = {need: needs.version(need) for need in wanted}
    return Epoch(
        kernel=f"{platform.release()} {system.version}",
        microcode=next((cpu["microcode"] for cpu in cpu_facts(root) if "microcode" in cpu), None),
        mitigations=_lines(root / "sys/devices/system/cpu/vulnerabilities"),
        governor=first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        boost=_boost(root / "sys/devices/system/cpu"),
        toolchains={need: version for need, version in versions.items() if version},
        locks={
            path.relative_to(workspace.root).as_posix(): sha256_of(path)
            for path in _lock_files(workspace, framework)
        },
        sysctls={
            name.replace("/", "."): " ".join(value.split())
            for name in _SYSCTLS
            if (value := first_line(root / "proc/sys" / name))
        },
    )


def _lines(folder: Path) -> dict[str, str]:
    """Return what each file of a folder says."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return {}
    return {name: line for name in names if (line := first_line(folder / name))}


def _boost(cpus: Path) -> str | None:
    """Return `on` or `off`: whether the CPUs may run faster than their nominal frequency."""
    if boost := first_line(cpus / "cpufreq/boost"):
        return "off" if boost == "0" else "on"
    if no_turbo := first_line(cpus / "intel_pstate/no_turbo"):
        return "on" if no_turbo == "0" else "off"
    return None


def _lock_files(workspace: Workspace, framework: str) -> list[Path]:
    own = (workspace.root / name for name in _OWN_LOCKS)
    found = [path for path in source_files(workspace.framework(framework)) if _is_lock(path)]
    return [path for path in (*own, *sorted(found)) if path.is_file() and not path.is_symlink()]


def _is_lock(path: Path) -> bool:
    is_of_pip = path.name.startswith("requirements") and path.suffix == ".txt"
    return is_of_pip or path.name in _LOCKS
