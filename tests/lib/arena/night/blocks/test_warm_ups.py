"""The warm-ups of visits: what the file says, and what nights teach."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import HostError
from arena.night.warm_ups import PlannedWarmUp, Subject, WarmUps
from arena.record.measurement import Measurement, Second
from tests.fakes import FakeGenerator, FakeProgress, a_measurement
from tests.lib.arena.night.blocks.shop import Blocks

SUBJECT = Subject("ada", "1" * 64, "stream-grpc/64/ghz/0123456789ab", "a-host")
NIGHT = "2026-01-01T00-00-00.000000Z"


def a_warm_up(**changes: Any) -> PlannedWarmUp:
    values = {
        **SUBJECT._asdict(), "seconds": 5.0, "why": "it is warm", "updated": NIGHT,
    }  # fmt: skip
    return PlannedWarmUp.model_validate({**values, **changes})


def test_what_is_not_in_the_file_has_10_s(tmp_path: Path) -> None:
    assert WarmUps.read(tmp_path / "none.json", FakeProgress()).seconds(SUBJECT) == 10.0


def test_the_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "host" / "warm-ups.json"
    warm_ups = WarmUps.read(path, FakeProgress())
    warm_ups.put(a_warm_up())
    warm_ups.save()
    again = WarmUps.read(path, FakeProgress())
    assert again.seconds(SUBJECT) == 5.0
    assert again.seconds(SUBJECT._replace(source_sha256="2" * 64)) == 10.0
    assert again.seconds(SUBJECT._replace(host_class="another")) == 10.0
    assert '"why": "it is warm"' in path.read_text()


def test_what_an_older_runner_has_shortened_is_gone(tmp_path: Path) -> None:
    """What it has doubled stays."""
    older = {"nights": 3, "raised_in": NIGHT}
    entries = [
        {**a_warm_up(framework=name).model_dump(), **older, "starts": starts}
        for name, starts in (("ada", 24), ("bob", 0))
    ]
    (path := tmp_path / "warm-ups.json").write_text(json.dumps({"schema": 1, "warm_ups": entries}))
    warm_ups = WarmUps.read(path, FakeProgress())
    assert warm_ups.seconds(SUBJECT) == 10.0
    assert warm_ups.seconds(SUBJECT._replace(framework="bob")) == 5.0
    warm_ups.put(a_warm_up(framework="cid"))
    warm_ups.save()
    written = json.loads(path.read_text())["warm_ups"]
    assert [each["framework"] for each in written] == ["bob", "cid"]
    assert not any(older.keys() & each for each in written)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": 9}', "\x00\xff"])
def test_a_broken_file_is_one_line_and_counts_as_empty(tmp_path: Path, content: str) -> None:
    path = tmp_path / "warm-ups.json"
    path.write_text(content)
    shows = FakeProgress()
    assert WarmUps.read(path, shows).seconds(SUBJECT) == 10.0
    (line,) = shows.lines
    assert "warm-ups.json: cannot be read: all warm-ups are 10 s" in line


def test_a_night_does_not_write_over_a_broken_file(blocks: Blocks) -> None:
    path = blocks.shop.workspace.host / "warm-ups.json"
    path.parent.mkdir()
    path.write_text("{ mistyped")
    blocks.shop.generator = FakeGenerator([a_start(100, 100, 120, 120)])
    assert blocks(3) == 0
    assert path.read_text() == "{ mistyped"


def a_start(*seconds: int) -> Measurement:
    """Return a run whose seconds had so many messages."""
    slices = [Second(ok=each, failed=0, messages=each) for each in seconds]
    return a_measurement().model_copy(update={"seconds": tuple(slices)})


def file_of(blocks: Blocks) -> WarmUps:
    return WarmUps.read(blocks.shop.workspace.host / "warm-ups.json", FakeProgress())


def subject_of(blocks: Blocks, name: str) -> Subject:
    (planned,) = blocks.planned()[-1].loads
    night = blocks.planned()[-1]
    return Subject(name, night.sources[name], planned.exactly, night.host_class)


def test_a_server_that_still_warms_up_has_twice_the_warm_up_the_next_time(blocks: Blocks) -> None:
    blocks.shop.generator = FakeGenerator([a_start(100, 100, 120, 120)])
    assert blocks(3) == 0
    assert file_of(blocks).seconds(subject_of(blocks, "alpha")) == 20.0
    assert (
        "warm-up of alpha under stream-grpc/64: 20 s from now on (still warming up after 10 s"
        in (blocks.shop.capsys.readouterr().err)
    )
    for _ in range(2):
        blocks(3)
    assert blocks.planned()[-1].loads[0].warm_ups_s == {"alpha": 40.0, "beta": 40.0}
    assert file_of(blocks).seconds(subject_of(blocks, "alpha")) == 40.0


def test_a_warm_up_that_a_later_night_raised_is_not_lowered_by_an_earlier_one(
    blocks: Blocks,
) -> None:
    drifting = a_start(100, 100, 120, 120)
    blocks.shop.generator = FakeGenerator([drifting])
    assert blocks(3) == 0
    path = blocks.shop.workspace.host / "warm-ups.json"
    raised = path.read_text().replace('"seconds": 20.0', '"seconds": 40.0')
    path.unlink()

    def meanwhile(_: int) -> None:
        path.write_text(raised)

    blocks.shop.generator = FakeGenerator([drifting], on_fire=meanwhile)
    assert blocks(3) == 0
    assert blocks.planned()[-1].loads[0].warm_ups_s == {"alpha": 10.0, "beta": 10.0}
    assert file_of(blocks).seconds(subject_of(blocks, "alpha")) == 40.0


def test_a_file_that_cannot_be_written_is_a_warning(
    blocks: Blocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: WarmUps) -> None:
        raise HostError("warm-ups.json: cannot be written (No space left on device)")

    monkeypatch.setattr(WarmUps, "save", full)
    blocks.shop.generator = FakeGenerator([a_start(100, 100, 120, 120)])
    assert blocks(3) == 0
    assert "warning: warm-ups.json: cannot be written (No space left on device): the next " in (
        blocks.shop.capsys.readouterr().err
    )
