"""How a search and its explanation look to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import pytest

from omnislash.errors import UsageError
from omnislash.surfaces.cli import searching

if TYPE_CHECKING:
    from collections.abc import Callable

    Shows = Callable[..., tuple[list[str], list[str]]]


def _hit(**changes: Any) -> dict[str, Any]:
    hit = {
        "path": "main/2026/11/2026-11-30.md",
        "span": [3, 3],
        "corpus": "main",
        "kind": "daily",
        "date": "2026-11-30",
        "score": 0.64123,
        "meaning": 0.70111,
        "words": 1 / 3,
        "rank": 1.1,
        "snippet": "- 10:00 A note.",
    }
    return hit | changes


def _answer(*hits: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"hits": list(hits), "belowFloor": {"count": 0}, "coverage": "full", "reasons": []} | changes


@pytest.fixture
def shows(capsys: pytest.CaptureFixture[str]) -> Shows:
    """Shows an answer and returns the lines on stdout and on stderr."""

    def show(answer: dict[str, Any]) -> tuple[list[str], list[str]]:
        searching.show_search(answer)
        printed = capsys.readouterr()
        return printed.out.split("\n")[:-1], printed.err.split("\n")[:-1]

    return show


# -- hits ------------------------------------------------------------------------------------------------------------


def test_a_hit_has_its_place_score_and_text(shows: Shows) -> None:
    """Path with line, the score with what it is made of, then the note."""
    out, err = shows(_answer(_hit()))

    assert out == ["main/2026/11/2026-11-30.md:3  score 0.64 (meaning 0.70, words 33%)", "  - 10:00 A note."]
    assert err == []


def test_a_day_is_shown_where_the_path_has_none(shows: Shows) -> None:
    """The date of a dated section stands beside its path; a day's log has it in its name."""
    out, _ = shows(_answer(_hit(path="main/MEMORY.md", span=[42, 44])))

    assert out[0].startswith("main/MEMORY.md:42-44  2026-11-30  score 0.64")


def test_words_alone_have_no_meaning(shows: Shows) -> None:
    """Where no embedder read the note, no meaning is shown."""
    out, _ = shows(_answer(_hit(meaning=None)))

    assert out[0].endswith("score 0.64 (words 33%)")


def test_a_long_note_is_cut_and_says_so(shows: Shows) -> None:
    """Of twenty lines eight are shown, of a very long line its begin, each with a mark."""
    lines, _ = shows(_answer(_hit(snippet="\n".join(f"line {number}" for number in range(20)))))
    line, _ = shows(_answer(_hit(snippet="ы" * 5000)))

    assert lines[1] == "  line 0"
    assert lines[-1] == "  line 7 …"
    assert line[1] == f"  {'ы' * 600} …"


def test_a_note_never_steers_the_terminal(shows: Shows) -> None:
    """Control characters and turns of the direction of writing are made visible, in the note and in its path."""
    out, _ = shows(_answer(_hit(snippet="bell \x07 and \u202e turned \x1b[2J", path="content/\x1bx.md")))

    assert out == [
        "content/\\x1bx.md:3  2026-11-30  score 0.64 (meaning 0.70, words 33%)",
        "  bell \\x07 and \\u202e turned \\x1b[2J",
    ]


# -- under the floor, and what could not be looked at ----------------------------------------------------------------


@pytest.mark.rule("TOOL-13")
@pytest.mark.parametrize(
    ("below", "said"),
    [
        pytest.param(
            {"count": 1, "bestScore": 0.2975}, "1 note lies under the floor; --min-score 0.2975 shows it.", id="one"
        ),
        pytest.param(
            {"count": 7, "bestScore": 0.297999999},
            "7 notes lie under the floor; --min-score 0.2979 shows the best of them.",
            id="rounded down, so that it shows the note",
        ),
        pytest.param(
            {"count": 2, "bestScore": 0.00001},
            "2 notes lie under the floor; --min-score 0 shows the best of them.",
            id="next to nothing",
        ),
    ],
)
def test_what_lies_under_the_floor_is_told(shows: Shows, below: dict[str, Any], said: str) -> None:
    """Count and the score that surfaces the best stand on stderr."""
    _, err = shows(_answer(_hit(), belowFloor=below))

    assert err == [said]


def test_a_literal_under_the_floor_is_named(shows: Shows) -> None:
    """A note that has something exact of the question stands in the answer itself."""
    literal = {"literal": "REQ-0317", "path": "main/MEMORY.md", "span": [9, 10], "score": 0.21}
    out, _ = shows(_answer(belowFloor={"count": 1, "bestScore": 0.21, "literals": [literal]}))

    assert out == ["Under the floor, but it has 'REQ-0317': main/MEMORY.md:9-10  score 0.21"]


@pytest.mark.rule("RECALL-12")
def test_an_incomplete_answer_says_so_below_its_hits(shows: Shows) -> None:
    """The reasons stand on stdout, a line each, whatever they hold."""
    out, err = shows(_answer(_hit(), coverage="incomplete", reasons=["a\nb can't be read", "\x1b[2J"]))

    assert out[2:] == ["INCOMPLETE: there may be more notes than these.", "  - a b can't be read", "  - \\x1b[2J"]
    assert err == []


@pytest.mark.rule("RECALL-10", "RECALL-O8")
def test_a_search_that_could_not_look_proves_nothing(shows: Shows) -> None:
    """NOT CHECKED, the cause, and that it is no proof; and nobody is told that nothing was found."""
    out, err = shows(_answer(coverage="not-checked", reasons=["the index is broken"]))

    assert out == [
        "NOT CHECKED: memory could not be searched properly.",
        "  - the index is broken",
        "  That nothing was found is no proof that nothing is there.",
    ]
    assert err == []


@pytest.mark.rule("RECALL-08")
def test_a_whole_search_without_a_match_prints_nothing(shows: Shows) -> None:
    """Stdout is empty; the word about it stands on stderr."""
    out, err = shows(_answer())

    assert out == []
    assert err == ["No notes found; everything that this role may search was looked at."]


# -- why -------------------------------------------------------------------------------------------------------------


def _explanation(**changes: Any) -> dict[str, Any]:
    explanation = {
        "path": "main/MEMORY.md",
        "span": [17, 17],
        "reason": "under-floor",
        "message": "Its score is under the floor.",
        "position": None,
        "score": 0.2975,
        "meaning": 0.35,
        "matched": [],
        "missing": ["when", "due"],
        "wordCoverage": 0.0,
        "floor": 0.41,
        "decay": 1.0,
        "rank": 0.35,
        "text": "- Tomek\nis not rung.",
    }
    return explanation | changes


@pytest.mark.rule("RECALL-01")
def test_an_explanation_does_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason, how the note begins, and the score as the formula makes it."""
    searching.show_explanation(_explanation())

    assert capsys.readouterr().out.split("\n")[:-1] == [
        "main/MEMORY.md:17  under-floor",
        "  “- Tomek is not rung.”",
        "  Its score is under the floor.",
        "  score 0.2975, floor 0.41: 0.85 × meaning 0.3500 + 0.15 × 0 of 2 words",
        "  it lacks: when, due",
        "  order: key 0.350, words by rarity 0%, recency 1.00",
    ]


def test_a_note_out_of_scope_is_not_described(capsys: pytest.CaptureFixture[str]) -> None:
    """Only its place and the reason are shown."""
    hidden = dict.fromkeys(("position", "score", "meaning", "wordCoverage", "floor", "decay", "rank", "span"))
    searching.show_explanation(_explanation(**hidden, reason="out-of-scope", message="Not yours.", text=""))

    assert capsys.readouterr().out == "main/MEMORY.md  out-of-scope\n  Not yours.\n"


@pytest.mark.rule("RECALL-O3")
def test_a_leg_that_is_down_is_left_out_of_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    """With words alone, or meaning alone, the sum says so."""
    searching.show_explanation(_explanation(meaning=None, matched=["due"], missing=["when"]))
    searching.show_explanation(_explanation(missing=[]))
    printed = capsys.readouterr().out

    assert "by words alone, 1 of 2 words" in printed
    assert "by meaning alone, 0.3500" in printed


# -- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["2026-02-30", "20261130", "2026-W48-1", "tomorrow", "", "2026-11-30T10:00"])
def test_a_day_is_a_day(text: str) -> None:
    """Only a day that exists, written as YYYY-MM-DD, is one."""
    with pytest.raises(click.BadParameter, match="is no day"):
        searching.Day().convert(text, None, None)
    assert searching.Day().convert("2028-02-29", None, None) == "2028-02-29"


def test_a_span_of_days_holds_a_day() -> None:
    """A day may be both ends; the other way round there is none."""
    searching.check_days("2026-11-30", "2026-11-30")
    searching.check_days(None, "2026-11-30")
    with pytest.raises(UsageError, match="no day lies between"):
        searching.check_days("2026-12-01", "2026-11-30")
