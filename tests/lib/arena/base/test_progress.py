"""What a person sees while a session runs, and how often frequent events trigger work."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

import pytest

from arena.base import progress as module
from arena.base.errors import HostError
from arena.base.progress import PlainProgress, Progress, TerminalProgress, Throttle, progress

BOTH = pytest.mark.parametrize("kind", [PlainProgress, TerminalProgress])


def test_in_a_pipe_there_are_plain_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    shows = progress()
    shows.say("one\ntwo")
    with shows.waiting("build grpc-go"):
        pass
    with shows.window("run 1 of 3", 2.5) as tick:
        tick(1.0)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["one", "two", "build grpc-go …", "run 1 of 3 (2.5 s) …"]


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert isinstance(progress(), TerminalProgress)


@BOTH
def test_control_characters_are_made_harmless(
    kind: type[Progress], capsys: pytest.CaptureFixture[str]
) -> None:
    shows = kind()
    hostile = "\x1b]0;owned\x07[red]text[/red]\r"
    shows.say(hostile)
    with shows.waiting(hostile), shows.window(hostile, 1.0) as tick:
        tick(0.5)
    out, err = capsys.readouterr()
    assert out == ""
    assert "�]0;owned�[red]text[/red]" in err
    assert not {"\x1b]", "\x07"} & {err[i : i + n] for i in range(len(err)) for n in (1, 2)}


@BOTH
def test_a_failure_passes_through(kind: type[Progress]) -> None:
    with pytest.raises(ZeroDivisionError), kind().waiting("x"):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), kind().window("x", 1.0):
        raise ZeroDivisionError


@BOTH
def test_a_step_that_takes_long_says_how_long(
    kind: type[Progress], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    shows = kind()
    with shows.waiting("build ghz"):
        with shows.waiting("build grpc-go"):
            now_s += 41
        now_s += 21
    with shows.waiting("start"):
        now_s += 1
    lines = [line.rpartition("\x1b[K")[2] for line in capsys.readouterr().err.split("\n")]
    said = [line for line in lines if line and "…" not in line]
    assert said[:2] == ["build grpc-go: 41 s", "build ghz: 62 s"]
    assert said[2:] in ([], ["start"])


def test_a_terminal_shows_in_one_line_all_that_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    width, now_s = 80, 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    monkeypatch.setattr(module, "_REDRAWN_S", 3600)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((width, 24)))
    monkeypatch.setattr(sys.stderr, "fileno", lambda: 2)

    def last() -> str:
        return capsys.readouterr().err.rpartition("\r\x1b[K")[2]

    shows = TerminalProgress()
    with shows.waiting("build ghz"), shows.waiting("build grpc-go"):
        assert last() == "build ghz … 0 s · build grpc-go … 0 s"
        now_s += 2
        shows.say("note: it is slow")
        assert last() == "note: it is slow\nbuild ghz … 2 s · build grpc-go … 2 s"
        width = 20
        shows.say("")
        assert last() == "build ghz … 2 s · …"
    with shows.window("run 1 of 3", 5) as tick:
        tick(2.5)
        width = 0  # of a terminal that does not know it
        shows.say("note")
        assert last() == f"note\nrun 1 of 3 {'━' * 15}{'─' * 15} 2 s left"
    assert last() == ""


def test_a_line_that_nothing_can_draw_anew_is_taken_back(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", cannot)
    shows = TerminalProgress()
    with pytest.raises(RuntimeError, match="new thread"), shows.waiting("build ghz"):
        pass
    capsys.readouterr()
    shows.say("note")
    assert capsys.readouterr().err == "note\n"


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
