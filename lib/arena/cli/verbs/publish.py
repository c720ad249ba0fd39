"""`arena publish`: the name that `arena site build` had before the site had several pages."""

from arena.cli.verbs.site import build as command

__all__ = ["command"]
