"""Facts about this machine for the reader of a record."""

import os
import platform
from pathlib import Path

from arena.machine.cpus import CPU_FOLDERS, first_line, physical_cores
from arena.record.record import Host


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
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
