"""How the period ladder looks to a person: what a tick wrote, what is due, and the tree of a line.

Rules: PERIOD-25, PERIOD-34, PERIOD-O6, PERIOD-O7, PERIOD-O9; interface.md, "Command line" (`consolidate`).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from omnislash.surfaces.cli.output import print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Periods named of those that wait, after a tick; `--dry-run` and `--json` have them all.
_NAMED = 5
#: How each stage of a period is told, and its colour on a terminal.
_STAGES = {
    "filed": ("", "green"),
    "due": ("due", "yellow"),
    "waiting": ("waits for", "cyan"),
    "open": ("not over", "bright_black"),
    "silent": ("nothing written", "bright_black"),
    "off": ("level not enabled", "bright_black"),
}
#: Branches of a tree: one more follows, the last one, and what goes on below each of them.
_BRANCHES, _PLAIN_BRANCHES = ("├── ", "└── ", "│   ", "    "), ("|-- ", "`-- ", "|   ", "    ")
_NO_LINES = "No line has period summaries: memory.consolidation.lines in constitution/MANIFEST.yaml names none."


# -- a tick ----------------------------------------------------------------------------------------------------------


def show_tick(answer: Mapping[str, Any], *, quiet: bool) -> None:
    """Print what came of a tick; with `quiet` only what failed."""
    if not answer["lines"] and not quiet:
        print_line(_NO_LINES, err=True)
    for each in answer["lines"]:
        if not quiet or has_failed(each):
            print_line(f"{each['line']}: {each['message']}", **_head_style(each))
        if not quiet:
            columns = ("written", "chars", "asked for", "made from")
            print_table(columns, [_done_cells(done) for done in each["done"]])
        for failed in each["failed"]:
            print_line(f"{failed['period']} was not written: {_as_sentence(failed['reason'])}", fg="red")
        if not quiet:
            _show_rest(each)


def has_failed(line: Mapping[str, Any]) -> bool:
    """Tell whether a run of a line failed, or the line could not be looked at."""
    return bool(line.get("failed") or line.get("error"))


def _head_style(line: Mapping[str, Any]) -> dict[str, Any]:
    return {"fg": "red"} if line.get("error") else {"bold": True}


def _done_cells(done: Mapping[str, Any]) -> tuple[str, ...]:
    asked = "any length" if done["targetChars"] is None else str(done["targetChars"])
    more = " (longer than asked)" if done["overTarget"] else ""
    return done["file"], f"{done['chars']}{more}", asked, _describe_sources(done["sources"])


def _show_rest(line: Mapping[str, Any]) -> None:
    """Print what somebody else wrote meanwhile, and what waits."""
    for each in line.get("discarded", ()):
        print_line(f"{each['period']} was left as it is: {_as_sentence(each['reason'])}")
    waiting = line["waiting"]
    for each in waiting[:_NAMED]:
        print_line(f"{each['period']} waits for {_describe_span(each['waitsFor'])}.")
    if len(waiting) > _NAMED:
        print_line(f"{len(waiting) - _NAMED} more wait as well; omnislash consolidate --dry-run names them.")


def _as_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


# -- what is due -----------------------------------------------------------------------------------------------------


def show_plan(answer: Mapping[str, Any], *, quiet: bool) -> None:
    """Print what a tick would write, from what, and why the rest waits."""
    if not answer["lines"] and not quiet:
        print_line(_NO_LINES, err=True)
    for each in answer["lines"]:
        rows = list(_plan_rows(each))
        if rows or has_failed(each) or not quiet:
            print_line(f"{each['line']}: {each.get('error') or _count_plan(each)}", **_head_style(each))
        print_table(("period", "state", "because of"), rows)


def _plan_rows(line: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for each in line["due"]:
        yield each["period"], "due", f"from {_describe_sources(each['sources'])}"
    for each in line.get("later", ()):
        yield each["period"], "later", f"maxRunsPerTick; from {_describe_sources(each['sources'])}"
    for each in line["waiting"]:
        yield each["period"], "waits", f"no summary yet of {_describe_span(each['waitsFor'])}"


def _count_plan(line: Mapping[str, Any]) -> str:
    """Return how many periods are due in the next tick, due later, and waiting: `2 due, 1 waits`."""
    due, later, waiting = len(line["due"]), len(line.get("later", ())), len(line["waiting"])
    said = [f"{due} due"] if due else []
    said += [f"{later} due in later ticks"] if later else []
    said += [f"{waiting} {'waits' if waiting == 1 else 'wait'}"] if waiting else []
    return ", ".join(said) or "nothing is due"


def _describe_sources(paths: Sequence[str]) -> str:
    return _describe_span([path.rpartition("/")[2].removesuffix(".md") for path in paths], "files")


def _describe_span(names: Sequence[str], what: str = "periods") -> str:
    """Return the names of one or two periods, or the number of more of them with the first and the last."""
    if len(names) <= 2:  # noqa: PLR2004 - what can be said in full
        return " and ".join(names)
    return f"{len(names)} {what}, {names[0]} to {names[-1]}"


# -- the tree --------------------------------------------------------------------------------------------------------


def show_ladder(answer: Mapping[str, Any], *, quiet: bool) -> None:
    """Print the periods of each line, each under the longer one to which it belongs."""
    if not answer["lines"] and not quiet:
        print_line(_NO_LINES, err=True)
    for number, each in enumerate(answer["lines"]):
        if number:
            print_line()
        levels = ", ".join(each["levels"]) or "no level enabled"
        print_line(f"{each['line']}: {levels}", bold=True)
        for branch, rung in draw_branches(each["rungs"], plain=not _can_draw()):
            stage, colour = _tell_stage(rung)
            print_line(f"{branch}{rung['period']}{f'  {stage}' if stage else ''}", fg=colour)
        if not each["rungs"]:
            print_line("Nothing was written yet." if each["levels"] else "There is no summary.")


def _tell_stage(rung: Mapping[str, Any]) -> tuple[str, str]:
    """Return how far a period has come, for a person, and the colour of it."""
    told, colour = _STAGES[rung["stage"]]
    if rung["stage"] == "filed":
        return rung["file"], colour
    return (f"{told} {_describe_span(rung['waitsFor'])}" if rung["waitsFor"] else told), colour


def draw_branches(
    rungs: Sequence[Mapping[str, Any]], *, plain: bool = False
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each rung of a tree with the branch that leads to it, `│   ├── `.

    Args:
        rungs: In the order of the tree, each with its `depth`.
        plain: True draws with ASCII.
    """
    more, last, goes_on, ends = _PLAIN_BRANCHES if plain else _BRANCHES
    is_last = _find_last_ones([rung["depth"] for rung in rungs])
    above: list[str] = []
    for rung, final in zip(rungs, is_last, strict=True):
        del above[rung["depth"] :]
        yield "".join(above) + (last if final else more), rung
        above.append(ends if final else goes_on)


def _find_last_ones(depths: Sequence[int]) -> list[bool]:
    """Tell of each depth in a tree whether no other one of it follows under the same parent."""
    followed: set[int] = set()
    found = []
    for depth in reversed(depths):
        found.append(depth not in followed)
        followed = {other for other in followed if other < depth} | {depth}
    return found[::-1]


def _can_draw() -> bool:
    """Tell whether stdout can hold the branches."""
    try:
        "".join(_BRANCHES).encode(sys.stdout.encoding or "utf-8")
    except UnicodeError:
        return False
    return True
