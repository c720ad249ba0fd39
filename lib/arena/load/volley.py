"""volley, the honest generator: it counts and checks every message itself."""

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from arena.base.errors import HostError, UsageError
from arena.base.reading import tree_sha256
from arena.base.text import shown
from arena.base.units import format_duration
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.load import ghz_flags, measurements
from arena.load.find import build, output_of
from arena.load.generators import Build, Description, Image, Told, WarmUp, Way
from arena.machine import builds
from arena.what.loads import Blast, Capacity, Closed, Cold, Live, Paced, Scenario, Scheduled, Share
from arena.what.profile import MeasuredProfile
from arena.what.scenarios import MADE

_INSTALL = (
    "name one with VOLLEY=/path/to/volley, install Rust (cargo) so that it can be built, "
    "or start Docker so that it can be run from an image (LOADGEN_DOCKER=true, VOLLEY_IMAGE)"
)
# Its version, and since it has features, how it was built: `0.1.0 (release; features: none)`.
_VERSION = re.compile(r"volley (\S+(?: \([^()\n]+\))?)\s*")

# What volley prints to stderr when its warm-up is over.
_WARM = "volley: warm"

# The largest reply: gRPC's usual limit, far above the replies of all profiles. Without it, volley
# would take up to 2 GiB of one into memory.
_LARGEST_REPLY = "4MiB"

# It gives up this long after the longest warm-up, if nobody opens its window.
_LATE_S = 10.0

# How long iterations that are open at the load's end may take. What is left then counts as cut.
_DRAIN = "10s"

# The sources of the program: files, and folders of files. The texts in `docs` are a part of it.
_FILES = ("Cargo.toml", "Cargo.lock", "build.rs")
_FOLDERS = ("crates", "docs", "src")

# The variable that names the profile of cargo, and the profiles: `dist` takes longer to build, and
# is for figures that are published.
PROFILE = "VOLLEY_PROFILE"
_PROFILES = ("release", "dist")


def closed(profile: MeasuredProfile, more: Sequence[str] = ()) -> list[str]:
    """Return ghz's flags, and what replies may be: volley decodes and checks each one."""
    return ghz_flags.closed(profile, [*_replies(profile), *more])


def paced(profile: MeasuredProfile, more: Sequence[str] = ()) -> list[str]:
    """Return the flags of calls at a fixed rate, and what replies may be."""
    return ghz_flags.paced(profile, [*_replies(profile), *more])


def live(profile: MeasuredProfile, more: Sequence[str] = ()) -> list[str]:
    """Return the flags of streams that live, and what replies may be: any number of them."""
    return ghz_flags.live(profile, [*_replies(profile), *more])


def told(
    of: Callable[[MeasuredProfile, Sequence[str]], list[str]],
    profile: MeasuredProfile,
    warm_up: WarmUp,
) -> list[str]:
    """Return the flags of a load that warms up until a line on stdin opens its window."""
    at_most_s = warm_up.seconds + warm_up.wait_s + _LATE_S
    # A call that began with the longest warm-up has its time in the window as well.
    timeout = ["--timeout", format_duration(at_most_s + ghz_flags.CALL_TIMEOUT_S)]
    return of(
        profile,
        [
            "--warmup", format_duration(warm_up.seconds),
            "--open-on-stdin",
            "--warmup-at-most", format_duration(at_most_s),
            # Streams that live have no limit.
            *([] if profile.load.answers_messages else timeout),
        ],
    )  # fmt: skip


def blast(profile: MeasuredProfile) -> list[str]:
    """Return the arguments of `volley blast`: the whole sweep, which takes one start."""
    load = profile.load_as(Blast)
    return [
        "blast",
        *ghz_flags.request(profile),
        *_replies(profile),
        "--requests", ",".join(map(str, load.sweep)),
        "--connections", ",".join(map(str, profile.connections)),
        "--repetitions", str(load.repetitions),
        "--seed", str(load.seed),
        "--max-duration", format_duration(load.duration_s),
        "-O", "json",
        ghz_flags.target(profile),
    ]  # fmt: skip


def find(profile: MeasuredProfile) -> list[str]:
    """Return the arguments of `volley find`: 99 % of the calls keep the limit of the profile."""
    load = profile.load_as(Capacity)
    return [
        "find",
        "--p99", format_duration(load.limit_s),
        "--budget", format_duration(load.duration_s),
        *ghz_flags.request(profile),
        *_replies(profile),
        "--connections", str(profile.connection_count),
        "-O", "json",
        ghz_flags.target(profile),
    ]  # fmt: skip


def scenario(profile: MeasuredProfile, cpus: Sequence[int] | None) -> list[str]:
    """Return the arguments of `volley run`: a thread for each CPU that is the generator's alone.

    If it has none, volley takes half of all CPUs.
    """
    threads = profile.load_as(Scenario).threads
    if threads is None and cpus is not None:
        threads = min(len(cpus), profile.connection_count)
    chosen = ["--threads", str(threads)] if threads else []
    return ["run", _scenario_file(_scenario(profile)), *chosen, "--quiet", "-O", "json"]


def _scenario_file(text: str) -> str:
    """Return the path of a scenario's file, below the root: its name is the content's hash."""
    return f"{MADE}/{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def _scenario(profile: MeasuredProfile) -> str:
    """Return the scenario as JSON: every target is the server, and the load is the profile's."""
    load = profile.load_as(Scenario)
    plan = load.scenario.plan
    server = {"hosts": f"{'https' if profile.tls else 'http'}://localhost:{profile.port}"}
    # The test's certificate is self-signed.
    target = {**server, "tls": {"insecure": True}} if profile.tls else server
    phase = {"rate": f"{load.rate:.15g}/s"} if load.rate else {"users": profile.in_flight}
    made = {
        **plan,
        "targets": dict.fromkeys(plan["targets"], target),
        "http": {
            **plan["http"],
            "version": load.http_version,
            "connections": profile.connection_count,
            "streams": load.streams_per_connection,
        },
        "load": [{**phase, "for": format_duration(load.duration_s)}],
        "limits": {**plan["limits"], "iterations_open": profile.in_flight, "drain": _DRAIN},
    }
    return json.dumps(made, indent=1)


def _replies(profile: MeasuredProfile) -> list[str]:
    # A stream that lives has as many as messages.
    count = [] if profile.load.answers_messages else ["--expect-replies", str(profile.replies)]
    rules = [flag for rule in profile.expect for flag in ("--expect", rule)]
    return ["--max-recv-message-size", _LARGEST_REPLY, *count, *rules]


def version_of(command: Sequence[str]) -> str | None:
    """Return the version of the volley that a command starts; None if it is not volley."""
    match = _VERSION.fullmatch(output_of([*command, "--version"]))
    return match[1] if match else None


def _is_current(flags: Sequence[str], own: Path, workspace: Workspace) -> bool:
    """Return whether the runner's own volley was built from the current sources, and like this."""
    try:
        return own.exists() and _marker(own).read_text() == _made(flags, workspace)
    except (OSError, ValueError):
        return False


def _profile() -> str:
    """Return the profile of cargo; UsageError for one that volley does not have."""
    named = os.environ.get(PROFILE) or _PROFILES[0]
    if named not in _PROFILES:
        raise UsageError(f"{PROFILE}: write {' or '.join(_PROFILES)}, not {named!r:.40}")
    return named


def _made(flags: Sequence[str], workspace: Workspace) -> str:
    """Return what a build is made of: the sources, the profile and the features."""
    return " ".join([_sources_sha256(workspace), _profile(), *flags]) + "\n"


def _sources_sha256(workspace: Workspace, *more: Path) -> str:
    """Return one hash over all sources of volley, and `more`: each file's path and content."""
    files = [*more, *(workspace.volley / name for name in _FILES)]
    for folder in _FOLDERS:
        files += sorted(path for path in (workspace.volley / folder).rglob("*") if path.is_file())
    try:
        return tree_sha256(workspace.root, files)
    except OSError as error:
        raise HostError(
            f"volley: {shown(Path(error.filename))}: cannot be read ({error.strerror}), "
            f"so it cannot be built; {_INSTALL}"
        ) from error


def _cargo_build(flags: Sequence[str], own: Path, workspace: Workspace) -> builds.Build[None]:
    """Build the current sources; put the program into place in one step at the end.

    If another process builds, wait for it: its program may be the one that is needed.
    """
    workspace.tools.mkdir(parents=True, exist_ok=True)
    with (workspace.tools / "volley-build.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not _is_current(flags, own, workspace):
            yield from _built_alone(flags, own, workspace)


def _built_alone(flags: Sequence[str], own: Path, workspace: Workspace) -> builds.Build[None]:
    made, profile = _made(flags, workspace), _profile()
    target = workspace.tools / "volley-target"
    argv = [
        "cargo", "build", "--profile", profile, "--locked", *flags,
        "--manifest-path", str(workspace.volley / "Cargo.toml"), "--target-dir", str(target),
    ]  # fmt: skip
    log = workspace.tools / "volley-build.log"
    words = f"build volley (once, some minutes; log: {shown(log)})"
    command = builds.Command(argv, workspace.volley, log, words, "cargo build")
    yield from build(command, _INSTALL)
    own.parent.mkdir(parents=True, exist_ok=True)
    fresh = own.with_name(".volley-fresh")
    shutil.copy2(target / profile / "volley", fresh)
    # If killed between these steps, the program has no known sources and is built again.
    _marker(own).unlink(missing_ok=True)
    fresh.replace(own)
    write_atomic(_marker(own), made)


def _marker(program: Path) -> Path:
    """Return the file that holds what the built program was made of."""
    return program.with_name(f"{program.name}.sources")


def _build(*flags: str) -> Build:
    return Build("cargo", "cargo", partial(_cargo_build, flags), partial(_is_current, flags))


def _prepare(profile: MeasuredProfile, workspace: Workspace) -> None:
    """Make the folder that its containers see, and the file of a scenario in it."""
    folder = workspace.root / MADE
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"{shown(folder)}: cannot be made ({error.strerror})") from error
    if isinstance(profile.load, Scenario):
        text = _scenario(profile)
        path = workspace.root / _scenario_file(text)
        if not path.exists():
            write_atomic(path, text)


def _image(workspace: Workspace, named: str | None) -> Image:
    """Return the image of docker/volley.Dockerfile; its name has the hash of it and the sources."""
    profile, file = _profile(), workspace.root / "docker" / "volley.Dockerfile"
    name = named or f"httparena-volley:{_sources_sha256(workspace, file)[:12]}-{profile}"
    return Image(name, workspace.volley, ("--file", str(file), "--build-arg", f"PROFILE={profile}"))


_PACED = Way(
    lambda profile, _, __: paced(profile),
    measurements.of_volley,
    told=Told(partial(told, paced), _WARM, measurements.of_told_volley),
)

# By itself, it uses as many threads as it is allowed CPUs.
VOLLEY = Description(
    name="volley",
    checks_replies=True,
    ways={
        Closed: Way(
            lambda profile, _, __: closed(profile),
            measurements.of_volley,
            told=Told(partial(told, closed), _WARM, measurements.of_told_volley),
        ),
        Paced: _PACED,
        Share: _PACED,
        Cold: Way(lambda profile, _, __: paced(profile), measurements.of_volley),
        Live: Way(
            lambda profile, _, __: live(profile),
            measurements.of_live,
            told=Told(partial(told, live), _WARM, measurements.of_told_live),
        ),
        Scheduled: Way(
            lambda profile, _, __: ghz_flags.scheduled(profile, _replies(profile)),
            measurements.of_volley,
        ),
        Blast: Way(
            lambda profile, _, __: blast(profile), lambda raw, _: measurements.of_blast(raw)
        ),
        Capacity: Way(lambda profile, _, __: find(profile), measurements.of_find),
        Scenario: Way(lambda profile, cpus, _: scenario(profile, cpus), measurements.of_scenario),
    },
    version_of=version_of,
    install=_INSTALL,
    image=_image,
    # No load of a profile needs a feature, and those bring most of what has to be compiled.
    build=_build("--no-default-features"),
    prepare=_prepare,
    folders=("requests", MADE),
    # A volley on PATH is of unknown sources, and cargo is quick.
    is_on_path=False,
    # If calls failed, it exits with 1 and still reports how many were made.
    report_codes=frozenset({0, 1}),
)

# With all features, for what the runner itself does not need: Lua, and the import of other formats.
# It is a program of its own: benches beside a measurement leave its volley alone.
WHOLE = replace(VOLLEY, build=_build(), own_name="volley-whole")
