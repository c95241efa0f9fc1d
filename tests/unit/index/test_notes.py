"""How files are cut into notes, and what of a note is searched."""

from __future__ import annotations

from datetime import date

import pytest

from omnislash.index.note_packing import WHOLE_PIECES, count_pieces
from omnislash.index.notes import Note, NoteSource, decode, split_notes

MARCH_2 = date(2026, 3, 2)
DOCUMENT = NoteSource("document")
MEMORY = NoteSource("memory")
DAILY = NoteSource("daily", MARCH_2)
#: 30 words, some 40 pieces, 180 characters.
SENTENCE = "The chain of the grey trekking bike was changed on Friday because it had run for two winters. " * 2


def cut(text: str, source: NoteSource = DOCUMENT) -> list[str]:
    """Return the notes of a text as they stand."""
    return [text[note.start : note.end] for note in split_notes(text, source)]


def only(text: str, source: NoteSource = DOCUMENT) -> Note:
    """Return the one note of a text."""
    (note,) = split_notes(text, source)
    return note


@pytest.mark.rule("RECALL-O5", "MIGRATE-O3")
def test_a_daily_log_is_cut_at_entries() -> None:
    """Each entry is a note with its time, and its day stands in the searched text in words and numbers."""
    text = "# 2026-03-02\n\n- 09:05 Called *Ida*.\n  She agreed.\n\n  - at once\n- 10:00 Paid — nova · briefing\n"
    first, second = split_notes(text, DAILY)
    assert text[first.start : first.end] == "- 09:05 Called *Ida*.\n  She agreed.\n\n  - at once"
    assert (first.first_line, first.last_line, first.time, first.on) == (3, 6, "09:05", MARCH_2)
    assert first.searched == "2 March 2026, Monday, 2026-03-02\n09:05 Called Ida.\nShe agreed.\nat once"
    assert second.searched == "2 March 2026, Monday, 2026-03-02\n10:00 Paid — nova · briefing"
    assert (first.trail, first.title) == ((), "2026-03-02")


@pytest.mark.rule("RECALL-O5")
def test_memory_is_cut_at_entries_with_their_headings() -> None:
    """A curated entry carries title and trail, one of a dated section its day."""
    text = "# Shop\n\nFacts.\n\n## People\n\n- Ida\n- Tomek\n  decides\n\n## Memory (2026-03-02)\n\n- Bought a stand\n"
    notes = split_notes(text, MEMORY)
    assert [note.searched for note in notes] == [
        "Shop\nFacts.",
        "Shop > People\nIda",
        "Shop > People\nTomek\ndecides",
        "Shop\n2 March 2026, Monday, 2026-03-02\nBought a stand",
    ]
    assert [note.on for note in notes] == [None, None, None, MARCH_2]
    assert [note.trail for note in notes] == [(), ("People",), ("People",), ("Memory (2026-03-02)",)]
    assert {note.title for note in notes} == {"Shop"}


@pytest.mark.parametrize(
    ("text", "kind", "on", "said"),
    [
        ("# 2026-W10\n\n## Decided\n\n- x\n", "week", None, "week 10, 2 March to 8 March 2026, 2026-W10 > Decided\nx"),
        ("- x\n", "week", MARCH_2, "week 10, 2 March to 8 March 2026, 2026-W10\nx"),
        ("# 2026-03\n\n- x\n", "month", MARCH_2, "March 2026, 2026-03\nx"),
        ("- x\n", "quarter", MARCH_2, "quarter 1, January, February and March 2026, 2026-Q1\nx"),
        ("# 2026\n\n- x\n", "year", None, "year 2026\nx"),
        ("- x\n", "year", None, "x"),
    ],
)
def test_a_summary_says_its_period(text: str, kind: str, on: date | None, said: str) -> None:
    """The period stands in words in every note, taken from the title or else from the source."""
    note = only(text, NoteSource(kind, on))
    assert note.searched == said
    assert note.on is None


def test_entries_of_managed_files_are_never_packed() -> None:
    """Short ones neither; numbered ones are entries too, and a line without indentation belongs to the one above."""
    text = "- a\n- b\nlazy\n\nprose\n\n1. c\n2. d\n"
    assert cut(text, MEMORY) == ["- a", "- b\nlazy", "prose", "1. c", "2. d"]


def test_short_paragraphs_and_items_of_a_document_are_packed() -> None:
    """What stands below one heading is one note up to some 600 characters; the next heading begins another."""
    text = "# Guide\n\nIntro:\n\n- one\n- two\n\n## Rest\n\nA line.\n\nAnother.\n"
    assert cut(text) == ["Intro:\n\n- one\n- two", "A line.\n\nAnother."]


@pytest.mark.rule("RECALL-O5")
def test_long_paragraphs_of_a_document_are_notes_of_their_own() -> None:
    """Six of 180 characters make two notes, cut between paragraphs, none of which is cut."""
    text = "\n\n".join(f"{number} {SENTENCE}".strip() for number in range(6))
    found = cut(text)
    assert 2 <= len(found) <= 3
    assert "\n\n".join(found) == text


def test_an_item_stays_whole_with_all_that_nests_in_it() -> None:
    """Nested lists, paragraphs and fences of an item that fits the window are one note."""
    item = f"- top {SENTENCE.strip()}\n\n  more\n\n  - sub\n    - deeper\n\n  ```\n  - no item\n\n  # no heading\n  ```"
    text = f"# T\n\n{item}\n- next {SENTENCE * 2}\n"
    assert count_pieces(item) <= WHOLE_PIECES
    assert cut(text)[0] == item
    assert cut(text, MEMORY)[0] == item


@pytest.mark.parametrize("source", [DOCUMENT, MEMORY])
def test_an_item_longer_than_the_window_is_cut_at_lines(source: NoteSource) -> None:
    """Each piece fits the window, ends at a line, and says how the item begins."""
    text = "- Decisions of March\n" + "".join(f"  - {number} {SENTENCE.strip()}\n" for number in range(20))
    notes = split_notes(text, source)
    assert len(notes) > 3
    assert all(count_pieces(text[note.start : note.end]) <= WHOLE_PIECES for note in notes)
    assert all(text[note.start :].startswith("- ") for note in notes)
    assert all(note.searched.startswith("Decisions of March\n") for note in notes)


@pytest.mark.rule("RECALL-O5")
def test_a_fence_that_fits_the_window_is_never_cut() -> None:
    """Nothing in it is a heading or an item, whatever surrounds it, also inside a long item."""
    fence = "```sh\n# no heading\n\n- no item\n" + "make all\n" * 40 + "```"
    assert count_pieces(fence) <= WHOLE_PIECES
    assert fence in cut(f"# T\n\n{SENTENCE * 3}\n\n{fence}\n\n{SENTENCE * 3}\n")
    indented = fence.replace("\n", "\n  ")
    text = f"- {SENTENCE * 4}\n\n  {indented}\n\n  {SENTENCE * 4}\n"
    assert sum(indented in note for note in cut(text, MEMORY)) == 1
    assert sum(indented in note for note in cut(text)) == 1


def test_a_fence_longer_than_the_window_is_cut_at_lines() -> None:
    """No line of it is torn, none is lost."""
    lines = [f"step_{number} --with option {number}" for number in range(200)]
    text = "```\n" + "\n".join(lines) + "\n```\n"
    found = cut(text)
    assert len(found) > 3
    assert [line for note in found for line in note.splitlines() if line in lines] == lines


@pytest.mark.parametrize("source", [DOCUMENT, MEMORY])
@pytest.mark.parametrize("opening", ["```", "~~~py", "<!-- forgotten"])
def test_what_is_never_closed_hides_nothing(source: NoteSource, opening: str) -> None:
    """The headings and entries below a forgotten fence or comment are found as such."""
    text = f"# T\n\ntext\n\n{opening}\n\n## Later\n\n- entry\n"
    assert split_notes(text, source)[-1].trail == ("Later",)


def test_a_closed_fence_hides_headings_and_items() -> None:
    """What looks like one inside of it is code."""
    text = "# T\n\n```\n## code\n- code\n```\n\n- entry\n"
    assert cut(text, MEMORY) == ["```\n## code\n- code\n```", "- entry"]


def test_a_table_is_cut_between_rows_and_each_note_repeats_its_head() -> None:
    """10,000 rows: no row is torn, and the names of the columns are searched with each."""
    rows = [f"| part {number} | {number} € |" for number in range(10_000)]
    text = "| Name | Price |\n|---|---|\n" + "\n".join(rows) + "\n"
    notes = split_notes(text, DOCUMENT)
    assert [row for note in notes for row in text[note.start : note.end].splitlines()][2:] == rows
    assert all(note.searched.startswith("Name, Price\n") for note in notes)


@pytest.mark.parametrize(
    ("text", "title", "trail"),
    [
        pytest.param("# T\n\n## A\n\n### B\n\n## C\n\n#### D\n\nx", "T", [("A",), ("C", "D")], id="levels"),
        pytest.param("T\n=\n\nA\n-\n\nx", "T", [("A",)], id="underlined"),
        pytest.param("## A ##\n\nx", "", [("A",)], id="no heading of level 1"),
        pytest.param("## A\n\nx\n\n# B\n\ny", "", [("A",), ("B",)], id="level 1 after another"),
        pytest.param("# A\n\nx\n\n# B\n\ny", "A", [(), ("B",)], id="two of level 1"),
        pytest.param("---\ntitle: F\n---\nx", "F", [()], id="title of the frontmatter"),
        pytest.param("---\nname: N\n---\n# T\n\nx", "T", [()], id="the heading before the frontmatter"),
        pytest.param("# **Bold** `T`\n\nx", "Bold T", [()], id="markup in it"),
        pytest.param("\ufeff# T\n\nx", "T", [()], id="O-24: a byte order mark"),
        pytest.param("# T\r\n\r\n## A\r\n\r\nx\r\n", "T", [("A",)], id="CRLF"),
        pytest.param("# T\r\r## A\r\rx\r", "T", [("A",)], id="CR"),
        pytest.param("#\n\nx", "", [()], id="an empty heading"),
        pytest.param("x", "", [()], id="none"),
    ],
)
def test_title_and_trail(text: str, title: str, trail: list[tuple[str, ...]]) -> None:
    """The title is the first heading when it is of level 1; the trail holds all others above a note."""
    notes = split_notes(text, DOCUMENT)
    assert {note.title for note in notes} == {title}
    assert [note.trail for note in notes][-len(trail) :] == trail[-len(notes) :]


@pytest.mark.rule("MIGRATE-O3")
@pytest.mark.parametrize(
    ("text", "kind", "on"),
    [
        ("# 2026-03-02\n\nx", "source", MARCH_2),
        ("# Log\n\n## 2026-03-02 Kickoff\n\n### Later\n\nx", "source", MARCH_2),
        ("---\ndate: 2026-03-02\n---\nx", "document", MARCH_2),
        ("---\ncreated: 2026-03-02 08:00:00\n---\nx", "document", MARCH_2),
        ("---\ndate: 2026-01-01\n---\n## 2026-03-02\n\nx", "document", MARCH_2),
        ("# Log\n\n## Plan until 2026-03-02\n\nx", "source", None),
        ("---\ndate: 2026-02-30\n---\nx", "source", None),
        ("# 2026-03-03\n\n- 09:00 x", "daily", MARCH_2),
    ],
)
def test_the_day_of_a_note(text: str, kind: str, on: date | None) -> None:
    """The log's own, else that of the nearest dated heading, else the frontmatter's."""
    (note,) = split_notes(text, NoteSource(kind, MARCH_2 if kind == "daily" else None))
    assert note.on == on
    assert ("2 March 2026, Monday" in note.searched) == (on == MARCH_2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeff",
        " \n\t\n",
        "---\ntitle: Only\ntags: [a]\n---\n",
        "---\n---\n",
        "***\n\n---\n",
        "\x00\x00",
        "#\n##\n",
        "-\n-",
    ],
)
@pytest.mark.parametrize("source", [DOCUMENT, MEMORY, DAILY])
def test_a_file_without_words_has_no_note(text: str, source: NoteSource) -> None:
    """O-65: nothing blank is embedded or found."""
    assert split_notes(text, source) == ()


def test_a_title_alone_is_a_note() -> None:
    """O-65: it is found by its words; the heading that the engine writes itself says nothing."""
    assert only("# Tide table\n").searched == "Tide table"
    assert split_notes("# 2026-03-02\n\n", DAILY) == ()
    assert split_notes("## Memory (2026-03-02)\n\n", MEMORY) == ()


def test_headings_without_a_body_are_found() -> None:
    """A file of headings only gives notes that hold all of them."""
    note = only("# Plan\n\n## Spring\n\n## Summer\n")
    assert (note.searched, note.title) == ("Plan\nSpring\nSummer", "Plan")
    (note,) = split_notes("# Plan\n\n## Spring\n\n### March\n", DOCUMENT)
    assert (note.searched, note.trail) == ("Plan > Spring\nMarch", ("Spring",))
    text = "".join(f"# h{number}\n" for number in range(5_000))
    said = "\n".join(note.searched for note in split_notes(text, DOCUMENT)).split()
    assert {f"h{number}" for number in range(5_000)} <= set(said)


def test_a_long_heading_is_found_to_its_end() -> None:
    """The context of a note holds 80 characters of it; the rest is a note besides."""
    text = f"# T\n\n## {'word ' * 40}needle42\n\nbody\n"
    notes = split_notes(text, DOCUMENT)
    assert any("needle42" in note.searched for note in notes)
    assert all(len(note.searched.partition("\n")[0]) < 100 for note in notes)


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: harbour\nsummary: tide notes: north quay\n---\nHigh water at 06:10.\n",
        "---\nHigh water and north quay.\n\n## Never closed\n",
        "---\n\tname: x\n\ty: north quay\n---\n# T\n\nHigh water\n",
    ],
)
@pytest.mark.parametrize("source", [DOCUMENT, MEMORY, DAILY])
def test_broken_frontmatter_is_searched_whole(text: str, source: NoteSource) -> None:
    """O-18, O-19: neither the body nor the header is lost."""
    said = "\n".join(note.searched for note in split_notes(text, source))
    assert "High water" in said
    assert "north quay" in said


def test_other_keys_are_searched_with_the_first_note() -> None:
    """Tags and the like are found, and stand in no other note."""
    text = f"---\ntitle: Harbour\ntags: [tide, quay]\n---\nFirst.\n\n{SENTENCE * 3}\n\n{SENTENCE * 3}\n"
    first, *others = split_notes(text, DOCUMENT)
    assert first.searched.startswith("Harbour\nFirst.")
    assert first.searched.endswith("\ntags: tide, quay")
    assert others
    assert all("quay" not in note.searched for note in others)


def test_one_endless_line() -> None:
    """O-64: 8 MB without a line end are cut between words, and the word at the end is found."""
    text = "some words in one line " * 348_000 + "needle42 end"
    notes = split_notes(text, DOCUMENT)
    assert "needle42" in notes[-1].searched
    assert {note.first_line for note in notes} == {1}
    assert all(text[note.end : note.end + 1] in {"", " "} for note in notes)
    assert sum(len(text[note.start : note.end].split()) for note in notes) == len(text.split())


@pytest.mark.parametrize("char", ["а", "x", "中", "\U0001f44d", "é"])
def test_200_kb_without_a_space(char: str) -> None:
    """O-64: cut all the same, nothing is lost, and no accent is torn from its letter."""
    text = char * 100_000
    found = cut(text)
    assert "".join(found) == text
    assert all(note.startswith(char) for note in found)


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000 + " deep",
        "> " * 10_000 + "deep",
        "- " * 10_000 + "deep",
        "".join("  " * level + "- deep\n" for level in range(1_000)),
        "[" * 100_000 + " deep",
        "".join("`" * (900 - length) + "\n" for length in range(600)) + "deep",
        "<!--\n" * 20_000 + "deep",
        "deep\n" * 100_000,
        "\u2028deep\u2029\x85deep\x0b",
    ],
    ids=["quotes", "spaced quotes", "lists", "steps", "brackets", "fences", "comments", "short lines", "separators"],
)
@pytest.mark.parametrize("source", [DOCUMENT, MEMORY])
def test_deep_and_hostile_files(text: str, source: NoteSource) -> None:
    """No depth reaches the interpreter's stack, and the word is found."""
    assert any("deep" in note.searched for note in split_notes(text, source))


@pytest.mark.long
def test_a_large_file_is_cut_like_a_small_one() -> None:
    """5 MB are cut by lines alone, to the same headings and notes as a short file of ordinary markdown."""
    unit = f"## Head\n\n{SENTENCE}\n\n- item one\n  goes on\n- item two\n\n```\n# code\n```\n\n"
    small, large = cut(unit), cut(unit * 20_000)
    assert large == small * 20_000
    assert split_notes(unit * 2_000, DOCUMENT)[0].trail == ("Head",)


def test_bytes_that_are_no_utf8_are_searched() -> None:
    """What can be read is found, with U+FFFD in place of the rest."""
    assert only(decode(b"caf\xe9 closed\r\n").text).searched == "caf\ufffd closed"


def test_lines_are_counted_by_line_feeds() -> None:
    """CRLF counts once, a line separator not at all."""
    text = "# T\r\n\r\none\u2028two\r\n\r\n## A\r\n\r\nthree\r\nfour\r\n"
    assert [(note.first_line, note.last_line) for note in split_notes(text, DOCUMENT)] == [(3, 3), (7, 8)]
