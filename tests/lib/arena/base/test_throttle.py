"""Work that follows many events: how often it is done, and that none is forgotten."""

from collections.abc import Sequence
from contextlib import suppress

import pytest

from arena.base.errors import HostError
from arena.base.throttle import Throttle

EVERY_S = 60.0


def calls_at(events_s: Sequence[float], end_s: float, error: BaseException | None) -> list[float]:
    """Return when the work was done, which takes 10 s each time; the block begins at 0."""
    now_s, done = 0.0, []

    def work() -> None:
        nonlocal now_s
        done.append(now_s)
        now_s += 10.0

    with suppress(BaseException), Throttle(work, EVERY_S, lambda: now_s) as throttle:
        for event_s in events_s:
            now_s = event_s
            throttle.ask()
        now_s = end_s
        if error:
            raise error
    return done


@pytest.mark.parametrize(
    ("events_s", "expected"),
    [
        ([], []),
        ([5.0], [99.0]),
        ([5.0, 59.0], [99.0]),
        ([60.0], [60.0]),
        # The next one may be begun 60 s after the end of the last.
        ([60.0, 129.0], [60.0, 99.0]),
        ([60.0, 130.0], [60.0, 130.0]),
        ([60.0, 130.0, 140.0, 150.0], [60.0, 130.0, 99.0]),
    ],
)
@pytest.mark.parametrize("error", [None, HostError("port 8080 is taken")])
def test_it_is_done_at_most_once_in_a_while_and_at_the_end_if_anything_is_new(
    events_s: list[float], expected: list[float], error: BaseException | None
) -> None:
    assert calls_at(events_s, 99.0, error) == expected


def test_an_interrupt_is_not_kept_waiting() -> None:
    assert calls_at([60.0, 61.0], 99.0, KeyboardInterrupt()) == [60.0]
