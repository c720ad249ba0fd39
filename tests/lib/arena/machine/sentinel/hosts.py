"""Hosts made of files, as /proc and /sys show them; time passes when a test says so."""

from dataclasses import dataclass, field
from pathlib import Path

from arena.machine.sentinel import HostFiles, Sample
from arena.record.measurement import Watch

TICKS = 100


@dataclass
class FakeHost:
    """Two CPUs of ours and one that is not; process 10 is the runner, 11 its server."""

    root: Path
    busy: int = 1000
    steal: int = 0
    softirq: int = 0
    own: int = 500
    ended: int = 100
    stranger: int = 999_999
    by_process: bool = False
    has_others: bool = True
    files: dict[str, str] = field(default_factory=dict)

    def put(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def pressure(self, io_us: int = 0, memory_us: int = 0, cpu_us: int = 0) -> None:
        for name, us in (("io", io_us), ("memory", memory_us), ("cpu", cpu_us)):
            idle = "avg10=0.00 avg60=0.00 avg300=0.00"
            kinds = ("full", "some") if name == "cpu" else ("some", "full")
            self.put(
                f"proc/pressure/{name}",
                f"{kinds[0]} {idle} total=77\n{kinds[1]} {idle} total={us}\n",
            )

    def vmstat(self, kills: int = 0, swapped_in: int = 0, swapped_out: int = 0) -> None:
        counts = f"pswpin {swapped_in}\npswpout {swapped_out}\noom_kill {kills}\n"
        self.put("proc/vmstat", f"nr_free_pages 9\n{counts}")

    def heat(self, count: int) -> None:
        for cpu in (0, 1, 2):
            self.put(f"cpu/cpu{cpu}/thermal_throttle/core_throttle_count", f"{count}\n")

    def sample(self, away_s: float | None = 0.0, *, in_full: bool = True) -> Sample:
        """Write /proc as it is now, and look at it."""
        half = self.busy - self.softirq
        lines = [
            f"cpu0 {half} 0 0 5000 0 0 {self.softirq} {self.steal} 0 0",
            "cpu1 0 0 0 5000 0 0 0 0 0 0",
        ]
        if self.has_others:
            lines.append(f"cpu2 {self.busy * 7} 0 0 5000 0 0 0 {self.busy} 0 0")
        self.put("proc/stat", "\n".join(["cpu  1 2 3 4 5 6 7 8 9 10", *lines, "intr 1 2 3"]))
        self._process(10, 1, 0, self.ended, switches=3)
        self._process(11, 10, self.own, 0, switches=4)
        self._process(12, 1, self.stranger, 0, switches=5)
        return self.host.sample(away_s, in_full=in_full, by_process=self.by_process)

    @property
    def host(self) -> HostFiles:
        return HostFiles(self.root / "proc", self.root / "cpu", frozenset({0, 1}), pid=10)

    def _process(self, pid: int, parent: int, ticks: int, ended: int, switches: int) -> None:
        before = "5 5 0 -1 4194304 1 2 3 4"
        name = f"{pid} (a) (name)"
        self.put(f"proc/{pid}/stat", f"{name} S {parent} {before} {ticks} 0 {ended} 0 20 0\n")
        self.put(f"proc/{pid}/task/{pid}/status", f"nonvoluntary_ctxt_switches:\t{switches}\n")

    def children(self) -> None:
        """Let the kernel list children, as with CONFIG_PROC_CHILDREN."""
        self.put("proc/10/task/10/children", "")
        self.put("proc/10/task/20/children", "11 ")
        self.put("proc/11/task/11/children", "")


def moved(sample: Sample, seconds: float, **totals: float) -> Sample:
    """Return a sample a while later, with some totals higher."""
    higher = {name: sample.totals[name] + more for name, more in totals.items()}
    return Sample(sample.at + seconds, sample.cpus, {**sample.totals, **higher})


def a_watch(**changes: float | None) -> Watch:
    """Return ten quiet seconds on two CPUs, with changes."""
    quiet = {"steal": 0.0, "foreign": 0.001, "softirq": 0.0, "io": 0.0, "memory": 0.0}
    return Watch.model_validate({"elapsed_s": 10.0, "cpus": 2, **quiet, **changes})
