"""What `omnislash hooks` shows: plans as diffs, what was done, and what stands where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from omnislash.surfaces.cli.output import command_name, print_json, print_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omnislash.surfaces.adapters.hosts import Entry
    from omnislash.surfaces.adapters.installing import Done
    from omnislash.surfaces.adapters.planning import Change, Where
    from omnislash.surfaces.adapters.standing import EntryView, FileView
    from omnislash.surfaces.cli.options import Settings

_COLOURS: Final = {"installed": "green", "partial": "yellow", "absent": "cyan", "broken": "red"}
_CONDITIONS: Final = {
    "installed": "installed",
    "partial": "installed in part; install it again to complete it",
    "absent": "not installed",
    "broken": "can't be read",
}


def show_plan(settings: Settings, where: Where, changes: Sequence[Change], *, notes: Sequence[str]) -> int:
    """Show what would change, as a unified diff of each file."""
    from omnislash.surfaces.adapters.diffing import diff  # noqa: PLC0415 - only here

    diffs = [(str(change.loaded.file.path), diff(change)) for change in changes]
    if settings.json:
        files = [{"path": path, "changes": bool(text), "diff": text} for path, text in diffs]
        print_json({"host": where.host.id, "scope": where.scope.value, "dryRun": True, "files": files})
        return 0
    for path, text in diffs:
        for line in text.splitlines():
            print_line(line)
        if not text:
            print_line(f"{path}: nothing would change.")
    if not settings.quiet:
        print_line("Nothing was changed.", err=True)
        for note in notes:
            print_line(f"  {note}", err=True)
    return 0


def tell_installed(
    settings: Settings,
    where: Where,
    entry: Entry,
    *,
    tools: Sequence[str],
    done: Sequence[Done],
    notes: Sequence[str],
) -> None:
    """Say what an installation did, and what to know or do next."""
    is_new = any(each.change.is_needed for each in done)
    gone = {old for each in done for old in each.change.loaded.found.entries if old != entry}
    if settings.json:
        answer = {
            "outcome": "installed" if is_new else "unchanged",
            "role": entry.role,
            "heartbeat": entry.heartbeat,
            "brain": entry.brain,
            "program": list(entry.program),
            "tools": list(tools),
            "replaced": [{"role": old.role, "brain": old.brain} for old in gone],
            "notes": list(notes),
        }
        print_json({**_describe(where, done), **answer})
        return
    if settings.quiet:
        return
    if not is_new:
        print_line(f"{where.host.title} carries {entry.describe()} already; nothing was changed.")
        return
    print_line(f"{where.host.title} now carries {entry.describe()}.", bold=True, fg="green")
    for old in gone:
        print_line(f"  It takes the place of {old.describe()}.")
    _show_done(done)
    print_line(f"  Tools of its MCP server: {', '.join(tools) or 'none, the role is granted none'}.")
    for note in notes:
        print_line(f"  {note}")
    print_line(f"  Take it out again with: {command_name(elsewhere=True)} {where.describe_removal()}")


def tell_uninstalled(settings: Settings, where: Where, done: Sequence[Done]) -> None:
    """Say what was taken out."""
    is_done = any(each.change.is_needed for each in done)
    if settings.json:
        print_json({**_describe(where, done), "outcome": "uninstalled" if is_done else "unchanged"})
        return
    if settings.quiet:
        return
    if not is_done:
        place = "" if where.scope.value == "user" else f" for {where.project}"
        print_line(f"Nothing of omnislash is installed{place} with --scope {where.scope.value}; nothing was changed.")
        return
    gone = {old.describe(): old for each in done for old in each.change.loaded.found.entries}
    print_line(f"{where.host.title} no longer carries {' and '.join(gone)}.", bold=True, fg="green")
    _show_done(done)


def _describe(where: Where, done: Sequence[Done]) -> dict[str, Any]:
    files = [
        {
            "part": each.change.loaded.file.part.value,
            "path": str(each.change.loaded.file.path),
            "changed": each.change.is_needed,
            "backup": None if each.backup is None else str(each.backup),
        }
        for each in done
    ]
    return {"host": where.host.id, "scope": where.scope.value, "project": str(where.project), "files": files}


def _show_done(done: Sequence[Done]) -> None:
    for each in done:
        change = each.change
        what = (
            "unchanged"
            if not change.is_needed
            else "removed"
            if change.after is None
            else "changed"
            if change.loaded.data is not None
            else "made"
        )
        backup = f"; before: {each.backup}" if each.backup else ""
        print_line(f"  {change.loaded.file.path}: {what}{backup}")


def show_status(views: Sequence[FileView], role: str | None) -> None:
    """Say how each file stands."""
    if not views:
        print_line(f"No file carries the role {role!r}.")
    for view in views:
        name = f"{view.scope.value} {view.file.part.value}"
        text = _CONDITIONS[view.condition.value]
        print_line(f"{name}: {text}", fg=_COLOURS[view.condition.value], bold=True)
        print_line(f"  {view.file.path}")
        for each in view.entries:
            _show_entry(each)
        for note in view.notes:
            print_line(f"  {note}")


def _show_entry(view: EntryView) -> None:
    print_line(f"  carries {view.entry.describe()}")
    if not view.has_program:
        print_line(
            f"  starts {view.entry.program[0]}, and that or its Python is not there any more; install it again.",
            fg="red",
        )
    if not view.has_brain:
        print_line("  The brain is not there.", fg="red")
    elif view.is_warm:
        print_line("  A worker runs: it answers the hooks.")
    else:
        print_line("  No worker runs: a hook opens the brain itself.")
    if view.last_line:
        print_line(f"  last noted: {view.last_line}")


def is_failing(view: FileView) -> bool:
    """Tell whether a file can't be read, or an entry in it would not work."""
    return view.condition.value == "broken" or not all(each.has_program and each.has_brain for each in view.entries)
