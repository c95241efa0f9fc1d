"""How a search, its explanation and the options of both look to a person.

What was found, and what could not be looked at, is the answer and goes to stdout; a word about what lies under the floor
goes to stderr.

Rules: RECALL-01, RECALL-10, RECALL-12, RECALL-O8, TOOL-12, TOOL-13.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import click

from omnislash.errors import UsageError
from omnislash.recall.wording import describe_score
from omnislash.surfaces.cli.content import read_content
from omnislash.surfaces.cli.output import print_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: How much of a note is shown; `memory read` and `--json` have all of it. Eight lines are a paragraph and a half.
_LINES, _CHARS = 8, 600
#: Decimals of a score for a person; the floor is compared with nine.
_DECIMALS = 4


# -- options ---------------------------------------------------------------------------------------------------------


class Day(click.ParamType):  # type: ignore[type-arg]
    """A day as an option takes it, kept as text."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the day as it was written; fail when there is none of that name."""
        try:
            day = dt.date.fromisoformat(value)
        except ValueError:
            day = None
        if day is None or day.isoformat() != value:
            self.fail(f"{value!r} is no day; write it as 2026-11-30.", param, ctx)
        return day.isoformat()


class Score(click.FloatRange):
    """A score as an option takes it."""

    def __init__(self) -> None:
        """Allow 0 to 1."""
        super().__init__(0, 1)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the score; fail for what is none, not-a-number included."""
        score = float(super().convert(value, param, ctx))
        if math.isnan(score):
            self.fail(f"{value} is no score; write one from 0 to 1.", param, ctx)
        return score


def explaining(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that ask why."""
    target = click.option(
        "--target", metavar="PATH|TEXT", help="With --explain: why this file or text was shown or not."
    )
    return click.option("--explain", is_flag=True, help="Show how each note came about.")(target(command))


def check_target(target: str | None, *, explain: bool) -> None:
    """Raise UsageError for a target that nothing explains, or that means nothing."""
    if target is not None and not explain:
        message = "--target names what is to be explained, so it needs --explain."
        raise UsageError(message)
    if target is not None and not target.strip():
        message = "--target is empty; name a file, or some words of a note."
        raise UsageError(message)


def check_days(since: str | None, until: str | None) -> None:
    """Raise UsageError for a span of days that no day lies in."""
    if since is not None and until is not None and since > until:
        message = f"--since {since} is after --until {until}, so no day lies between them."
        raise UsageError(message)


def read_question(argument: str, *, name: str) -> str:
    """Return the argument, or what stdin holds for `-`.

    Raises:
        UsageError: There is no word in it.
        StorageError, InvalidContentError: Stdin can't be read, or holds no text.
    """
    text = read_content(argument)
    if not text.strip():
        message = f"The {name} is empty; there is nothing to look for."
        raise UsageError(message)
    return text


# -- what was found --------------------------------------------------------------------------------------------------


def show_search(answer: Mapping[str, Any]) -> None:
    """Print the hits, best first, and how far the search could look."""
    for number, hit in enumerate(answer["hits"]):
        if number:
            print_line()
        print_line(_head(hit), bold=True)
        _print_text(hit["snippet"])
    _show_rest(answer)


def show_explained(answer: Mapping[str, Any], *, targeted: bool) -> None:
    """Print how each note came about, and how far the search could look.

    Args:
        answer: The search with `explain`.
        targeted: True when only some notes were asked about; what lies under the floor is then beside the point.
    """
    for number, each in enumerate(answer["explain"]):
        if number:
            print_line()
        show_explanation(each)
    if targeted:
        _show_coverage(answer)
    else:
        _show_rest(answer)


def _head(hit: Mapping[str, Any]) -> str:
    on = hit.get("date")
    day = f"  {on}" if on and on not in hit["path"] else ""
    found = f"words {_percent(hit['words'])}"
    if hit["meaning"] is not None:
        found = f"meaning {hit['meaning']:.2f}, {found}"
    return f"{_place(hit)}{day}  score {hit['score']:.2f} ({found})"


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _place(found: Mapping[str, Any]) -> str:
    """Return path and lines of a note, `main/MEMORY.md:42`."""
    if found["span"] is None:
        return _one_line(found["path"])
    first, last = found["span"]
    return f"{_one_line(found['path'])}:{first}" + (f"-{last}" if last != first else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _print_text(text: str) -> None:
    """Print a note, indented; what is left out is marked."""
    lines = text[:_CHARS].split("\n")
    shown = lines[:_LINES]
    if len(lines) > _LINES or len(text) > _CHARS:
        shown[-1] += " …"
    for line in shown:
        print_line(f"  {line}".rstrip())


# -- what was not ----------------------------------------------------------------------------------------------------


def _show_rest(answer: Mapping[str, Any]) -> None:
    """Print what lies under the floor, and how far the search could look."""
    below = answer["belowFloor"]
    for each in below.get("literals", ()):
        print_line(f"Under the floor, but it has {each['literal']!r}: {_place(each)}  score {each['score']:.2f}")
    _show_coverage(answer)
    if not answer["hits"] and answer["coverage"] == "full":
        print_line("No notes found; everything that this role may search was looked at.", err=True)
    if below["count"]:
        print_line(_describe_below(below), err=True, dim=True)


def _describe_below(below: Mapping[str, Any]) -> str:
    many = below["count"] != 1
    best = math.floor(below["bestScore"] * 10**_DECIMALS) / 10**_DECIMALS
    return (
        f"{below['count']} note{'s' * many} lie{'s' * (not many)} under the floor; "
        f"--min-score {best:g} shows {'the best of them' if many else 'it'}."
    )


def _show_coverage(answer: Mapping[str, Any]) -> None:
    """Print what could not be looked at; nothing when all was."""
    if answer["coverage"] == "full":
        return
    if answer["coverage"] == "incomplete":
        print_line("INCOMPLETE: there may be more notes than these.", fg="yellow")
    else:
        print_line("NOT CHECKED: memory could not be searched properly.", fg="yellow", bold=True)
    print_reasons(answer["reasons"])
    if answer["coverage"] == "not-checked":
        print_line("  That nothing was found is no proof that nothing is there.")


def print_reasons(reasons: Sequence[str]) -> None:
    """Print sentences as a list."""
    for reason in reasons:
        print_line(f"  - {_one_line(reason)}")


# -- why -------------------------------------------------------------------------------------------------------------


def show_explanation(each: Mapping[str, Any]) -> None:
    """Print what a search made of one note."""
    print_line(f"{_place(each)}  {each['reason']}", bold=True)
    if each["text"]:
        print_line(f"  “{_one_line(each['text'])}”")
    print_line(f"  {each['message']}")
    if each["score"] is None:
        return
    print_line(f"  score {each['score']:.{_DECIMALS}f}, floor {each['floor']:.{_DECIMALS}g}: {describe_score(each)}")
    _print_words(each)
    place = f"number {each['position']}, " if each["position"] is not None else ""
    print_line(
        f"  order: {place}key {each['rank']:.3f}, words by rarity {_percent(each['wordCoverage'])}, "
        f"recency {each['decay']:.2f}"
    )
    if each.get("evidence"):
        print_line(f"  {_one_line(each['evidence'])}")


def _print_words(each: Mapping[str, Any]) -> None:
    for title, words in (("it has", each["matched"]), ("it lacks", each["missing"])):
        if words:
            print_line(f"  {title}: {', '.join(_one_line(word) for word in words)}")
