"""Takes away what a difference does not need."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tools.compare_protoc import jsons
from tools.compare_protoc.generating import Case
from tools.compare_protoc.jsons import Letter

MOST_TRIES = 300
MOST_TRIES_OF_MESSAGES = 60


def least_case(case: Case, shows: Callable[[Case], bool]) -> Case:
    """Return a smaller case with the same difference."""
    tries, changed = MOST_TRIES, True
    while changed and tries > 0:
        changed = False
        for name in list(case.files):
            for smaller in _smaller(case.files[name]):
                if len(smaller) >= len(case.files[name]):
                    continue
                tries -= 1
                other = replace(case, files={**case.files, name: smaller})
                if shows(other):
                    case, changed = other, True
                    break
                if tries <= 0:
                    return _pruned(case, shows)
            if changed:
                break
    return _pruned(case, shows)


def _pruned(case: Case, shows: Callable[[Case], bool]) -> Case:
    """Leave out files that are empty by now."""
    for name, content in list(case.files.items()):
        if name != case.root and not any(name.encode() in each for each in case.files.values()):
            other = replace(case, files={key: value for key, value in case.files.items() if key != name})
            case = other if shows(other) else case
        del content
    return case


def _smaller(content: bytes) -> Iterator[bytes]:
    """Yield the file without one of its blocks, the largest first; then without one of its lines."""
    lines = content.splitlines(keepends=True)
    spans = sorted(_spans(lines), key=lambda span: span[0] - span[1])
    for start, end in spans:
        yield b"".join(lines[:start] + lines[end:])
    for start, end in spans:
        if end - start > 1:
            yield b"".join(lines[:start] + lines[start + 1 : end - 1] + lines[end:])
    for place, line in enumerate(lines):
        # A field's options.
        opened, closed = line.find(b" ["), line.rfind(b"]")
        if 0 <= opened < closed:
            yield b"".join([*lines[:place], line[:opened] + line[closed + 1 :], *lines[place + 1 :]])


def _spans(lines: list[bytes]) -> Iterator[tuple[int, int]]:
    opened: list[int] = []
    for place, line in enumerate(lines):
        depth = line.count(b"{") - line.count(b"}")
        if depth > 0:
            opened += [place] * depth
        elif depth < 0:
            for _ in range(min(-depth, len(opened))):
                yield opened.pop(), place + 1
        else:
            yield place, place + 1


def least_letter(letter: Letter, sort: Any, shows: Callable[[Letter], bool]) -> Letter:
    """Return a smaller message with the same difference."""
    tries = MOST_TRIES_OF_MESSAGES
    for _ in range(20):
        for smaller in _smaller_letters(letter, sort):
            tries -= 1
            if tries <= 0:
                return letter
            if shows(smaller):
                letter = smaller
                break
        else:
            return letter
    return letter


def _smaller_letters(letter: Letter, sort: Any) -> Iterator[Letter]:
    if letter.json is not None:
        try:
            value = json.loads(letter.json)
        except (ValueError, RecursionError):
            return
        for path in list(jsons.places(value))[1:]:
            parent = jsons.at(value, path[:-1])
            if isinstance(parent, dict):
                rest: Any = {key: each for key, each in parent.items() if key != path[-1]}
            else:
                rest = [each for place, each in enumerate(parent) if place != path[-1]]
            yield replace(letter, json=json.dumps(jsons.replaced(value, path[:-1], rest)))
        return
    message = sort()
    try:
        message.ParseFromString(letter.wire)
    except Exception:  # noqa: BLE001 - bytes that are no message stay as they are
        return
    for field, _ in message.ListFields():
        other = sort()
        other.CopyFrom(message)
        if field.is_extension:
            other.ClearExtension(field)
        else:
            other.ClearField(field.name)
        yield replace(letter, wire=other.SerializePartialToString())
