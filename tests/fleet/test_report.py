"""What hosts hand over becomes their sections of the record, and their windows must be one."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena_fleet.clock import Offset
from arena_fleet.members import Member
from arena_fleet.report import Read, misfits, read
from arena_fleet.shares import divide
from arena_fleet.window import Part
from tests.conftest import ROOT
from tests.fleet.test_facts import host

SHARES = [ROOT / "tests" / "fixtures" / "volley" / f"share-{n}-of-3.json" for n in (1, 2, 3)]


def handed_over(
    number: int,
    folder: Path,
    change: Callable[[dict[str, Any]], None] = lambda _: None,
    offset_ns: int = 0,
) -> Read:
    """Read the real output of a share; `change` may falsify what it says of its run."""
    report = json.loads(SHARES[number - 1].read_bytes())
    change(report["volley"]["tally"]["run"])
    content = json.dumps(report).encode()
    facts = [host(name=f"g{n}", cpus=1) for n in (1, 2, 3)]
    share = divide([1, 1, 1], [None] * 3)[number - 1]
    before = Offset(offset_ns, 400_000, 800_000)
    part = Part(content, hashlib.sha256(content).hexdigest(), before, None)
    return read(Member(number, facts[number - 1], share), part, folder / f"{number}.json")


def test_a_section_says_what_the_host_counted_and_where_its_output_is(tmp_path: Path) -> None:
    found = handed_over(2, tmp_path, offset_ns=5_000_000_000)
    own = json.loads(SHARES[1].read_bytes())["volley"]
    section = found.section
    assert (section.number, section.share, section.threads) == (2, "2/3", 1)
    assert section.calls.ok == own["calls"]["ok"] > 0
    assert section.latency_ns.p99 == own["latency_ns"]["p99"]
    assert section.lateness_ns == own["tally"]["run"]["late_ns"]
    assert (section.offset_ns, section.offset_bound_ns) == (5_000_000_000, 400_000)
    assert section.offset_after_ns is None
    assert section.flags == ()
    saved = (tmp_path / section.raw.path).read_bytes()
    assert hashlib.sha256(saved).hexdigest() == section.raw.sha256
    opened_ns = own["tally"]["run"]["opened_monotonic_ns"]
    assert found.opened_ns == opened_ns - 5_000_000_000
    assert found.closed_ns - found.opened_ns == own["tally"]["run"]["window_ns"]
    assert "g2" not in section.model_dump_json()


@pytest.mark.parametrize(
    ("busy_s", "one_s", "saturated"), [(1.79, 0.0, False), (1.81, 0.0, True), (1.0, 1.81, True)]
)
def test_a_host_that_used_nine_tenths_of_its_threads_is_saturated(
    tmp_path: Path, busy_s: float, one_s: float, saturated: bool
) -> None:
    def change(run: dict[str, Any]) -> None:
        run["elapsed_ns"] = 2_000_000_000
        run["cost"] |= {"cpu_s": busy_s, "busiest_thread_s": one_s}

    assert (handed_over(1, tmp_path, change).section.flags == ("saturated",)) == saturated


def test_windows_of_one_moment_fit_whatever_the_hosts_clocks_show(tmp_path: Path) -> None:
    def at(moment_ns: int) -> Callable[[dict[str, Any]], None]:
        return lambda run: run.update(opened_monotonic_ns=moment_ns, window_ns=10**9)

    skews_ns = (0, 7_000_000_000, 123_000_000)
    near = [
        handed_over(n, tmp_path, at(10**12 + skew_ns + 2_000_000 * n), skew_ns)
        for n, skew_ns in enumerate(skews_ns, 1)
    ]
    assert list(misfits(near, close_together=True)) == []
    far = [*near[:2], handed_over(3, tmp_path, at(10**12 + 10_000_000))]
    assert list(misfits(far, close_together=True)) == [
        "generator 3 of 3 opened its window 8.0 ms after the first (limit 5 ms)",
        "generator 3 of 3 closed its window 8.0 ms after the first (limit 5 ms)",
    ]


def test_the_shares_of_a_schedule_close_with_their_last_calls(tmp_path: Path) -> None:
    def lasting(window_ns: int) -> Callable[[dict[str, Any]], None]:
        return lambda run: run.update(opened_monotonic_ns=10**12, window_ns=window_ns)

    shares = [handed_over(n, tmp_path, lasting(10**9 + 6_000_000 * n)) for n in (1, 2, 3)]
    assert list(misfits(shares, close_together=False)) == []
    assert len(list(misfits(shares, close_together=True))) == 1


def test_a_cost_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="peak_bytes"):
        handed_over(1, tmp_path, lambda run: run["cost"].update(peak_bytes=-1))


@pytest.mark.parametrize("gone", ["opened_monotonic_ns", "late_ns", "cost", "threads"])
def test_the_report_of_another_volley_is_refused(tmp_path: Path, gone: str) -> None:
    with pytest.raises(ValueError, match="not the report of a share"):
        handed_over(1, tmp_path, lambda run: run.__delitem__(gone))
