"""The verbs query, get, multi-get and mcp, as the surface notes has them; each loads only what it needs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from refdesk.commands.notes_formats import Format

Form = Annotated[Format, typer.Option("--format", help="cli, json, csv, md, xml or files.")]
Project = Annotated[str, typer.Option(help="Project slug.")]
MaxLines = Annotated[int, typer.Option("--max-lines", "-l", help="Most lines; 0: all.", min=0)]
Numbers = Annotated[bool, typer.Option("--line-numbers", help="Puts each line behind its number.")]


def add_notes(app: typer.Typer, run: Callable[[Any], Any], call: Callable[..., Any]) -> None:
    """Adds the verbs; `run` runs what is awaited and prints errors as one line, `call` calls so."""

    @app.command()
    def query(
        text: Annotated[
            str, typer.Argument(help="A plain query, or lines that begin with lex:, vec:, hyde: or intent:.")
        ],
        form: Form = Format.cli,
        limit: Annotated[int, typer.Option("-n", "--limit", help="Most results.", min=1, max=100)] = 10,
        min_score: Annotated[float, typer.Option(help="Least score, 0 to 1.", min=0, max=1)] = 0,
        full: Annotated[bool, typer.Option(help="The whole documents in the place of snippets.")] = False,
        collection: Annotated[
            list[str] | None, typer.Option("-c", "--collection", help="Only these; repeatable.")
        ] = None,
        candidates: Annotated[
            int, typer.Option("--candidate-limit", help="Most that are ranked.", min=1, max=100)
        ] = 40,
        intent: Annotated[str, typer.Option(help="Background that tells meanings apart.")] = "",
        explain: Annotated[bool, typer.Option("--explain", help="Says why too; cli and json.")] = False,
        project: Project = "default",
    ) -> None:
        """Searches the documents of the running desk."""
        from refdesk.commands import notes, notes_formats
        from refdesk.commands.explain import explanation_lines

        arguments = {**call(notes.read_searches, text), "limit": limit, "minScore": min_score}
        arguments |= {"candidateLimit": candidates, **({"collections": collection} if collection else {})}
        arguments |= {"intent": intent} if intent else {}
        answer = run(notes.query(project, arguments, full=full))
        why = call(notes.explain, project, arguments) if explain else None
        typer.echo(notes_formats.write_results(answer["results"], form, why))
        if why and form is Format.cli:
            typer.echo("\n".join(("", *explanation_lines(why))))
        _note(answer.get("message", ""))

    @app.command()
    def get(
        file: Annotated[str, typer.Argument(help="Path with its collection, docid (#abc123), or path:line.")],
        form: Form = Format.cli,
        from_line: Annotated[
            int, typer.Option("--from", "-f", help="First line, from 1; 0: the beginning.", min=0)
        ] = 0,
        max_lines: MaxLines = 0,
        line_numbers: Numbers = False,
        project: Project = "default",
    ) -> None:
        """Prints one document of the running desk."""
        from refdesk.commands import notes, notes_formats

        arguments = {"file": file, "fromLine": from_line, "maxLines": max_lines, "lineNumbers": line_numbers}
        answer = run(notes.get(project, {name: value for name, value in arguments.items() if value}))
        if form is Format.cli:
            typer.echo(answer["text"])
        else:
            typer.echo(notes_formats.write_documents([answer], form))
        _note(answer.get("message", ""))

    @app.command("multi-get")
    def multi_get(
        pattern: Annotated[str, typer.Argument(help="A glob, or files and docids with commas.")],
        form: Form = Format.cli,
        max_bytes: Annotated[int, typer.Option(help="Skips larger files.", min=1)] = 65_536,
        max_lines: MaxLines = 0,
        line_numbers: Numbers = False,
        project: Project = "default",
    ) -> None:
        """Prints several documents of the running desk."""
        from refdesk.commands import notes, notes_formats

        arguments = {"pattern": pattern, "maxBytes": max_bytes, "maxLines": max_lines, "lineNumbers": line_numbers}
        answer = run(notes.multi_get(project, {name: value for name, value in arguments.items() if value}))
        typer.echo(notes_formats.write_documents(answer["documents"], form))
        for skipped in answer["skipped"]:
            _note(f"skipped {skipped['file']}: {skipped['reason']}")
        _note(answer.get("message", ""))

    @app.command()
    def mcp(
        docs: Annotated[str, typer.Option(help="Folder of documents, where no desk runs.")] = "",
        http: Annotated[bool, typer.Option("--http", help="Serves HTTP in the place of stdin and stdout.")] = False,
        port: Annotated[int, typer.Option(help="Port of HTTP.", min=0, max=65535)] = 8181,
        surface: Annotated[str, typer.Option(help="Surface of the project.")] = "notes",
        project: Project = "default",
    ) -> None:
        """Serves MCP on stdin and stdout, or on a port: of the running desk, else of one that is opened here."""
        from refdesk.commands.mcp import McpOptions, serve
        from refdesk.telemetry.logs import set_up

        set_up("warning")
        run(serve(McpOptions(docs, http, port, surface, project)))


def _note(text: str) -> None:
    if text:
        sys.stderr.write(f"{text}\n")
