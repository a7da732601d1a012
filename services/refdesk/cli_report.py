"""The verbs of `refdesk report`; each one loads only what it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

Call = Callable[..., Any]
Project = Annotated[str, typer.Option(help="Project slug.")]
Days = Annotated[int, typer.Option(help="How far back.", min=1, max=3650)]


def report_app(call: Call) -> typer.Typer:
    """The verbs; `call` runs a function and ends the process with one line where it fails."""
    app = typer.Typer(no_args_is_help=True, help="What was asked of a desk.")

    @app.command("zero-results")
    def zero_results(project: Project = "default", days: Days = 30) -> None:
        """Searches that found nothing: what is not documented, in the words of those who looked for it."""
        from refdesk.commands.report import zero_results

        for line in call(zero_results, project, days):
            typer.echo(line)

    @app.command()
    def denied(
        project: Annotated[str, typer.Option(help="Project slug; without it, unknown keys.")] = "", days: Days = 30
    ) -> None:
        """Attempts that were denied."""
        from refdesk.commands.report import denied

        for line in call(denied, project, days):
            typer.echo(line)

    return app
