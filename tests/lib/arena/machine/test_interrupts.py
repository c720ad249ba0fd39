"""Signals, which a process of its own sends to itself."""

import subprocess
import sys
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parents[4] / "lib"

BEGIN = """
import os, signal
{before}
from arena.machine import interrupts
from arena.machine.interrupts import held, install, released
install()
def get(name):
    os.kill(os.getpid(), getattr(signal, name))
try:
"""


def said_by(script: str, before: str = "") -> list[str]:
    """Run the script inside a `try` that is left by KeyboardInterrupt; return what it printed."""
    body = "\n".join(f"    {line}" for line in script.strip().splitlines())
    end = "except KeyboardInterrupt:\n    print('interrupted')"
    done = subprocess.run(
        [sys.executable, "-c", f"{BEGIN.format(before=before)}{body}\n{end}"],
        env={"PYTHONPATH": str(LIB), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_the_first_signal_interrupts_and_the_next_ones_leave_the_clean_up_alone(name: str) -> None:
    script = f"""
try:
    get('{name}')
    print('unreachable')
finally:
    get('SIGINT')
    with held():
        get('SIGTERM')
    print('clean')
"""
    assert said_by(script) == ["clean", "interrupted"]


def test_a_signal_waits_until_the_block_is_left() -> None:
    script = """
with held():
    get('SIGTERM')
    get('SIGINT')
    print('the pair is complete')
print('unreachable')
"""
    assert said_by(script) == ["the pair is complete", "interrupted"]


def test_blocks_may_lie_in_one_another() -> None:
    script = """
with held():
    with held():
        get('SIGINT')
    print('inner left')
print('unreachable')
"""
    assert said_by(script) == ["inner left", "interrupted"]


@pytest.mark.parametrize(
    "inside", ["get('SIGINT')", "with released():\n        get('SIGINT')\n        print('no')"]
)
def test_a_released_part_of_a_held_block_can_be_interrupted(inside: str) -> None:
    script = f"""
with held():
    {inside}
    with released():
        print('no')
    print('no')
"""
    assert said_by(script) == ["interrupted"]


def test_a_block_that_fails_lets_go_of_its_signal_too() -> None:
    script = """
with held():
    get('SIGINT')
    raise ValueError
"""
    assert said_by(script) == ["interrupted"]


def test_under_nohup_a_closed_terminal_is_still_ignored() -> None:
    script = """
get('SIGHUP')
print('goes on')
get('SIGINT')
print('unreachable')
"""
    nohup = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    assert said_by(script, nohup) == ["goes on", "interrupted"]


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, ["first", "ignored"]), (9, ["first", "ignored"]), (11, ["first"])]
)
def test_only_a_much_later_signal_is_heard_again(seconds: int, said: list[str]) -> None:
    script = f"""
clock = [1000.0]
interrupts.time = type('Clock', (), {{'monotonic': staticmethod(lambda: clock[0])}})
try:
    get('SIGINT')
except KeyboardInterrupt:
    print('first')
clock[0] += {seconds}
get('SIGTERM')
print('ignored')
"""
    heard = ["interrupted"] if said == ["first"] else []
    assert said_by(script) == said + heard
