"""Takes away what a difference does not need."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tools.compare_protoc import formatting, jsons
from tools.compare_protoc.generating import Case
from tools.compare_protoc.jsons import Letter

MOST_TRIES = 800
MOST_TRIES_OF_MESSAGES = 60


def least_case(case: Case, shows: Callable[[Case], bool]) -> Case:
    """Return a smaller case with the same difference."""
    tries = MOST_TRIES
    for name in list(case.files):
        plainly = replace(case, files={**case.files, name: _plainly(case.files[name])})
        case = plainly if shows(plainly) else case
    before = None
    while before != case and tries > 0:
        before = case
        for name in list(case.files):
            place = 0
            while tries > 0 and place < len(smaller := list(_smaller(case.files[name]))):
                tries -= 1
                other = replace(case, files={**case.files, name: smaller[place]})
                if shows(other):
                    case = other
                else:
                    place += 1
    return _pruned(case, shows)


def _plainly(content: bytes) -> bytes:
    """Return a file with one declaration a line."""
    text = content.decode("utf-8", "surrogateescape")
    lines = re.sub(r" ?([{};]) ", r"\1\n", " ".join(formatting.tokens(text)) + "\n")
    return lines.encode("utf-8", "surrogateescape")


def _pruned(case: Case, shows: Callable[[Case], bool]) -> Case:
    """Leave out files that are not needed any more."""
    for name in [name for name in case.files if name != case.root]:
        files = {key: value for key, value in case.files.items() if key != name}
        other = replace(case, files=files)
        case = other if shows(other) else case
    return case


def _smaller(content: bytes) -> Iterator[bytes]:
    """Yield the file without blocks or runs of lines, the largest first, and without options."""
    lines = content.splitlines(keepends=True)
    spans = set(_spans(lines))
    flat = [place for place, line in enumerate(lines) if line.count(b"{") == line.count(b"}")]
    for size in (64, 32, 16, 8, 4, 2):
        runs = zip(flat, flat[size - 1 :], strict=False)
        spans |= {(start, end + 1) for start, end in list(runs)[::size] if end - start == size - 1}
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        yield b"".join(lines[:start] + lines[end:])
    for start, end in sorted(spans):
        if end - start > 1 and b"{" in lines[start]:
            yield b"".join(lines[:start] + lines[start + 1 : end - 1] + lines[end:])
    for place, line in enumerate(lines):
        # A field's options.
        opened, closed = line.find(b" ["), line.rfind(b"]")
        if 0 <= opened < closed:
            yield b"".join(
                [*lines[:place], line[:opened] + line[closed + 1 :], *lines[place + 1 :]]
            )


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
