"""From records that lie in a folder to the leaderboard and the whole site."""

import fcntl
import json
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.base.model import to_json
from arena.base.workspace import Workspace
from arena.judge.archive import open_archive
from arena.judge.leaderboard import Leaderboard
from arena.judge.rounds import freeze
from arena.judge.twin_list import list_twins
from arena.judge.twins import NO_LOOKS
from arena.record.bundle import name_of
from arena.record.record import Record
from arena.site import build as built
from arena.site.build import FOLDERS, build
from tests.conftest import ROOT
from tests.fakes import FakeProgress, a_record, save
from tests.lib.arena.judge.visits import blocks
from tests.lib.arena.site.editions import HOST, files_in, put
from tests.lib.arena.site.loads import lasting
from tools.site_check import check

BOARD = f"boards/stream-grpc/64/ghz/{HOST}"


@pytest.fixture
def whole(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Make a checkout that has all that the site is made of; it is the folder that we are in."""
    monkeypatch.chdir(workspace.root)
    for name in ("docs", "site/static"):
        shutil.copytree(ROOT / name, workspace.root / name, dirs_exist_ok=True)
    return workspace


def published(workspace: Workspace) -> list[str]:
    """Build the site, and return what is reported meanwhile."""
    progress = FakeProgress()
    assert build(workspace, progress) == workspace.public / "index.html"
    return progress.lines


def address(record: Record, file: str = "index.html") -> str:
    """Return the page of a record, or another file of its folder, below the site's root."""
    return f"records/{name_of(to_json(record).encode())[:16]}/{file}"


def there(workspace: Workspace) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in files_in(workspace.public).items()}


def written(workspace: Workspace) -> dict[str, int]:
    return {name: path.stat().st_mtime_ns for name, path in files_in(workspace.public).items()}


def test_a_site_of_current_records_and_a_round_is_whole_and_the_same_cold_and_warm(
    whole: Workspace,
) -> None:
    save(whole.results, a_record("first", 2e6), a_record("first", minute=9, failure="it fell"))
    freeze(whole, "spring", "", FakeProgress())
    others = lasting("third", 1000.0), a_record("box", type="engine")
    save(whole.results, a_record("second", 1e6), *others)
    assert published(whole) == []
    cold = there(whole)
    kinds = {path.rpartition("/")[2] for path in cold if path.startswith("rounds/spring/")}
    assert kinds >= {"index.html", "board.json", "board.csv", "framework.json", "compare.json"}
    assert {path.split("/")[0] for path in cold if "/" in path} <= set(FOLDERS)
    checked = check(whole.public, FakeProgress())
    assert checked.problems == []
    assert checked.pages > 20

    before, ranked = written(whole), whole.results / "leaderboard.json"
    text = ranked.read_bytes()
    published(whole)
    assert written(whole) == before
    assert ranked.read_bytes() == text
    shutil.rmtree(whole.public)
    published(whole)
    assert there(whole) == cold
    shutil.rmtree(whole.site / ".build")
    assert published(whole) == []
    assert there(whole) == cold


def test_a_round_keeps_the_boards_that_it_was_frozen_with(whole: Workspace) -> None:
    save(whole.results, a_record("a", 1e6, 2e6, 3e6))
    file = freeze(whole, "spring", "", FakeProgress()).file
    found = json.loads(file.read_bytes())
    board = found["judged"][0]["leaderboard"]["boards"][0]
    board["rows"][0]["result"]["flags"] = ["of-that-time"]
    file.write_text(json.dumps(found))
    assert published(whole) == []
    shown = whole.public / "rounds/spring/boards/stream-grpc/64/ghz/board.json"
    assert json.loads(shown.read_text())["rows"][0]["result"]["flags"] == ["of-that-time"]


def test_a_board_by_older_rules_links_to_nothing_that_is_not_made(whole: Workspace) -> None:
    save(whole.results, a_record("a", 2e6), a_record("b", 1e6), a_record("e", 3e6, type="engine"))
    file = freeze(whole, "spring", "", FakeProgress()).file
    found = json.loads(file.read_bytes())
    older = json.loads(json.dumps(found["judged"][0]))
    older["leaderboard"]["rules"] = 1
    board = next(it for it in older["leaderboard"]["boards"] if it["division"] == "framework")
    board["rows"][0]["result"]["flags"] = ["of-that-time"]
    found["judged"] = [older, *found["judged"]]
    file.write_text(json.dumps(found))
    assert published(whole) == []
    assert len([*whole.public.glob("rounds/spring/rules-1/**/board.json")]) == 1
    assert check(whole.public, FakeProgress()).problems == []


def test_boards_that_older_rules_made_alike_have_one_page(whole: Workspace) -> None:
    save(whole.results, a_record("a", 2e6), a_record("b", 1e6))
    file = freeze(whole, "spring", "", FakeProgress()).file
    found = json.loads(file.read_bytes())
    (newest,) = found["judged"]
    older = []
    for rules in (1, 2):
        each = json.loads(json.dumps(newest))
        each["leaderboard"]["rules"] = rules
        each["leaderboard"]["boards"][0]["rows"][0]["result"]["flags"] = ["of-that-time"]
        older.append(each)
    file.write_text(json.dumps(found | {"judged": [*older, newest]}))
    assert published(whole) == []
    assert len([*whole.public.glob("rounds/spring/rules-1/**/board.json")]) == 1
    assert [*whole.public.glob("rounds/spring/rules-2/**/board.json")] == []
    assert check(whole.public, FakeProgress()).problems == []


def test_what_is_in_a_round_is_not_current(whole: Workspace) -> None:
    save(whole.results, a_record("old", 2e6))
    freeze(whole, "spring", "", FakeProgress())
    (new,) = save(whole.results, a_record("new", 1e6))
    published(whole)
    found = Leaderboard.model_validate_json((whole.results / "leaderboard.json").read_bytes())
    assert [row.framework for row in found.boards[0].rows] == ["new"]
    paths = there(whole)
    assert "frameworks/new/index.html" in paths
    assert "frameworks/old/index.html" not in paths
    assert "rounds/spring/frameworks/old/index.html" in paths
    assert new.path in b"".join(paths.values()).decode()


def test_the_newest_round_is_the_first(whole: Workspace) -> None:
    for minute, name in enumerate(("b", "c", "a")):
        save(whole.results, a_record(name, minute=minute))
        freeze(whole, name, "", FakeProgress())
    published(whole)
    home = (whole.public / "index.html").read_text().partition("<h2>Rounds</h2>")[2]
    assert re.findall(r'href="rounds/(\w)/index.html"', home) == ["a", "c", "b"]


def test_a_night_in_a_round_counts_for_the_twins_of_the_next_one(whole: Workspace) -> None:
    rates = {"a": 1e6, "a~twin": 1.2e6, "b": 2e6}
    save(whole.results, *blocks(rates))
    freeze(whole, "spring", "", FakeProgress())
    save(whole.results, *blocks(rates, hour=5))
    published(whole)
    found = Leaderboard.model_validate_json((whole.results / "leaderboard.json").read_bytes())
    (listed,) = list_twins(open_archive(whole.results), NO_LOOKS)
    assert [board.twin_history for board in found.boards] == [listed.history]
    assert (listed.history.of, listed.history.is_suspended) == (2, True)


def test_a_round_whose_bundle_is_gone_is_left_out_and_said(
    whole: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(whole.root)
    save(whole.results, a_record("a"))
    freeze(whole, "spring", "", FakeProgress())
    assert published(whole) == []
    (bundle,) = (whole.results / "nights").iterdir()
    shutil.rmtree(bundle)
    (line,) = published(whole)
    where = f"nights/{bundle.name}"
    assert line == f"warning: results/rounds/spring.json is left out: {where} is missing"
    assert not (whole.public / "rounds" / "spring").exists()
    assert check(whole.public, FakeProgress()).problems == []


def test_a_proof_that_is_lost_is_said_on_board_and_record_at_once(whole: Workspace) -> None:
    (record,) = save(whole.results, a_record("a", 1e6, 2e6))
    pages = (f"{BOARD}/index.html", address(record))

    def words() -> list[str]:
        published(whole)
        return [(whole.public / page).read_text() for page in pages]

    assert not any("unproven" in page for page in words())
    ((whole.results / record.path).with_suffix("") / "SHA256SUMS").unlink()
    board, page = words()
    assert "unproven" in board
    assert "The row has no rank. SHA256SUMS is missing." in page


def test_an_altered_record_is_one_line(whole: Workspace) -> None:
    _, bad = save(whole.results, a_record("a"), a_record("b"))
    path = whole.results / bad.path
    path.write_text(path.read_text() + " ")
    (line,) = published(whole)
    said = "is left out: its file was altered after it was saved"
    assert line.startswith(f"warning: results/{bad.path} {said}")


def test_a_broken_review_of_twins_is_one_line(whole: Workspace) -> None:
    save(whole.results, a_record("a"))
    review = whole.host / "reviewed.json"
    review.parent.mkdir()
    for content in ('{"looks": [{"profile": "\\ud800"}]}', "{", '{"looks": [{"profile": 1}]}'):
        review.write_text(content)
        (line,) = published(whole)
        assert line.startswith("warning: what was reviewed of twins is left out: ")
        assert "reviewed.json: " in line
        assert "a" in there(whole)[f"{BOARD}/index.html"].decode()
    review.unlink()
    review.mkdir()
    assert published(whole)[0].endswith("reviewed.json: cannot be read (Is a directory)")


def test_a_new_record_changes_what_is_about_it_and_leaves_the_rest(whole: Workspace) -> None:
    other = {"name": "unary-grpc", "title": "Unary"}
    old, _ = save(whole.results, a_record("a", 1e6), a_record("b", 1e6, profile=other))
    published(whole)
    before = written(whole)
    (new,) = save(whole.results, a_record("a", 3e6, minute=5))
    published(whole)
    after = written(whole)
    changed = {path for path in after if after[path] != before.get(path)}
    assert {
        "index.html", "feed.xml", "frameworks/a/index.html", "frameworks/a/framework.json",
        *(f"{BOARD}/{file}" for file in ("index.html", "board.json")),
        address(new), address(old, "record.json"),
    } <= changed  # fmt: skip
    assert address(old) not in after
    assert not any("unary-grpc" in path or "frameworks/b" in path for path in changed)


def test_a_record_that_is_gone_takes_its_pages_with_it(whole: Workspace) -> None:
    _, gone = save(whole.results, a_record("a"), a_record("b"))
    published(whole)
    assert address(gone) in there(whole)
    shutil.rmtree(whole.results / "stream-grpc" / "64" / "b")
    published(whole)
    assert not [path for path in there(whole) if "/b/" in path]
    assert not (whole.public / "frameworks" / "b").exists()
    assert address(gone) not in there(whole)


def test_an_empty_checkout_has_a_site_without_a_problem(whole: Workspace) -> None:
    published(whole)
    assert "Nothing" in (whole.public / "index.html").read_text()
    assert check(whole.public, FakeProgress()).problems == []


PROOFS, ADVISORIES = "frameworks/validated.json", "frameworks/advisories.json"
RELEASES = "frameworks/releases.yaml"
SPRING = "results/rounds/spring.json"
UP = '{"schema": 2, "name": "../../up", "frozen_at": "x", "records": {}}'
SCRIPT = '{"frameworks": {"a": [{"id": "X-12", "url": "javascript:alert(1)", "package": "p"}]}}'


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (SPRING, b"{", f"{SPRING} is left out: "),
        (SPRING, b"\xff", f"{SPRING} is left out: "),
        (SPRING, UP.encode(), f"{SPRING} is left out: "),
        (SPRING, None, f"{SPRING} is left out: "),
        (PROOFS, b"<<<<<<< HEAD", f"the proofs are left out: {PROOFS}: "),
        (ADVISORIES, b"[", f"the advisories are left out: {ADVISORIES}: line 1"),
        (ADVISORIES, b'{"schema": 1, "frameworks": {"a": [{"id": "X-1234"}]}}', "frameworks.a.0."),
        (ADVISORIES, SCRIPT.encode(), "frameworks.a.0."),
        (RELEASES, b"a: {registry: go}", f"the releases are left out: {RELEASES}: a.package: "),
    ],
)
def test_a_file_that_is_broken_is_left_out_and_said(
    whole: Workspace, file: str, content: bytes | None, said: str
) -> None:
    save(whole.results, a_record("a"))
    if content is None:
        (whole.root / file).mkdir(parents=True)
    else:
        put(whole.root / file, "")
        (whole.root / file).write_bytes(content)
    (line,) = published(whole)
    assert line.startswith("warning: ")
    assert said in line
    assert file in line
    assert (whole.public / "frameworks" / "a" / "index.html").is_file()
    assert not (whole.public / "rounds" / "spring").exists()


HOSTILE: dict[str, Any] = {
    "display_name": "<script>alert(1)</script>\u202e=1+1",
    "repo": "javascript:alert(1)",
    "description": "=HYPERLINK(1) " + "x" * 10_000,
    "language": "]]>&lt;\x00\x1b[31m",
    "maintainers": ("<img src=x>",),
}


def test_hostile_words_lead_nowhere_and_break_nothing(whole: Workspace) -> None:
    text = to_json(a_record("evil", 1e6, **HOSTILE))
    path = whole.results / a_record("evil").path
    put(path, text)
    beside = path.with_suffix("")
    for name in ("page.html", "index.html", "record.json", "a b.log", ".hidden.log", "x.svg"):
        put(beside / name, "<script>alert(1)</script>")
    (beside / "passwd.log").symlink_to("/etc/passwd")
    (beside / "folder.log").mkdir()
    save(whole.results, a_record("worse", minute=1, failure="<b>\u202e\x1b]0;x\x07</b>" * 50))
    published(whole)
    assert check(whole.public, FakeProgress()).problems == []
    folder = whole.public / "records" / name_of(text.encode())[:16]
    assert [each.name for each in folder.iterdir()] == ["index.html"]
    for name, content in there(whole).items():
        if name.endswith((".html", ".xml")):
            assert b"<script>alert" not in content
            assert b'href="javascript:' not in content
            assert "\u202e" not in content.decode()


def test_a_generator_that_would_lead_out_of_the_site_leaves_one_line(whole: Workspace) -> None:
    data = json.loads(to_json(a_record("a")))
    data["profile"]["generator"] = "../../../../ghz"
    put(whole.results / a_record("a").path, json.dumps(data))
    (line,) = published(whole)
    assert "is left out: profile.generator: " in line


@pytest.mark.parametrize(
    "harm", [lambda folder: folder.touch(), lambda folder: (folder / "lock").mkdir(parents=True)]
)
def test_a_folder_for_the_cache_that_cannot_be_had_costs_only_time(
    whole: Workspace, harm: Callable[[Path], None]
) -> None:
    save(whole.results, a_record("a"))
    harm(whole.site / ".build")
    for _ in range(2):
        published(whole)
        assert (whole.public / "index.html").is_file()


def test_a_second_build_waits_for_the_first(whole: Workspace) -> None:
    folder = whole.site / ".build"
    folder.mkdir(parents=True)
    said = threading.Event()

    class Progress(FakeProgress):
        def say(self, text: str) -> None:
            super().say(text)
            said.set()

    progress = Progress()

    def enter() -> None:
        with built._alone(folder, progress):
            progress.lines.append("in")

    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = threading.Thread(target=enter)
        second.start()
        assert said.wait(60)
        assert second.is_alive()
    second.join(30)
    assert progress.lines == ["waiting: another build of the site is running", "in"]


def test_the_leaderboard_and_the_page_are_made_of_all_records(workspace: Workspace) -> None:
    save(workspace.results, a_record("fast", 2e6), a_record("slow", 1e6))
    assert published(workspace) == []
    page = (workspace.site / "public" / "index.html").read_text()
    assert page.index("2.00 M") < page.index("1.00 M")
    text = (workspace.results / "leaderboard.json").read_text()
    rows = Leaderboard.model_validate_json(text).boards[0].rows
    assert [row.framework for row in rows] == ["fast", "slow"]


def test_a_broken_record_is_left_out_and_said(whole: Workspace) -> None:
    save(whole.results, a_record("good", 1e6))
    put(whole.results / "stream-grpc/64/bad/2026.json", '{"schema": 9}')
    said = "is left out: schema 9 is newer than this runner's 3"
    assert published(whole) == [f"warning: results/stream-grpc/64/bad/2026.json {said}"]
    assert ">good<" in (whole.public / "index.html").read_text()


TIME, NO_DAY = "2026-01-01T00-00-00.000000Z", "2026-02-30T00-00-00.000000Z"


@pytest.mark.parametrize(
    ("folder", "stem", "changes", "said"),
    [
        ("bad", "now", {"started_at": "now"}, "started_at: String should match pattern"),
        ("bad", NO_DAY, {"started_at": NO_DAY}, "day is out of range"),
        ("bad", TIME, {"headline": None}, "headline: Extra inputs"),
        ("bad", TIME, {"runs": []}, "a record that is ok must have a run"),
        ("bad", TIME, {"status": "failed"}, "a record that is failed must say why"),
        ("bad", TIME, {"framework": {"name": "bad/../../x"}}, "framework.name: String should"),
        ("other", TIME, {}, f"it belongs to stream-grpc/64/bad/{TIME}.json"),
        ("bad", "2026-01-02T00-00-00.000000Z", {}, f"it belongs to stream-grpc/64/bad/{TIME}.json"),
    ],
)
def test_a_record_that_cannot_be_a_row_is_left_out_and_the_others_stand(
    workspace: Workspace, folder: str, stem: str, changes: dict[str, Any], said: str
) -> None:
    data = json.loads(to_json(a_record("bad", 9e6)))
    for key, value in changes.items():
        data[key] = {**data[key], **value} if isinstance(value, dict) else value
    put(workspace.results / f"stream-grpc/64/{folder}/{stem}.json", json.dumps(data))
    save(workspace.results, a_record("good", 1e6))
    (warning,) = published(workspace)
    text = (workspace.public / "index.html").read_text()
    assert ">1.00 M<" in text
    assert ">9.00 M<" not in text
    assert f"{stem}.json is left out: " in warning
    assert said in warning
