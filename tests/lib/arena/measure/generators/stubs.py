"""Stub programs that note their calls in $OUTSIDE, and what they noted."""

from pathlib import Path


def docker_stub(version: str) -> str:
    """Return the script of a `docker` that has one image, once built: it prints this version."""
    return f"""
echo "$*" >>"$OUTSIDE/docker.calls"
case "$1" in
version) echo 29.1 ;;
images) [ ! -e "$OUTSIDE/images" ] || cat "$OUTSIDE/images" ;;
build) echo abc >"$OUTSIDE/images" ;;
run) echo {version} ;;
inspect) echo '[{{"Id": "sha256:0123456789abcdef", "State": {{"Pid": 1}}}}]' ;;
esac
"""


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
