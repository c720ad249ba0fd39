"""Facts about this machine for the reader of a record, and for its host class."""

import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from arena.machine.blame import cannot
from arena.machine.cpus import CPU_FOLDERS, first_line, physical_cores
from arena.record.record import Host

# What names a CPU's design in /proc/cpuinfo: on x86, on Arm, and on RISC-V.
_FAMILIES = (
    ("vendor_id", "cpu family", "model", "stepping"),
    ("CPU implementer", "CPU variant", "CPU part", "CPU revision"),
    ("mvendorid", "marchid", "mimpid"),
)

# Hypervisors, by a part of a clock's name or of the firmware's texts about the machine.
_CLOCKS = {"kvm-clock": "kvm", "hyperv": "hyperv", "xen": "xen"}
_FIRMWARE = {
    "KVM": "kvm",
    "QEMU": "kvm",
    "Amazon EC2": "kvm",
    "Google": "kvm",
    "OpenStack": "kvm",
    "Microsoft": "hyperv",
    "VMware": "vmware",
    "VirtualBox": "virtualbox",
    "Xen": "xen",
    "Parallels": "parallels",
    "BHYVE": "bhyve",
    "Apple Virtualization": "apple",
}
_FIRMWARE_TEXTS = ("sys_vendor", "product_name", "bios_vendor")

# The kernel's number for the process namespace in which no container is.
_NO_CONTAINER = "pid:[4026531836]"
_CONTAINERS = {".dockerenv": "docker", "run/.containerenv": "podman"}


def require_stat(stat: Path = Path("/proc/stat")) -> None:
    """Raise HostError if /proc/stat does not tell what the CPUs do, as in some sandboxes.

    Neither processes nor their cost can be followed there, and the sentinel sees nothing.
    """
    try:
        words = set(stat.read_text().split())
    except OSError:
        words = set()
    if not {"btime", "cpu"} <= words:
        raise cannot(f"tell what its CPUs do: {stat} does not say", "run with a whole /proc")


def describe(docker_version: str | None) -> Host:
    """Return the facts about this machine that a reader needs, never its name or address."""
    cores = physical_cores()
    return Host(
        cpu=_cpu_model(),
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
    try:
        text = (root / "proc/cpuinfo").read_text()
    except OSError:
        return
    for block in text.split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        if found := {key.strip(): value.strip() for key, _, value in pairs}:
            yield found


def _cpu_model() -> str:
    names = (cpu["model name"] for cpu in cpu_facts() if "model name" in cpu)
    return next(names, platform.machine())


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
