"""Waiting for a quiet host before a turn of a bench."""

import threading
import time

import pytest

from arena.run import quiet as waiting
from tests.fakes import FakeProgress, still_sentinel
from tools import quiet


def test_it_keeps_the_cpus_busy_until_they_were_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "NEEDED_S", 0.2)
    monkeypatch.setattr(waiting, "BETWEEN_S", 0.05)
    before, threads = time.process_time(), threading.active_count()
    waited_s = quiet.until_quiet(still_sentinel(), 60.0, FakeProgress())
    assert 0.2 <= waited_s < 60
    assert time.process_time() > before
    assert threading.active_count() == threads


def test_it_can_be_told_not_to_wait() -> None:
    assert quiet.until_quiet(still_sentinel(), 0.0, FakeProgress()) == 0
