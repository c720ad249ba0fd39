"""What is read, computed and judged."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from arena.base.errors import UsageError
from tests.conftest import ROOT
from tests.tools.bench_instructions.samples import CONDITIONS, an_outcome
from tools.bench_instructions.figures import FIGURES
from tools.bench_instructions.judging import (
    COMMITTED,
    Committed,
    Measured,
    Verdict,
    marginal,
    read_committed,
    total,
)


def test_the_total_of_a_thread_is_at_the_end_of_its_file() -> None:
    # Captured from Valgrind 3.19: its last lines.
    assert total("fn=(5340)\n0 3078\n\ntotals: 139940123\n") == 139_940_123
    with pytest.raises(ValueError, match="no totals"):
        total("desc: Trigger: Program termination\nfn=totals: 3\n")


def test_start_and_end_of_a_run_are_not_counted() -> None:
    start = 10_000_000
    assert marginal((start + 100 * 5000 * 47, start + 600 * 5000 * 47), (100, 600), 5000) == 47.0


def test_one_round_that_is_off_does_not_count() -> None:
    measured = Measured("unary call", [100.0, 101.0, 99.0, 100.0, 150.0])
    assert measured.instructions == 100.0
    assert measured.spread == pytest.approx(0.51)


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (0.97, Verdict.BELOW),
        (0.981, Verdict.SAME),
        (1.0, Verdict.SAME),
        (1.019, Verdict.SAME),
        (1.03, Verdict.ABOVE),
    ],
)
def test_two_percent_more_or_less_are_the_same(ratio: float, verdict: Verdict) -> None:
    outcome = an_outcome(ratio)
    assert {outcome.verdict(each) for each in outcome.measured} == {verdict}


@pytest.mark.parametrize("name", asdict(CONDITIONS))
def test_under_another_condition_nothing_is_judged(name: str) -> None:
    outcome = replace(an_outcome(1.03), conditions=replace(CONDITIONS, **{name: "other"}))
    assert outcome.verdict(outcome.measured[0]) is Verdict.NONE
    assert outcome.differences == f"{name} other, not {asdict(CONDITIONS)[name]}"


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "committed.json"
    committed = Committed.of(CONDITIONS, [Measured("unary call", [1847.2049])])
    file.write_text(committed.to_json())
    assert read_committed(file, ["unary call"]) == committed
    assert committed.instructions == {"unary call": 1847.2}


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        '{"schema": 2, "conditions": {}, "instructions": {}}',
        Committed(CONDITIONS, {"unary call": 1.0}).to_json(),
        Committed(CONDITIONS, {"unary call": 1.0, "burst": 1.0, "gone": 1.0}).to_json(),
    ],
)
def test_a_file_without_exactly_the_figures_of_today_is_refused(
    content: str, tmp_path: Path
) -> None:
    file = tmp_path / "committed.json"
    file.write_text(content)
    with pytest.raises(UsageError, match=r"committed\.json: .*write it with --write"):
        read_committed(file, ["unary call", "burst"])


def test_the_file_of_this_repository_has_every_figure() -> None:
    assert read_committed(ROOT / COMMITTED, [each.name for each in FIGURES])
