"""`omnislash help`: the user pages that ship with the program.

A page is markdown, one sentence a line; it is drawn on a terminal and printed as it is elsewhere.
"""

from __future__ import annotations

import sys

import click

from omnislash.errors import UsageError
from omnislash.surfaces.cli.commands import Command, suggest
from omnislash.surfaces.cli.options import Settings
from omnislash.surfaces.cli.output import is_terminal, print_json, print_line
from omnislash.surfaces.help_pages import ORDER, list_pages, read_page, resolve_topic


@click.command("help", cls=Command, example="omnislash help\nomnislash help writing")
@click.argument("topic", required=False)
@click.pass_context
def help_(context: click.Context, topic: str | None) -> int:
    """Show a help page, or the list of them; the name of a command shows its options."""
    settings: Settings = context.find_object(Settings) or Settings()
    if topic is None:
        return _list_topics(settings)
    page = resolve_topic(topic)
    return _show_command(context, topic, settings) if page is None else show_page(settings, page)


def show_page(settings: Settings, topic: str) -> int:
    """Show a page, and return the exit code."""
    page = read_page(topic)
    if settings.json:
        print_json({"topic": topic, "title": page.title, "text": page.text})
    elif is_terminal():
        _draw(page.text)
    else:
        sys.stdout.write(page.text)
    return 0


def _list_topics(settings: Settings) -> int:
    titles = {page.topic: page.title for page in list_pages()}
    if settings.json:
        print_json({"topics": [{"topic": topic, "title": title} for topic, title in titles.items()]})
        return 0
    print_line("Show a page with: omnislash help TOPIC")
    width = max(map(len, titles))
    for topic, title in titles.items():
        print_line(f"  {topic.ljust(width)}  {title}")
    return 0


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
