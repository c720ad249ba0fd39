"""A night that was cut short, and the one that resumes it."""

from typing import Any

import pytest

from arena.base.errors import HostError, UsageError
from arena.night.diary import Diary, NightScope, close_others
from arena.record.bundle import Bundle
from tests.fakes import FakeGenerator, FakeProgress, at
from tests.lib.arena.night.shop import QUICK, SLOW, Shop


class KilledError(BaseException):
    """Ends a night as a kill does: nobody catches it."""


def cut_short(shop: Shop, session: int, *frameworks: str, **options: Any) -> None:
    """Run a night that is killed in the middle of a session, counted from 0."""

    def kill(number: int) -> None:
        if number == session:
            raise KilledError

    shop.on_session(kill)
    with pytest.raises(KilledError):
        shop.night(*frameworks, **options)
    shop.generator = FakeGenerator()


def test_a_night_that_was_cut_short_goes_on_and_what_cut_it_short_comes_last(shop: Shop) -> None:
    cut_short(shop, 1)
    assert shop.measured() == [("alpha", QUICK)]
    assert shop.published == 0
    assert shop.night(resume=True) == 0
    assert shop.measured(since=1) == [("alpha", SLOW), ("beta", SLOW), ("beta", QUICK)]
    out, err = shop.capsys.readouterr()
    assert "resuming the night of 20" in err
    assert "all           3       0        1        0     0\n" in out


def test_who_had_no_turn_before_the_cut_is_the_first_after_it(shop: Shop) -> None:
    shop.add("gamma", QUICK)
    cut_short(shop, 1)
    shop.night(resume=True)
    assert shop.measured()[:3] == [("alpha", QUICK), ("gamma", QUICK), ("alpha", SLOW)]


def test_a_failure_before_the_cut_is_still_told_after_it(shop: Shop) -> None:
    def end(session: int) -> str | None:
        if session == 1:
            raise KilledError
        return "broke"

    shop.on_session(end)
    with pytest.raises(KilledError):
        shop.night(profiles=(QUICK,))
    shop.generator = FakeGenerator()
    assert shop.night(resume=True) == 1
    assert [(each.framework.name, each.status) for each in shop.records()] == [
        ("alpha", "failed"),
        ("beta", "ok"),
    ]


def test_what_the_night_was_asked_for_need_not_be_said_again(shop: Shop) -> None:
    cut_short(shop, 1, profiles=(SLOW,))
    shop.night(resume=True)
    assert shop.measured() == [("alpha", SLOW), ("beta", SLOW)]


def test_asked_for_something_else_no_night_begins(shop: Shop) -> None:
    cut_short(shop, 1, profiles=(SLOW,))
    why = r"^--resume: .*\(--profile slow\) measures something else; without --resume, a new night"
    with pytest.raises(UsageError, match=why):
        shop.night("alpha", profiles=(SLOW,), resume=True)
    assert shop.measured() == [("alpha", SLOW)]
    shop.night("alpha", profiles=(SLOW,))
    assert shop.measured() == [("alpha", SLOW), ("alpha", SLOW)]


@pytest.mark.parametrize("change", [{"enabled": False}, {"tests": ["x"]}, {"language": 5}])
def test_where_its_framework_cannot_be_measured_any_more_no_night_begins(
    shop: Shop, change: dict[str, Any]
) -> None:
    shop.add("gamma", QUICK)
    cut_short(shop, 0, "gamma")
    shop.add("gamma", QUICK, **change)
    with pytest.raises(UsageError, match=r"night cannot be resumed: .*; without --resume, a new"):
        shop.night(resume=True)
    assert shop.records() == []


def test_a_night_that_ended_is_not_gone_on_with(shop: Shop) -> None:
    shop.night(profiles=(QUICK,))
    shop.night(profiles=(QUICK,), resume=True)
    assert len(shop.records()) == 4
    assert "no night was cut short: a new one begins" in shop.capsys.readouterr().err


def test_going_on_twice_ends_where_going_on_once_would(shop: Shop) -> None:
    cut_short(shop, 1)
    cut_short(shop, 1, resume=True)
    shop.night(resume=True)
    assert sorted(shop.measured()) == [
        ("alpha", SLOW), ("alpha", QUICK), ("beta", SLOW), ("beta", QUICK),
    ]  # fmt: skip


@pytest.mark.parametrize("content", ["", "{", "[]\n", '{"schema": 2}\n', "\x00\xff"])
def test_a_broken_diary_is_said_and_no_night_begins(shop: Shop, content: str) -> None:
    shop.workspace.nights.mkdir()
    path = shop.workspace.nights / "2026-01-01T00-00-00.000000Z.jsonl"
    path.write_text(content)
    why = f"{path.name}: is not the diary of a night; without --resume, a new night begins"
    with pytest.raises(UsageError, match=why):
        shop.night(profiles=(QUICK,), resume=True)
    assert shop.records() == []
    assert path.read_text() == content


def test_a_diary_whose_last_line_was_cut_off_is_good(shop: Shop) -> None:
    cut_short(shop, 1)
    (path,) = shop.workspace.nights.iterdir()
    path.write_bytes(path.read_bytes().rstrip()[:-4])
    shop.night(resume=True)
    assert len(shop.records()) == 4
    assert shop.night(profiles=(QUICK,), resume=True) == 0
    assert len(shop.records()) == 6


def bundled(shop: Shop) -> list[tuple[str, int]]:
    """Return the id of each bundle, and how many records it has."""
    found = (Bundle.open(each) for each in sorted(shop.workspace.nights.glob("*/")))
    return [(each.manifest.id, each.manifest.records) for each in found]


def test_a_night_that_nobody_resumes_is_bundled_when_another_one_ends(shop: Shop) -> None:
    cut_short(shop, 2)
    assert bundled(shop) == []
    shop.night("beta", profiles=(QUICK,))
    cut, next_ = (Diary.read(each) for each in sorted(shop.workspace.nights.glob("*.jsonl")))
    assert [cut.is_open, next_.is_open] == [False, False]
    assert bundled(shop) == [(cut.started_at, 2), (next_.started_at, 1)]


def test_a_night_of_blocks_that_can_still_be_resumed_stays_as_it_is(shop: Shop) -> None:
    """Another one of the same blocks would take its place, other nights do not."""
    scope = NightScope(blocks=2)
    blocks = Diary.new(shop.workspace.nights, "2026-01-01T00-00-00.000000Z", scope)
    cut_short(shop, 1)
    shop.night("beta", profiles=(QUICK,))
    assert Diary.read(blocks.path).is_open
    other = Diary.new(shop.workspace.nights, at(20), scope.changed(blocks=3))
    close_others(shop.workspace, other, FakeProgress())
    assert Diary.read(blocks.path).is_open
    same = Diary.new(shop.workspace.nights, at(21), scope)
    close_others(shop.workspace, same, FakeProgress())
    assert not Diary.read(blocks.path).is_open


def test_a_night_that_goes_on_elsewhere_is_not_ended_by_another(shop: Shop) -> None:
    """One on racks and one on this host may go on at the same time."""
    going = Diary.new(shop.workspace.nights, "2026-01-01T00-00-00.000000Z", NightScope())
    with going.going_on():
        shop.night("beta", profiles=(QUICK,))
    assert Diary.read(going.path).is_open


def test_a_night_that_fails_before_it_begins_ends_no_other(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_short(shop, 2)
    with monkeypatch.context() as patch:
        patch.setattr(Diary, "new", classmethod(lambda *_: (_ for _ in ()).throw(KilledError())))
        with pytest.raises(KilledError):
            shop.night("beta", profiles=(QUICK,))
    (cut,) = (Diary.read(each) for each in shop.workspace.nights.glob("*.jsonl"))
    assert cut.is_open


def test_a_diary_that_cannot_be_written_any_more_is_a_warning(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_short(shop, 2)
    (cut,) = shop.workspace.nights.glob("*.jsonl")
    real = Diary.end

    def end(diary: Diary, ended_at: str) -> None:
        if diary.path == cut:
            raise HostError("it cannot be written")
        real(diary, ended_at)

    monkeypatch.setattr(Diary, "end", end)
    assert shop.night("beta", profiles=(QUICK,)) == 0
    assert "warning: it cannot be written" in shop.capsys.readouterr().err
