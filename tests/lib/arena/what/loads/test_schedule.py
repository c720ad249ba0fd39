"""Load schedules: how many calls are due when, by hand."""

from typing import Any

import pytest
from pydantic import ValidationError

from arena.what.loads.schedule import SECOND_NS, Schedule


def due(schedule: Schedule, *seconds: float) -> list[int]:
    return list(schedule.due_before(round(each * SECOND_NS) for each in seconds))


def rates(schedule: Schedule, *seconds: int) -> list[int]:
    """Return how many calls are due in the second that begins at each moment."""
    return [after - before for at in seconds for before, after in [due(schedule, at, at + 1)]]


CONST = Schedule(shape="const", rps=200)
STEP_UP = Schedule(shape="step", start=50, step=10, step_duration_s=5, end=150)
STEP_DOWN = Schedule(shape="step", start=200, step=-10, step_duration_s=5, max_duration_s=40)
LINE_UP = Schedule(shape="line", start=5, step=5)
LINE_DOWN = Schedule(shape="line", start=200, step=-2, end=100)


def test_a_constant_rate_has_its_first_call_at_once() -> None:
    assert due(CONST, 0, 1e-9, 0.005, 0.005001, 1, 50) == [0, 1, 1, 2, 200, 10_000]


@pytest.mark.parametrize(
    ("schedule", "seconds", "expected"),
    [
        (STEP_UP, (0, 4, 5, 49, 50, 1000), [50, 50, 60, 140, 150, 150]),
        # Held where the longest time finds it, although it has no end.
        (STEP_DOWN, (0, 4, 5, 39, 40, 1000), [200, 200, 190, 130, 120, 120]),
        (LINE_UP, (0, 1, 2, 99, 1000), [5, 10, 15, 500, 5005]),
        (LINE_DOWN, (0, 1, 49, 50, 1000), [200, 198, 102, 100, 100]),
        # The last step is cut short rather than going past the end.
        (Schedule(shape="line", start=50, step=30, end=100), (0, 1, 2, 3), [50, 80, 100, 100]),
        # A descent without an end stops at 0.
        (Schedule(shape="line", start=20, step=-15), (0, 1, 2, 9), [20, 5, 0, 0]),
    ],
)
def test_the_rate_changes_in_steps_and_is_held_then(
    schedule: Schedule, seconds: tuple[int, ...], expected: list[int]
) -> None:
    assert rates(schedule, *seconds) == expected


def test_a_longest_time_in_the_middle_of_a_step_holds_that_steps_rate() -> None:
    schedule = Schedule(shape="step", start=20, step=10, step_duration_s=2, max_duration_s=3)
    assert rates(schedule, 0, 1, 2, 3, 4, 50) == [20, 20, 30, 30, 30, 30]


@pytest.mark.parametrize(
    ("schedule", "calls", "last_s"),
    [
        (CONST, 1, 0.0),
        (CONST, 10_000, 49.995),
        # 4,750 calls in 50 s of steps, the other 5,250 at 150 a second.
        (STEP_UP, 10_000, 50 + 5249 / 150),
        (STEP_DOWN, 10_000, 40 + 3399 / 120),
        (LINE_UP, 15, 1.9),
        (LINE_DOWN, 201, 1.0),
    ],
)
def test_the_last_call_is_due_when_the_area_below_the_rate_reaches_it(
    schedule: Schedule, calls: int, last_s: float
) -> None:
    assert schedule.length_ns(calls) == int(last_s * SECOND_NS)
    # A moment later it is counted, and none after it.
    assert list(schedule.due_before([int(last_s * SECOND_NS) + 1])) == [calls]


def test_a_descent_to_nothing_never_sends_more() -> None:
    schedule = Schedule(shape="line", start=20, step=-15)
    assert schedule.length_ns(25) == 1_800_000_000
    assert schedule.length_ns(26) is None
    assert list(schedule.due_before([10**15])) == [25]


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"shape": "const"}, ("rps", "is missing")),
        ({"shape": "const", "rps": None}, ("rps", "is missing")),
        ({"shape": "line", "start": 5, "step": None}, ("step", "is missing")),
        (
            {"shape": "line", "start": 5, "step": 5, "end": 9, "max_duration_s": 1.0},
            ("max_duration", "write either this or end"),
        ),
        ({"shape": "const", "rps": 5, "start": 5}, ("start", "is not for a const schedule")),
        ({"shape": "line", "start": 5, "step": 5, "rps": 5}, ("rps", "is not for a line")),
        ({"shape": "line", "start": 5}, ("step", "is missing")),
        ({"shape": "step", "start": 5, "step": 5}, ("step_duration", "is missing")),
        (
            {"shape": "line", "start": 5, "step": 5, "step_duration_s": 1.0},
            ("step_duration", "is not for a line"),
        ),
        ({"shape": "line", "start": 5, "step": 0}, ("step", "is 0, so the rate never changes")),
        ({"shape": "line", "start": 5, "step": 5, "end": 4}, ("end", "is on the wrong side")),
        ({"shape": "line", "start": 5, "step": -5, "end": 9}, ("end", "is on the wrong side")),
        ({"shape": "line", "start": 5, "step": 5, "end": 5}, ("end", "is on the wrong side")),
    ],
)
def test_what_is_no_schedule_says_which_key_is_wrong(
    keys: dict[str, Any], problem: tuple[str, str]
) -> None:
    found = Schedule(**keys).problem()
    assert found
    assert found[0] == problem[0]
    assert found[1].startswith(problem[1])


@pytest.mark.parametrize("schedule", [CONST, STEP_UP, STEP_DOWN, LINE_UP, LINE_DOWN])
def test_the_classic_schedules_are_schedules(schedule: Schedule) -> None:
    assert schedule.problem() is None


@pytest.mark.parametrize("key", ["rps", "start", "end"])
def test_a_rate_of_nothing_is_refused(key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        Schedule.model_validate({"shape": "line", key: 0})
