"""What is made of a good report by one change."""

from collections.abc import Sequence
from typing import Any


def put(whole: Any, path: Sequence[str | int], value: Any) -> None:
    """Put a value at a place in a report; None takes away what is there."""
    *folders, name = path
    for each in folders:
        whole = whole[each]
    if value is None:
        del whole[name]
    else:
        whole[name] = value
