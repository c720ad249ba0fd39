"""docs/scenarios.md: every file in it runs as it is, but for ports and the length of its load."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.plumbing import ROOT
from tests.volley.scenarios import Scenarios
from tools.bench_scenarios.servers import Running, serving

pytestmark = pytest.mark.integration

TEXT = (ROOT / "docs" / "scenarios.md").read_text()
# A name, and below it the file, indented.
FILES = dict(re.findall(r"^`([\w.-]+)`:\n\n((?:(?: {4}.*)?\n)+)", TEXT, re.MULTILINE))
RECIPES = sorted(name for name in FILES if name.endswith(".yaml"))


@pytest.fixture
def servers(volley_program: Path, tmp_path: Path) -> Iterator[list[Running]]:
    """Run two servers, for the ports 8080 and 8081 of the text."""
    argv = [str(volley_program), "serve", "--listen=127.0.0.1:0"]
    with ExitStack() as stack:
        folders = [tmp_path / "first", tmp_path / "second"]
        for folder in folders:
            folder.mkdir()
        yield [stack.enter_context(serving(argv, folder)) for folder in folders]


def written(scenarios: Scenarios, servers: list[Running]) -> None:
    """Write every file of the text, and what it asks the reader to put beside them."""
    proto = ROOT / "requests" / "benchmark.proto"
    (scenarios.folder / proto.name).write_text(proto.read_text())
    for name, text in FILES.items():
        plain = re.sub(r"^ {4}", "", text, flags=re.MULTILINE)
        for port, server in zip((8080, 8081), servers, strict=True):
            plain = plain.replace(f"127.0.0.1:{port}", f"127.0.0.1:{server.port}")
        short = re.sub(r"for: \d+[sm]\b", "for: 300ms", plain)
        (scenarios.folder / name).write_text(short)


def test_the_text_has_a_recipe_for_each_need() -> None:
    assert RECIPES == [
        "first.yaml", "flow.yaml", "hosts.yaml", "login.yaml", "mix.yaml", "one.yaml", "ramp.yaml",
        "users.yaml",
    ]  # fmt: skip


def test_the_first_example_is_that_of_the_text() -> None:
    text = re.sub(r"^ {4}", "", FILES["first.yaml"], flags=re.MULTILINE).strip()
    assert (ROOT / "volley" / "examples" / "first.yaml").read_text().strip().endswith(text)


def test_the_sample_of_an_imported_file_runs(scenarios: Scenarios, servers: list[Running]) -> None:
    text = (ROOT / "volley" / "H2LOADRUNNER.md").read_text()
    sample = re.search(r"^`old.json`:\n\n((?:(?: {4}.*)?\n)+)", text, re.MULTILINE)
    assert sample
    file = scenarios.folder / "old.json"
    file.write_text(sample[1].replace("8080", str(servers[0].port)))
    done = scenarios.run(file)
    assert (done.code, done.iterations["ok"]) == (0, 1500), done


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_passes_its_checks_and_runs(
    name: str, scenarios: Scenarios, servers: list[Running]
) -> None:
    written(scenarios, servers)
    file = scenarios.folder / name
    checked = scenarios.volley.run("check", str(file))
    assert (checked.code, checked.stderr) == (0, "")
    # A busy host may miss a threshold on time, never one on what came back.
    done = scenarios.run(file)
    assert done.code in {0, 99}, done
    iterations = done.iterations
    assert iterations["begun"] == iterations["ok"] > 0, iterations


def test_a_chain_leaves_nothing_behind(scenarios: Scenarios, servers: list[Running]) -> None:
    written(scenarios, servers)
    done = scenarios.run(scenarios.folder / "first.yaml")
    counts = servers[0].counts()
    assert done.ok("create") == counts["created"] == counts["patched"] == counts["deleted"]


def test_each_user_comes_once(scenarios: Scenarios, servers: list[Running]) -> None:
    written(scenarios, servers)
    done = scenarios.run(scenarios.folder / "users.yaml")
    assert done.ok("create") == servers[0].counts()["created"] == 3


def test_a_ramp_ends_when_its_threshold_has_failed_for_long(
    scenarios: Scenarios, servers: list[Running]
) -> None:
    written(scenarios, servers)
    file = scenarios.folder / "ramp.yaml"
    text = file.read_text().replace("p99(read) < 20ms", "p99(read) < 1ns")
    file.write_text(text.replace("for: 300ms", "for: 1m"))
    done = scenarios.run(file)
    assert (done.code, done.report["ended_by"]) == (99, "threshold"), done.stderr


def keys_of(schema: object) -> set[str]:
    """Return the keys that a JSON Schema knows, at any depth."""
    found = set()
    if isinstance(schema, dict):
        if isinstance(properties := schema.get("properties"), dict):
            found |= set(properties)
        found |= {key for each in schema.values() for key in keys_of(each)}
    if isinstance(schema, list):
        found |= {key for each in schema for key in keys_of(each)}
    return found


def words(code: list[str]) -> set[str]:
    return {word for each in code for word in re.findall(r"\w+", each)}


def test_every_key_of_the_file_is_explained_and_no_other(scenarios: Scenarios) -> None:
    keys = keys_of(json.loads(scenarios.volley.run("schema", "scenario").stdout))
    reference = TEXT.partition("## The file, key by key")[2]
    code = re.findall(r"`([^`]+)`", reference)
    assert keys - words(code) <= {"$schema", "least", "most"}
    first_cells = [line.split("|")[1] for line in reference.splitlines() if line.startswith("| `")]
    assert words([word for cell in first_cells for word in re.findall(r"`([^`]+)`", cell)]) <= keys
