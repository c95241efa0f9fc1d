"""`omnislash hooks`: lets a host such as Claude Code carry a role's memory in its sessions.

Files of the host are changed as `omnislash.surfaces.adapters.installing` says: nothing of their owner is lost.

Rules: interface.md, "Command line" (`hooks`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from omnislash.errors import UsageError
from omnislash.surfaces.cli import hooks_showing
from omnislash.surfaces.cli.commands import Group
from omnislash.surfaces.cli.output import naming, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from omnislash.surfaces.adapters.hosts import Entry
    from omnislash.surfaces.adapters.planning import Change, Where
    from omnislash.surfaces.cli.options import Settings

_SCOPES: Final = ("local", "project", "user")

hooks = Group(
    "hooks",
    help="Carry a role's memory in the sessions of a host such as Claude Code.",
    example=(
        "omnislash hooks install claude-code --role nova --dry-run\n"
        "omnislash hooks install claude-code --role nova\n"
        "omnislash hooks status claude-code"
    ),
)


def _options(command: Callable[..., int]) -> Callable[..., int]:
    """Add what install and uninstall have in common."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Show what would change in each file, and change nothing."),
        click.option("--project", metavar="DIR", help="The project that a session is started in; this directory."),
        click.option(
            "--scope",
            type=click.Choice(_SCOPES),
            default="local",
            show_default=True,
            help="For you in one project, for everybody in it, or for you everywhere.",
        ),
    ):
        command = option(command)
    return command


@hooks.command(
    "install",
    example=(
        "omnislash hooks install claude-code --role nova --dry-run\n"
        "omnislash --brain my-brain hooks install claude-code --role nova --project ~/code/shop\n"
        "omnislash hooks install claude-code --role nova --scope user"
    ),
)
@click.argument("host", metavar="HOST")
@click.option("--role", required=True, metavar="ID", help="The role whose memory is carried.")
@click.option("--heartbeat", metavar="ID", help="The heartbeat or hook that runs the role; none in a chat.")
@_options
@click.pass_obj
def install(settings: Settings, /, host: str, role: str, heartbeat: str | None, **options: Any) -> int:
    """Put a role's hooks and its MCP server into the files of a host.

    Everything else in these files stays as it is, byte for byte, and each is backed up before it is changed. Installing
    again changes nothing; another role of the same brain takes the place of the first.
    """
    if not options["dry_run"]:
        settings.refuse_replay("omnislash hooks install")
    where = _find_where(host, options["scope"], options["project"])
    entry, tools = _choose_entry(settings, role, heartbeat)
    from omnislash.store.disk import Disk  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.adapters import installing, planning  # noqa: PLC0415 - the same

    installing.check_entry(entry)
    if options["dry_run"]:
        changes = planning.plan_install(where, entry, Disk())
        notes = _notes(where, entry, changes)
        return hooks_showing.show_plan(settings, where, changes, notes=notes)
    done = installing.install(where, entry, stamp=_stamp(settings))
    with naming("it is installed"):
        notes = [*_notes(where, entry, [each.change for each in done]), where.host.next_step]
        hooks_showing.tell_installed(settings, where, entry, tools=tools, done=done, notes=notes)
    return 0


@hooks.command(
    "uninstall",
    example=(
        "omnislash hooks uninstall claude-code --dry-run\n"
        "omnislash hooks uninstall claude-code --project ~/code/shop\n"
        "omnislash hooks uninstall claude-code --scope user"
    ),
)
@click.argument("host", metavar="HOST")
@click.option("--role", metavar="ID", help="Only when it is this role's; else whichever is installed.")
@_options
@click.pass_obj
def uninstall(settings: Settings, /, host: str, role: str | None, **options: Any) -> int:
    """Take the hooks and the MCP server out of the files of a host.

    A file that nobody changed since gets the bytes that it had before; from one that somebody changed, only the entries
    of omnislash go.
    """
    if not options["dry_run"]:
        settings.refuse_replay("omnislash hooks uninstall")
    where = _find_where(host, options["scope"], options["project"])
    from omnislash.store.disk import Disk  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.adapters import installing, planning  # noqa: PLC0415 - the same

    changes = planning.plan_uninstall(where, Disk())
    _check_meant(settings, changes, role)
    if options["dry_run"]:
        return hooks_showing.show_plan(settings, where, changes, notes=[])
    done = installing.uninstall(where, stamp=_stamp(settings))
    with naming("it is taken out"):
        hooks_showing.tell_uninstalled(settings, where, done)
    return 0


@hooks.command("status", example="omnislash hooks status claude-code\nomnislash hooks status claude-code --json")
@click.argument("host", metavar="HOST")
@click.option("--role", metavar="ID", help="Only files that carry this role.")
@click.option("--project", metavar="DIR", help="The project that a session is started in; this directory.")
@click.pass_obj
def status(settings: Settings, /, host: str, role: str | None, project: str | None) -> int:
    """Show what is installed in each file of a host, and whether it would work.

    Nothing is changed. The exit code is 1 when a file can't be read, or an entry starts a program or names a brain that
    is not there.
    """
    from omnislash import __version__  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.adapters.hosts import get_host  # noqa: PLC0415 - the same
    from omnislash.surfaces.adapters.standing import look  # noqa: PLC0415 - the same

    views = look(get_host(host), _find_project(project), os.environ)
    if role is not None:
        views = [view for view in views if any(each.entry.role == role for each in view.entries)]
    if settings.json:
        print_json({"host": host, "version": __version__, "files": [view.to_json() for view in views]})
    else:
        hooks_showing.show_status(views, role)
    return 1 if any(hooks_showing.is_failing(view) for view in views) else 0


# -- what is asked for -----------------------------------------------------------------------------------------------


def _find_where(host: str, scope: str, project: str | None) -> Where:
    from omnislash.surfaces.adapters.hosts import Scope, get_host  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.adapters.planning import Where  # noqa: PLC0415 - the same

    return Where(host=get_host(host), scope=Scope(scope), project=_find_project(project), environment=dict(os.environ))


def _find_project(project: str | None) -> Path:
    """Return the project's directory, absolute and without links.

    Raises:
        UsageError: It is no directory.
    """
    place = Path(os.path.realpath(os.path.expanduser(project or ".")))  # noqa: PTH111 - Path refuses a name that nobody has
    if not place.is_dir():
        what = "a file" if place.exists() else "not there"
        message = f"The project {project!r} is {what}; a directory is meant. Nothing was changed."
        raise UsageError(message, path=project)
    return place


def _choose_entry(settings: Settings, role: str, heartbeat: str | None) -> tuple[Entry, tuple[str, ...]]:
    """Return the entry of a role, and the tools that it is granted.

    Raises:
        ConfigError, UsageError: The brain does not load, or there is no such role, or it has no memory.
    """
    with settings.open_brain() as brain:
        agent = brain.agent(role, heartbeat=heartbeat)
        if not agent.scope.has_memory:
            message = f"The role {role!r} has no memory, so there is nothing to carry. Nothing was changed."
            raise UsageError(message, hint="Give it a `memory: {}` block: omnislash help roles")
        name, tools, root = agent.scope.role, agent.tools, str(brain.root)
    from omnislash.surfaces.adapters.hosts import Entry  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.adapters.installing import find_program  # noqa: PLC0415 - the same

    return Entry(program=find_program(), role=name, brain=root, heartbeat=heartbeat), tools


def _stamp(settings: Settings) -> str:
    from datetime import UTC  # noqa: PLC0415 - not needed for the help

    return settings.clock().now().astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _check_meant(settings: Settings, changes: Sequence[Change], role: str | None) -> None:
    """Raise UsageError when what is installed is not what was asked for by name."""
    brain = settings.find_root() if "brain" in settings.given else None
    for change in changes:
        for entry in change.loaded.found.entries:
            is_other = role not in {None, entry.role} or (
                brain is not None and os.path.realpath(brain) != os.path.realpath(entry.brain)
            )
            if is_other:
                message = f"{change.loaded.file.path} carries {entry.describe()}. Nothing was changed."
                hint = "Leave --role and --brain out to take out whatever is installed."
                raise UsageError(message, path=str(change.loaded.file.path), hint=hint)


def _notes(where: Where, entry: Entry, changes: Sequence[Change]) -> list[str]:
    """Return what a person should know after an installation."""
    from omnislash.surfaces.adapters.hosts import Part  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.adapters.json_settings import describe_oddities  # noqa: PLC0415 - the same
    from omnislash.surfaces.adapters.standing import look, view_entry  # noqa: PLC0415 - the same

    notes = []
    for loaded in (change.loaded for change in changes):
        notes += [f"{loaded.file.path} {note}" for note in describe_oddities(where.host, loaded.text)]
    for view in look(where.host, where.project, where.environment):
        others = [each.entry for each in view.entries if each.entry != entry]
        if view.scope is not where.scope and others:
            both = "sessions here get the blocks of both." if view.file.part is Part.HOOKS else where.host.one_server
            notes.append(f"{view.file.path} carries {others[0].describe()} too: {both}")
    if not view_entry(entry).is_warm:
        notes.append("A hook is fastest while a worker runs: omnislash worker")
    return [*dict.fromkeys(notes), *where.host.scope_notes(where.scope, where.project, where.environment)]
