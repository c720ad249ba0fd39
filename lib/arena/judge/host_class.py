"""Host classes: machines whose figures can be ranked together."""

from arena.base.model import Frozen


class HostClass(Frozen):
    """A class of hosts: its id, which is part of addresses, and the class in words."""

    id: str
    words: str
