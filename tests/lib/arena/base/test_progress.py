"""What a person sees while a session runs."""

import sys

import pytest

from arena.base.progress import PlainProgress, Progress, TerminalProgress, progress

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
