"""`omnislash sync`: where brain-sync stands, and one sync by hand.

Rules: SCOPE-04, SECRET-O3, CURATE-05; failure cases O-50 to O-54; interface.md, "Command line" (`sync`).
"""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from omnislash.surfaces.cli.commands import Group
from omnislash.surfaces.cli.output import naming, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnislash.surfaces.cli.options import Settings

_COLOURS: Final = {"done": "green", "nothing": "cyan", "stopped": "yellow", "failed": "red"}
#: How many paths of a kind are shown to a person; `--json` has all.
_NAMED: Final = 20

sync = Group(
    "sync",
    help="Commit what changed, say who changed it, pull and push.",
    example="omnislash sync status\nomnislash sync run --dry-run",
)


@sync.command("status", example="omnislash sync status\nomnislash sync status --json")
@click.pass_obj
def status(settings: Settings) -> int:
    """Show what is pending and by whom, what is in the way, and how far the remote is.

    Nothing is changed and nothing is fetched: ahead and behind count from what was fetched last. The exit code is 1
    when something is in the way or the last sync did not come to its end.
    """
    with settings.open_brain() as brain:
        answer = brain.sync_status().to_json()
    if settings.json:
        print_json(answer)
    else:
        _show_status(answer)
    last = answer["last"]
    is_failing = last is not None and last["outcome"] in {"stopped", "failed"}
    return 1 if answer["troubles"] or answer["blocked"] or is_failing else 0


def _show_status(answer: Mapping[str, Any]) -> None:
    print_line(_sum_up(answer), bold=True, fg="green" if answer["inSync"] else "yellow")
    for trouble in answer["troubles"]:
        print_line(f"  {trouble}", fg="red")
    print_table(
        ("pending", "by"), [(_show(each["path"]), ", ".join(each["by"])) for each in answer["pending"][:_NAMED]]
    )
    _more(answer["pending"])
    for each in answer["blocked"]:
        print_line(f"not committed: {_show(each['path'])}. {each['reason']}", fg="red")
    for each in answer["ignored"]:
        print_line(f"ignored by {_show(each['rule'])}, and committed all the same: {_show(each['path'])}")
    _show_left_alone(answer["leftAlone"])
    _show_last(answer)


def _sum_up(answer: Mapping[str, Any]) -> str:
    branch = answer["branch"] or "no branch"
    where = f"{branch} -> {answer['upstream']}" if answer["upstream"] else branch
    if answer["inSync"]:
        return f"{where}: in sync"
    parts = [f"{len(answer['pending'])} pending"] if answer["pending"] else []
    parts += [f"{len(answer['blocked'])} not committed"] if answer["blocked"] else []
    parts += [f"{answer[side]} {side}" for side in ("ahead", "behind") if answer[side]]
    if answer["upstream"] and answer["ahead"] is None:
        parts.append("never pushed")
    return f"{where}: {', '.join(parts) or 'not in sync'}"


def _show_left_alone(paths: Sequence[str]) -> None:
    if paths:
        shown = ", ".join(map(_show, paths[:_NAMED]))
        print_line(f"left alone, because they are not the brain's: {shown}")
        _more(paths)


def _show(path: str) -> str:
    from omnislash.runtime.syncing.changes import show_path  # noqa: PLC0415 - what the help of other commands needs not

    return show_path(path)


def _more(each: Sequence[object]) -> None:
    if len(each) > _NAMED:
        print_line(f"… and {len(each) - _NAMED} more; --json has all.")


def _show_last(answer: Mapping[str, Any]) -> None:
    last = answer["last"]
    if last is not None:
        print_line(f"last sync: {_minute(last['at'])} {last['outcome']}. {last['message']}")
    if not answer["enabled"]:
        print_line("A worker does not sync by itself: sync.enabled is false.")
    elif answer["nextTick"]:
        print_line(f"next sync, while a worker runs: {_minute(answer['nextTick'])}")


def _minute(instant: str) -> str:
    """Return an instant to the minute, as `omnislash audit` shows it."""
    return f"{datetime.fromisoformat(instant).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


@sync.command("run", example="omnislash sync run --dry-run\nomnislash sync run --no-push\nomnislash sync run")
@click.option("--dry-run", is_flag=True, help="Show what would be committed, and change nothing.")
@click.option("--no-push", is_flag=True, help="Commit only: pull nothing and push nothing.")
@click.option("--allow-secrets", is_flag=True, help="Push commits that add what looks like a credential as well.")
@click.pass_obj
def run(settings: Settings, /, **options: Any) -> int:
    """Commit what changed, pull and push, whatever `sync.enabled` says.

    The exit code is 1 when something could not be committed, pulled or pushed; the message says what and why.
    """
    from omnislash.runtime.syncing.syncing import SyncOptions  # noqa: PLC0415 - what the help of other commands needs not

    if not options["dry_run"]:
        settings.refuse_replay("omnislash sync run")
    chosen = SyncOptions(
        push=False if options["no_push"] else None,
        allow_secrets=options["allow_secrets"],
        is_dry_run=options["dry_run"],
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends a talk with a remote as Ctrl-C does
    with settings.open_brain() as brain:
        answer = brain.sync(chosen)
    with naming(f"the sync is {answer.outcome}"):
        if settings.json:
            print_json(answer.to_json())
        elif not (settings.quiet and answer.outcome.is_well):
            _show_answer(answer.to_json())
    return 0 if answer.outcome.is_well else 1


def _show_answer(answer: Mapping[str, Any]) -> None:
    print_line(answer["outcome"], fg=_COLOURS[answer["outcome"]], bold=True)
    print_line(f"  {answer['message']}")
    for each in answer["commits"]:
        if each["id"]:
            print_line(f"  {each['id'][:12]} {each['subject']}")
    for each in answer["conflicts"]:
        print_line(f"  {_show(each['path'])}: {each['how']}: {each['note']}")
    for note in answer["notes"]:
        print_line(f"  {note}")
    _show_left_alone(answer["leftAlone"])
