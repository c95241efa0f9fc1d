"""Commands and groups of commands as this program has them: with the options that work everywhere, loaded when used.

A group knows the names and one-line helps of its commands from a table, so that `--help` imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from omnislash.surfaces.cli.options import EVERYWHERE

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that is not loaded yet."""

    #: Module and name of the command, as `module:name`.
    home: str
    #: One line of help.
    help: str

    def load(self) -> click.Command:
        """Import the command."""
        from importlib import import_module  # noqa: PLC0415 - what makes it lazy

        module, _, name = self.home.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


def _write_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the command's own options, then those that work everywhere."""
    own: list[tuple[str, str]] = []
    shared: list[tuple[str, str]] = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            (shared if parameter in EVERYWHERE else own).append(record)
    for title, records in (("Options", own), ("Options of every command", shared)):
        with formatter.section(title):
            formatter.write_dl(records)


def _write_example(text: str | None, formatter: click.HelpFormatter) -> None:
    if text:
        with formatter.section("Example"):
            for line in text.splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Command(click.Command):
    """A command with the options that work everywhere, and an example in its help."""

    def __init__(self, *arguments: Any, example: str | None = None, **options: Any) -> None:
        """Make the command."""
        super().__init__(*arguments, **options)
        self.params += EVERYWHERE
        self.example = example

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help."""
        _write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example into the help."""
        super().format_epilog(ctx, formatter)
        _write_example(self.example, formatter)


class Group(click.Group):
    """A group whose commands stand in a table, or are made with its own decorators."""

    command_class = Command

    def __init__(
        self, *arguments: Any, table: Mapping[str, Entry] | None = None, example: str | None = None, **options: Any
    ) -> None:
        """Make the group."""
        super().__init__(*arguments, **options)
        self.params += EVERYWHERE
        self.table = table or {}
        self.example = example

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        del ctx
        return [*self.table, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, and import it first where needed."""
        if cmd_name in self.table:
            return self.table[cmd_name].load()
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; for an unknown one, name the nearest.

        Raises:
            click.UsageError: There is no such command.
        """
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        names = self.list_commands(ctx)
        near = suggest(name, names)
        message = (
            f"There is no command {name!r} in {ctx.command_path!r}. {near or 'Known are: ' + ', '.join(names) + '.'}"
        )
        raise click.UsageError(message, ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands and the options into the help."""
        self.format_commands(ctx, formatter)
        _write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example into the help."""
        super().format_epilog(ctx, formatter)
        _write_example(self.example, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands into the help without loading those of the table."""
        del ctx
        rows = [(name, entry.help) for name, entry in self.table.items()]
        rows += [(name, command.get_short_help_str(80)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def suggest(name: str, known: list[str]) -> str | None:
    """Return `Did you mean …?` for the nearest known name, or None."""
    from omnislash.brain.nearest import suggest as find  # noqa: PLC0415 - only for a wrong word

    return find(name, known)
