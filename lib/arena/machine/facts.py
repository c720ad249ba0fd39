"""Facts for a record: the machine and its class, its epoch, and the checkout's commit.

The epoch is what an administrator or an update may change on a host between two records.
"""

import io
import os
import platform
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.base.reading import sha256_of, text_of
from arena.base.workspace import Workspace
from arena.base.writing import DRAFT
from arena.machine.blame import cannot
from arena.machine.builds import version
from arena.machine.cpus import CPU_FOLDERS, first_line, physical_cores
from arena.record.record import Epoch, Git, Host
from arena.what.framework import source_files

# What names a CPU's design in /proc/cpuinfo: on x86, on Arm, and on RISC-V.
_FAMILIES = (
    ("vendor_id", "cpu family", "model", "stepping"),
    ("CPU implementer", "CPU variant", "CPU part", "CPU revision"),
    ("mvendorid", "marchid", "mimpid"),
)

# Hypervisors, by a part of a clock's name or of the firmware's texts about the machine.
_CLOCKS = {"kvm-clock": "kvm", "hyperv": "hyperv", "xen": "xen"}
_FIRMWARE = {
    "KVM": "kvm", "QEMU": "kvm", "Amazon EC2": "kvm", "Google": "kvm", "OpenStack": "kvm",
    "Microsoft": "hyperv", "VMware": "vmware", "VirtualBox": "virtualbox", "Xen": "xen",
    "Parallels": "parallels", "BHYVE": "bhyve", "Apple Virtualization": "apple",
}  # fmt: skip
_FIRMWARE_TEXTS = ("sys_vendor", "product_name", "bios_vendor")

# The kernel's number for the process namespace in which no container is.
_NO_CONTAINER = "pid:[4026531836]"
_CONTAINERS = {".dockerenv": "docker", "run/.containerenv": "podman"}


def require_stat(stat: Path = Path("/proc/stat")) -> None:
    """Raise HostError if /proc/stat does not tell what the CPUs do, as in some sandboxes.

    Neither processes nor their cost can be followed there, and the sentinel sees nothing.
    """
    if not {"btime", "cpu"} <= set(text_of(stat).split()):
        raise cannot(f"tell what its CPUs do: {stat} does not say", "run with a whole /proc")


def describe(docker_version: str | None) -> Host:
    """Return the facts about this machine that a reader needs, never its name or address."""
    cores = physical_cores()
    models = (cpu["model name"] for cpu in cpu_facts() if "model name" in cpu)
    return Host(
        cpu=next(models, platform.machine()),
        cpus=sum(len(group) for group in cores),
        cores=len(cores),
        kernel=platform.release(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        governor=first_line(CPU_FOLDERS / "cpu0/cpufreq/scaling_governor"),
        docker=docker_version,
        family=family(),
        virtualisation=virtualisation(),
    )


def family(root: Path = Path("/")) -> str | None:
    """Return the vendor, family, model and stepping of the CPUs; several kinds have a + between.

    None if the kernel does not report them.
    """
    kinds = dict.fromkeys(
        " ".join(cpu[key] for key in keys)
        for cpu in cpu_facts(root)
        for keys in _FAMILIES
        if cpu.keys() >= set(keys)
    )
    return " + ".join(kinds) or None


def virtualisation(root: Path = Path("/")) -> str:
    """Return the hypervisor, `none` on bare metal, and in which kind of container this runs.

    `vm` is a hypervisor that does not say which. `kvm in docker` is a container in a machine of
    KVM.
    """
    container = _container(root)
    return f"{_hypervisor(root)} in {container}" if container else _hypervisor(root)


def cpu_facts(root: Path = Path("/")) -> Iterator[dict[str, str]]:
    """Yield the facts of each CPU in /proc/cpuinfo, by key."""
    for block in text_of(root / "proc/cpuinfo").split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        if found := {key.strip(): value.strip() for key, _, value in pairs}:
            yield found


def _hypervisor(root: Path) -> str:
    if (root / "proc/xen").exists():
        return "xen"
    flags = next((cpu["flags"].split() for cpu in cpu_facts(root) if "flags" in cpu), None)
    if flags is not None and "hypervisor" not in flags:
        return "none"
    clocks = first_line(root / "sys/devices/system/clocksource/clocksource0/available_clocksource")
    if found := _named(_CLOCKS, clocks or ""):
        return found
    # Arm has no flag. Its device tree or its firmware tells.
    if tree := first_line(root / "proc/device-tree/hypervisor/compatible"):
        return _named({"kvm": "kvm", "xen": "xen"}, tree) or "vm"
    texts = [first_line(root / "sys/class/dmi/id" / name) or "" for name in _FIRMWARE_TEXTS]
    is_metal = flags is None and any(text.endswith(".metal") for text in texts)
    found = None if is_metal else _named(_FIRMWARE, " ".join(texts))
    return found or ("none" if flags is None else "vm")


def _named(names: dict[str, str], text: str) -> str | None:
    return next((meant for part, meant in names.items() if part in text), None)


def _container(root: Path) -> str | None:
    with suppress(OSError):
        if (root / "proc/self/ns/pid").readlink().name != _NO_CONTAINER:
            names = (name for file, name in _CONTAINERS.items() if (root / file).exists())
            return next(names, "a container")
    return None


# What shapes an HTTP/2 load over the loopback interface, as files below /proc/sys.
_SYSCTLS = (
    "kernel/numa_balancing", "kernel/sched_autogroup_enabled", "net/core/busy_poll",
    "net/core/netdev_budget", "net/core/netdev_max_backlog", "net/core/rmem_default",
    "net/core/rmem_max", "net/core/somaxconn", "net/core/wmem_default", "net/core/wmem_max",
    "net/ipv4/ip_local_port_range", "net/ipv4/tcp_autocorking", "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_max_syn_backlog", "net/ipv4/tcp_notsent_lowat", "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_slow_start_after_idle", "net/ipv4/tcp_tw_reuse", "net/ipv4/tcp_wmem",
    "vm/swappiness",
)  # fmt: skip

# The runner's own lock files, and the names of those that a framework may have.
_OWN_LOCKS = ("requirements.lock", "volley/Cargo.lock")
_LOCKS = {
    "composer.lock", "Cargo.lock", "Gemfile.lock", "go.sum", "gradle.lockfile", "mix.lock",
    "Package.resolved", "package-lock.json", "packages.lock.json", "Pipfile.lock", "pnpm-lock.yaml",
    "poetry.lock", "pubspec.lock", "requirements.lock", "rebar.lock", "uv.lock", "yarn.lock",
}  # fmt: skip


def epoch_of(
    workspace: Workspace, framework: str, wanted: Iterable[str], root: Path = Path("/")
) -> Epoch:
    """Return the host's epoch for a framework; `wanted` are the needs whose versions matter.

    What the host does not tell is None or left out.
    """
    own = [each for each in source_files(workspace.framework(framework)) if _is_lock(each)]
    versions = {need: version(need) for need in wanted}
    return Epoch(
        kernel=f"{platform.release()} {os.uname().version}",
        microcode=next((cpu["microcode"] for cpu in cpu_facts(root) if "microcode" in cpu), None),
        mitigations=_lines(root / "sys/devices/system/cpu/vulnerabilities"),
        governor=first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        boost=_boost(root / "sys/devices/system/cpu"),
        toolchains={need: version for need, version in versions.items() if version},
        locks={
            path.relative_to(workspace.root).as_posix(): sha256_of(path)
            for path in (*(workspace.root / name for name in _OWN_LOCKS), *sorted(own))
            if path.is_file() and not path.is_symlink()
        },
        sysctls={
            name.replace("/", "."): " ".join(value.split())
            for name in _SYSCTLS
            if (value := first_line(root / "proc/sys" / name))
        },
    )


def _lines(folder: Path) -> dict[str, str]:
    """Return what each file of a folder says."""
    found = sorted(folder.glob("*"))
    return {path.name: line for path in found if (line := first_line(path))}


def _boost(cpus: Path) -> str | None:
    """Return `on` or `off`: whether the CPUs may run faster than their nominal frequency."""
    if boost := first_line(cpus / "cpufreq/boost"):
        return "off" if boost == "0" else "on"
    if no_turbo := first_line(cpus / "intel_pstate/no_turbo"):
        return "on" if no_turbo == "0" else "off"
    return None


def _is_lock(path: Path) -> bool:
    is_of_pip = path.name.startswith("requirements") and path.suffix == ".txt"
    return is_of_pip or path.name in _LOCKS


# A commit as records name it; git takes other words for options.
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def git_state(root: Path) -> Git | None:
    """Return the checkout's commit and whether files were changed; None outside git.

    A repository around an unpacked archive is not the checkout's, and neither is that of $GIT_DIR.
    """
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD").decode(errors="replace").strip()
        return Git(commit=commit, dirty=bool(_git(root, "status", "--porcelain").strip()))
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        check=True, capture_output=True, timeout=20,
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    )  # fmt: skip
    return done.stdout


@contextmanager
def folder_at(inside: Path, commit: str, name: str) -> Iterator[Path | None]:
    """Unpack a folder of the checkout as it was at a commit; yield what holds it.

    It is None without the commit. `inside` is any path in the checkout.
    """
    root = next((each for each in inside.resolve().parents if (each / ".git").exists()), None)
    with tempfile.TemporaryDirectory(prefix=DRAFT) as made:
        yield Path(made) if root and _unpacked(root, commit, name, Path(made)) else None


def _unpacked(root: Path, commit: str, name: str, folder: Path) -> bool:
    if not _COMMIT.fullmatch(commit):
        return False
    try:
        packed = _git(root, "archive", "--format=tar", commit, "--", name)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")  # a TypeError before Python 3.11.4
    except (OSError, subprocess.SubprocessError, tarfile.TarError, TypeError):
        return False
    return True
