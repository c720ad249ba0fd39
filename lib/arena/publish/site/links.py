"""Where everything lies in the site, as paths below its root: `boards/unary-grpc/256/volley/…`.

Links between pages are relative, and name the file, so that they work from a disk, below any
path of a server, and on one without index files.
"""

import re

INDEX = "index.html"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def relative(target: str, page: str) -> str:
    """Return the link from a page to a target, both below the root; `#part` and `?query` stay."""
    path, mark, rest = target.partition("#")
    there, here = path.split("/"), page.split("/")[:-1]
    common = 0
    while common < min(len(there) - 1, len(here)) and there[common] == here[common]:
        common += 1
    steps = [".."] * (len(here) - common) + there[common:]
    return "/".join(steps) + mark + rest


def name(text: str) -> str:
    """Return a text as one part of a path: it cannot lead out of its folder.

    The names of profiles, of generators and of frameworks stay as they are: no two become one.
    """
    return _NOT_IN_NAMES.sub("-", text).strip(".") or "-"
