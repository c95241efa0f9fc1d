"""`omnislash index`: looks after the search index.

A search takes up changed files by itself, so none of this is needed in everyday life.

Rules: LANG-09, LANG-10, RECALL-16, LINE-06; interface.md, "Command line" (`index status`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omnislash.surfaces.cli import showing
from omnislash.surfaces.cli.commands import Group
from omnislash.surfaces.cli.output import naming, print_json, print_line
from omnislash.surfaces.cli.progress import show_progress

if TYPE_CHECKING:
    from datetime import date

    from omnislash.engine import Brain
    from omnislash.index.freshness import Freshness
    from omnislash.surfaces.cli.options import Settings

index = Group(
    "index",
    help="Look after the search index; a search takes up changed files by itself.",
    example="omnislash index status\nomnislash index sync",
)


@index.command(example="omnislash index status")
@click.pass_obj
def status(settings: Settings) -> int:
    """Show what the index holds, and how far it is behind the files.

    Looking changes nothing.
    """
    with settings.open_brain() as brain:
        answer = _read_status(brain)
    (print_json if settings.json else showing.show_index)(answer)
    return 0


@index.command(example="omnislash index sync")
@click.pass_obj
def sync(settings: Settings) -> int:
    """Take up every file that changed, and make every vector that is missing.

    The exit code is 1 when something could not be taken up.
    """
    settings.refuse_replay("omnislash index sync")
    with show_progress(settings) as progress, settings.open_brain() as brain:
        found = brain.index.refresh(limit_s=None, progress=progress)
        answer = _join(found, _read_status(brain))
    return _report(settings, answer, done="the index is up to date")


@index.command(example="omnislash index rebuild")
@click.pass_obj
def rebuild(settings: Settings) -> int:
    """Make the index anew from the files.

    Vectors of texts that still stand are kept, so no model is asked for them again. The exit code is 1 when something
    could not be taken up.
    """
    settings.refuse_replay("omnislash index rebuild")
    with show_progress(settings) as progress, settings.open_brain() as brain:
        found = brain.index.rebuild(progress=progress)
        answer = _join(found, _read_status(brain))
    return _report(settings, answer, done="the index is made anew")


def _join(found: Freshness, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the state of the index with what could not be taken up, a sentence each."""
    problems = [f"{place} can't be read: {reason}" for place, reason in found.unreadable.items()]
    problems += [each for each in (found.failure, found.embedder_failure) if each is not None]
    return {**answer, "failures": problems}


def _report(settings: Settings, answer: dict[str, Any], *, done: str) -> int:
    """Print what came of a sync and return the exit code."""
    is_done = answer["coverage"] == "full" and not answer["failures"]
    with naming(done if is_done else "the index is not up to date"):
        if settings.json:
            print_json(answer)
        elif not is_done or not settings.quiet:
            showing.show_index_work(answer, done=done if is_done else "the index is not up to date")
    return 0 if is_done else 1


@index.command(example="omnislash index check")
@click.pass_obj
def check(settings: Settings) -> int:
    """Read the whole index and say what is wrong with it, or behind in it.

    The exit code is 1 when anything is.
    """
    with settings.open_brain() as brain:
        from omnislash.index.status import check_index  # noqa: PLC0415 - numpy, which the help does without

        findings = check_index(brain.index)
    if settings.json:
        print_json({"sound": not findings, "findings": list(findings)})
    elif findings:
        for finding in findings:
            print_line(finding)
    elif not settings.quiet:
        print_line("The index is sound and holds every file as it is.")
    return 1 if findings else 0


@index.command(example="omnislash index calibrate")
@click.pass_obj
def calibrate(settings: Settings) -> int:
    """Measure where an endpoint's model lies on the scale of scores.

    The brain's own notes are the measure, and the result is kept in the index. A model that ships is measured already.
    """
    settings.refuse_replay("omnislash index calibrate")
    with show_progress(settings) as progress, settings.open_brain() as brain:
        from omnislash.index.calibration import calibrate_index  # noqa: PLC0415 - numpy, which the help does without

        brain.index.refresh(limit_s=None, progress=progress)
        found = [each.to_json() for each in calibrate_index(brain.index, today=_today(settings, brain))]
    with naming("the calibration is kept"):
        if settings.json:
            print_json({"calibrations": found})
        elif not settings.quiet:
            showing.show_calibrations(found)
    return 0


def _today(settings: Settings, brain: Brain) -> date:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - only here

    return settings.clock().now().astimezone(ZoneInfo(brain.config.manifest.locale.timezone)).date()


def _read_status(brain: Brain) -> dict[str, Any]:
    from omnislash.index.status import read_status  # noqa: PLC0415 - numpy, which the help does without

    return read_status(brain.index).to_json()
