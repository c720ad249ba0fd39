"""Image digests in FROM lines: which have none, and writing those that a registry names.

`python -m tools.digests` is what scripts/digests.sh calls. A tag can be another image tomorrow;
with `@sha256:…` behind it, it is this one or none.
"""

import hashlib
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlencode, urlsplit

import click

from arena.base.errors import FrameworkError, HostError, UsageError
from arena.base.text import printable, shown
from arena.base.writing import write_atomic
from arena.cli import options
from arena.cli.entry import start
from arena.machine.blame import cannot

_FROM = re.compile(r"(?i)^(FROM(?:\s+--\S+)*\s+)(\S+)((?:\s+AS\s+(\S+))?\s*)$")
_NAME = re.compile(r"[a-z0-9][a-z0-9._/-]*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")

# The hub's own names have no host in front, and its official images no owner.
_HUB, _OFFICIAL = "registry-1.docker.io", "library"

# A list of images for several platforms, or one image (OCI image-spec; Docker's are older).
_ACCEPTED = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_CHALLENGE = re.compile(r'(realm|service|scope)="([^"]*)"')
_MOST_BYTES = 4 << 20
_TIMEOUT_S = 30


@dataclass(frozen=True)
class Line:
    """A FROM line of a Dockerfile that names an image, which is no earlier stage."""

    path: Path
    number: int
    image: str

    @property
    def has_digest(self) -> bool:
        """Whether it names one image for ever."""
        return "@sha256:" in self.image

    def __str__(self) -> str:
        return f"{shown(self.path)}:{self.number}: {printable(self.image)}"


def dockerfiles(root: Path) -> list[Path]:
    """Return the Dockerfiles of the entries and of the generators."""
    return sorted([*root.glob("frameworks/*/Dockerfile"), *root.glob("docker/*.Dockerfile")])


def from_lines(path: Path) -> Iterator[Line]:
    """Yield the FROM lines of a Dockerfile, without `scratch` and stages of its own."""
    stages = {"scratch"}
    for number, text in enumerate(path.read_text(errors="surrogateescape").splitlines(), 1):
        if found := _FROM.match(text):
            if found[2].lower() not in stages:
                yield Line(path, number, found[2])
            stages.add((found[4] or "").lower())


def pin(path: Path, digests: dict[str, str]) -> int:
    """Write the digests behind the images of a Dockerfile; return how many lines that changed."""
    lines = path.read_text(errors="surrogateescape").splitlines(keepends=True)
    changed = 0
    for each in from_lines(path):
        if digest := digests.get(each.image):
            at = each.number - 1
            head, image, rest = lines[at].partition(each.image)
            lines[at] = f"{head}{image}@{digest}{rest}"
            changed += 1
    if changed:
        write_atomic(path, "".join(lines))
    return changed


def digest_of(image: str, registry: str = "") -> str:
    """Return the digest that the image's registry, or the given one, names for its tag.

    UsageError for a name that is none; HostError if the registry cannot be asked, or lies.
    """
    host, name, tag = _parts(image)
    base = registry or f"https://{host}"
    url = f"{base}/v2/{name}/manifests/{tag}"
    try:
        body, said = _manifest(url, base)
    except (OSError, ValueError) as error:
        raise cannot(f"ask {base} for {image}: {printable(str(error))}") from error
    found = f"sha256:{hashlib.sha256(body).hexdigest()}"
    if said and said != found:
        raise HostError(f"{url}: its digest is {found}, and the registry says {printable(said)}")
    return found


def _parts(image: str) -> tuple[str, str, str]:
    """Return the registry's host, the name there, and the tag of an image."""
    folder, slash, last = image.rpartition("/")
    own, _, tag = last.partition(":")
    name = f"{folder}{slash}{own}"
    host, slash, rest = name.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost"):
        host, rest = _HUB, name if slash else f"{_OFFICIAL}/{name}"
    if not (_NAME.fullmatch(rest) and _TAG.fullmatch(tag)) or ".." in rest:
        raise UsageError(f"{printable(image)}: is no name of an image with a tag")
    return host, rest, tag


def _manifest(url: str, base: str) -> tuple[bytes, str]:
    """Return a manifest, and the digest that the registry says it has; OSError if it has none."""
    try:
        return _got(url)
    except urllib.error.HTTPError as error:
        if error.code != 401:  # noqa: PLR2004 - HTTP: authenticate
            raise
        asked = dict(_CHALLENGE.findall(error.headers.get("WWW-Authenticate", "")))
    realm = asked.pop("realm", "")
    if urlsplit(realm).scheme != "https" and not realm.startswith(f"{base}/"):
        raise ValueError(f"it asks for a token from {realm or 'nowhere'}")
    body, _ = _got(f"{realm}?{urlencode(asked)}")
    told = json.loads(body)
    return _got(url, str(told.get("token") or told.get("access_token") or ""))


def _got(url: str, token: str = "") -> tuple[bytes, str]:
    headers = {"Accept": ", ".join(_ACCEPTED)}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http(s) alone: see callers
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
        body = answer.read(_MOST_BYTES + 1)
        if len(body) > _MOST_BYTES:
            raise ValueError(f"it answers with more than {_MOST_BYTES >> 20} MiB")
        return body, answer.headers.get("Docker-Content-Digest", "")


def _unpinned(lines: Sequence[Line]) -> NoReturn:
    for each in lines:
        click.echo(each)
    raise FrameworkError("digests", f"{len(lines)} FROM lines have no digest")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@options.root
@click.option("--check", is_flag=True, help="Write nothing: list the FROM lines without a digest.")
@click.option(
    "--registry", default="", metavar="URL",
    help="Ask this registry for every image, such as a mirror. [default: each image's own]",
)  # fmt: skip
def command(root: Path, *, check: bool, registry: str) -> None:
    """Write the digests of images into the FROM lines of frameworks/ and docker/.

    A line that has one already stays as it is: delete the digest to get today's.
    """
    if registry and urlsplit(registry).scheme not in {"http", "https"}:
        raise UsageError("--registry: write an address that begins with https:// or http://")
    files = dockerfiles(root.resolve())
    bare = [each for path in files for each in from_lines(path) if not each.has_digest]
    if check and bare:
        _unpinned(bare)
    images = sorted({each.image for each in bare})
    digests = {} if check else {each: digest_of(each, registry.rstrip("/")) for each in images}
    changed = sum(pin(path, digests) for path in files) if digests else 0
    click.echo(f"{changed} FROM lines changed" if changed else "every FROM line has a digest")


if __name__ == "__main__":
    start(command, "digests.sh")
