"""`omnislash memory …`: the memory tools of a role, with the names, arguments and answers that agents have.

Rules: TOOL-01 to TOOL-04, WRITE-O1, BOUNDARY-08; interface.md, "Memory tools".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omnislash.errors import UsageError
from omnislash.surfaces.cli import searching, showing
from omnislash.surfaces.cli.asking import call_tool, explain_search
from omnislash.surfaces.cli.commands import Group
from omnislash.surfaces.cli.content import read_content, read_text_file
from omnislash.surfaces.cli.output import print_json, print_verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from omnislash.surfaces.cli.options import Settings

memory = Group(
    "memory",
    help="Read, search and write memory as a role: the same tools that an agent has, within the same limits.",
    example=(
        'omnislash memory write --role nova "We ship on Fridays." --priority\n'
        "omnislash memory read --role nova main/MEMORY.md"
    ),
)


def _acting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say who acts."""
    beat = click.option("--heartbeat", metavar="ID", help="The heartbeat or hook that runs the role; none in a chat.")
    return click.option("--role", required=True, metavar="ID", help="The role that acts.")(beat(command))


def _change(settings: Settings, tool: str, *, role: str, heartbeat: str | None, **arguments: Any) -> int:
    verdict = call_tool(settings, tool, role=role, heartbeat=heartbeat, arguments=arguments)
    return print_verdict(verdict, as_json=settings.json, quiet=settings.quiet)


def _look(
    settings: Settings,
    tool: str,
    show: Callable[[dict[str, Any]], None],
    *,
    role: str,
    heartbeat: str | None,
    **arguments: Any,
) -> int:
    answer = call_tool(settings, tool, role=role, heartbeat=heartbeat, arguments=arguments)
    (print_json if settings.json else show)(answer)
    return 0


# -- looking ---------------------------------------------------------------------------------------------------------


@memory.command(example="omnislash memory overview --role nova")
@_acting
@click.pass_obj
def overview(settings: Settings, role: str, heartbeat: str | None) -> int:
    """Show what the role's memory consists of.

    Its line with the reading of MEMORY.md, its days and periods, what it may read, and where it may leave deposits.
    """
    return _look(settings, "memory_overview", showing.show_overview, role=role, heartbeat=heartbeat)


@memory.command("list", example="omnislash memory list --role nova --prefix main/2026/11")
@_acting
@click.option("--corpus", metavar="NAME", help="Only this line or source.")
@click.option("--prefix", metavar="TEXT", help="Only paths that begin like this.")
@click.option("--limit", type=int, metavar="N", help="How many files at most; 50 when left out.")
@click.option("--cursor", metavar="PATH", help="Go on after this path: nextCursor of the answer before.")
@click.pass_obj
def list_(settings: Settings, /, role: str, heartbeat: str | None, **arguments: Any) -> int:
    """List the files that the role may read."""
    return _look(settings, "memory_list", showing.show_listing, role=role, heartbeat=heartbeat, **arguments)


@memory.command(
    example=(
        'omnislash memory search --role nova "when may Tomek be rung?"\n'
        'omnislash memory search --role nova "vouchers" --since 2026-11-01 --until 2026-11-30 --corpus main\n'
        'omnislash memory search --role nova "vouchers" --explain --target handbook.md'
    )
)
@_acting
@click.argument("query")
@click.option(
    "--corpus", "corpora", multiple=True, metavar="NAME", help="Only this line or source; several are allowed."
)
@click.option("--since", type=searching.Day(), metavar="DAY", help="Only notes of this day or later, YYYY-MM-DD.")
@click.option("--until", type=searching.Day(), metavar="DAY", help="Only notes of this day or earlier.")
@click.option("--min-score", type=searching.Score(), metavar="SCORE", help="The floor; searchScore when left out.")
@click.option("--limit", type=click.IntRange(1, 100), metavar="N", help="How many notes at most; 8 when left out.")
@searching.explaining
@click.pass_obj
def search(settings: Settings, /, role: str, heartbeat: str | None, query: str, **options: Any) -> int:
    """Find notes by meaning and by words, best first.

    The role's read set is searched, and nothing else. QUERY `-` reads it from stdin. The exit code is 1 when nothing
    was found because memory could not be searched properly.
    """
    explain, target = options.pop("explain"), options.pop("target")
    searching.check_target(target, explain=explain)
    searching.check_days(options["since"], options["until"])
    arguments = {
        "query": searching.read_question(query, name="query"),
        "corpora": list(options.pop("corpora")) or None,
        "minScore": options.pop("min_score"),
        **options,
    }
    if explain:
        answer = explain_search(settings, role=role, heartbeat=heartbeat, arguments={**arguments, "target": target})
    else:
        answer = call_tool(settings, "memory_search", role=role, heartbeat=heartbeat, arguments=arguments)
    _print_search(answer, as_json=settings.json, targeted=target is not None)
    return 1 if answer["coverage"] == "not-checked" else 0


def _print_search(answer: dict[str, Any], *, as_json: bool, targeted: bool) -> None:
    if as_json:
        print_json(answer)
    elif "explain" in answer:
        searching.show_explained(answer, targeted=targeted)
    else:
        searching.show_search(answer)


@memory.command(example="omnislash memory read --role nova main/MEMORY.md --section People")
@_acting
@click.argument("path")
@click.option("--section", metavar="HEADING", help="Only the section under this ## heading.")
@click.option("--offset", type=int, metavar="CHARS", help="Where to start; nextOffset of the answer before.")
@click.option("--max-chars", type=int, metavar="CHARS", help="How much at most; 40000 when left out.")
@click.pass_obj
def read(settings: Settings, /, role: str, heartbeat: str | None, max_chars: int | None, **arguments: Any) -> int:
    """Print a file, one section of it, or a part.

    In a pipe the text comes out as it is; on a terminal control characters are made visible.
    """

    def show(answer: dict[str, Any]) -> None:
        showing.show_content(answer, quiet=settings.quiet)

    return _look(settings, "memory_read", show, role=role, heartbeat=heartbeat, maxChars=max_chars, **arguments)


# -- changing --------------------------------------------------------------------------------------------------------


@memory.command(
    example=(
        'omnislash memory write --role nova "The school wants the bikes on Tuesday."\n'
        "omnislash memory write --role nova --priority - < note.txt\n"
        'omnislash memory write --role nova -- "- text that begins with a dash"'
    )
)
@_acting
@click.argument("content")
@click.option("--priority/--no-priority", default=None, help="File it in MEMORY.md as well, or in the daily log only.")
@click.option("--line", metavar="NAME", help="A line that is open for deposits; the role's own when left out.")
@click.option("--request-id", metavar="ID", help="The same id again answers the first verdict and writes nothing.")
@click.pass_obj
def write(settings: Settings, /, role: str, heartbeat: str | None, content: str, **arguments: Any) -> int:
    """Remember CONTENT, and wait until that is durable.

    CONTENT `-` reads it from stdin.
    """
    request_id = arguments.pop("request_id")
    return _change(
        settings,
        "memory_write",
        role=role,
        heartbeat=heartbeat,
        content=read_content(content),
        requestId=request_id,
        **arguments,
    )


@memory.command(example='omnislash memory edit --role nova main/MEMORY.md --old "before nine" --new "before ten"')
@_acting
@click.argument("path")
@click.option("--old", metavar="TEXT", help="What to replace: a whole entry, or a text that occurs once.")
@click.option("--new", metavar="TEXT", help="What takes its place.")
@click.option("--old-file", metavar="FILE", help="Take the old text from a file; - is stdin.")
@click.option("--new-file", metavar="FILE", help="Take the new text from a file; - is stdin.")
@click.pass_obj
def edit(settings: Settings, /, role: str, heartbeat: str | None, path: str, **texts: str | None) -> int:
    """Replace an entry, or a text that occurs once.

    The file belongs to the role's own line. What is replaced is a whole entry, or a text that occurs once in it.
    """
    if texts["old_file"] == texts["new_file"] == "-":
        message = "Only one of --old-file and --new-file can be read from stdin."
        raise UsageError(message)
    old = _choose("--old", texts["old"], texts["old_file"])
    new = _choose("--new", texts["new"], texts["new_file"])
    return _change(settings, "memory_edit", role=role, heartbeat=heartbeat, path=path, old=old, new=new)


def _choose(name: str, text: str | None, file: str | None) -> str:
    """Return a text that was given itself or as a file, in exactly one of the two ways."""
    if (text is None) == (file is None):
        message = f"Give either {name} TEXT or {name}-file FILE."
        raise UsageError(message)
    if file is None:
        return text or ""
    return read_text_file(file).removesuffix("\n")


@memory.command("write-file", example="omnislash memory write-file --role nova main/plan.md --file plan.md")
@_acting
@click.argument("path")
@click.argument("content", required=False)
@click.option("--file", metavar="FILE", help="Take the text from a file; - is stdin.")
@click.option("--expect-hash", metavar="HASH", help="hash of the read that the text is based on, or absent.")
@click.pass_obj
def write_file(  # noqa: PLR0913, PLR0917 - click hands in every option
    settings: Settings,
    role: str,
    heartbeat: str | None,
    path: str,
    content: str | None,
    file: str | None,
    expect_hash: str | None,
) -> int:
    """Replace or create a whole file of the role's own line.

    CONTENT `-` reads it from stdin.
    """
    if (content is None) == (file is None):
        message = "Give either CONTENT or --file FILE."
        raise UsageError(message)
    text = read_content(content) if content is not None else read_text_file(file or "")
    return _change(
        settings, "memory_write_file", role=role, heartbeat=heartbeat, path=path, content=text, expectHash=expect_hash
    )


@memory.command(example="omnislash memory move --role nova main/plan.md main/plans/2027.md")
@_acting
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.pass_obj
def move(settings: Settings, role: str, heartbeat: str | None, source: str, target: str) -> int:
    """Give a file of the role's own line another, free name."""
    return _change(settings, "memory_move", role=role, heartbeat=heartbeat, **{"from": source, "to": target})


@memory.command(example='omnislash memory delete --role nova main/MEMORY.md --entry "Tomek is not rung before nine."')
@_acting
@click.argument("path")
@click.option("--entry", metavar="TEXT", help="Only the entry that reads exactly like this.")
@click.option("--section", metavar="HEADING", help="Only the section under this ## heading.")
@click.pass_obj
def delete(settings: Settings, /, role: str, heartbeat: str | None, **arguments: str | None) -> int:
    """Remove a file, or one entry or section of it.

    The file belongs to the role's own line. A person may have to agree first.
    """
    return _change(settings, "memory_delete", role=role, heartbeat=heartbeat, **arguments)
