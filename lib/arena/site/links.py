"""The paths of all pages and files below the site's root: `boards/unary-grpc/256/volley/…`.

Links between pages are relative and name the file. So they work from a disk, below any path of a
server, and on a server without index files.
"""

import re

INDEX = "index.html"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def relative(target: str, page: str) -> str:
    """Return the link from a page to a target, both below the root; keep `#part` and `?query`."""
    path, mark, rest = target.partition("#")
    there, here = path.split("/"), page.split("/")[:-1]
    common = 0
    while common < min(len(there) - 1, len(here)) and there[common] == here[common]:
        common += 1
    steps = [".."] * (len(here) - common) + there[common:]
    return "/".join(steps) + mark + rest


def name(text: str) -> str:
    """Return a text as one part of a path that cannot lead out of its folder.

    Names of profiles, generators and frameworks stay unchanged, so all stay different.
    """
    return _NOT_IN_NAMES.sub("-", text).strip(".") or "-"
