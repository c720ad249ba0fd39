"""The runner's own volley: what it leaves out is refused before the first request."""

import json
import re
from pathlib import Path

import pytest

from arena.load import generators
from tests.fakes import FakeProgress
from tests.volley.plumbing import CHECKOUT, Volley

pytestmark = pytest.mark.builds

FILE = """\
targets: {api: "http://127.0.0.1:1"}
scenarios:
  one:
    steps:
      - name: only
        get: ${api}/
"""
LOAD = "load: [{users: 1, for: 1s}]\n"


@pytest.fixture(scope="module")
def slim() -> Volley:
    """Build volley as the runner does, unless it is told otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("VOLLEY_PROFILE", raising=False)
        program = generators.locate("volley", CHECKOUT, {}).ready(CHECKOUT, None, FakeProgress())
    return Volley(Path(program.program))


FILES = {
    "script.yaml": (f"{FILE}        lua: function request(req) end\n{LOAD}", "lua"),
    "program.lua": ("print(1)\n", "lua"),
    "watched.yaml": (f"{FILE}{LOAD}control: 127.0.0.1:0\n", "control"),
    "br.yaml": (f'{FILE}        headers: {{accept-encoding: "gzip, br;q=0.5"}}\n{LOAD}', "brotli"),
    "zstd.yaml": (f"{FILE}        headers: {{accept-encoding: zstd}}\n{LOAD}", "zstd"),
    "old.json": (json.dumps({"schema": "http", "host": "a", "Scenarios": []}), "import"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_file_that_needs_a_missing_part_is_refused(
    slim: Volley, tmp_path: Path, name: str, command: str
) -> None:
    text, feature = FILES[name]
    file = tmp_path / name
    file.write_text(text)
    done = slim.run(command, str(file))
    assert (done.code, done.stdout) == (2, "")
    (line,) = [line for line in done.stderr.splitlines() if "feature" in line]
    assert f"`{feature}`" in line
    assert "cargo install --path volley" in line


@pytest.mark.parametrize(
    ("words", "feature", "code"),
    [
        ("--control :0 --insecure --call a.B/C localhost:1", "control", 2),
        ("--metrics :0 --insecure --call a.B/C localhost:1", "control", 2),
        ("run --metrics :0 x.yaml", "control", 2),
        ("import h2loadrunner old.json", "import", 2),
        ("edit x.yaml", "edit", 3),
    ],
)
def test_a_flag_or_a_command_that_needs_a_missing_part_is_refused(
    slim: Volley, words: str, feature: str, code: int
) -> None:
    done = slim.run(*words.split())
    assert (done.code, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ")
    assert f"`{feature}`" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_it_says_what_it_is(slim: Volley) -> None:
    said = slim.run("--version").stdout
    assert re.fullmatch(r"volley \S+ \(release; features: none\)\n", said)


def test_a_file_that_forbids_what_is_missing_is_right(slim: Volley, tmp_path: Path) -> None:
    file = tmp_path / "gzip.yaml"
    file.write_text(
        f'{FILE}        headers: {{accept-encoding: "gzip, br; q=0, zstd;q=0.0"}}\n{LOAD}'
    )
    done = slim.run("check", str(file))
    assert (done.code, done.stderr) == (0, "")
