"""What the site is made of: files, each with what its content depends on."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A file that is rendered. `key` tells contents apart: equal keys, equal bytes.

    `path` lies below the site's root. What all pages depend on, the code and the templates, is
    not in the key. `make` is called only if the key is new, perhaps in another process.
    """

    path: str
    key: str
    make: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Copy:
    """A file that is taken over as it is, like a generator's raw output; no symbolic link.

    `source` is where it is: text, for there are as many as there are records. `key` tells contents
    apart where that is known without a look at the file.
    """

    path: str
    source: str
    key: str = ""


Output = Page | Copy
