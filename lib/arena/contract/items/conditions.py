"""Whether a client that knows an old revision is refused, even by the narrowest of races."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

from arena.contract.items.calls import (
    BAD_REQUEST,
    CHANGED,
    NO_CONTENT,
    NOT_FOUND,
    Item,
    ask,
    change,
    create,
    patch,
    read,
    removal,
    remove,
    some_values,
)
from arena.contract.items.http import Request, Speaker, speaker
from arena.contract.messages import WrongError
from arena.contract.scope import ItemScope, Version

_RACERS = 16
_RACES = 4


def conflict(scope: ItemScope, version: Version) -> None:
    """Change and delete with `if-match`: only the present revision is right."""
    with speaker(scope, version) as one:
        item = create(one)
        for match in ('"2"', '"0"', '"11"', '"-1"', '"x"', '""'):
            ask(one, change(item, some_values(), match), CHANGED)
            ask(one, removal(item, match), CHANGED)
        ask(one, change(item, some_values(), "nonsense"), CHANGED, BAD_REQUEST)
        read(one, item)
        item = patch(one, item, some_values(), '"1"')
        read(one, item)
        ask(one, change(item, some_values(), '"1"'), CHANGED)
        item = patch(one, item, some_values(), "*")
        read(one, item)
        remove(one, item, '"3"')
        # A condition cannot hold for what there is not (RFC 9110, 13.1.1).
        ask(one, change(item, some_values(), "*"), NOT_FOUND, CHANGED)
        ask(one, removal(item, '"3"'), NOT_FOUND, CHANGED)


def race(scope: ItemScope, version: Version) -> None:
    """Change and delete an item from 16 connections at once: each change counts, once."""
    with ExitStack() as stack:
        crowd = [stack.enter_context(speaker(scope, version)) for _ in range(_RACERS)]
        for _ in range(_RACES):
            _race(crowd)


def _race(crowd: Sequence[Speaker]) -> None:
    item = create(crowd[0])
    request = change(item, {"owner": "first"}, f'"{item.rev}"')
    _require_one(f"{request} if-match {item.rev}", _at_once(crowd, request), CHANGED)
    item = item.changed({"owner": "first"})
    request = change(item, {})
    if set(found := _at_once(crowd, request)) != {NO_CONTENT}:
        raise WrongError(f"{request}, {_RACERS} times at once: {_words(found)}")
    item = Item(item.name, item.values, item.rev + _RACERS)
    read(crowd[0], item)
    _require_one(str(removal(item)), _at_once(crowd, removal(item)), NOT_FOUND)


def _at_once(crowd: Sequence[Speaker], request: Request) -> Counter[int]:
    waits = [one.send(request) for one in crowd]
    return Counter(wait().status for wait in waits)


def _require_one(what: str, found: Counter[int], otherwise: int) -> None:
    """Raise WrongError unless one request was carried out, and all others were refused."""
    if found != {NO_CONTENT: 1, otherwise: _RACERS - 1}:
        expected = f"1 × {NO_CONTENT} and {_RACERS - 1} × {otherwise}"
        raise WrongError(f"{what}, {_RACERS} times at once: {_words(found)}, not {expected}")


def _words(found: Counter[int]) -> str:
    return ", ".join(f"{count} × {status}" for status, count in sorted(found.items()))
