"""The docker runtime: the sandbox a server runs in, its builds and its end."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.load import volley
from arena.load.find import in_image
from tests.integration.plumbing import ROOT, Arena, eventually

pytestmark = [
    pytest.mark.integration,
    pytest.mark.docker,
    pytest.mark.usefixtures("docker", "victim_image"),
]


def test_grpc_go_is_built_measured_and_removed_in_a_sandbox(bare: Arena) -> None:
    folder = bare.workspace.frameworks / "grpc-go"
    shutil.copytree(ROOT / "frameworks" / "grpc-go", folder)
    meta = json.loads((folder / "meta.json").read_bytes())
    (folder / "meta.json").write_text(json.dumps({**meta, "tests": ["quick"]}))
    words = ("grpc-go", "quick", "--duration", "2s")
    with bare.running(*words, runtime="docker") as running:
        running.await_line("run 1 of 1")
        (container,) = bare.containers()
        done = running.end()
    assert done.code == 0, done

    assert container["Name"] == "/httparena-grpc-go"
    assert container["Config"]["Labels"]["httparena"] == ""
    host = container["HostConfig"]
    assert host["NetworkMode"] == "host"
    assert host["CapDrop"] == ["ALL"]
    assert host["CapAdd"] is None
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert not host["Privileged"]
    assert 0 < host["PidsLimit"] <= 4096
    limits = {each["Name"]: each for each in host["Ulimits"]}
    assert limits["nofile"]["Hard"] == limits["nofile"]["Soft"] > 1024
    assert limits["memlock"]["Hard"] == limits["memlock"]["Soft"]
    mounts = {mount["Destination"]: mount for mount in container["Mounts"]}
    assert mounts["/certs"]["Source"] == str(bare.workspace.certs)
    assert set(mounts) == {"/certs", "/data/dataset.json", "/data/static"}
    assert not any(mount["RW"] for mount in mounts.values())

    (record,) = bare.records("grpc-go", "quick")
    assert record["status"] == "ok"
    assert record["framework"]["image_digest"] == container["Image"]
    provenance = record["provenance"]
    assert provenance["runtime"]["name"] == "docker"
    assert provenance["runtime"]["argv"][:3] == ["docker", "run", "--detach"]
    assert provenance["host"]["docker"]
    assert record["runs"][0]["server"]["cpu_s"] > 0
    assert record["runs"][0]["server"]["peak_bytes"] > 1 << 20
    assert bare.left_behind() == []


def test_the_servers_cpus_are_its_containers_cpuset(arena: Arena) -> None:
    arena.containerize("victim")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("two CPUs are needed")
    with arena.under_load(runtime="docker", SERVER_CPUS=str(cpus[0])):
        (container,) = arena.containers()
        assert container["HostConfig"]["CpusetCpus"] == str(cpus[0])


def test_ghz_runs_from_an_image_in_the_same_sandbox(arena: Arena) -> None:
    words = ("victim", "quick", "--duration", "2s")
    with arena.running(*words, LOADGEN_DOCKER="true") as running:
        running.await_line("run 1 of 1")
        (container,) = eventually(arena.containers, "ghz runs in a container")
        done = running.end()
    assert done.code == 0, done
    host = container["HostConfig"]
    assert host["NetworkMode"] == "host"
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert [mount["RW"] for mount in container["Mounts"]] == [False]
    record = arena.records("victim")[-1]
    assert record["provenance"]["generator"]["found"].startswith("image ")
    assert "sha256:" in record["provenance"]["generator"]["version"]
    assert record["runs"][0]["generator"]["cpu_s"] > 0
    assert record["runs"][0]["calls"]["ok"] > 0


@pytest.fixture
def volley_image(volley_program: Path, tmp_path: Path) -> Iterator[str]:
    """Make an image of the volley that was built natively, as docker/volley.Dockerfile ends."""
    image = "httparena-tests-volley"
    shutil.copy(volley_program, tmp_path / "volley")
    (tmp_path / "Dockerfile").write_text(
        'FROM debian:bookworm-slim\nCOPY volley /usr/local/bin/volley\nENTRYPOINT ["volley"]\n'
    )
    words = ["docker", "build", "--quiet", "--tag", image, str(tmp_path)]
    subprocess.run(words, check=True, capture_output=True)
    if not volley.version_of(in_image(image)):
        pytest.skip("this host's volley needs a newer system than the image's")
    yield image
    subprocess.run(["docker", "image", "rm", image], check=False, capture_output=True)


@pytest.mark.parametrize("variable", ["VOLLEY_IMAGE", "GHZ_IMAGE"])
def test_volley_runs_from_an_image_too(arena: Arena, volley_image: str, variable: str) -> None:
    words = ["victim", "quick", "--duration", "2s"]
    if variable == "VOLLEY_IMAGE":
        words += ["--generator", "volley"]
    environment = {"LOADGEN_DOCKER": "true", variable: volley_image}
    with arena.running(*words, **environment) as running:
        running.await_line("run 1 of 1")
        (container,) = eventually(arena.containers, "volley runs in a container")
        done = running.end()
    assert done.code == 0, done
    assert container["Name"] == "/httparena-volley-run"
    assert container["HostConfig"]["CapDrop"] == ["ALL"]
    record = arena.records("victim")[-1]
    assert record["profile"]["generator"] == "volley"
    generator = record["provenance"]["generator"]
    assert (generator["name"], generator["found"]) == ("volley", f"image {volley_image}")
    assert "--expect" in generator["argv"]
    assert record["runs"][0]["generator"]["cpu_s"] > 0
    assert record["runs"][0]["rate_at_least"] == record["runs"][0]["rate_at_most"] > 0


def test_a_failed_image_build_shows_its_last_lines_and_names_its_log(arena: Arena) -> None:
    arena.containerize("victim", "RUN echo compiling; echo no such type >&2; exit 7")
    done = arena.run("victim", "quick", runtime="docker")
    assert done.code == 1
    assert done.error == "error: victim: build: `docker build` failed (exit code 7)"
    assert "  | compiling\n" in done.stderr
    assert "no such type\n" in done.stderr
    assert "no such type" in Path(arena.root, done.said("log: ")).read_text()
    record = arena.records("victim")[-1]
    assert (record["status"], record["failure"]["stage"]) == ("failed", "build")
    assert arena.row("victim")["result"]["value"]


@pytest.mark.parametrize(
    ("last_line", "patience", "how"),
    [
        ("CMD echo no such port >&2; exit 3", "60s", "ended before it was ready (exit code 3)"),
        ("CMD exec sleep 60", "1s", "not ready on port 8080 within 1 s"),
        ('CMD ["/no-such-program"]', "60s", "no-such-program"),
    ],
)
def test_a_container_that_is_never_ready_is_removed_and_its_words_are_kept(
    arena: Arena, last_line: str, patience: str, how: str
) -> None:
    arena.containerize("victim", last_line)
    done = arena.run("victim", "quick", "--ready-timeout", patience, runtime="docker")
    assert done.code == 1
    assert how in done.error
    assert "exit 3" not in last_line or "  | no such port\n" in done.stderr
    record = arena.records("victim")[-1]
    assert (record["status"], record["failure"]["stage"]) == ("failed", "start")
    assert arena.row("victim")["result"]["value"]
    assert arena.left_behind() == []


def test_a_container_that_dies_under_load_ends_the_session(arena: Arena) -> None:
    arena.containerize("victim")
    with arena.under_load(runtime="docker") as running:
        (container,) = arena.containers()
        os.kill(container["State"]["Pid"], 9)
        done = running.end()
    assert done.code == 1
    assert "run 1 of 1: the server ended in the middle of it (exit code 137)" in done.error
    assert arena.records("victim")[-1]["failure"]["stage"] == "run 1 of 1"
    assert arena.row("victim")["result"]["value"]


def test_a_framework_without_a_dockerfile_names_the_native_way(arena: Arena) -> None:
    done = arena.run("victim", "quick", runtime="docker")
    assert done.code == 3
    assert "victim has no Dockerfile" in done.error
    assert "--runtime native" in done.error
