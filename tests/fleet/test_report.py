"""What hosts hand over becomes their sections of the record, and their windows must be one."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.judge.flags import is_saturated
from arena.record.measurement import GeneratorHost
from arena_fleet.agent import ShareReport
from arena_fleet.facts import Offset, divide
from arena_fleet.fleet import Member
from arena_fleet.generator import misfits, section_of
from arena_fleet.window import Part
from tests.fleet.conftest import SHARES
from tests.fleet.test_facts import host


def handed_over(
    number: int,
    folder: Path,
    change: Callable[[dict[str, Any]], None] = lambda _: None,
    offset_ns: int = 0,
) -> Part:
    """Read the real output of a share; `change` may falsify what it says of its run."""
    report = json.loads(SHARES[number - 1].read_bytes())
    change(report["volley"]["tally"]["run"])
    raw, content = folder / f"{number}.json", json.dumps(report).encode()
    raw.write_bytes(content)
    before = Offset(offset_ns, 400_000, 800_000)
    return Part(content, hashlib.sha256(content).hexdigest(), ShareReport.read(raw), before, None)


def section(number: int, part: Part) -> GeneratorHost:
    share = divide([1, 1, 1], [None] * 3)[number - 1]
    return section_of(Member(number, 3, host(name=f"g{number}", cpus=1), share), part, Path("x"))


def test_a_section_says_what_the_host_counted_and_where_its_output_is(tmp_path: Path) -> None:
    part = handed_over(2, tmp_path, offset_ns=5_000_000_000)
    own, found = json.loads(SHARES[1].read_bytes())["volley"], section(2, part)
    assert (found.number, found.share, found.threads) == (2, "2/3", 1)
    assert found.calls.ok == own["calls"]["ok"] > 0
    assert found.latency_ns.p99 == own["latency_ns"]["p99"]
    assert found.lateness_ns == own["tally"]["run"]["late_ns"]
    assert (found.offset_ns, found.offset_bound_ns) == (5_000_000_000, 400_000)
    assert found.offset_after_ns is None
    assert not is_saturated(found)
    assert found.raw.sha256 == part.sha256
    assert part.told.opened_ns == own["tally"]["run"]["opened_monotonic_ns"]
    assert part.told.window_ns == own["tally"]["run"]["window_ns"]
    assert "g2" not in found.model_dump_json()
    assert ShareReport.model_validate(part.told.model_dump(mode="json")) == part.told


@pytest.mark.parametrize(
    ("busy_s", "one_s", "saturated"), [(1.79, 0.0, False), (1.81, 0.0, True), (1.0, 1.81, True)]
)
def test_a_host_that_used_nine_tenths_of_its_threads_is_saturated(
    tmp_path: Path, busy_s: float, one_s: float, saturated: bool
) -> None:
    def change(run: dict[str, Any]) -> None:
        run["elapsed_ns"] = 2_000_000_000
        run["cost"] |= {"cpu_s": busy_s, "busiest_thread_s": one_s}

    assert is_saturated(section(1, handed_over(1, tmp_path, change))) == saturated


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
