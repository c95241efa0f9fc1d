"""`omnislash heartbeat`: what runs by itself, when, and with what result; and one run by hand.

Rules: DECLARE-01, RESOLVE-03, REPORT-02, BOUNDARY-08; failure case O-39; interface.md, `heartbeat list|run`.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import click

from omnislash.errors import OmnislashError
from omnislash.surfaces.cli.asking import open_for_search
from omnislash.surfaces.cli.chat_conversation import open_for_talk
from omnislash.surfaces.cli.commands import Group
from omnislash.surfaces.cli.output import is_terminal, naming, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnislash.runtime.beats.beat_runs import BeatRun
    from omnislash.surfaces.cli.options import Settings

#: Exit code of a run by its outcome: what asks for nothing was done completely.
_CODES = {"done": 0, "skipped": 0, "interrupted": 130}
#: How much of a reason stands in a table; `--json` has all of it.
_REASON_CHARS = 60

heartbeat = Group(
    "heartbeat",
    help="Show what runs by itself, or run it now.",
    example="omnislash heartbeat list\nomnislash heartbeat run briefing",
)


@heartbeat.command("list", example="omnislash heartbeat list\nomnislash heartbeat list --json")
@click.pass_obj
def list_(settings: Settings) -> int:
    """List heartbeats and hooks: their schedule, their next run and their last.

    Times are those of the brain's zone, `locale.timezone`. Files that do not load, and so never run, are named.
    """
    with settings.open_brain() as brain:
        answer = brain.heartbeats().to_json()
    if settings.json:
        print_json(answer)
    else:
        _show_list(answer)
    return 0


def _show_list(answer: Mapping[str, Any]) -> None:
    beats, hooks = answer["heartbeats"], answer["hooks"]
    rows = [(each["name"], each["role"], each["schedule"], _next(each), _last(each)) for each in beats]
    print_table(("heartbeat", "role", "schedule", "next", "last"), rows)
    if beats and hooks:
        print_line()
    print_table(("hook", "role", "on", "enabled", "last"), [_hook_cells(each) for each in hooks])
    if not beats and not hooks:
        print_line("Nothing runs by itself: there is no heartbeat and no hook that loads.", err=True)
    for each in answer["faulty"]:
        print_line(f"never runs: {each['message']}", err=True, fg="red")


def _hook_cells(hook: Mapping[str, Any]) -> Sequence[str]:
    return hook["name"], hook["role"], ", ".join(hook["on"]), "yes" if hook["enabled"] else "no", _last(hook)


def _next(beat: Mapping[str, Any]) -> str:
    return _minute(beat["next"]) if beat["next"] else "switched off"


def _last(beat: Mapping[str, Any]) -> str:
    last = beat.get("last")
    if last is None:
        return "never"
    reason = last.get("message", "")
    shown = reason if len(reason) <= _REASON_CHARS else f"{reason[: _REASON_CHARS - 1]}…"
    return f"{_minute(last['at'])} {last['outcome']}" + (f": {shown}" if shown else "")


def _minute(instant: str) -> str:
    """Return an ISO instant as `YYYY-MM-DD HH:MM`, in the zone that it names."""
    return instant[:16].replace("T", " ")


@heartbeat.command(example="omnislash heartbeat run briefing\nomnislash heartbeat run briefing --replay")
@click.argument("name", metavar="NAME")
@click.pass_obj
def run(settings: Settings, name: str) -> int:
    """Run a heartbeat now, whatever its schedule says.

    One that is switched off runs as well. It works as its role, with its own patch of memory and its report set. The exit code is 1 when the run failed. While
    another run of it is going on, nothing is done. With --replay it reads live and writes nothing.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # cancels a model call as Ctrl-C does
    done = _run_quietly(settings, name) if settings.json or settings.quiet else _run_aloud(settings, name)
    if settings.json:
        with naming(f"{done.name} is {done.outcome}"):
            print_json(done.to_json())
    if done.outcome == "skipped" and not settings.json and not settings.quiet:
        print_line(f"{done.name} skipped: {done.message}", err=True)  # what else went wrong, the log has said on stderr
    return _CODES.get(done.outcome, 1)


def _run_quietly(settings: Settings, name: str) -> BeatRun:
    with open_for_search(settings) as brain:
        return brain.run_heartbeat(name, replay=settings.replay)


def _run_aloud(settings: Settings, name: str) -> BeatRun:
    """Run it, and print the answer as it comes with the tools in short lines."""
    from omnislash.runtime.loop.run_values import RunOptions  # noqa: PLC0415 - not needed for the help
    from omnislash.surfaces.cli.chat_showing import Talk  # noqa: PLC0415 - as above

    talk = Talk(live=is_terminal(), person=is_terminal(), quiet=False)
    with open_for_talk(settings) as (brain, progress):
        try:
            with progress.between_events(talk.on_event) as listen:
                done = brain.run_heartbeat(name, options=RunOptions(on_event=listen), replay=settings.replay)
        except OmnislashError:
            talk.end_line()
            raise
    talk.end_line()
    if done.run is not None:
        talk.end_turn(done.run, is_replay=settings.replay)
    return done
