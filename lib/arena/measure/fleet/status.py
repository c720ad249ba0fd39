"""`fleet.sh status`: the hosts of a fleet, one a line."""

import click

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.measure.fleet.facts import problems
from arena.measure.fleet.fleet import Seen, look_around


def show(workspace: Workspace, address: str) -> int:
    """Print a line for each host; return 0 if all are ready, else the code of a host's error."""
    _, seen, _ = look_around(workspace, address)
    if not seen:
        click.echo("no generator hosts")
        return HostError.exit_code
    known = [each for each in seen if each.facts]
    whys = {each.name: each.why for each in seen if not each.facts}
    if known:
        facts = [each.facts for each in known if each.facts]
        for number, why in problems(facts, [each.offset for each in known]):
            whys.setdefault(known[number - 1].name, why)
    for each in seen:
        click.echo(_line(each, whys.get(each.name, "")))
    return HostError.exit_code if whys else 0


def _line(seen: Seen, why: str) -> str:
    parts = [seen.name]
    if facts := seen.facts:
        parts += [
            facts.words,
            f"class {facts.host_class}",
            f"volley {facts.volley_version} ({facts.volley_sha256[:12]})",
            f"load {facts.load:.1f}",
            f"{facts.open_files:,} files, {facts.ports:,} ports",
        ]
    if clock := seen.offset:
        parts.append(f"clock {clock.ns / 1e6:+.3f} ms ± {clock.bound_ns / 1e6:.3f}")
    return f"{'; '.join(parts)}: {f'not ready: {why}' if why else 'ready'}"
