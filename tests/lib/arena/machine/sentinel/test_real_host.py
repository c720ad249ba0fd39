"""The sentinel on the real host: what is ours, and what is not.

Other programs may be busy meanwhile, so nothing here needs the host to be quiet. Each test asks a
process of its own, which adopts no orphans.
"""

import os
import subprocess
import sys

from tests.conftest import ROOT

_BEFORE = """
import subprocess, sys, time
from arena.machine.sentinel import HostFiles, Limits, Sentinel, judged
from tools.bench_sentinel.stranger import stranger

sentinel = Sentinel(Limits.first("here", is_virtual=True))
deadline = time.monotonic() + 60

def passed(first, name):
    return sentinel.files.sample().totals[name] - first.totals[name]
"""

_STRANGER = """
with stranger() as them:
    first = sentinel.files.sample()
    window = sentinel.window(lambda: 0.0)
    them.burst(0.0, min(sentinel.files.cpus))
    while passed(first, "busy") - passed(first, "own") < 0.5 and time.monotonic() < deadline:
        time.sleep(0.05)
    window.close()
watch = window.watch()
print(watch)
assert "foreign" in [each.signal for each in judged(watch, sentinel.limits)]
"""

_CHILD = """
first = sentinel.files.sample()
spin = "import time\\nwhile time.process_time() < 0.3: pass"
subprocess.run([sys.executable, "-c", spin], check=True)
assert passed(first, "own") > 0.25, passed(first, "own")
"""


def on_this_host(script: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'lib'}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", _BEFORE + script],
        check=False, env=environment, text=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout


def test_a_burst_of_another_process_disturbs() -> None:
    assert "foreign" in on_this_host(_STRANGER)


def test_a_child_that_worked_and_ended_is_ours() -> None:
    on_this_host(_CHILD)


_BESIDE = """
from pathlib import Path
from tools.bench_sentinel.stranger import loops_beside

own_words = Path("/proc/self/cmdline").read_bytes()

def words(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""

# Others start programs too: a loop is a copy of this process.
def loops():
    found = sentinel.files.strangers()
    return {pid: each.cpu_s for pid, each in found.items() if words(pid) == own_words}

with loops_beside(2):
    while len(first := loops()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    while not all(loops()[pid] - first[pid] >= 0.02 for pid in first):
        assert time.monotonic() < deadline, "they are not at work"
        time.sleep(0.2)
while loops() and time.monotonic() < deadline:
    time.sleep(0.05)
assert len(first) == 2 and not loops()
"""


def test_loops_beside_are_strangers_at_work_and_end_with_the_block() -> None:
    on_this_host(_BESIDE)
