"""Hosts that do not fit are refused, each with one line that says what to do."""

from pathlib import Path
from typing import Any

import pytest

from arena.base.errors import HostError
from arena_fleet import facts as module
from arena_fleet.facts import (
    PROTOCOL,
    HostFacts,
    Offset,
    lacks,
    problems,
    quota_cpus,
    read_message,
)


def host(**changed: Any) -> HostFacts:
    """Return a host that fits to others of its kind."""
    given: dict[str, Any] = {
        "protocol": PROTOCOL, "name": "g1", "host_class": "default", "is_local": False,
        "boot_id": f"boot-{changed.get('name', 'g1')}", "cpu": "Some CPU", "cpus": 8, "parts": None,
        "open_files": 1_048_576, "ports": 28_232, "load": 0.0, "is_busy": False,
        "volley_version": "0.1.0", "volley_sha256": "a" * 64, "python": "3.11.7",
        "dask": "2026.8.0", "pid": 1,
    }  # fmt: skip
    return HostFacts.model_validate({**given, **changed})


NEAR = Offset(0, 100_000, 200_000)


@pytest.mark.parametrize(
    ("second", "offset", "words"),
    [
        ({"volley_sha256": "b" * 64}, NEAR, "use the same build"),
        ({"volley_version": "0.2.0", "volley_sha256": "b" * 64}, NEAR, "0.2.0, bbbbbbbbbbbb"),
        ({"python": "3.12.1"}, NEAR, "Python 3.12.1"),
        ({"dask": "2026.7.1"}, NEAR, "use the same versions"),
        ({}, Offset(0, 2_000_001, 4_000_001), "±2.0 ms only"),
    ],
)
def test_a_host_that_differs_is_refused_by_its_number(
    second: dict[str, Any], offset: Offset, words: str
) -> None:
    [(number, why)] = problems([host(), host(name="g2", **second)], [NEAR, offset])
    assert number == 2
    assert words in why
    assert "\n" not in why


def test_two_hosts_of_one_machine_are_refused_unless_they_are_played() -> None:
    twice = [host(boot_id="one"), host(name="g2", boot_id="one")]
    assert [number for number, why in problems(twice, [NEAR, NEAR]) if "boot id" in why] == [1, 2]
    played = [each.changed(is_local=True) for each in twice]
    assert list(problems(played, [NEAR, NEAR])) == []


def test_hosts_that_fit_have_no_problem() -> None:
    assert list(problems([host(), host(name="g2", cpus=64)], [NEAR, None])) == []


def test_connections_need_files_and_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "most_open_files", lambda: 1024)
    assert lacks(960) == ""
    assert lacks(961).startswith("961 connections need 1,025 open files, and its limit is 1,024")
    monkeypatch.setattr(module, "most_open_files", lambda: 10**9)
    assert "local ports" in lacks(70_000)


def test_another_protocol_is_refused_with_the_remedy() -> None:
    assert read_message(host().model_dump()) == host()
    with pytest.raises(HostError, match=r"version 1 of the fleet's protocol.*same checkout"):
        read_message({**host().model_dump(), "protocol": 1})
    with pytest.raises(HostError, match="same checkout"):
        read_message({"protocol": PROTOCOL, "name": "g1"})
    with pytest.raises(HostError, match="same checkout"):
        read_message(None)


@pytest.mark.parametrize("field", ["cpu", "volley_version", "python", "dask", "boot_id"])
@pytest.mark.parametrize("text", ["\x1b[2J", "two\nlines", "x" * 161])
def test_facts_are_lines_that_a_terminal_can_show(field: str, text: str) -> None:
    with pytest.raises(HostError, match="its facts cannot be read"):
        read_message({**host().model_dump(), field: text})
    with pytest.raises(HostError) as error:
        read_message({"protocol": text})
    assert str(error.value).isprintable()


@pytest.mark.parametrize("field", ["open_files", "ports", "load", "pid"])
def test_the_numbers_of_facts_are_bounded(field: str) -> None:
    with pytest.raises(HostError, match="its facts cannot be read"):
        read_message({**host().model_dump(), field: 2**63})


def test_a_quota_is_that_of_the_tightest_group(tmp_path: Path) -> None:
    own = tmp_path / "self"
    own.write_text("0::/a/b\n")
    (tmp_path / "a/b").mkdir(parents=True)
    assert quota_cpus(tmp_path, own) == 0.0
    (tmp_path / "a/b/cpu.max").write_text("max 100000\n")
    (tmp_path / "a/cpu.max").write_text("150000 100000\n")
    assert quota_cpus(tmp_path, own) == 1.5
    assert quota_cpus(tmp_path, tmp_path / "none") == 0.0
