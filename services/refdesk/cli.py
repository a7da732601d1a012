"""The verbs of the command line; each one loads only what it needs, prints errors as one line and exits with 1 for them."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.exceptions import TyperException

from refdesk.cli_generation import generation_app
from refdesk.cli_key import key_app
from refdesk.cli_notes import add_notes
from refdesk.cli_report import report_app
from refdesk.commands.notes_formats import Format
from refdesk.errors import RefdeskError

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help="A reference desk for agents."
)
source_app = typer.Typer(no_args_is_help=True, help="Sources of documents.")
config_app = typer.Typer(no_args_is_help=True, help="The configuration.")
app.add_typer(source_app, name="source")
app.add_typer(config_app, name="config")

Config = Annotated[str, typer.Option(help="YAML file; also REFDESK_CONFIG.")]
Project = Annotated[str, typer.Option(help="Project slug.")]


@app.command()
def up(
    docs: Annotated[str, typer.Option(help="Folder of documents.")] = "",
    data: Annotated[str, typer.Option(help="Folder of the index.")] = "",
    host: Annotated[
        str, typer.Option(help="Address to listen on; on any but loopback callers need keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8080,
    model: Annotated[str, typer.Option(help="Model id, or a folder with an ONNX model.")] = "",
    config: Config = "",
    reindex: Annotated[bool, typer.Option(help="Drop the index and read every document again.")] = False,
) -> None:
    """Runs all five services in this process for a folder of documents, until ctrl-C."""
    from refdesk.commands.up import UpOptions, up

    _log("warning")
    _run(up(UpOptions(docs, data, host, port, model, config, reindex)))


@app.command()
def run(
    target: Annotated[str, typer.Option(help="gateway, ingest, embedder, search or docstore.")], config: Config = ""
) -> None:
    """Runs one service over gRPC, as a pod does."""
    from refdesk.app import TARGETS
    from refdesk.commands.run import run

    if target not in TARGETS:
        _fail(f"{target} is not a target; valid: {', '.join(TARGETS)}")
    _log("")
    _run(run(target, config))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    limit: Annotated[int, typer.Option(help="Most excerpts.", min=1, max=20)] = 5,
) -> None:
    """Asks the running desk through an MCP client and prints the answer."""
    from refdesk.commands.ask import ask

    text, failed = _run(ask(question, limit))
    typer.echo(text)
    if failed:
        raise typer.Exit(1)


@app.command()
def explain(
    query: Annotated[str, typer.Argument(help="A question, as an agent would ask it.")],
    project: Project = "default",
    surface: Annotated[str, typer.Option(help="docs, site, procedures, notes or connector.")] = "docs",
    mode: Annotated[str, typer.Option(help="hybrid, lexical or semantic.")] = "hybrid",
    limit: Annotated[int, typer.Option(help="Most results.", min=1, max=50)] = 5,
    source: Annotated[str, typer.Option(help="Only this source.")] = "",
    path_prefix: Annotated[str, typer.Option(help="Only paths below this one.")] = "",
    why_not: Annotated[str, typer.Option(help="A path: why is it not among the results?")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Says why a search answers as it does: ranks of each leg, weights, the floor, filters."""
    from refdesk.commands.explain import explain, explanation_lines

    asked = {"query": query, "surface": surface, "mode": mode, "limit": limit, "path_prefix": path_prefix}
    answer = _call(explain, project, {**asked, "why_not": why_not, "sources": [source] if source else []})
    typer.echo(json.dumps(answer) if as_json else "\n".join(explanation_lines(answer)))


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    form: Annotated[
        Format, typer.Option("--format", help="cli, json; of the collections: csv, md, xml, files.")
    ] = Format.cli,
    project: Project = "default",
) -> None:
    """Says what the running desk holds and does; as csv, md, xml or files what collections a project has."""
    from refdesk.commands.status import operate, status_lines

    if form in (Format.cli, Format.json):
        answer = _call(operate, "status")
        is_json = as_json or form is Format.json
        typer.echo(json.dumps(answer) if is_json else "\n".join(status_lines(answer)))
        return
    from refdesk.commands import notes, notes_formats

    typer.echo(notes_formats.write_collections(_run(notes.status(project))["collections"], form))


@app.command()
def doctor(config: Config = "") -> None:
    """Checks this machine and the desk, and says what to do."""
    from refdesk.commands.doctor import examine

    failed = False
    for finding in examine(config):
        typer.echo(f"{finding.mark} {finding.text}")
        failed = failed or finding.mark == "✗"
    if failed:
        raise typer.Exit(1)


@source_app.command()
def sync(
    source: Annotated[str, typer.Argument(help="Source name.")],
    project: Project = "default",
    confirm_deletes: Annotated[bool, typer.Option(help="Let deletes that wait for a person go ahead.")] = False,
) -> None:
    """Lists a source now and indexes what differs."""
    from refdesk.commands.status import operate

    path = f"projects/{project}/sources/{source}/sync?confirm_deletes={str(confirm_deletes).lower()}"
    counts = _call(operate, path, post=True)
    names = (
        ("changed", "changed_count"),
        ("deleted", "deleted_count"),
        ("moved", "moved_count"),
        ("held", "held_deletes"),
    )
    typer.echo(", ".join(f"{name} {int(counts[key]):,}" for name, key in names))


@app.command()
def reconcile(project: Project = "default") -> None:
    """Compares the index with its records, finishes what is unfinished and sweeps the rest."""
    from refdesk.commands.status import operate

    counts = _call(operate, f"projects/{project}/reconcile", post=True)
    typer.echo(", ".join(f"{key.removesuffix('_count')} {int(value):,}" for key, value in counts.items()))


@app.command()
def backup(file: Annotated[Path, typer.Argument(help="File to write, e.g. desk.backup.gz.")]) -> None:
    """Writes the catalog, all texts, menus, all that was pushed and hashes of keys to a file, while the desk goes on."""
    from refdesk.commands.backup import take_backup

    typer.echo(f"{file}: {_call(take_backup, file):,} bytes")


@app.command()
def restore(file: Annotated[Path, typer.Argument(help="File that `refdesk backup` wrote.")]) -> None:
    """Puts back what a backup holds and the desk does not; both indices are made equal to it."""
    from refdesk.commands.backup import give_back

    done = _call(give_back, file)
    typer.echo(
        f"restored {done['document_count']:,} documents, {done['push_count']:,} pushes, {done['menu_count']:,} menus and "
        f"{done['key_count']:,} keys; "
        f"{done['present_count']:,} were there already"
    )


@config_app.command()
def check(config: Config = "") -> None:
    """Says whether the configuration is valid."""
    from refdesk.settings import load_here

    _call(load_here, {}, config)
    typer.echo("the configuration is valid")


@config_app.command()
def diff(config: Config = "") -> None:
    """Says what a running desk would change to be as the file declares its projects; changes nothing."""
    from refdesk.commands.declared import REFUSED, differences
    from refdesk.commands.status import operate
    from refdesk.settings import load_here

    lines = differences(_call(load_here, {}, config).projects, _call(operate, "status"))
    typer.echo("\n".join(lines) if lines else "nothing differs")
    if any(REFUSED in line for line in lines):
        raise typer.Exit(1)


@config_app.command()
def show(config: Config = "") -> None:
    """Prints the configuration in force, defaults included."""
    import yaml

    from refdesk.settings import load_here

    typer.echo(yaml.safe_dump(_call(load_here, {}, config).model_dump(mode="json"), sort_keys=False), nl=False)


@config_app.command()
def schema() -> None:
    """Prints the JSON schema of the configuration file."""
    from refdesk.settings import Settings

    typer.echo(json.dumps(Settings.model_json_schema(), indent=2))


@config_app.command()
def reference() -> None:
    """Prints the reference page of all settings, Markdown."""
    from refdesk.commands.reference import reference_page

    typer.echo(reference_page(), nl=False)


def main() -> None:
    """Entry point of the `refdesk` command."""
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        _refuse(error)
    except typer.Abort:
        raise SystemExit(130) from None
    except OSError as error:
        if error.errno == errno.EPIPE:  # whoever reads the output has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        raise
    raise SystemExit(code if isinstance(code, int) else 0)


def _refuse(error: TyperException) -> NoReturn:
    """Says on one line what is wrong with a command, and where it stands how it is right."""
    said = " ".join(error.format_message().split())
    if not said or said.startswith("Usage: "):  # a verb that does nothing by itself: its help was printed
        sys.stderr.write(error.format_message() + "\n" if said else "")
        raise SystemExit(error.exit_code)
    context = getattr(error, "ctx", None)
    verb = context.command_path if context is not None else "refdesk"
    said = said.replace("Input should", "it should").replace("Value error, ", "").rstrip(".")
    sys.stderr.write(f"refdesk: {said[:1].lower()}{said[1:400]}; {verb} --help says what is valid\n")
    raise SystemExit(error.exit_code)


def _log(level: str) -> None:
    from refdesk.settings import load_here
    from refdesk.telemetry.logs import set_up

    set_up(level or _call(load_here).telemetry.log_level)


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    import uvloop

    return _call(uvloop.run, work)


def _call(function: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return function(*arguments, **named)
    except RefdeskError as error:
        _fail(error.message)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"refdesk: {' '.join(message.split())}\n")
    raise typer.Exit(1)


app.add_typer(generation_app(_call), name="generation")
add_notes(app, _run, _call)
app.add_typer(key_app(_call), name="key")
app.add_typer(report_app(_call), name="report")

if __name__ == "__main__":
    main()
