"""What exists once besides the pages: the feed of the newest records, JSON Schemas, static files.

The feed is Atom (RFC 4287). Paths in the JSON of the site are relative to their edition's folder,
the one that its home page is in.
"""

import json
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

import pydantic

from arena.base.reading import read_input
from arena.base.text import printable
from arena.judge.entry import Entry
from arena.judge.leaderboard import Board, Leaderboard
from arena.record.record import Record
from arena.record.times import parse_utc
from arena.site import words
from arena.site.edition import Edition, Site, relative
from arena.site.outputs import Page
from arena.site.pages.compare import CompareTable
from arena.site.pages.frameworks import FrameworkData

MODELS: dict[str, type[pydantic.BaseModel]] = {
    "record": Record,
    "leaderboard": Leaderboard,
    "board": Board,
    "framework": FrameworkData,
    "compare": CompareTable,
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

PATH = "feed.xml"
_NEWEST = 50
_ATOM = "http://www.w3.org/2005/Atom"
_TITLE = "HttpArena gRPC: new records"

# The feed's update time without any record.
_NEVER = "1970-01-01T00:00:00Z"

# Ids must be the same for ever and on any host: a UUID (RFC 4122, version 5)
# of a record's content needs no host name.
_NAMESPACE = uuid.UUID("c8a9b4c7-3c1e-5d9b-9a54-0f7a3f2d6b10")


def outputs(site: Site) -> Iterator[Page]:
    """Yield the feed of the current records, the schemas, the style sheets and the scripts."""
    edition = site.current
    newest = [each for each in edition.by_time if each.is_listed][: -_NEWEST - 1 : -1]
    key = repr(([each.sha256 for each in newest], list(edition.shown_records)))
    yield Page(PATH, key, partial(feed, edition, newest))
    for name in MODELS:
        yield Page(f"schema/{name}.schema.json", "", partial(_schema, name))
    for path in sorted(site.static.rglob("*")):
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            key = f"{status.st_size} {status.st_mtime_ns}"
            name = path.relative_to(site.static).as_posix()
            yield Page(f"static/{name}", key, partial(read_input, path))


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one of the models."""
    return {"$schema": _DIALECT, **MODELS[name].model_json_schema(mode="serialization")}


def _schema(name: str) -> str:
    return json.dumps(schema_of(name), indent=2) + "\n"


def feed(edition: Edition, entries: Sequence[Entry]) -> str:
    """Return the feed. Its links are relative, because the site may be on any host."""
    root = ET.Element("feed", xmlns=_ATOM)
    _text(root, "id", _id("feed"))
    _text(root, "title", _TITLE)
    _text(root, "updated", _time(entries[0].started_at) if entries else _NEVER)
    ET.SubElement(root, "link", rel="self", type="application/atom+xml", href=PATH)
    ET.SubElement(root, "link", rel="alternate", type="text/html", href=edition.home())
    _text(ET.SubElement(root, "author"), "name", "HttpArena gRPC")
    for entry in entries:
        _append(root, entry, edition)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, "unicode")}\n'


def _append(root: ET.Element, entry: Entry, edition: Edition) -> None:
    """Append a record. If its page is gone, link its JSON."""
    element = ET.SubElement(root, "entry")
    _text(element, "id", _id(entry.sha256))
    _text(element, "title", f"{entry.framework}: {_outcome(entry)}")
    _text(element, "updated", _time(entry.started_at))
    kind = "text/html" if entry.path in edition.shown_records else "application/json"
    target = relative(edition.page_or_json(entry.path), PATH)
    ET.SubElement(element, "link", rel="alternate", type=kind, href=target)
    made_by = f", loaded by {entry.made_by}" if entry.made_by else ""
    connections = words.count(entry.load.connections, "connection")
    summary = f"{entry.load.profile} over {connections}{made_by}, on {entry.machine}."
    _text(element, "summary", f"{summary} {entry.failure}" if entry.failure else summary)


def _outcome(entry: Entry) -> str:
    outcome = words.entry_words(entry)
    if not entry.is_good:
        return f"{entry.load.profile} {outcome}"
    return f"{entry.load.metric.of(outcome)} under {entry.load.profile}"


def _id(name: str) -> str:
    return f"urn:uuid:{uuid.uuid5(_NAMESPACE, name)}"


def _time(utc: str) -> str:
    """Return a record's time in the format of RFC 3339."""
    return parse_utc(utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _text(parent: ET.Element, tag: str, text: str) -> None:
    """Append an element, without characters that XML forbids or that reverse the text."""
    ET.SubElement(parent, tag).text = printable(text)
