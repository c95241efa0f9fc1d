"""Lengths in UTF-16 code units, readings, and what the budget makes of a write."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pytest

from omnislash.core.budgets import (
    DEFAULT_FILE_MAX_CHARS,
    Budget,
    Chars,
    Reading,
    clip_chars,
    count_chars,
    effective_budget,
    fit_memory,
)
from omnislash.core.sections import add_entry, parse_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.core.budgets import Fit

TODAY = date(2026, 8, 30)
AUG_01 = date(2026, 8, 1)
AUG_02 = date(2026, 8, 2)


def curated(chars: int) -> str:
    """Return a preamble of exactly that many chars."""
    return "# Facts\n\n" + "c" * (chars - 10) + "\n"


def dated(on: date, chars: int) -> str:
    """Return a dated section of the emitted shape with exactly that many chars."""
    frame = f"## Memory ({on})\n\n- \n"
    return frame[:-1] + "x" * (chars - len(frame)) + "\n"


def prose(on: date, chars: int) -> str:
    """Return a section with a dated header that a person turned into prose."""
    frame = f"## Memory ({on})\n\n\n"
    return frame[:-1] + "p" * (chars - len(frame)) + "\n"


def write_entry(before: str, *, grows_by: int, limit: int) -> Fit:
    """Return the fit of a priority entry of today that makes the file longer by exactly `grows_by` chars."""
    document = parse_memory(before)
    least = len(add_entry(document, "n", on=TODAY).text) - len(before)
    added = add_entry(document, "n" * (1 + grows_by - least), on=TODAY)
    assert len(added.text) == len(before) + grows_by
    return fit_memory(added.text, text_before=before, budget=Budget.of(limit), protected_at=added.at)


@pytest.mark.rule("BUDGET-18", "BUDGET-19")
@pytest.mark.parametrize(
    ("text", "units", "points", "utf8"),
    [
        pytest.param("Привет", 6, 6, 12, id="Cyrillic"),
        pytest.param("ё", 1, 1, 2, id="one Cyrillic letter"),
        pytest.param("\U0001f44d", 2, 1, 4, id="an emoji"),
        pytest.param("e\u0301", 2, 2, 3, id="a combining accent"),
        pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467", 8, 5, 18, id="a family"),
        pytest.param("- Решили: релиз 12-го \U0001f44d\n", 25, 24, 40, id="a line"),
        pytest.param("## Memory (2026-08-30)\n\n- one\n- two\n", 36, 36, 36, id="a dated section"),
        pytest.param("修理渔网", 4, 4, 12, id="Han"),
        pytest.param("\U0001f33b", 2, 1, 4, id="a flower"),
        pytest.param("\U0001f469\u200d\U0001f680", 5, 3, 11, id="a joined pair"),
        pytest.param("\U0001f1fa\U0001f1e6", 4, 2, 8, id="a flag"),
        pytest.param("1\ufe0f\u20e3", 3, 3, 7, id="a keycap"),
        pytest.param("\u00e9", 1, 1, 2, id="a composed accent"),
        pytest.param("\U0001d42d\U0001d421\U0001d422\U0001d42c", 8, 4, 16, id="mathematical letters"),
    ],
)
def test_counts_utf16_units(text: str, units: int, points: int, utf8: int) -> None:
    """A text counts its UTF-16 code units, not its code points or bytes."""
    assert (count_chars(text), len(text), len(text.encode())) == (units, points, utf8)


@pytest.mark.rule("BUDGET-18")
def test_a_byte_that_is_no_utf8_counts_one() -> None:
    """Each byte that could not be decoded is one char, so that a torn file has a length."""
    assert count_chars(b"a\xff\xfe\xf0\x9f\x91\x8d".decode("utf-8", "surrogateescape")) == 1 + 2 + 2


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        pytest.param("abc", 3, "abc", id="it fits"),
        pytest.param("abc", 2, "ab", id="one less"),
        pytest.param("abc", 0, "", id="nothing"),
        pytest.param("abc", -4, "", id="less than nothing"),
        pytest.param("a\U0001f44db", 2, "a", id="half a pair is left out"),
        pytest.param("a\U0001f44db", 3, "a\U0001f44d", id="a whole pair"),
        pytest.param("\U0001f44d\U0001f44d\U0001f44d", 5, "\U0001f44d\U0001f44d", id="an odd limit"),
        pytest.param("\U0001f44d" * 4 + "abcd", 8, "\U0001f44d" * 4, id="pairs in front"),
        pytest.param("abcd" + "\U0001f44d" * 4, 8, "abcd" + "\U0001f44d" * 2, id="pairs behind"),
        pytest.param("\ud83c\udc80x", 1, "\ud83c", id="two halves that are no pair"),
    ],
)
def test_clips_between_characters(text: str, limit: int, kept: str) -> None:
    """The longest beginning within the limit is kept, and it never ends in half a pair."""
    assert clip_chars(text, limit) == kept


@pytest.mark.rule("BUDGET-20", "BUDGET-O7")
@pytest.mark.parametrize(
    ("chars", "limit", "reading", "percent"),
    [
        pytest.param(8794, 12000, "8794 of 12000 fileMaxChars (73%)", 73, id="rounded down"),
        pytest.param(10000, 10000, "10000 of 10000 fileMaxChars (100%)", 100, id="full"),
        pytest.param(12000, 10000, "12000 of 10000 fileMaxChars (120%)", 120, id="over"),
        pytest.param(301, 60000, "301 of 60000 fileMaxChars (1%)", 1, id="rounded up"),
        pytest.param(5, 1000, "5 of 1000 fileMaxChars (1%)", 1, id="half rounds up"),
        pytest.param(25, 1000, "25 of 1000 fileMaxChars (3%)", 3, id="half rounds up from even too"),
        pytest.param(0, 10000, "0 of 10000 fileMaxChars (0%)", 0, id="empty"),
        pytest.param(8794, None, "8794 chars (no fileMaxChars)", None, id="unbounded"),
    ],
)
def test_reading_names_length_budget_and_share(
    chars: int, limit: int | None, reading: str, percent: int | None
) -> None:
    """A reading has the form of the rule, and the same numbers as JSON."""
    given = Reading(Chars(chars), None if limit is None else Chars(limit))
    assert given.render() == reading
    assert given.to_json() == {"chars": chars, "fileMaxChars": limit, "percent": percent}


@pytest.mark.rule("BUDGET-18", "BUDGET-20")
def test_budget_measures_a_text() -> None:
    """The reading of a text counts its UTF-16 units against the line's number."""
    assert Budget.of(100).measure("\U0001f44d").render() == "2 of 100 fileMaxChars (2%)"
    assert Budget.of(0).measure("ё").render() == "1 chars (no fileMaxChars)"


@pytest.mark.rule("BUDGET-04", "BUDGET-15", "BUDGET-16")
@pytest.mark.parametrize(
    ("number", "lines", "line", "limit"),
    [
        pytest.param(DEFAULT_FILE_MAX_CHARS, {}, "any", 10000, id="nothing is said"),
        pytest.param(10000, {"main": 60000, "ops": 0}, "main", 60000, id="a longer line"),
        pytest.param(10000, {"main": 60000, "ops": 0}, "ops", None, id="an unbounded line"),
        pytest.param(10000, {"main": 60000, "ops": 0}, "research", 10000, id="a line not named"),
        pytest.param(10000, {"main": None}, "main", 10000, id="a line named without a number"),
        pytest.param(0, {}, "any", None, id="unbounded brain"),
        pytest.param(0, {"main": 5000}, "main", 5000, id="a bounded line of an unbounded brain"),
        pytest.param(0, {"main": 5000}, "ops", None, id="another line of an unbounded brain"),
    ],
)
def test_the_lines_own_number_holds(number: int, lines: Mapping[str, int | None], line: str, limit: int | None) -> None:
    """A line's own number wins over the brain's, 0 means unbounded, and no line touches another."""
    assert effective_budget(number, lines, line) == Budget(None if limit is None else Chars(limit))


@pytest.mark.rule(
    "BUDGET-03", "BUDGET-05", "BUDGET-06", "BUDGET-08", "BUDGET-14", "BUDGET-O1", "BUDGET-O3", "BUDGET-O8"
)
@pytest.mark.parametrize(
    ("before", "grows_by", "limit", "chars", "dropped"),
    [
        pytest.param(
            curated(9000) + dated(AUG_01, 600) + dated(AUG_02, 300), 300, 10000, 9600, [AUG_01], id="row 1 oldest goes"
        ),
        pytest.param(
            curated(9000) + dated(AUG_01, 600) + dated(AUG_02, 300),
            1000,
            10000,
            10000,
            [AUG_01, AUG_02],
            id="row 2 one after another",
        ),
        pytest.param(curated(9700), 300, 10000, 10000, [], id="row 4 exactly full"),
        pytest.param(
            curated(9000) + prose(AUG_01, 600) + dated(AUG_02, 300), 300, 10000, 9900, [AUG_02], id="row 6 prose stays"
        ),
        pytest.param(
            curated(9000) + dated(AUG_02, 300) + dated(AUG_01, 600), 300, 10000, 9600, [AUG_01], id="row 7 by date"
        ),
        pytest.param(
            curated(10500) + dated(AUG_01, 500), 100, 10000, 10600, [AUG_01], id="row 13 over budget but smaller"
        ),
        pytest.param(curated(50000), 300, 0, 50300, [], id="row 14 unbounded"),
        pytest.param(
            curated(9000) + dated(AUG_01, 300) + dated(AUG_01, 400),
            301,
            10000,
            9701,
            [AUG_01],
            id="of one day the earlier in the file goes",
        ),
    ],
)
def test_room_is_made_from_the_oldest_days(
    *, before: str, grows_by: int, limit: int, chars: int, dropped: list[date]
) -> None:
    """A priority entry is accepted when the oldest dated sections leave room for it, and they alone are dropped."""
    fit = write_entry(before, grows_by=grows_by, limit=limit)
    assert (fit.accepted, fit.chars, list(fit.dropped)) == (True, chars, dropped)
    assert count_chars(fit.text) == chars
    assert fit.text.startswith(parse_memory(before).text[: parse_memory(before).sections[0].end])
    assert fit.text.count(f"## Memory ({TODAY})") == 1
    for on in dropped:
        assert fit.text.count(f"## Memory ({on})") == before.count(f"## Memory ({on})") - dropped.count(on)


@pytest.mark.rule("BUDGET-09", "BUDGET-10", "BUDGET-O1", "BUDGET-O4")
@pytest.mark.parametrize(
    ("before", "grows_by", "chars"),
    [
        pytest.param(curated(9900) + dated(AUG_01, 80), 200, 10100, id="row 3 the old day is not enough"),
        pytest.param(curated(9701), 300, 10001, id="row 5 a new section is not dropped by its own write"),
        pytest.param(curated(9000) + dated(TODAY, 900), 200, 10100, id="nor is today's older one"),
        pytest.param(curated(9000) + prose(AUG_01, 900), 200, 10100, id="nor is prose under a dated header"),
    ],
)
def test_a_write_that_still_does_not_fit_is_refused(before: str, grows_by: int, chars: int) -> None:
    """A refusal keeps the file as it was, dated sections included, and names the size after all drops."""
    fit = write_entry(before, grows_by=grows_by, limit=10000)
    assert (fit.accepted, fit.text, fit.dropped, fit.chars) == (False, before, (), chars)


@pytest.mark.rule("BUDGET-05", "BUDGET-12", "BUDGET-13", "BUDGET-14", "BUDGET-24", "BUDGET-O2", "BUDGET-O10")
@pytest.mark.parametrize(
    ("before", "after", "limit", "accepted"),
    [
        pytest.param(curated(12000), curated(11999), 10000, True, id="row 8 over but strictly smaller"),
        pytest.param(curated(12000), curated(12000).replace("c", "d"), 10000, False, id="row 9 over and as long"),
        pytest.param(curated(12000), curated(12001), 10000, False, id="row 10 over and longer"),
        pytest.param(curated(9999), curated(10000), 10000, True, id="row 11 exactly the budget"),
        pytest.param(curated(9999), curated(10001), 10000, False, id="row 11 one over"),
        pytest.param(curated(9800), curated(9799), 8000, True, id="row 15 a lowered budget, smaller"),
        pytest.param(curated(9800), curated(9801), 8000, False, id="row 15 a lowered budget, longer"),
        pytest.param("", curated(10001), 10000, False, id="a new file over the budget"),
        pytest.param(curated(12000), "", 10000, True, id="an emptied file"),
    ],
)
def test_an_edit_must_fit_or_shrink(*, before: str, after: str, limit: int, accepted: bool) -> None:
    """Without dated sections a rewrite is accepted when it fits or is strictly smaller than the file on disk."""
    fit = fit_memory(after, text_before=before, budget=Budget.of(limit))
    assert (fit.accepted, fit.text, fit.dropped) == (accepted, after if accepted else before, ())
    assert fit.chars == count_chars(after)


@pytest.mark.rule("BUDGET-12", "BUDGET-O2", "BUDGET-O3")
@pytest.mark.parametrize(
    ("after", "chars"),
    [
        pytest.param(curated(9990) + dated(AUG_01, 500), 9990, id="row 12 fits after the drop"),
        pytest.param(curated(10400) + dated(AUG_01, 500), 10400, id="still over, saved with its drop"),
        pytest.param(curated(10999) + dated(AUG_01, 500), 10999, id="smaller only after the drop"),
    ],
)
def test_an_edit_is_judged_after_its_drops(after: str, chars: int) -> None:
    """What is compared with the file on disk is the text that would be saved, and the drops are saved with it."""
    before = curated(10500) + dated(AUG_01, 500)
    fit = fit_memory(after, text_before=before, budget=Budget.of(10000))
    assert (fit.accepted, fit.chars, fit.dropped) == (True, chars, (AUG_01,))
    assert fit.text == curated(chars)


@pytest.mark.rule("BUDGET-13", "BUDGET-O2", "BUDGET-10")
def test_as_long_after_its_drops_is_refused() -> None:
    """An over-budget rewrite that ends as long as the file on disk saves nothing and drops nothing."""
    before = curated(10500) + dated(AUG_01, 500)
    fit = fit_memory(curated(11000) + dated(AUG_01, 500), text_before=before, budget=Budget.of(10000))
    assert (fit.accepted, fit.text, fit.dropped, fit.chars) == (False, before, (), 11000)


@pytest.mark.rule("BUDGET-18", "BUDGET-14")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("y" * 178 + "\U0001f33b", id="letters and a flower"),
        pytest.param("Привет", id="Cyrillic"),
        pytest.param("修理渔网", id="Han"),
        pytest.param("\U0001f469\u200d\U0001f680", id="a joined pair"),
        pytest.param("\U0001d42d\U0001d421\U0001d422\U0001d42c", id="mathematical letters"),
    ],
)
def test_room_for_exactly_its_units_is_enough(text: str) -> None:
    """An entry fits where exactly its UTF-16 units are free, and with one unit less it is over by one."""
    document = parse_memory(dated(TODAY, 500))
    added = add_entry(document, text, on=TODAY)
    frame = len("- \n")
    room = Budget.of(500 + frame + count_chars(text))
    tight = replace(room, limit=Chars((room.limit or 0) - 1))
    fits = fit_memory(added.text, text_before=document.text, budget=room, protected_at=added.at)
    over = fit_memory(added.text, text_before=document.text, budget=tight, protected_at=added.at)
    assert (fits.accepted, fits.text) == (True, added.text)
    assert (over.accepted, over.text, over.chars) == (False, document.text, (tight.limit or 0) + 1)


@pytest.mark.rule("BUDGET-06", "BUDGET-O1")
def test_only_the_receiving_section_is_protected() -> None:
    """Of two sections of today only the one that received the entry stays."""
    before = dated(TODAY, 400) + dated(TODAY, 400)
    fit = write_entry(before, grows_by=300, limit=1000)
    assert (fit.accepted, fit.dropped, fit.chars) == (True, (TODAY,), 700)
    assert "nnn" in fit.text


@pytest.mark.rule("BUDGET-06")
def test_a_section_of_another_year_is_older() -> None:
    """Age is that of the date, not of its month or day."""
    before = dated(date(2026, 1, 1), 400) + dated(date(2025, 12, 31), 400)
    fit = fit_memory(before, text_before="", budget=Budget.of(500))
    assert (fit.text, fit.dropped) == (dated(date(2026, 1, 1), 400), (date(2025, 12, 31),))


@pytest.mark.rule("BUDGET-06", "BUDGET-O1")
@pytest.mark.parametrize("between", ["", "\n"], ids=["sections without a blank line", "sections with one"])
def test_the_empty_line_of_a_new_section_is_its_own(between: str) -> None:
    """Dropping the section in front of the new one leaves the empty line that separates it from what is left."""
    before = curated(9000) + between + dated(AUG_02, 900 - len(between)) + between
    document = parse_memory(before)
    added = add_entry(document, "n" * 500, on=TODAY)
    fit = fit_memory(added.text, text_before=before, budget=Budget.of(10000), protected_at=added.at)
    assert fit.dropped == (AUG_02,)
    assert fit.text == curated(9000) + f"\n## Memory ({TODAY})\n\n- " + "n" * 500 + "\n"


@pytest.mark.rule("BUDGET-06")
@pytest.mark.parametrize(
    ("more", "protected_at"),
    [
        pytest.param("- more\n", 0, id="an entry in another section than the protected one"),
        pytest.param("\n", None, id="a blank line by an edit"),
    ],
)
def test_what_an_old_section_got_goes_with_it(more: str, protected_at: int | None) -> None:
    """Only the empty line in front of a new section is kept; what was put into an old one is dropped with it."""
    before = curated(400) + dated(AUG_01, 300)
    fit = fit_memory(before + more, text_before=before, budget=Budget.of(500), protected_at=protected_at)
    assert (fit.text, fit.dropped, fit.chars) == (curated(400), (AUG_01,), 400)


@pytest.mark.rule("BUDGET-06", "BUDGET-O5")
def test_drops_pile_up_no_empty_lines() -> None:
    """Day after day the oldest section goes and a new one comes, and one empty line stands before each section."""
    text = "# Notes\n\n## Plans\n\n- Keep this.\n"
    for day in range(1, 20):
        added = add_entry(parse_memory(text), "x" * 40, on=date(2026, 11, day))
        fitted = fit_memory(added.text, text_before=text, budget=Budget.of(100), protected_at=added.at)
        assert fitted.accepted
        text = fitted.text
    assert text == "# Notes\n\n## Plans\n\n- Keep this.\n\n## Memory (2026-11-19)\n\n- " + "x" * 40 + "\n"
