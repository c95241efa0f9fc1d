"""`omnislash help`: the user pages that ship with the program.

A page is markdown, one sentence a line; it is drawn on a terminal and printed as it is elsewhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from omnislash.errors import UsageError
from omnislash.surfaces.cli.commands import Command, suggest
from omnislash.surfaces.cli.options import Settings
from omnislash.surfaces.cli.output import is_terminal, print_json, print_line

#: Where the pages lie.
PAGES = Path(__file__).parents[2] / "help"
#: Topics in the order in which a newcomer reads them.
ORDER = (
    "getting-started",
    "brain",
    "lines",
    "roles",
    "chat",
    "models",
    "offline",
    "writing",
    "budget",
    "search",
    "ladder",
    "envelope",
    "flush",
    "heartbeats",
    "events",
    "curating",
    "sync",
    "durability",
    "search-index",
    "migration",
    "doctor",
    "troubleshooting",
    "configuration",
    "commands",
    "tools",
    "errors",
    "glossary",
)
#: Other names by which people look for a page.
ALIASES = {
    "start": "getting-started",
    "scopes": "lines",
    "hooks": "heartbeats",
    "settings": "configuration",
    "budgets": "budget",
    "summaries": "ladder",
    "checks": "doctor",
    "git": "sync",
    "brain-sync": "sync",
}


@click.command("help", cls=Command, example="omnislash help\nomnislash help writing")
@click.argument("topic", required=False)
@click.pass_context
def help_(context: click.Context, topic: str | None) -> int:
    """Show a help page, or the list of them; the name of a command shows its options."""
    settings: Settings = context.find_object(Settings) or Settings()
    if topic is None:
        return _list_topics(settings)
    topic = ALIASES.get(topic, topic)
    if topic not in ORDER and not _is_check(topic):
        return _show_command(context, topic, settings)
    return show_page(settings, topic)


def _is_check(topic: str) -> bool:
    """Tell whether a topic is the page of one of doctor's checks, such as `checks/git`."""
    return topic in {f"checks/{page.stem}" for page in (PAGES / "checks").glob("*.md")}


def show_page(settings: Settings, topic: str) -> int:
    """Show a page, and return the exit code."""
    text = (PAGES / f"{topic}.md").read_text(encoding="utf-8")
    if settings.json:
        print_json({"topic": topic, "title": _title(text), "text": text})
    elif is_terminal():
        _draw(text)
    else:
        sys.stdout.write(text)
    return 0


def _list_topics(settings: Settings) -> int:
    titles = {topic: _title((PAGES / f"{topic}.md").read_text(encoding="utf-8")) for topic in ORDER}
    if settings.json:
        print_json({"topics": [{"topic": topic, "title": title} for topic, title in titles.items()]})
        return 0
    print_line("Show a page with: omnislash help TOPIC")
    width = max(map(len, titles))
    for topic, title in titles.items():
        print_line(f"  {topic.ljust(width)}  {title}")
    return 0


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def _show_command(context: click.Context, name: str, settings: Settings) -> int:
    """Show the help of a command of that name.

    Raises:
        UsageError: There is neither a page nor a command of that name.
    """
    root = context.find_root()
    group = root.command
    command = group.get_command(root, name) if isinstance(group, click.Group) else None
    if command is None:
        near = suggest(name, [*ORDER, *group.list_commands(root)]) if isinstance(group, click.Group) else None
        raise UsageError(f"There is no help page {name!r}.", hint=near or f"Pages: {', '.join(ORDER)}.")
    text = command.get_help(click.Context(command, parent=root, info_name=name))
    if settings.json:
        print_json({"topic": name, "title": command.get_short_help_str(100), "text": text})
    else:
        print_line(text)
    return 0


def _draw(text: str) -> None:
    from rich.console import Console  # noqa: PLC0415 - only where a person looks
    from rich.markdown import Markdown  # noqa: PLC0415 - the same

    Console(file=sys.stdout).print(Markdown(text))
