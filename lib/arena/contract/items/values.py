"""Whether items are what their clients made them, and stay so."""

from collections.abc import Iterator
from contextlib import ExitStack

from arena.contract.items.calls import (
    Item,
    create,
    created,
    creation,
    patch,
    read,
    reading,
    remove,
    require_absent,
    require_read,
    some_values,
)
from arena.contract.items.http import speaker
from arena.contract.messages import WrongError, named
from arena.contract.scope import ItemScope, Version

CONNECTIONS = 64

_CROWD = 8  # connections that create items at the same time
_ROUNDS = 32

_DIFFICULT = 'Zoë \U0001f600 "\\\n\t\x01 </b> %41 \u2028 &amp; ${x}'
# What clients cannot set, and what the service does not know.
_FOREIGN = {"id": "mine", "rev": 7, "note": "n" * 250, "more": [{"sku": "inner"}, None, 1.5e300]}


def values(scope: ItemScope, version: Version) -> None:
    """Create items, and read each twice: all values are as they were sent."""
    with speaker(scope, version) as one:
        for sent in _values():
            item = create(one, sent)
            read(one, item)
            read(one, item)


def change(scope: ItemScope, version: Version) -> None:
    """Change an item: the values that are sent are replaced, and its revision rises."""
    with speaker(scope, version) as one:
        item = create(one)
        for sent in (
            {"sku": "other"}, {}, {"state": "paid", "note": "n" * 250}, {"owner": _DIFFICULT},
            {**_FOREIGN, **some_values()},
        ):  # fmt: skip
            item = patch(one, item, sent)
            read(one, item)
        bare = patch(one, create(one, {}), {"owner": ""})
        read(one, bare)


def delete(scope: ItemScope, version: Version) -> None:
    """Delete an item: it is gone, and others are not."""
    with speaker(scope, version) as one:
        item, other = create(one), create(one)
        remove(one, item)
        require_absent(one, item)
        read(one, other)
        remove(one, other)
        require_absent(one, other)


def ids(scope: ItemScope, version: Version) -> None:
    """Create items on eight connections at once: no two have the same id."""
    found: dict[str, Item] = {}
    with ExitStack() as stack:
        speakers = [stack.enter_context(speaker(scope, version)) for _ in range(_CROWD)]
        for _ in range(_ROUNDS):
            sent = [some_values() for _ in speakers]
            waits = [one.send(creation(each)) for one, each in zip(speakers, sent, strict=True)]
            for wait, each in zip(waits, sent, strict=True):
                item = created(creation(each), wait(), each)
                if item.name in found:
                    raise WrongError(f"two of {len(found) + 1} items have the id {item.name}")
                found[item.name] = item
        for one, item in zip(speakers, found.values(), strict=False):
            read(one, item)


def isolation(scope: ItemScope, version: Version) -> None:
    """Change and delete items with the same values: the others stay as they are."""
    with speaker(scope, version) as one:
        sent = some_values()
        first, second, third = (create(one, sent) for _ in range(3))
        changed = patch(one, first, {"sku": "other"})
        for item in (second, third, changed):
            read(one, item)
        remove(one, third)
        for item in (second, changed):
            read(one, item)
        with named("after an item with values, one without"):
            read(one, create(one, {}))
        with named("after a change with values, one without"):
            read(one, patch(one, second, {}))


def connections(scope: ItemScope, version: Version) -> None:
    """Read an item on each of 64 connections, all open at once; then it is changed on one."""
    with ExitStack() as stack:
        speakers = [stack.enter_context(speaker(scope, version)) for _ in range(CONNECTIONS)]
        item = create(speakers[0])
        for _ in range(2):
            waits = [one.send(reading(item)) for one in speakers]
            for number, wait in enumerate(waits, 1):
                with named(f"connection {number} of {CONNECTIONS}"):
                    require_read(reading(item), wait(), item)
            item = patch(speakers[-1], item, some_values())


def _values() -> Iterator[dict[str, object]]:
    """Yield the values of items to create."""
    for _ in range(3):
        yield some_values()
    yield {}
    yield {"sku": "only"}
    yield {"owner": "", "sku": ""}
    yield {"owner": _DIFFICULT, "sku": "ü"}
    yield {"owner": "o" * 5000, "sku": "s" * 300}
    yield {**_FOREIGN, **some_values()}
