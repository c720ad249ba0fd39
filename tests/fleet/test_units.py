"""Units, manifests and launchers are whole, and start this checkout's programs."""

import getpass
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from arena.base.errors import HostError, UsageError
from arena.base.workspace import Workspace
from arena.cli.verbs import fleet
from arena_fleet.units import unit_of
from tests.conftest import ROOT

ADDRESS = "tls://10.0.0.1:8786"


@pytest.mark.parametrize("what", ["coordinator", "worker"])
@pytest.mark.parametrize("interface", [None, "eth1"])
def test_nothing_is_left_to_fill_in(what: str, interface: str | None) -> None:
    for kind in ("systemd", "kubernetes", "ssh"):
        text = unit_of(Workspace(ROOT), what, kind, ADDRESS, interface)
        assert "${" not in text.replace('"${1', "")
        assert str(ROOT) in text
        assert (ADDRESS in text) == (what == "worker")


@pytest.mark.parametrize("what", ["coordinator", "worker"])
def test_a_manifest_has_one_program_with_its_certificates(what: str) -> None:
    made = yaml.safe_load(unit_of(Workspace(ROOT), what, "kubernetes", ADDRESS, "eth1"))
    [container] = made["spec"]["template"]["spec"]["containers"]
    assert container["command"][:2] == ["./scripts/fleet.sh", what]
    assert container["command"][-2:] == ["--interface", "eth1"]
    assert container["volumeMounts"][1]["mountPath"] == f"{ROOT}/.fleet"


@pytest.mark.parametrize("what", ["coordinator", "worker"])
def test_a_launcher_is_sound_bash(what: str, tmp_path: Path) -> None:
    path = tmp_path / "launcher.sh"
    path.write_text(unit_of(Workspace(ROOT), what, "ssh", ADDRESS, None))
    subprocess.run(["bash", "-n", path], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", path], check=True)


def a_launcher(tmp_path: Path, *words: str, **given: Any) -> "subprocess.CompletedProcess[str]":
    """Run a launcher of workers with an ssh that prints its arguments."""
    path, ssh = tmp_path / "launcher.sh", tmp_path / "ssh"
    path.write_text(unit_of(Workspace(ROOT), "worker", "ssh", **given))
    ssh.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    ssh.chmod(0o755)
    return subprocess.run(
        ["bash", path, *words], check=False, capture_output=True, text=True,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip


def test_a_launcher_quotes_an_address_for_the_other_host(tmp_path: Path) -> None:
    done = a_launcher(tmp_path, "g1", "g2", address="tls://[fe80::1]:8786")
    command = done.stdout.splitlines()
    assert [command[0], command[2]] == ["g1", "g2"]
    assert "worker --fleet 'tls://[fe80::1]:8786' >" in command[1]


@pytest.mark.parametrize("hosts", [(), ("s1", "s2")])
def test_a_launcher_starts_one_server_host_of_a_rack(
    tmp_path: Path, hosts: tuple[str, ...]
) -> None:
    given: dict[str, Any] = {"address": ADDRESS, "rack": "a", "serves": True}
    done = a_launcher(tmp_path, *hosts, **given)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: name one host: a rack has one server host\n"
    assert a_launcher(tmp_path, "s1", **given).stdout.startswith("s1\n")


@pytest.mark.parametrize("kind", ["systemd", "kubernetes", "ssh"])
def test_a_path_that_would_be_read_otherwise_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(HostError, match="a b: move the checkout to a path of letters"):
        unit_of(Workspace(tmp_path / "a b"), "worker", kind, ADDRESS, None)


@pytest.mark.parametrize("error", [KeyError("uid not found"), OSError("No username set")])
def test_a_user_without_a_name_has_a_number(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def none() -> str:
        raise error

    monkeypatch.setattr(getpass, "getuser", none)
    text = unit_of(Workspace(ROOT), "worker", "systemd", ADDRESS, None)
    assert f"User={os.getuid()}" in text.splitlines()


@pytest.mark.parametrize("what", ["coordinator", "worker"])
def test_a_unit_starts_again_and_gains_no_rights(what: str) -> None:
    text = unit_of(Workspace(ROOT), what, "systemd", ADDRESS, None)
    lines = text.splitlines()
    assert {"Restart=always", "NoNewPrivileges=yes"} <= set(lines)
    [start] = [line for line in lines if line.startswith("ExecStart=")]
    assert start.startswith(f"ExecStart={ROOT}/scripts/fleet.sh {what}")


@pytest.mark.parametrize("kind", ["systemd", "kubernetes", "ssh"])
def test_a_worker_of_a_rack_says_so(kind: str) -> None:
    text = unit_of(Workspace(ROOT), "worker", kind, ADDRESS, "eth1", rack="a")
    assert "generator host" in text
    assert "of rack a" in text
    assert "--rack a" in text.replace('"', "").replace(",", "")
    assert "${" not in text.replace('"${1', "")


def test_racks_have_manifests_of_their_own() -> None:
    made = yaml.safe_load(unit_of(Workspace(ROOT), "worker", "kubernetes", ADDRESS, rack="a"))
    assert made["metadata"]["name"] == "httparena-worker-a"
    assert made["spec"]["template"]["spec"]["nodeSelector"] == {"httparena": "generator-a"}


def test_a_server_host_is_started_by_systemd_or_ssh() -> None:
    for kind in ("systemd", "ssh"):
        text = unit_of(Workspace(ROOT), "worker", kind, ADDRESS, rack="a", serves=True)
        assert "--rack a --serves" in text
        assert "server host of rack a" in text
        assert "each server host" not in text


@pytest.mark.parametrize("kind", ["systemd", "kubernetes"])
@pytest.mark.parametrize("what", ["coordinator", "worker"])
def test_a_unit_says_how_to_make_it_again(what: str, kind: str) -> None:
    serves = (what, kind) == ("worker", "systemd")
    given = {"rack": "a", "serves": serves, "parts": 3} if what == "worker" else {}
    text = unit_of(Workspace(ROOT), what, kind, ADDRESS, "eth1", **given)  # type: ignore[arg-type]
    [line] = [each for each in text.splitlines() if "./scripts/fleet.sh unit" in each]
    words = line.partition("fleet.sh ")[2].partition(" |")[0].split()
    again = CliRunner().invoke(fleet.unit, words[1:], obj=Workspace(ROOT))
    assert again.output == text


@pytest.mark.parametrize(
    ("what", "rack", "folder"),
    [("coordinator", None, "coordinator"), ("worker", None, "generators"),
     ("worker", "a", "generators-a")],
)  # fmt: skip
def test_a_manifest_says_how_its_certificates_are_made(
    what: str, rack: str | None, folder: str
) -> None:
    text = unit_of(Workspace(ROOT), what, "kubernetes", ADDRESS, rack=rack)
    [secret] = [
        each["secret"]["secretName"]
        for each in yaml.safe_load(text)["spec"]["template"]["spec"]["volumes"]
        if "secret" in each
    ]
    lines = [line.removeprefix("#").strip() for line in text.splitlines()]
    at = lines.index(f"./scripts/fleet.sh ca --for {folder}")
    assert (
        lines[at + 1] == f"kubectl create secret generic {secret} --from-file .fleet/hosts/{folder}"
    )
    other = {"coordinator": "worker", "worker": "coordinator"}[what]
    assert secret not in unit_of(Workspace(ROOT), other, "kubernetes", ADDRESS)


def test_a_coordinator_listens_where_its_workers_look_for_it() -> None:
    def start(address: str | None, port: int | None = None) -> str:
        text = unit_of(Workspace(ROOT), "coordinator", "systemd", address, port=port)
        return next(line for line in text.splitlines() if line.startswith("ExecStart="))

    assert start("tls://10.0.0.1:9000").endswith("coordinator --port 9000")
    assert start("tls://10.0.0.1:9000", 9001).endswith("coordinator --port 9001")
    assert start(None).endswith("coordinator")


def test_a_unit_has_the_options_of_its_worker() -> None:
    text = unit_of(
        Workspace(ROOT), "worker", "systemd", ADDRESS,
        name="G1.Example.com", host_class="big", parts=3, cpus=8,
    )  # fmt: skip
    assert f"worker --fleet {ADDRESS} --name g1 --class big --parts 3 --cpus 8\n" in text
    assert "On the generator host" in text


@pytest.mark.parametrize(
    ("what", "kind", "given", "words"),
    [
        ("worker", "ssh", {"address": None}, "--fleet: name the coordinator as its hosts reach it"),
        ("worker", "ssh", {"address": "10.0.0.1"}, "--fleet: '10.0.0.1' is not an address"),
        ("worker", "ssh", {"port": 9000}, "--port: is for the coordinator"),
        ("worker", "ssh", {"name": "g1"}, "--name: is for one host, and --kind ssh starts several"),
        ("worker", "ssh", {"interface": "e'1"}, "--interface: .* is not the name of a network"),
        ("coordinator", "systemd", {"interface": "%H"}, "--interface: '%H' is not the name"),
        ("worker", "systemd", {"name": "Bad Name"}, "--name: 'Bad Name' is not allowed"),
        ("worker", "systemd", {"host_class": "A b"}, "--class: 'A b' is not allowed"),
        ("worker", "systemd", {"rack": ""}, "--rack: '' is not allowed"),
        ("coordinator", "systemd", {"parts": 2}, "--parts: is for workers"),
        ("coordinator", "systemd", {"name": "g1"}, "--name: is for workers"),
    ],
)
def test_a_unit_that_could_not_start_is_bad_usage(
    what: str, kind: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        unit_of(Workspace(ROOT), what, kind, **{"address": ADDRESS, **given})


@pytest.mark.parametrize(
    ("what", "kind", "rack", "words"),
    [
        ("worker", "kubernetes", "a", "use --kind systemd or ssh"),
        ("worker", "systemd", None, "add --rack NAME"),
        ("worker", "systemd", "A b", "--rack: 'A b' is not allowed"),
        ("coordinator", "systemd", "a", "--rack: is for workers"),
    ],
)
def test_what_cannot_serve_is_bad_usage(what: str, kind: str, rack: str | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        unit_of(Workspace(ROOT), what, kind, ADDRESS, rack=rack, serves=True)
