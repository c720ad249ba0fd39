"""Every command line and config that ghz documents, run by ghz and by volley: the same shape."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from arena.machine import certs
from tests.integration.ghz_lines import FILES, LINES, Line
from tests.integration.plumbing import ROOT, Outcome
from tools.bench.counting_server import CountingServer, Counts, serving

pytestmark = pytest.mark.integration

SOURCES = ROOT / "tools" / "peers" / "grpc-go"
DOCUMENTED_HOST = "0.0.0.0:50051"
PATIENCE_S = 90.0

# Where a schedule of workers ends with the run, ghz 0.121 sometimes panics, and in one of five
# runs it makes a call more or less than it was asked for.
GHZ_FAULTS = 20

# ghz adds the folder of --proto and the current one to what it was given. The others are volley's.
OPTIONS_OF_ONE_ALONE = {"import-paths", "data-sha256", "schema", "lb-strategy"}


@dataclass(frozen=True)
class Programs:
    ghz: Path
    volley: Path


@dataclass(frozen=True)
class Ground:
    """A folder with the files of the lines, and the servers that they load."""

    folder: Path
    plain: CountingServer
    tls: CountingServer
    certificate: Path

    def run(self, program: Path, line: Line, *more: str) -> Outcome:
        """Run a line as it is written, but for the address."""
        return self.counted(program, line, *more)[0]

    def counted(self, program: Path, line: Line, *more: str) -> tuple[Outcome, Counts]:
        """Run a line; also return what the server counted meanwhile."""
        host = f"localhost:{self.server(line).port}"
        for name, text in FILES.items():
            (self.folder / name).write_text(text.replace(DOCUMENTED_HOST, host))
        words = [str(program), *shlex.split(line.words), *more]
        if "--config" not in line.words:
            words.append(host)
        stdin = (self.folder / line.stdin).read_bytes() if line.stdin else b""
        asked = re.search(r"-n (\d+) .*--concurrency-schedule", line.words)
        for _ in range(GHZ_FAULTS):
            before = self.server(line).counts()
            done = subprocess.run(
                words, check=False, capture_output=True, input=stdin, cwd=self.folder,
                timeout=PATIENCE_S, env={**os.environ, "SSL_CERT_FILE": str(self.certificate)},
            )  # fmt: skip
            after = self.server(line).counts()
            counted = Counts(after.calls - before.calls, after.messages - before.messages)
            has_lost = program.name == "ghz" and asked and counted.calls != int(asked[1])
            if not has_lost and not done.stderr.startswith(b"panic: send on closed channel"):
                break
        output = self.folder / "pretty.json"
        report = output.read_text() if output.exists() else done.stdout.decode()
        output.unlink(missing_ok=True)
        return Outcome(done.returncode, report, done.stderr.decode()), counted

    def server(self, line: Line) -> CountingServer:
        return self.tls if line.tls else self.plain


@pytest.fixture(scope="module")
def services() -> Path:
    """Compile ghz's documented services."""
    protos = sorted(path.name for path in (SOURCES / "protos").iterdir())
    compiler = [sys.executable, "-m", "grpc_tools.protoc", "-Iprotos", "--include_imports"]
    compiled = SOURCES / ".build" / "protos.pb"
    compiled.parent.mkdir(exist_ok=True)
    out = f"--descriptor_set_out={compiled}"
    subprocess.run([*compiler, out, *protos], check=True, cwd=SOURCES)
    return compiled


@pytest.fixture(scope="module")
def ground(
    counting_program: Path, services: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ground]:
    folder = tmp_path_factory.mktemp("ghz")
    protos = SOURCES / "protos"
    shutil.copytree(protos, folder / "protos")
    shutil.copy(protos / "greeter.proto", folder)
    shutil.copy(protos / "greeter.proto", folder / "protos" / "helloworld.proto")
    (folder / "testdata").mkdir()
    shutil.copy(protos / "wrapped.proto", folder / "testdata")
    shutil.copy(services, folder / "bundle.protoset")
    (folder / "hello_request_data.bin").write_bytes(b"\x0a\x03Joe")
    (folder / "logs").mkdir()
    certificates = tmp_path_factory.mktemp("certificates")
    certs.ensure_certificate(certificates)
    served = f"-protoset={services}"
    with ExitStack() as servers:
        logs = [tmp_path_factory.mktemp(name) for name in ("plain", "tls")]
        plain = servers.enter_context(serving(counting_program, logs[0], None, served))
        tls = servers.enter_context(serving(counting_program, logs[1], certificates, served))
        yield Ground(folder, plain, tls, certificates / "server.crt")


@pytest.fixture(scope="module")
def programs(ghz: Path, volley_program: Path) -> Programs:
    return Programs(ghz, volley_program)


def cases(lines: list[Line]) -> list[Any]:
    return [pytest.param(line, id=f"{line.page}-{number}") for number, line in enumerate(lines)]


BROKEN = [line for line in LINES if line.broken]
RUNNING = [line for line in LINES if not (line.refused or line.differs or line.broken)]
REFUSED = [line for line in LINES if line.refused]


@pytest.mark.parametrize("line", cases(RUNNING))
def test_volleys_output_has_the_shape_of_ghzs(
    programs: Programs, ground: Ground, line: Line
) -> None:
    of_ghz, counted_of_ghz = ground.counted(programs.ghz, line)
    of_volley, counted_of_volley = ground.counted(programs.volley, line)
    assert of_ghz.code == 0, of_ghz
    assert of_volley.code == 0, of_volley
    assert shape(line, of_volley.stdout) == shape(line, of_ghz.stdout), of_volley
    if line.counted:
        assert counted_of_volley == counted_of_ghz


@pytest.mark.parametrize("line", cases([line for line in RUNNING if "-O" not in line.words]))
def test_volleys_json_has_the_shape_of_ghzs(programs: Programs, ground: Ground, line: Line) -> None:
    as_json = ("-O", "json")
    of_ghz = json.loads(ground.run(programs.ghz, line, *as_json).stdout)
    of_volley = json.loads(ground.run(programs.volley, line, *as_json, "--details=all").stdout)
    assert json_shape(of_volley, line.counted) == json_shape(of_ghz, line.counted)
    if line.counted:
        for member in ("count", "statusCodeDistribution", "errorDistribution"):
            assert of_volley[member] == of_ghz[member], member
        assert len(of_volley["details"]) == len(of_ghz["details"])


@pytest.mark.parametrize("line", cases(REFUSED))
def test_what_ghz_refuses_volley_refuses_in_one_line(
    programs: Programs, ground: Ground, line: Line
) -> None:
    assert ground.run(programs.ghz, line).code != 0
    of_volley = ground.run(programs.volley, line)
    assert of_volley.code == 2, of_volley
    assert of_volley.error


@pytest.mark.parametrize("line", cases(BROKEN))
def test_what_ghz_documents_but_does_not_take_volley_runs(
    programs: Programs, ground: Ground, line: Line
) -> None:
    assert ground.run(programs.ghz, line).code != 0
    of_volley = ground.run(programs.volley, line)
    assert of_volley.code == 0, of_volley


@pytest.mark.parametrize("line", [line for line in LINES if line.differs], ids=["two-payloads"])
def test_what_volley_does_not_take_is_refused_with_the_remedy(
    programs: Programs, ground: Ground, line: Line
) -> None:
    assert ground.run(programs.ghz, line).code == 0
    of_volley = ground.run(programs.volley, line)
    assert of_volley.code == 2, of_volley
    assert of_volley.error.endswith("both give the payload: keep one")


def test_at_least_forty_lines_run_and_few_differ() -> None:
    assert len(RUNNING) >= 40
    assert len([line for line in LINES if line.differs]) <= 1


def test_the_table_of_flags_holds_every_flag_of_ghz(programs: Programs) -> None:
    check = [str(ROOT / "scripts" / "check-ghz-flags.sh"), str(programs.ghz), str(programs.volley)]
    done = subprocess.run(check, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_ghzs_own_options_are_a_config_of_volley(programs: Programs, ground: Ground) -> None:
    line = Line("output", "--config ./config.json -c 20 -n 100 -O json")
    first = json.loads(ground.run(programs.ghz, line).stdout)
    saved = ground.folder / "saved.json"
    saved.write_text(json.dumps(first["options"]))
    done = ground.run(programs.volley, Line("output", "--config ./saved.json -O json"))
    assert (done.code, done.stderr) == (0, "")
    options = json.loads(done.stdout)["options"]
    first["options"].pop("CPUs")  # In volley, never more than connections.
    assert {name: options.get(name) for name in first["options"]} == first["options"]


@pytest.mark.parametrize("asked", [("-e",), ("-m", '{"compress": "gzip"}')])
def test_replies_of_grpc_go_that_are_compressed_are_read_and_counted(
    programs: Programs, ground: Ground, asked: tuple[str, ...]
) -> None:
    name = "Joe " * 500
    data = json.dumps([{"name": name}] * 2)
    line = Line(
        "options",
        "--insecure --proto ./greeter.proto --call helloworld.Greeter.SayHelloBidi -n 10 -c 2 "
        f"-O json -d '{data}'",
    )
    done = ground.run(programs.volley, line, *asked)
    own = json.loads(done.stdout)["volley"]
    assert own["calls"] == {"ok": 10, "failed": {}, "cut": 0, "ignored": 0}
    compressed = own["compressed"]
    assert compressed["messages"] == own["messages"] == 20
    # Tag, a length of two bytes, and the text.
    assert compressed["bytes"] == 20 * (3 + len("Hello " + name))
    assert 0 < compressed["wire_bytes"] < compressed["bytes"] / 10


# ---- shapes


def shape(line: Line, report: str) -> Any:
    """Return what a reader of the line's output relies on."""
    config = re.search(r"--config[= ]\./(\S+)", line.words)
    form = re.search(r"-O (\S+)", line.words)
    if config and "pretty" in FILES.get(config[1], ""):
        return json_shape(json.loads(report), line.counted, with_details=False)
    shapes: dict[str, Callable[[], Any]] = {
        "summary": lambda: summary_shape(report, line.counted),
        "csv": lambda: [re.sub(r"\d+\.\d+", "0.0", row) for row in report.split("\n") if row],
        "json": lambda: json_shape(json.loads(report), line.counted, with_details=False),
        "pretty": lambda: json_shape(json.loads(report), line.counted, with_details=False),
        "html": lambda: html_shape(report),
        "prometheus": lambda: prometheus_shape(report),
    }
    name = form[1] if form else "summary"
    if name.startswith("influx-"):
        return [influx_shape(row) for row in report.splitlines()]
    return shapes[name]()


def json_shape(report: Any, counted: bool, with_details: bool = True) -> Any:
    """Return the members and their types, without volley's own.

    Which calls a run of a given length cuts is chance, and so are their statuses.
    """
    report = {name: value for name, value in report.items() if name != "volley"}
    options = report["options"].items()
    report["options"] = {name: v for name, v in options if name not in OPTIONS_OF_ONE_ALONE}
    for table in ("errorDistribution", "statusCodeDistribution"):
        report[table] = sorted(report[table]) if counted else {}
    if not with_details:
        report["details"] = []
    return types(report)


def types(value: Any) -> Any:
    match value:
        case dict():
            return {name: types(each) for name, each in value.items()}
        case list():
            return [types(value[0])] if value else []
        case bool() | str() | None:
            return type(value).__name__
        case _:
            return "number"


def summary_shape(report: str, counted: bool) -> list[str]:
    """Return the lines without their numbers, units and bars; if not counted, without statuses."""
    if not counted:
        report = report.partition("Status code distribution:")[0]
    rows = (re.sub(r"∎+", "", row) for row in report.splitlines())
    rows = (re.sub(r"\d+(\.\d+)?( (ns|ms|s)\b)?", "0", row) for row in rows)
    return [" ".join(row.split()) for row in rows if row.strip()]


def influx_shape(row: str) -> tuple[str, list[str], list[str]]:
    """Return a line's measurement, its tags with their texts, and its fields."""
    tags, fields, time = (re.split(r"(?<!\\) ", row)[index] for index in (0, 1, -1))
    assert re.fullmatch(r"\d{19}", time), row
    measurement, *pairs = re.split(r"(?<!\\),", tags)
    # The port is another one for each test, and is the same for both programs.
    return measurement, pairs, [field.partition("=")[0] for field in fields.split(",")]


def prometheus_shape(report: str) -> list[str]:
    """Return the names and types of the metrics, without volley's own."""
    types = (row for row in report.splitlines() if row.startswith("# TYPE"))
    return sorted(row for row in types if not row.startswith("# TYPE volley_"))


class Page(HTMLParser):
    """Reads a page, and fails where an element is not closed."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "rect", "line", "path", "circle"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def html_shape(report: str) -> set[str]:
    """Return which of a report's parts a page has; ghz's own page is not well-formed.

    volley's page has parts of its own, and no table of the slowest, fastest and average call.
    """
    page = Page()
    if "<!doctype html>" in report.lower():
        page.feed(report)
        page.close()
        assert page.open == []
    parts = ("Greeter SayHello", "Histogram", "Status")
    return {part for part in parts if part.lower() in report.lower()}
