"""`volley run` for a profile: the scenario file that it names, with the profile's load."""

import hashlib
import json
from collections.abc import Sequence

from arena.base.units import format_duration
from arena.base.workspace import Workspace
from arena.base.writing import write_atomic
from arena.what.loads import Scenario
from arena.what.profile import MeasuredProfile
from arena.what.scenarios import MADE

# How long iterations that are open at the load's end may take. What is left then counts as cut.
_DRAIN = "10s"


def arguments(profile: MeasuredProfile, cpus: Sequence[int] | None) -> list[str]:
    """Return the arguments of `volley run`: a thread for each CPU that is the generator's alone.

    If it has none, volley takes half of all CPUs.
    """
    threads = profile.load_as(Scenario).threads
    if threads is None and cpus is not None:
        threads = min(len(cpus), profile.connection_count)
    chosen = ["--threads", str(threads)] if threads else []
    return ["run", _path(_text(profile)), *chosen, "--quiet", "-O", "json"]


def prepare(profile: MeasuredProfile, workspace: Workspace) -> None:
    """Write the file that volley reads; its name has the hash of its content."""
    text = _text(profile)
    path = workspace.root / _path(text)
    if not path.exists():
        write_atomic(path, text)


def _path(text: str) -> str:
    return f"{MADE}/{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def _text(profile: MeasuredProfile) -> str:
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
