"""How urgent another session is."""

import pytest

from arena.judge.entry import entry_of
from arena.night.history import due_s
from arena.record.record import Record
from tests.fakes import a_record, at


def due(record: Record, minute: int) -> float:
    """Return how urgent a session is, so many minutes into the day of its newest record."""
    return due_s(entry_of(record, "0" * 64), at(minute))


def test_what_is_due_is_the_age_times_the_uncertainty() -> None:
    sure, unsure = a_record("a", 1e6, 1e6, 1e6), a_record("a", 1e6, 1.5e6, 2e6)
    entry = entry_of(unsure, "0" * 64)
    assert entry.value
    assert entry.low is not None
    assert entry.high is not None
    width = (entry.high - entry.low) / entry.value
    assert due(sure, 10) == pytest.approx(600 * 0.02)
    assert due(sure, 20) == 2 * due(sure, 10)
    assert due(unsure, 10) == pytest.approx(600 * (0.02 + width))


def test_a_failed_record_counts_as_an_interval_of_a_tenth() -> None:
    assert due(a_record("a", failure="it fell"), 10) == pytest.approx(600 * 0.12)
