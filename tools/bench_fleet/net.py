"""Hosts of a fleet as network namespaces on one bridge, each with a worker. Needs root."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import psutil

ROOT = Path(__file__).resolve().parents[2]
PLAYED = Path(__file__).with_name("played.py")
BRIDGE = "arfleet"
NETWORK = "10.77.77"
SERVER = f"{NETWORK}.1"
PORT = 18786
ADDRESS = f"tls://{SERVER}:{PORT}"

# How far the monotonic clocks of the first four hosts are from the machine's own.
SKEWS_NS = (0, 5_000_000_000, -50_000_000, 123_000_000)

# Where a volley notes its starts.
NOTES = "starts"

_START_S = 30.0


def why_not() -> str:
    """Return why this machine cannot play hosts; empty if it can."""
    if os.geteuid() != 0:
        return "needs root, for network and time namespaces"
    if not Path("/proc/self/timens_offsets").exists():
        return "the kernel has no time namespaces"
    done = subprocess.run(
        ["ip", "netns", "list"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return "ip netns does not work" if done.returncode else ""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, stdout=subprocess.DEVNULL)


@dataclass
class Played:
    """A host that is played: its number from 1, its clock, its boot id, and its worker."""

    number: int
    offset_ns: int
    folder: Path
    boot_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def name(self) -> str:
        """Its name in the fleet."""
        return f"g{self.number}"

    @property
    def space(self) -> str:
        """Its network namespace."""
        return f"{BRIDGE}-{self.name}"

    @property
    def log(self) -> Path:
        """What its worker says."""
        return self.folder / f"{self.name}.log"

    def start(
        self,
        *options: str,
        environment: Mapping[str, str] = MappingProxyType({}),
        prefix: Sequence[str] = (),
        command: Sequence[str | Path] = (ROOT / "scripts" / "fleet.sh",),
    ) -> None:
        """Start its worker, behind the words of another command if there are any.

        `command` is fleet.sh, or what runs its commands in another checkout.
        """
        words = ["--fleet", ADDRESS, "--interface", "eth0", "--name", self.name, *options]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    "ip", "netns", "exec", self.space,
                    sys.executable, PLAYED, str(self.offset_ns), self.boot_id,
                    *prefix, *command, "worker", *words,
                ],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, **environment},
            )  # fmt: skip

    def tree(self) -> list[psutil.Process]:
        """Return its processes: the worker, and volley below it."""
        if self.process is None:
            return []
        with suppress(psutil.Error):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def worker(self) -> psutil.Process:
        """Return its worker."""
        for each in self.tree():
            with suppress(psutil.Error):
                if "fleet" in each.cmdline() and each.cmdline()[1].endswith("/lib"):
                    return each
        raise LookupError(f"{self.name} has no worker")

    def kill(self) -> None:
        """Kill the worker, as a host does that loses its power."""
        with suppress(LookupError, psutil.Error):
            self.worker().kill()
        if self.process:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(5)

    def pause(self) -> None:
        """Stop the worker, which stays connected."""
        self.worker().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused worker go on."""
        with suppress(LookupError, psutil.Error):
            self.worker().send_signal(signal.SIGCONT)

    def cut(self, *, is_cut: bool) -> None:
        """Cut its link, or join it again."""
        _ip("link", "set", f"{BRIDGE}-{self.number}", "down" if is_cut else "up")

    def end(self) -> None:
        """End all of it."""
        self.resume()
        if self.process:
            for each in self.tree():
                with suppress(psutil.Error):
                    each.kill()
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def hosts(count: int, folder: Path, skews_ns: Sequence[int] = SKEWS_NS) -> Iterator[list[Played]]:
    """Make namespaces on a bridge for the block. The machine itself is SERVER."""
    with ExitStack() as stack:
        _remove(count)
        stack.callback(_remove, count)
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("addr", "add", f"{SERVER}/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")
        _let_hosts_talk(stack)
        played = [
            Played(number, skews_ns[(number - 1) % len(skews_ns)], folder)
            for number in range(1, count + 1)
        ]
        for each in played:
            outer, inner = f"{BRIDGE}-{each.number}", f"{BRIDGE}-{each.number}i"
            _ip("netns", "add", each.space)
            _ip("link", "add", outer, "type", "veth", "peer", "name", inner)
            _ip("link", "set", inner, "netns", each.space)
            _ip("link", "set", outer, "master", BRIDGE, "up")
            _ip("-n", each.space, "link", "set", inner, "name", "eth0")
            where = f"{NETWORK}.{10 + each.number}/24"
            _ip("-n", each.space, "addr", "add", where, "dev", "eth0")
            _ip("-n", each.space, "link", "set", "eth0", "up")
            _ip("-n", each.space, "link", "set", "lo", "up")
            stack.callback(each.end)
        yield played


def _let_hosts_talk(stack: ExitStack) -> None:
    """Let hosts reach each other: where Docker runs, the firewall sees bridges, and drops all."""
    if not shutil.which("iptables"):
        return
    rule = ["FORWARD", "-i", BRIDGE, "-o", BRIDGE, "-j", "ACCEPT"]
    subprocess.run(["iptables", "-w", "-I", *rule], check=False, stderr=subprocess.DEVNULL)
    remove = ["iptables", "-w", "-D", *rule]
    stack.callback(subprocess.run, remove, check=False, stderr=subprocess.DEVNULL)


def _remove(count: int) -> None:
    for number in range(1, count + 1):
        for words in (
            ["netns", "del", f"{BRIDGE}-g{number}"],
            ["link", "del", f"{BRIDGE}-{number}"],
        ):
            subprocess.run(["ip", *words], check=False, stderr=subprocess.DEVNULL)
    subprocess.run(["ip", "link", "del", BRIDGE], check=False, stderr=subprocess.DEVNULL)


@dataclass
class Coordinator:
    """The coordinator on this machine."""

    folder: Path
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start it, with certificates made if need be."""
        fleet = ROOT / "scripts" / "fleet.sh"
        subprocess.run([fleet, "ca"], check=True, stdout=subprocess.DEVNULL)
        with (self.folder / "coordinator.log").open("ab") as log:
            self.process = subprocess.Popen(
                [fleet, "coordinator", "--interface", BRIDGE, "--port", str(PORT)],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """Kill it."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def fleet(count: int, folder: Path, skews_ns: Sequence[int] = SKEWS_NS) -> Iterator["Rig"]:
    """Make hosts with workers and their coordinator for the block."""
    with idle_hosts(count, folder, skews_ns) as rig:
        for each in rig.hosts:
            each.start("--cpus", "1")
        rig.await_workers()
        yield rig


@contextmanager
def idle_hosts(count: int, folder: Path, skews_ns: Sequence[int] = SKEWS_NS) -> Iterator["Rig"]:
    """Make hosts and a coordinator for the block, and no workers yet."""
    with hosts(count, folder, skews_ns) as played, ExitStack() as stack:
        rig = Rig(Coordinator(folder), played)
        stack.callback(rig.coordinator.kill)
        rig.coordinator.start()
        yield rig


@dataclass
class Rig:
    """A coordinator and hosts."""

    coordinator: Coordinator
    hosts: list[Played]

    def await_workers(self) -> None:
        """Wait until each worker has said that it is in the fleet."""
        deadline = time.monotonic() + _START_S
        for each in self.hosts:
            while "in the fleet" not in each.log.read_text():
                if time.monotonic() > deadline or (
                    each.process and each.process.poll() is not None
                ):
                    raise TimeoutError(f"{each.name} did not come: {each.log.read_text()[-500:]}")
                time.sleep(0.05)

    def restart(self, host: Played, *, wait: bool = True) -> None:
        """Start a host's worker again."""
        host.end()
        host.log.unlink()
        host.start("--cpus", "1")
        if wait:
            self.await_workers()


def volleys() -> list[psutil.Process]:
    """Return every volley that makes a share of a load to SERVER."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = process.cmdline()
            if "--share" in words and words and any(SERVER in each for each in words):
                found.append(process)
    return found


def noting(volley: Path, folder: Path) -> Path:
    """Return a volley that notes each of its starts in NOTES, in `folder`."""
    path = folder / "volley"
    path.write_text(f'#!/bin/bash\necho "$*" >>"{folder}/{NOTES}"\nexec "{volley}" "$@"\n')
    path.chmod(0o755)
    return path


@contextmanager
def server(volley: str, port: int, folder: Path) -> Iterator["Counting"]:
    """Run `volley serve` on SERVER for the block."""
    out = folder / "server.out"
    with out.open("wb") as file:
        process = subprocess.Popen(
            [volley, "serve", "--listen", f"{SERVER}:{port}", "--threads", "1"],
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    try:
        time.sleep(0.3)
        yield Counting(process, out)
    finally:
        process.terminate()
        process.wait()


@dataclass
class Counting:
    """A server that prints what it has counted when it is asked."""

    process: "subprocess.Popen[bytes]"
    out: Path

    def counts(self) -> dict[str, int]:
        """Return its counts so far."""
        before = self.out.read_text().count("\n")
        self.process.send_signal(signal.SIGUSR1)
        while (text := self.out.read_text()).count("\n") == before:
            time.sleep(0.01)
        found: dict[str, int] = json.loads(text.splitlines()[-1])
        return found
