"""volley, the honest generator: it counts and checks every message itself."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from arena.base.durations import format_duration
from arena.base.errors import HostError
from arena.base.hashing import tree_sha256
from arena.base.progress import Progress
from arena.base.text import shown
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.measure.generators import WarmUp, ghz_flags, measurements, volley_scenario
from arena.measure.generators.description import Build, Description, Image, Told, Way
from arena.measure.generators.provision import build, output_of
from arena.what.loads import Blast, Closed, Scenario, Scheduled
from arena.what.measured import MeasuredProfile
from arena.what.scenarios import MADE

_INSTALL = (
    "name one with VOLLEY=/path/to/volley, install Rust (cargo) so that it can be built, "
    "or start Docker so that it can be run from an image (LOADGEN_DOCKER=true, VOLLEY_IMAGE)"
)
_VERSION = re.compile(r"volley (\S+)\s*")

# What volley prints to stderr when its warm-up is over.
_WARM = "volley: warm"

# It gives up this long after the longest warm-up, if nobody opens its window.
_LATE_S = 10.0

# The sources of the program, besides `src`.
_SOURCES = ("Cargo.toml", "Cargo.lock", "build.rs")
# The sources of the page of `volley edit`, which is made from them before volley is built.
_PAGE = ("build.mjs", "package.json", "package-lock.json")


def closed(profile: MeasuredProfile, more: Sequence[str] = ()) -> list[str]:
    """Return ghz's flags, and the expected replies: volley decodes and checks each one."""
    return ghz_flags.closed(profile, [*_expected(profile), *more])


def told(profile: MeasuredProfile, warm_up: WarmUp) -> list[str]:
    """Return the flags of a closed load that warms up until a line on stdin opens its window."""
    at_most_s = warm_up.seconds + warm_up.wait_s + _LATE_S
    return closed(
        profile,
        [
            "--warmup", format_duration(warm_up.seconds),
            "--open-on-stdin",
            "--warmup-at-most", format_duration(at_most_s),
            # A call that began with the longest warm-up has its time in the window as well.
            "--timeout", format_duration(at_most_s + ghz_flags.CALL_TIMEOUT_S),
        ],
    )  # fmt: skip


def blast(profile: MeasuredProfile) -> list[str]:
    """Return the arguments of `volley blast`: the whole sweep, which takes one start."""
    load = profile.load_as(Blast)
    return [
        "blast",
        *ghz_flags.request(profile),
        *_expected(profile),
        "--requests", ",".join(map(str, load.sweep)),
        "--connections", ",".join(map(str, profile.connections)),
        "--repetitions", str(load.repetitions),
        "--seed", str(load.seed),
        "--max-duration", format_duration(load.duration_s),
        "-O", "json",
        ghz_flags.target(profile),
    ]  # fmt: skip


def _expected(profile: MeasuredProfile) -> list[str]:
    rules = [flag for rule in profile.expect for flag in ("--expect", rule)]
    return ["--expect-replies", str(profile.replies), *rules]


def version_of(command: Sequence[str]) -> str | None:
    """Return the version of the volley that a command starts; None if it is not volley."""
    match = _VERSION.fullmatch(output_of([*command, "--version"]))
    return match[1] if match else None


def _is_current(own: Path, workspace: Workspace) -> bool:
    """Return whether the runner's own volley was built from the current sources.

    One that was built without the page of `volley edit` is not, if the page is there now.
    """
    try:
        sources, *page = _marker(own).read_text().split()
    except (OSError, ValueError):
        return False
    is_whole = bool(page) or not _has_page(workspace)
    return own.exists() and is_whole and sources == _sources_sha256(workspace)


def _sources_sha256(workspace: Workspace) -> str:
    """Return one hash over all sources of volley: each file's path and content."""
    files = [workspace.volley / name for name in _SOURCES]
    page = workspace.volley / "edit"
    files += [path for name in _PAGE if (path := page / name).is_file()]
    for folder in (workspace.volley / "src", page / "src"):
        files += sorted(path for path in folder.rglob("*") if path.is_file())
    try:
        return tree_sha256(workspace.volley, files)
    except OSError as error:
        raise HostError(
            f"volley: {shown(Path(error.filename))}: cannot be read ({error.strerror}), "
            f"so it cannot be built; {_INSTALL}"
        ) from error


def _cargo_build(workspace: Workspace, progress: Progress) -> None:
    """Build the current sources; put the program into place in one step at the end."""
    _make_page(workspace, progress)
    own, sources = VOLLEY.own_program(workspace), _sources_sha256(workspace)
    target = workspace.tools / "volley-target"
    argv = [
        "cargo", "build", "--release", "--locked",
        "--manifest-path", str(workspace.volley / "Cargo.toml"), "--target-dir", str(target),
    ]  # fmt: skip
    log = workspace.tools / "volley-build.log"
    with progress.waiting(f"building volley with cargo (once, some minutes; log: {shown(log)})"):
        build(argv, workspace.volley, log, "cargo build", _INSTALL)
        own.parent.mkdir(parents=True, exist_ok=True)
        fresh = own.with_name(".volley-fresh")
        shutil.copy2(target / "release" / "volley", fresh)
        # If killed between these steps, the program has no known sources and is built again.
        _marker(own).unlink(missing_ok=True)
        fresh.replace(own)
        write_atomic(_marker(own), sources + " page" * _has_page(workspace) + "\n")


def _make_page(workspace: Workspace, progress: Progress) -> None:
    """Make the page of `volley edit` if npm is there; without it, all else of volley works."""
    script = workspace.root / "scripts" / "volley-page.sh"
    if script.exists():
        log = workspace.tools / "volley-page.log"
        with progress.waiting(f"making the page of `volley edit` (log: {shown(log)})"):
            build([str(script), "--if-possible"], workspace.root, log, script.name, _INSTALL)


def _has_page(workspace: Workspace) -> bool:
    return (workspace.volley / "edit" / "dist" / "page.html").is_file()


def _marker(program: Path) -> Path:
    """Return the file that holds the hash of the built program's sources, and if it has a page."""
    return program.with_name(f"{program.name}.sources")


def _prepare(profile: MeasuredProfile, workspace: Workspace) -> None:
    """Make the folder that its containers see, and the file of a scenario in it."""
    folder = workspace.root / MADE
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{shown(folder)}: cannot be made ({error.strerror})") from error
    if isinstance(profile.load, Scenario):
        volley_scenario.prepare(profile, workspace)


def _image(workspace: Workspace, named: str | None) -> Image:
    """Return the image of docker/volley.Dockerfile; its name has the sources' hash: never stale."""
    name = named or f"httparena-volley:{_sources_sha256(workspace)[:12]}"
    options = ("--file", str(workspace.root / "docker" / "volley.Dockerfile"))
    return Image(name, workspace.volley, options)


# By itself, it uses as many threads as it is allowed CPUs.
VOLLEY = Description(
    name="volley",
    ways={
        Closed: Way(
            lambda profile, _, __: closed(profile),
            measurements.of_volley,
            told=Told(told, _WARM, measurements.volley_cpu_s),
        ),
        Scheduled: Way(
            lambda profile, _, __: ghz_flags.scheduled(profile, _expected(profile)),
            measurements.of_volley,
        ),
        Blast: Way(
            lambda profile, _, __: blast(profile), lambda raw, _: measurements.of_blast(raw)
        ),
        Scenario: Way(
            lambda profile, cpus, _: volley_scenario.arguments(profile, cpus),
            measurements.of_scenario,
        ),
    },
    version_of=version_of,
    install=_INSTALL,
    image=_image,
    build=Build("cargo", "cargo", _cargo_build, _is_current),
    prepare=_prepare,
    folders=("requests", MADE),
    # A volley on PATH is of unknown sources, and cargo is quick.
    is_on_path=False,
    # If calls failed, it exits with 1 and still reports how many were made.
    report_codes=frozenset({0, 1}),
)
