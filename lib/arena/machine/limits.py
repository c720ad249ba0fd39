"""Limits of this process that its children inherit."""

import resource

# As many as a container of ours gets; some programs walk through all they might have open.
_MOST_OPEN_FILES = 1 << 20


def most_open_files() -> int:
    """Return how many files a child of ours may be allowed to have open: our own hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_OPEN_FILES)


def allow_open_files() -> None:
    """Raise the soft limit of open files towards the hard one, for 1024 connections and more.

    A server and a generator have a file for each connection; 1024 files is a common default.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most_open_files()
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
