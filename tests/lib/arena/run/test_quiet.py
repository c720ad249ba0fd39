"""Waiting for a quiet host, second by second, on a clock of the test."""

from dataclasses import dataclass, field

import pytest

from arena.machine.sentinel import Limits, Sample, Sentinel
from arena.machine.sentinel.watch import Process
from arena.run.quiet import Quiet
from tests.fakes import still_sentinel


@dataclass
class Host:
    """A host with two CPUs whose steal a test sets; time passes in half seconds."""

    steal: float = 0.0
    now: float = 100.0
    stolen_s: float = 0.0
    away_s: float | None = 0.0
    foreign: float = 0.0
    used_s: float = 0.0
    cpus: frozenset[int] = frozenset({0, 1})
    said: list[str] = field(default_factory=list)

    def sample(
        self, away_s: float | None = 0.0, *, in_full: bool = True, by_process: bool = False
    ) -> Sample:
        assert not in_full
        assert not by_process
        assert away_s is not None
        totals = {"steal": self.stolen_s, "realtime": 0.0, "boottime": 0.0}
        return Sample(self.now, 2, {**totals, "busy": self.used_s, "own": 0.0})

    def strangers(self) -> dict[int, Process]:
        shares = {"updater": 0.6, "agent": 0.3, "kswapd0": 0.1, "bash": 0.0}
        return {
            pid: Process(name, 5.0 + self.used_s * share)
            for pid, (name, share) in enumerate(shares.items(), 41)
        }

    def quiet(self, at_most_s: float, sentinel: Sentinel | None = None) -> Quiet:
        limits = Limits.first("a host", is_virtual=True)
        sentinel = sentinel or Sentinel(limits, self)  # type: ignore[arg-type]
        return Quiet(
            sentinel,
            lambda: self.away_s,
            at_most_s,
            self.said.append,
            lambda: self.now,
            is_away=bool(self.away_s),
        )

    def load(self, quiet: Quiet, seconds: float) -> None:
        for _ in range(round(seconds * 2)):
            self.now += 0.5
            self.stolen_s += self.steal * 2 * 0.5
            self.used_s += self.foreign * 2 * 0.5
            quiet.tick()


@pytest.fixture
def host() -> Host:
    return Host()


def waited(host: Host, quiet: Quiet) -> float:
    while not quiet.is_over():
        host.load(quiet, 0.5)
    return quiet.waited_s


def test_a_quiet_warm_up_waits_no_more(host: Host) -> None:
    quiet = host.quiet(120)
    host.load(quiet, 10)
    assert waited(host, quiet) == 0
    assert host.said == []


def test_it_waits_until_five_seconds_in_a_row_were_quiet(host: Host) -> None:
    quiet = host.quiet(120)
    host.load(quiet, 7)
    host.steal = 0.30
    host.load(quiet, 3)
    host.steal = 0.0
    assert 4.5 <= waited(host, quiet) <= 5.5
    assert host.said == [
        "waiting for quiet: steal 30 % (limit 1 %), 0 s of at most 120 s",
        "quiet after 5 s",
    ]


def test_steal_that_has_just_begun_is_waited_for_though_the_mean_is_low(host: Host) -> None:
    quiet = host.quiet(120)
    host.load(quiet, 9)
    host.steal = 0.04
    host.load(quiet, 1)
    host.steal = 0.0
    assert 4.5 <= waited(host, quiet) <= 5.5


def test_seconds_that_were_not_seen_are_not_quiet(host: Host) -> None:
    quiet = host.quiet(120)
    host.load(quiet, 2)
    assert 3 <= waited(host, quiet) <= 4


def test_it_gives_up_in_the_end_and_says_so(host: Host) -> None:
    host.steal = 0.5
    quiet = host.quiet(70)
    host.load(quiet, 10)
    assert waited(host, quiet) == 70
    assert [line[:18] for line in host.said] == ["waiting for quiet:"] * 3 + ["not quiet within 7"]
    assert quiet.is_over()


def test_without_a_wait_the_host_is_not_looked_at(host: Host) -> None:
    host.steal = 0.5
    quiet = host.quiet(0)
    host.load(quiet, 10)
    assert quiet.is_over()
    assert quiet.waited_s == 0
    assert host.said == []


def test_a_container_that_starts_begins_the_five_seconds_anew(host: Host) -> None:
    quiet = host.quiet(120)
    host.load(quiet, 8)
    host.away_s = None
    host.load(quiet, 1)
    host.away_s = 3.0
    host.load(quiet, 3)
    assert 2 <= waited(host, quiet) <= 3


def test_a_host_that_tells_nothing_is_taken_for_quiet() -> None:
    now = [0.0]
    quiet = Quiet(still_sentinel(), lambda: 0.0, 120, lambda _: None, lambda: now[0])
    assert quiet.disturbed() is None


def test_who_uses_the_cpus_is_named(host: Host) -> None:
    host.foreign = 0.02
    quiet = host.quiet(40)
    host.load(quiet, 10)
    waited(host, quiet)
    who = "busiest: updater (41) 1.2 %, agent (42) 0.6 %, kswapd0 (43) 0.2 %"
    assert host.said[0] == (
        f"waiting for quiet: foreign CPU 2 % (limit 1 %), 0 s of at most 40 s; {who}"
    )
    assert host.said[1].endswith(f"30 s of at most 40 s; {who}")


def test_nobody_is_named_for_steal_or_while_containers_of_ours_run(host: Host) -> None:
    host.steal = 0.5
    quiet = host.quiet(5)
    host.load(quiet, 10)
    waited(host, quiet)
    host.steal, host.foreign, host.away_s = 0.0, 0.5, 3.0
    quiet = host.quiet(5)
    host.load(quiet, 10)
    waited(host, quiet)
    assert len(host.said) == 4
    assert not any("busiest" in line for line in host.said)


def test_waits_in_vain_are_counted_over_a_session_and_the_third_says_what_follows(
    host: Host,
) -> None:
    limits = Limits.first("a host", is_virtual=True)
    sentinel = Sentinel(limits, host)  # type: ignore[arg-type]
    host.foreign = 0.02
    waits = []
    for _ in range(5):
        quiet = host.quiet(sentinel.wait_s(120), sentinel)
        host.load(quiet, 10)
        waits.append(waited(host, quiet))
    assert waits == [120, 120, 120, 10, 10]
    ends = [line for line in host.said if line.startswith("not quiet")]
    assert [line.endswith("3 times: from now on, 10 s") for line in ends] == [
        False, False, True, False, False,
    ]  # fmt: skip
    host.foreign = 0.0
    quiet = host.quiet(sentinel.wait_s(120), sentinel)
    host.load(quiet, 10)
    assert waited(host, quiet) == 0
