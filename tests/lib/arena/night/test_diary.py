"""The diary: what is read again after the runner was killed in the middle of a line."""

from pathlib import Path

import pytest

from arena.base.errors import UsageError
from arena.night.diary import Diary, NightScope, to_resume
from tests.fakes import FakeProgress

NIGHT = "2026-01-01T00-00-00.000000Z"
SCOPE = NightScope(
    frameworks=("tonic",), profiles=("load-*",), generator="volley", only_changed=True
)


def found_in(folder: Path) -> Diary | None:
    return to_resume(folder, NightScope(), FakeProgress())


def test_what_was_begun_is_read_again(tmp_path: Path) -> None:
    diary = Diary.new(tmp_path, NIGHT, SCOPE)
    diary.begin("tonic under load-const")
    found = found_in(tmp_path)
    assert found
    assert (found.started_at, found.scope) == (NIGHT, SCOPE)
    assert found.begun == {"tonic under load-const"}
    assert str(found.scope) == "tonic --profile load-* --generator volley --only-changed"


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    diary = Diary.new(tmp_path, NIGHT, SCOPE)
    diary.begin("one")
    with diary.path.open("a") as file:
        file.write('{"begun": "tw')
    diary.begin("three")
    found = found_in(tmp_path)
    assert found
    assert found.begun == {"one", "three"}


def test_a_night_that_is_over_is_not_unfinished(tmp_path: Path) -> None:
    diary = Diary.new(tmp_path, NIGHT, SCOPE)
    assert diary.is_open
    diary.end(NIGHT)
    assert not Diary.read(diary.path).is_open
    assert found_in(tmp_path) is None


def test_a_night_with_a_quota_is_another_one_and_says_so(tmp_path: Path) -> None:
    scope = SCOPE.changed(server_quota=0.5, blocks=2)
    Diary.new(tmp_path, NIGHT, scope)
    found = found_in(tmp_path)
    assert found
    assert found.scope == scope != SCOPE.changed(blocks=2)
    assert str(scope).endswith("--only-changed --blocks 2 --server-quota 0.5")


FLEETS = SCOPE.changed(generator="volley-fleet")


@pytest.mark.parametrize("asked", [NightScope(), FLEETS.changed(generator=None)])
def test_a_fleets_night_is_not_gone_on_with_by_this_machine(
    tmp_path: Path, asked: NightScope
) -> None:
    Diary.new(tmp_path, NIGHT, FLEETS)
    with pytest.raises(UsageError, match=r"was a fleet's: add --fleet ADDRESS") as error:
        to_resume(tmp_path, asked, FakeProgress())
    assert "tonic --profile load-* --fleet ADDRESS --only-changed" in str(error.value)


@pytest.mark.parametrize("asked", [NightScope(generator="volley-fleet"), FLEETS])
def test_a_fleet_goes_on_with_its_night(tmp_path: Path, asked: NightScope) -> None:
    Diary.new(tmp_path, NIGHT, FLEETS)
    found = to_resume(tmp_path, asked, FakeProgress())
    assert found
    assert found.scope == FLEETS


def test_a_fleet_does_not_go_on_with_the_night_of_a_machine(tmp_path: Path) -> None:
    Diary.new(tmp_path, NIGHT, NightScope())
    with pytest.raises(UsageError, match=r"everything\) measures something else"):
        to_resume(tmp_path, NightScope(generator="volley-fleet"), FakeProgress())


def test_only_the_newest_night_counts(tmp_path: Path) -> None:
    Diary.new(tmp_path, NIGHT, SCOPE)
    Diary.new(tmp_path, NIGHT.replace("2026", "2027"), SCOPE).end(NIGHT)
    assert found_in(tmp_path) is None
    assert found_in(tmp_path / "nowhere") is None
