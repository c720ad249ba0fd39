"""`fleet.sh status`: the hosts of a fleet, one a line, those of a rack together."""

import click

from arena.base.errors import HostError
from arena.base.workspace import Workspace
from arena_fleet.facts import boot_id, problems
from arena_fleet.fleet import Seen, look_around, rack_lacks
from arena_fleet.members import Place


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
        server = next((each.facts for each in seen if each.place == Place(rack, serves=True)), None)
        for number, why in problems(facts, [each.offset for each in known], server):
            whys.setdefault(known[number - 1].name, why)
    for each in sorted(seen, key=lambda it: (it.place.rack, not it.place.serves, it.name)):
        click.echo(_line(each, whys.get(each.name, "")))
    racks = sorted({each.place.rack for each in seen} - {""})
    lacking = {rack: why for rack in racks if (why := rack_lacks(seen, rack))}
    for rack, why in lacking.items():
        click.echo(f"rack {rack}: not ready: {why}")
    return HostError.exit_code if whys or lacking else 0


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
    return f"{'; '.join(parts)}: {f'not ready: {why}' if why else _ready_words(seen)}"


def _ready_words(seen: Seen) -> str:
    """Return what a host that can take part does; one on this machine cannot load a server here."""
    facts = seen.facts
    if facts and facts.is_busy:
        return "busy"
    if facts and not (facts.is_local or seen.place.rack) and facts.boot_id == boot_id():
        return "ready for servers on other machines (it is this machine)"
    return "ready"
