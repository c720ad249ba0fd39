"""Memory of real processes and control groups: what is theirs, and never the page cache."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from arena.machine import child as child_room
from arena.machine.cgroups import Cgroup, _members, folder_of
from arena.machine.child import Child
from arena.machine.memory import (
    anonymous_bytes,
    group_anonymous_bytes,
    group_kernel_bytes,
    own_anonymous_bytes,
)
from arena.record.measurement import Memory
from tests.lib.arena.machine.children import FOREVER, wait_for

MIB = 1 << 20
HELD = 64 * MIB

# Holds anonymous memory, reads a file into the page cache, and maps it.
HOLDS = f"""
import mmap, os, time
held = bytearray(b"x") * {HELD}
file = open("file", "w+b")
file.write(b"y" * {HELD})
file.flush()
mapped = mmap.mmap(file.fileno(), {HELD})
sum(mapped[at] for at in range(0, {HELD}, 4096))
"""
WAITS = """
import os, time
print("waits", flush=True)
while not os.path.exists("go"):
    time.sleep(0.01)
"""
READY = f"""
print("ready", flush=True)
time.sleep({FOREVER})
"""

Starts = Callable[..., Child]


@pytest.fixture
def python(sh: Starts, tmp_path: Path) -> Starts:
    def start(script: str, **options: object) -> Child:
        (tmp_path / "program.py").write_text(script)
        child = sh("exec python3 program.py", **options)
        wait_for(tmp_path / "out")
        return child

    return start


@pytest.fixture(params=[True, False], ids=["grouped", "alone"])
def grouped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.param:
        monkeypatch.setattr(child_room, "own_group", lambda *_: None)


def is_near(found: int | None, size: int) -> bool:
    """An interpreter has some memory of its own."""
    return found is not None and size <= found <= size + 24 * MIB


@pytest.mark.usefixtures("grouped")
def test_a_program_holds_what_it_wrote_and_not_the_file_that_it_mapped(python: Starts) -> None:
    child = python(HOLDS + READY, is_contained=True)
    memory = child.tree_memory()
    assert memory
    assert is_near(memory.anonymous_bytes, HELD)
    assert is_near(memory.highest_bytes, HELD)
    assert is_near(child.anonymous_bytes(), HELD)
    assert memory.kernel_bytes is None
    assert child.tree_cost().peak_bytes > 2 * HELD


@pytest.mark.usefixtures("grouped")
def test_pages_that_a_tree_shares_count_once_at_the_end(python: Starts) -> None:
    child = python(f"{HOLDS}\nif not os.fork(): time.sleep({FOREVER})\n{READY}", is_contained=True)
    memory = child.tree_memory()
    assert memory
    assert is_near(memory.anonymous_bytes, HELD)
    assert is_near(memory.highest_bytes, 2 * HELD)


def test_who_is_in_a_tree_is_looked_up_once_a_second(
    python: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[None] = []
    child = python(f"import time\n{READY}")
    tree = child._tree

    def looked_up() -> list[psutil.Process]:
        looks.append(None)
        return tree()

    monkeypatch.setattr(child, "_tree", looked_up)
    for _ in range(20):
        assert child.anonymous_bytes()
    assert len(looks) == 1
    monkeypatch.setattr(child_room, "_TREE_S", 0.0)
    child.anonymous_bytes()
    assert len(looks) == 2


def test_a_process_that_has_ended_is_left_out(python: Starts) -> None:
    child = python(HOLDS + READY)
    gone = child.pid
    assert is_near(own_anonymous_bytes([gone, 1 << 30]), HELD)
    child.stop()
    assert anonymous_bytes([gone]) is None
    assert own_anonymous_bytes([gone]) is None
    assert is_near(anonymous_bytes([gone, os.getpid()]), anonymous_bytes([os.getpid()]) or 0)
    assert child.tree_memory() is None


def test_a_sample_costs_little() -> None:
    began = time.thread_time()
    for _ in range(100):
        anonymous_bytes([os.getpid()])
    assert (time.thread_time() - began) / 100 < 0.005


GROUPS = {
    "version 1": {"memory.stat": "cache 900\nrss 1\ntotal_cache 900\ntotal_rss 300\n"},
    "version 1 with kernel memory": {
        "memory.stat": "cache 900\nrss 1\ntotal_rss 300\n",
        "memory.kmem.usage_in_bytes": "40\n",
    },
    "version 2": {"memory.stat": "anon 300\nfile 900\nkernel_stack 7\n"},
    "version 2 with kernel memory": {"memory.stat": "anon 300\nfile 900\nkernel 40\n"},
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_container_has_the_anonymous_memory_of_its_group(name: str, tmp_path: Path) -> None:
    for file, text in GROUPS[name].items():
        (tmp_path / file).write_text(text)
    group = Cgroup(cpu=tmp_path, memory_peak=tmp_path / "peak", memory_now=tmp_path / "now")
    kernel = 40 if "kernel" in name else None
    assert group.anonymous_bytes() == 300
    assert group.memory() == Memory(anonymous_bytes=300, highest_bytes=300, kernel_bytes=kernel)


def test_a_group_that_does_not_say_has_no_memory(tmp_path: Path) -> None:
    group = Cgroup(cpu=tmp_path, memory_peak=tmp_path / "peak", memory_now=tmp_path / "now")
    assert group.memory() is None
    (tmp_path / "memory.stat").write_text("anon 0\n")
    assert group.memory() == Memory(anonymous_bytes=0, highest_bytes=0)


@pytest.fixture
def group() -> Iterator[Path]:
    """Make a control group that counts memory; skip if this host lets us make none."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    members = _members(Path("/proc/self/cgroup").read_text())
    paths = {name: path for controllers, path in members for name in controllers}
    name = "memory" if "memory" in paths else ""
    home = folder_of(mounts, name, paths.get(name))
    if home is None or not os.access(home, os.W_OK):
        pytest.skip("this host lets no control group be made")
    folder = home / f"test-{os.getpid()}"
    folder.mkdir()
    yield folder
    folder.rmdir()


def test_a_real_group_counts_no_page_cache(group: Path, python: Starts, tmp_path: Path) -> None:
    if not (group / "memory.stat").exists():
        pytest.skip("the group does not count memory")
    child = python(f"{WAITS}{HOLDS}print('done', file=open('done', 'w'), flush=True){READY}")
    (group / "cgroup.procs").write_text(str(child.pid))
    (tmp_path / "go").write_text("")
    wait_for(tmp_path / "done")
    files = ("memory.usage_in_bytes", "memory.current")
    now = next(each for name in files if (each := group / name).exists())
    assert int(now.read_text()) > 2 * HELD
    assert is_near(group_anonymous_bytes(group), HELD)
    kernel = group_kernel_bytes(group)
    assert kernel is None or 0 < kernel < HELD
    child.stop()
