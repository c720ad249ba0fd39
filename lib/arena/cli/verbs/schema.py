"""`arena schema`."""

import click


@click.command()
@click.argument(
    "name",
    type=click.Choice(["record", "leaderboard", "board", "framework", "compare"]),
    required=False,
)
def command(name: str | None) -> None:
    """Print the JSON Schema of one kind of file, or of all kinds."""
    import json

    from arena.site.pages.files import MODELS, schema_of

    schemas = schema_of(name) if name else {each: schema_of(each) for each in MODELS}
    click.echo(json.dumps(schemas, indent=2))
