"""The verbs of `refdesk key`; each one loads only what it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

Call = Callable[..., Any]
KeyId = Annotated[str, typer.Argument(help="The 12 digits that `refdesk key list` prints.")]


def key_app(call: Call) -> typer.Typer:
    """The verbs; `call` runs a function and ends the process with one line where it fails."""
    app = typer.Typer(no_args_is_help=True, help="Access keys of agents, publishers and operators.")

    @app.command()
    def create(
        project: Annotated[str, typer.Option(help="Project slug; none for scope admin.")] = "default",
        scope: Annotated[str, typer.Option(help="read, publish or admin.")] = "read",
        name: Annotated[str, typer.Option(help="What it is for.")] = "",
        surfaces: Annotated[
            str, typer.Option(help="Only these, with commas between; without it all of the project.")
        ] = "",
        expires_days: Annotated[int, typer.Option(help="Days that it is good for; 0: for ever.", min=0)] = 0,
        calls_per_minute: Annotated[int, typer.Option(help="0: as the gateway's setting says.", min=0)] = 0,
    ) -> None:
        """Makes a key and prints it, once: it is kept nowhere."""
        from refdesk.commands.key import create

        fields = {"project": "" if scope == "admin" else project, "scope": scope, "name": name}
        numbers = {"expires_days": expires_days, "calls_per_minute": calls_per_minute}
        typer.echo(call(create, {**fields, **numbers, "surfaces": [part for part in surfaces.split(",") if part]}))

    @app.command("list")
    def list_all() -> None:
        """Says which keys there are."""
        from refdesk.commands.key import list_keys

        for line in call(list_keys):
            typer.echo(line)

    @app.command()
    def rotate(
        key_id: KeyId,
        overlap_hours: Annotated[int, typer.Option(help="How long the old secret is good for.", min=0, max=2160)] = 24,
    ) -> None:
        """Makes a new secret for a key and prints the key, once; the old one is good for a while longer."""
        from refdesk.commands.key import rotate

        typer.echo(call(rotate, key_id, overlap_hours))

    @app.command()
    def revoke(key_id: KeyId) -> None:
        """Ends a key for good; it is refused everywhere within two seconds."""
        from refdesk.commands.key import revoke

        typer.echo(call(revoke, key_id))

    return app
