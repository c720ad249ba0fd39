"""What the contract found, in a word."""

from typing import Literal

import pytest

from arena.measure.contract import Report
from arena.record.record import Check

Status = Literal["pass", "warn", "fail"]


def report(*statuses: Status) -> Report:
    return Report(tuple(Check(check=f"c{i}", status=each) for i, each in enumerate(statuses)))


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        (("pass", "pass"), "pass"),
        (("pass", "warn", "pass"), "warn"),
        (("fail", "pass"), "fail"),
        (("warn", "fail", "warn"), "fail"),
    ],
)
def test_the_verdict_is_the_worst_of_all(statuses: tuple[Status, ...], verdict: str) -> None:
    assert report(*statuses).verdict == verdict


def test_the_first_failure_is_the_first_that_failed() -> None:
    found = report("pass", "warn", "fail", "fail").first_failure
    assert found
    assert found.check == "c2"


def test_without_a_failure_there_is_none() -> None:
    assert report("pass", "warn").first_failure is None


def test_nothing_was_measured_unless_it_is_said() -> None:
    assert report("pass").messages_per_data_frame is None
