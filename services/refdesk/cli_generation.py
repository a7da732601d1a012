"""The verbs of `refdesk generation`; each one loads only what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

Call = Callable[..., Any]
Project = Annotated[str, typer.Option(help="Project slug.")]
Generation = Annotated[str, typer.Argument(help="Generation name, as `refdesk generation list` prints it.")]


def generation_app(call: Call) -> typer.Typer:
    """The verbs; `call` runs a function and ends the process with one line where it fails."""
    app = typer.Typer(no_args_is_help=True, help="Generations of an index: a model and a chunker each.")

    @app.command("list")
    def list_all(project: Project = "default") -> None:
        """Says which generations a project has and how far each is."""
        from refdesk.commands.generation import list_generations

        _print(call(lambda: list(list_generations(project))))

    @app.command()
    def build(
        project: Project = "default",
        model: Annotated[str, typer.Option(help="Model id; without it, the model that answers.")] = "",
        chunker: Annotated[int, typer.Option(help="Chunker; without it, the one that answers.", min=0)] = 0,
        hold: Annotated[bool, typer.Option("--hold", help="Answer only when told to.")] = False,
    ) -> None:
        """Builds a generation beside the one that answers; it takes over when it is complete."""
        from refdesk.commands.generation import build

        typer.echo(call(build, project, model, chunker, hold=hold))

    @app.command()
    def switch(generation: Generation = "", project: Project = "default") -> None:
        """Has a generation answer; without a name, the one that is being built."""
        from refdesk.commands.generation import switch

        typer.echo(call(switch, project, generation))

    @app.command()
    def rollback(project: Project = "default") -> None:
        """Has the generation answer that answered last."""
        from refdesk.commands.generation import roll_back

        typer.echo(call(roll_back, project))

    @app.command()
    def drop(generation: Generation = "", project: Project = "default") -> None:
        """Follows a generation no more and drops what it holds; without a name, the one that is being built."""
        from refdesk.commands.generation import drop

        typer.echo(call(drop, project, generation))

    @app.command()
    def compare(
        project: Project = "default",
        generation: Annotated[
            str, typer.Option(help="The other generation; without it, the one built, else the one before.")
        ] = "",
        questions: Annotated[Path | None, typer.Option(help="Text file with one question a line.")] = None,
        log: Annotated[bool, typer.Option("--log", help="Ask what agents have asked.")] = False,
    ) -> None:
        """Asks two generations the same questions and says how their answers differ."""
        from refdesk.commands.generation import compare, read_logged, read_questions
        from refdesk.errors import InvalidArgument

        def run() -> list[str]:
            if log == (questions is not None):
                raise InvalidArgument("compare on which questions? name a file with --questions, or --log")
            asked = read_questions(questions) if questions else read_logged(project)
            return list(compare(project, generation, asked))

        _print(call(run))

    return app


def _print(lines: Iterable[str]) -> None:
    typer.echo("\n".join(lines))
