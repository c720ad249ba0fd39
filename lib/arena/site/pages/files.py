"""Files that exist once in the site: the JSON Schemas of its data, style sheets and scripts."""

import json
from collections.abc import Iterator
from functools import partial

from arena.site.edition import Site
from arena.site.outputs import Copy, Output, Page
from arena.site.schemas import MODELS, schema_of


def outputs(site: Site) -> Iterator[Output]:
    """Yield the schemas and the static files."""
    for name in MODELS:
        yield Page(f"schema/{name}.schema.json", "", partial(_schema, name))
    for path in sorted(site.static.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield Copy(f"static/{path.relative_to(site.static).as_posix()}", str(path))


def _schema(name: str) -> str:
    return json.dumps(schema_of(name), indent=2) + "\n"
