"""`arena publish`: the old name of `arena site build`, from when the site had one page."""

from arena.cli.verbs.site import build as command

__all__ = ["command"]
