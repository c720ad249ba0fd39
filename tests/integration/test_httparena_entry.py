"""An entry as HttpArena has them runs here as it is: GetSum only, not named like its folder."""

import shutil
from pathlib import Path

import pytest
import yaml

from arena.what.framework import source_sha256
from tests.integration.plumbing import ROOT, Arena, need_base_images

pytestmark = [
    pytest.mark.integration,
    pytest.mark.docker,
    pytest.mark.usefixtures("docker"),
]

ENTRY = ROOT / "tests" / "fixtures" / "httparena" / "node-unary"


@pytest.fixture
def entry(bare: Arena) -> Path:
    """Put a copy of the entry into the checkout, where its profile asks for fewer connections."""
    need_base_images(ENTRY)
    profile = bare.workspace.profiles / "unary-grpc.yaml"
    settings = yaml.safe_load(profile.read_text())
    less = {"connections": [4], "streams_per_connection": 8, "warmup": "200ms"}
    profile.write_text(yaml.safe_dump(settings | less))
    return shutil.copytree(ENTRY, bare.workspace.frameworks / ENTRY.name)


def test_an_httparena_entry_is_validated_and_measured_unmodified(
    bare: Arena, entry: Path, volley_program: Path
) -> None:
    done = bare.command("validate", entry.name, "--runtime", "docker", "--wait")
    assert done.code == 0, done
    verdict = [line for line in done.stdout.splitlines() if line.startswith(entry.name)]
    assert verdict[0].split()[:2] in ([entry.name, "PASS"], [entry.name, "WARN"]), done

    done = bare.run(
        entry.name, "unary-grpc", "--runs", "1", "--duration", "500ms",
        runtime="docker", VOLLEY=str(volley_program),
    )  # fmt: skip
    assert done.code == 0, done
    record = bare.records(entry.name, "unary-grpc")[0]
    assert record["status"] == "ok"
    assert record["framework"]["display_name"] == "gRPC for Node (unary)"
    assert record["framework"]["type"] == "tuned"
    assert record["framework"]["source_sha256"] == source_sha256(ENTRY) == source_sha256(entry)
    assert record["runs"][0]["calls"]["ok"] > 0
    assert "<h1><bdi>gRPC for Node (unary)</bdi></h1>" in bare.page(
        "frameworks/node-unary/index.html"
    )
    assert bare.left_behind() == []
