"""Reading what people wrote, and writing what must not be lost."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.base import reading, text, writing
from arena.base.errors import HostError, UsageError
from arena.base.model import Frozen, validated
from arena.base.reading import read_json, read_yaml
from arena.base.workspace import Workspace


class Noun(Frozen):
    name: str
    count: int = 0


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("read", "content", "said"),
    [
        (read_yaml, b"a: [1", "x: line 1: "),
        (read_yaml, b"a: 1\nb: : 2\n", "x: line 2: "),
        (read_yaml, b"a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", "x: line 5: the key `c` is there twice"),
        (read_yaml, b"a: 1\n'a': 1\n", "x: line 2: the key `a` is there twice"),
        (read_yaml, b"a: [{b: 1, b: 1}]", "x: line 1: the key `b` is there twice"),
        (read_yaml, b"a: 1\nb: 0100\n", "x: line 2: `0100` is no clear number"),
        (read_yaml, b"a: -1:00\n", "x: line 1: `-1:00` is no clear number"),
        (read_yaml, b"a: [1:30:00]\n", "x: line 1: `1:30:00` is no clear number"),
        (read_json, b'{"a": {"b": 1, "b": 1}}', "x: the key `b` is there twice"),
        (read_yaml, b"- a\n", "must be a mapping"),
        (read_yaml, b"1: a\n", "must be a mapping"),
        (read_yaml, b"", "must be a mapping"),
        (read_yaml, b"a: \xff", "x: is not UTF-8"),
        (read_yaml, b"a: !!python/object/apply:os.system [true]", "could not determine"),
        (read_yaml, b"[" * 2000, "nested too deeply"),
        (read_yaml, b"#" * (2 << 20), "larger than 1 MiB"),
        (read_json, b'{"a": 1,\n}', "x: line 2: "),
        (read_json, b"[]", "must be a mapping"),
        (read_json, b"", "x: line 1: "),
        (read_json, b"[" * 500_000, "nested too deeply"),
        (read_json, b'{"a": ' + b"1" * 5000 + b"}", "x: "),
    ],
)
def test_a_broken_file_is_refused_in_one_line_that_names_it(
    tmp_path: Path, read: Callable[[Path], Any], content: bytes, said: str
) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read(tmp_path / "x")
    assert str(caught.value).startswith("x: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named_relative_to_where_we_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^gone\.yaml: cannot be read \(No such file"):
        read_yaml(tmp_path / "gone.yaml")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "x: name: Field required"),
        ({"name": "a", "count": "many"}, "x: count: Input should be a valid integer"),
        ({"name": "a", "cuont": 1}, "x: cuont: unknown key (did you mean count?)"),
        # Only what a person may write is offered.
        ({"name": "a", "nane": 1}, "x: nane: unknown key (there are: count)"),
        ({"name": "a" * 5, "count": "z" * 500}, "not 'zzz"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(
    tmp_path: Path, data: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        validated(Noun, data, tmp_path / "x", ["count"])
    assert said in str(caught.value)
    assert len(str(caught.value)) < 250


def test_an_unknown_key_is_named_before_the_one_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^x: nmae: unknown key \(did you mean name\?\)$"):
        validated(Noun, {"count": "many", "nmae": "a"}, tmp_path / "x", ["name", "count"])


def test_a_noun_cannot_be_changed() -> None:
    noun = Noun(name="a")
    with pytest.raises(ValueError, match="frozen"):
        noun.name = "b"  # type: ignore[misc]


def test_replacing_a_file_leaves_nothing_else_behind(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    writing.write_atomic(path, "old")
    writing.write_atomic(path, "new ü")
    assert path.read_text() == "new ü"
    assert [each.name for each in path.parent.iterdir()] == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_new_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "file"
    writing.write_new(path, "first")
    with pytest.raises(HostError, match="File exists"):
        writing.write_new(path, "second")
    assert path.read_text() == "first"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_where_hard_links_are_refused_a_new_file_still_replaces_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    test_a_new_file_never_takes_the_place_of_another(tmp_path)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_a_full_disk_leaves_the_old_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    writing.write_atomic(path, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HostError, match=r"file: cannot be written \(No space left"):
        writing.write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_takes_no_file_is_said_with_the_reason() -> None:
    said = r"^/proc/self/task: cannot be written \(.+\)$"
    with pytest.raises(HostError, match=said), writing.locked(Path("/proc/self/task")):
        pytest.fail("it is locked")


def test_a_folder_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match="cannot be written"):
        writing.write_atomic(tmp_path / "file" / "below", "text")


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert reading.sha256_of(tmp_path / "x").startswith("ba7816bf8f01cfea")


def test_the_tail_of_a_log_is_its_last_lines_that_say_something(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {i}\n\n" for i in range(9000)) + "\x1b[31mred\x1b[0m\r\n")
    assert reading.tail(log, 3).splitlines() == ["line 8998", "line 8999", "red"]


GO = """bye
panic: runtime error: index out of range [5] with length 0

goroutine 1 [running]:
"""
GO_AGAIN = """panic: first [recovered]
\tpanic: second

goroutine 1 [running]:
main.again()
\t/x/main.go:6 +0x35
panic({0x46b1e0?, 0x4b6a68?})
\t/usr/local/go/src/runtime/panic.go:860 +0x13a
"""
RUST = """
thread 'main' (4236) panicked at r.rs:1:51:
index out of bounds: the len is 2 but the index is 99
stack backtrace:
"""
STACK = [f"  frame {number} of main.deep at /home/me/main.go" for number in range(1000)]


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (GO, ["panic: runtime error: index out of range [5] with length 0"]),
        (GO_AGAIN, ["panic: first [recovered]"]),
        ("fatal error: concurrent map writes\n", ["fatal error: concurrent map writes"]),
        (RUST, RUST.strip().splitlines()[:2]),
        (RUST.replace(" (4236)", ""), RUST.replace(" (4236)", "").strip().splitlines()[:2]),
        ("Traceback (most recent call last):\n", ["Traceback (most recent call last):", STACK[0]]),
        ("Unhandled exception. System.Oh: no\n", ["Unhandled exception. System.Oh: no"]),
        ("listening, and never to panic: ever\n", []),
    ],
)
def test_before_a_long_stack_the_tail_says_what_happened(
    tmp_path: Path, log: str, said: list[str]
) -> None:
    (tmp_path / "log").write_text(log + "\n".join(STACK))
    found = reading.tail(tmp_path / "log", 3).splitlines()
    assert found == said + STACK[-3:]


def test_what_happened_is_not_said_twice(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("listening\n" + GO)
    assert reading.tail(tmp_path / "log", 4).count("panic") == 1


def test_without_a_log_the_tail_is_empty(tmp_path: Path) -> None:
    assert reading.tail(tmp_path / "none") == ""


def test_a_long_log_keeps_both_of_its_ends_and_says_what_it_lost(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"begin" + b"-" * 2000 + b"end")
    writing.shorten(log, kept=5)
    assert log.read_text() == "begin\n[… 1,998 bytes are left out here …]\n--end"


@pytest.mark.parametrize("content", [b"", b"begin--end"])
def test_a_short_log_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "log"
    log.write_bytes(content)
    writing.shorten(log, kept=5)
    assert log.read_bytes() == content


def test_there_need_be_no_log_to_shorten(tmp_path: Path) -> None:
    writing.shorten(tmp_path / "none")


def test_printable_text_keeps_its_words_and_loses_its_orders() -> None:
    assert text.printable("a\tü — \x1b]0;title\x07\n\u202e") == "a\tü — �]0;title���"


@pytest.mark.parametrize("read", [read_yaml, read_json])
def test_a_pipe_or_a_folder_is_refused_and_never_waited_for(
    tmp_path: Path, read: Callable[[Path], Any]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"^pipe: is not a plain file$"):
        read(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"^\.: cannot be read"):
        read(tmp_path)


def test_yaml_is_that_of_its_version_1_2(tmp_path: Path) -> None:
    text = "a: on\nb: 2026-11-28\nc: '0100'\nd: &d {e: 1}\nf: {<<: *d, e: 2}\n"
    (tmp_path / "x").write_text(text)
    assert read_yaml(tmp_path / "x") == {
        "a": "on", "b": "2026-11-28", "c": "0100", "d": {"e": 1}, "f": {"e": 2},
    }  # fmt: skip


DAYS_AGO = 1e9


def left(path: Path, *, is_folder: bool = False) -> Path:
    """Make what a killed program left long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path / "server.log" if is_folder else path).parent.mkdir(exist_ok=True)
    (path / "server.log" if is_folder else path).write_text("half")
    os.utime(path, (DAYS_AGO, DAYS_AGO))
    return path


def test_what_killed_programs_left_is_swept_by_name_and_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, temporary = Workspace(tmp_path), tmp_path / "tmp"
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(temporary))
    visits = workspace.results / "unary" / "64" / "mine"
    record = visits / "2026-11-01T02-03-04.000005Z.json"
    gone = [
        left(temporary / f"{writing.DRAFT}a1b2c3d4", is_folder=True),
        left(workspace.frameworks / f"{writing.DRAFT}validated.json.q_w3e4r5"),
        left(workspace.frameworks / ".validated.json.k2j_h3g4"),
        left(workspace.frameworks / ".new-abcd1234", is_folder=True),
        left(workspace.tools / ".ghz-x_yz5678", is_folder=True),
        left(visits / f".{record.name}.zxcv_bn1"),
        left(workspace.host / ".reviewed.json.abcdefg1"),
        left(workspace.results / ".leaderboard.json.0_1_2_3_"),
        left(workspace.rounds / f"{writing.DRAFT}2026-12.json.ab_cd123"),
    ]
    draft = f"{writing.DRAFT}x"
    kept = [
        left(record),
        left(record.with_suffix("") / draft),  # An entry may name its files as it likes.
        left(temporary / "tmpabcdefgh", is_folder=True),
        left(workspace.frameworks / ".hidden.json"),
        left(workspace.frameworks / "mine" / draft),
    ]
    young = temporary / f"{writing.DRAFT}young"
    young.mkdir()
    outside = left(tmp_path / "outside" / f"{writing.DRAFT}z")
    (visits / "link").symlink_to(outside.parent)
    writing.sweep_checkout(workspace)
    assert [each for each in gone if each.exists()] == []
    assert all(each.exists() for each in (*kept, young, outside))


def test_a_file_that_was_being_replaced_has_the_name_that_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(os, "replace", die)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)  # A killed program does nothing.
    with pytest.raises(Killed):
        writing.write_atomic(tmp_path / "x" / "validated.json", "{}")
    monkeypatch.undo()
    (temporary,) = (tmp_path / "x").iterdir()
    os.utime(temporary, (DAYS_AGO, DAYS_AGO))
    writing.sweep(tmp_path / "x")
    assert list((tmp_path / "x").iterdir()) == []
