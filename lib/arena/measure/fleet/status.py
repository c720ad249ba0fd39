"""`fleet.sh status`: the hosts of a fleet, one a line, those of a rack together."""

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena.measure.fleet.facts import problems
from arena.measure.fleet.fleet import Seen, look_around
from arena.measure.fleet.members import Place


def show(workspace: Workspace, address: str) -> int:
    """Print a line for each host; return 0 if all are ready, else the code of a host's error."""
    _, seen, _ = look_around(workspace, address)
    if not seen:
        click.echo("no hosts")
        return HostError.exit_code
    whys = {each.name: each.why for each in seen if not each.facts}
    for rack in {each.place.rack for each in seen}:
        known = [each for each in seen if each.facts and each.place == Place(rack)]
        facts = [each.facts for each in known if each.facts]
        for number, why in problems(facts, [each.offset for each in known]):
            whys.setdefault(known[number - 1].name, why)
    for each in sorted(seen, key=lambda it: (it.place.rack, not it.place.serves, it.name)):
        click.echo(_line(each, whys.get(each.name, "")))
    lacking = list(_lacking(seen))
    for line in lacking:
        click.echo(line)
    return HostError.exit_code if whys or lacking else 0


def _lacking(seen: Sequence[Seen]) -> Iterator[str]:
    """Yield what each rack lacks: it has one server host, and a generator host at least."""
    hosts = Counter(each.place for each in seen)
    for rack in sorted({each.place.rack for each in seen} - {""}):
        if not hosts[Place(rack)]:
            yield f"rack {rack}: not ready: it has no generator hosts"
        if (servers := hosts[Place(rack, serves=True)]) != 1:
            yield f"rack {rack}: not ready: it has {servers} server hosts, and needs one"


def _line(seen: Seen, why: str) -> str:
    parts = [seen.name]
    if rack := seen.place.rack:
        parts.append(f"rack {rack}{', server' * seen.place.serves}")
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
