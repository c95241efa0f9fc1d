"""Markup that decorates goes, everything that says something stays."""

from __future__ import annotations

import pytest

from omnislash.index.blocks import BlockKind
from omnislash.index.plain_text import clean_text, has_words, render_plain


@pytest.mark.rule("RECALL-O5")
@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        pytest.param("**Ida** and *Tomek* and ***both***", "Ida and Tomek and both", id="emphasis"),
        pytest.param("**a *b* c**, __two words__, _one_", "a b c, two words, one", id="nested emphasis"),
        pytest.param("~~old~~ ==new==", "old new", id="struck and marked"),
        pytest.param("call `foo_bar(*args)` now", "call foo_bar(*args) now", id="code span"),
        pytest.param("a `` b`c `` d", "a b`c d", id="code span of two"),
        pytest.param("snake_case_name and __init__ and 2*3*4", "snake_case_name and __init__ and 2*3*4", id="names"),
        pytest.param("*.md and *.txt", "*.md and *.txt", id="globs"),
        pytest.param("C:\\temp\\_new", "C:\\temp\\_new".replace("\\_", "_"), id="escape of an underscore"),
        pytest.param(r"snake\_case \*kept\*", "snake_case *kept*", id="escapes"),
        pytest.param("- [ ] call\n- [x] done\n  - nested", "call\ndone\nnested", id="bullets and boxes"),
        pytest.param("1. first\n2. second", "1. first\n2. second", id="numbers stay"),
        pytest.param("> quoted\n> > twice", "quoted\ntwice", id="quotes"),
        pytest.param("### Head ###", "Head", id="heading"),
        pytest.param("Head\n====", "Head", id="underlined heading"),
        pytest.param("#tag and C# and #12", "#tag and C# and #12", id="hashes that are no heading"),
        pytest.param(
            "see [the **handbook**](docs/hand_book.md) now",
            "see the handbook now\ndocs/hand_book.md",
            id="a link keeps its words in place and its target behind",
        ),
        pytest.param('[a](b "Title words")', "a\nb\nTitle words", id="title of a link"),
        pytest.param("[x](https://e.org/a_(b))", "x\nhttps://e.org/a_(b)", id="target with brackets"),
        pytest.param("[![alt](pic.png)](page.md)", "alt\npic.png\npage.md", id="image in a link"),
        pytest.param("<https://example.org/a_b>", "https://example.org/a_b", id="address in angles"),
        pytest.param("[[harbour]] and [[quay|the quay]]", "harbour and the quay\nquay", id="wiki links"),
        pytest.param("a<br>b <b>c</b> &amp; d", "a b c & d", id="tags and entities"),
        pytest.param('<a href="x.md">y</a>', '<a href="x.md">y</a>', id="a tag with attributes stays"),
        pytest.param("<!-- note to self -->", "note to self", id="comment"),
        pytest.param("List<String> a < b", "List<String> a < b", id="angles that are no tag"),
        pytest.param("a\r\nb\rc", "a\nb\nc", id="line ends"),
        pytest.param("a\n\n\nb   \nc", "a\nb\nc", id="blank lines and trailing spaces"),
        pytest.param(
            "- run\n  ```sh\n  make *all*\n  ```\n  then *go*", "run\nsh\n  make *all*\nthen go", id="fence in item"
        ),
    ],
)
def test_markup_goes(raw: str, plain: str) -> None:
    """What a reader of the rendered page sees is left, and the targets of links."""
    assert render_plain(raw, BlockKind.ITEM) == plain


def test_code_stays_as_it_is() -> None:
    """Only the marks of the fence go; its language stays."""
    assert render_plain("```py\n# *not* markup\n  x = a_b_c\n```", BlockKind.CODE) == "py\n# *not* markup\n  x = a_b_c"


def test_table_cells_are_a_list() -> None:
    """Pipes become commas, the line below the head goes."""
    raw = "| Name | Price |\n|:-----|------:|\n| chain \\| cassette | **12** € |"
    assert render_plain(raw, BlockKind.TABLE) == "Name, Price\nchain | cassette, 12 €"


@pytest.mark.parametrize(
    ("text", "says"),
    [("a", True), ("7", True), ("\U0001f44d", True), ("€", True), ("слово", True), ("中", True),
     ("", False), (" \n", False), ("---", False), ("***", False), ("\x00\x01", False), ("\ufffd\ufffd", False),
     ("\u200b\ufeff", False), ("_", False), ("```", False), ("| | |", False)],
)  # fmt: skip
def test_what_says_something(text: str, says: bool) -> None:
    """Letters, digits and symbols beyond ASCII do; punctuation, white space and damage don't."""
    assert has_words(text) is says


def test_clean_text_can_be_stored() -> None:
    """Control characters become spaces, half a character U+FFFD; a megabyte of spaces is one."""
    assert clean_text("a\x00b\ud83cc\ufeffd\te") == "a b\ufffdc d\te"
    assert clean_text("a" + " " * 1_000_000 + "b" + "\n \n" * 1000 + "c") == "a b\nc"


@pytest.mark.parametrize("raw", ["<br>", "[x]", "&nbsp;"])
def test_what_has_letters_never_becomes_blank(raw: str) -> None:
    """Markup alone is kept when nothing else is there."""
    assert has_words(render_plain(raw, BlockKind.PARAGRAPH))


@pytest.mark.parametrize(
    "unit", ["`", "` `` ", "*a ", "_a", "[", "[a](", "<", "~~a", "\\", "| ", "&amp", "- ", "> ", "#"]
)
def test_hostile_text_takes_no_longer(unit: str) -> None:
    """100,000 characters of opened markup are read in one go; a pattern that backtracks would take hours."""
    render_plain(unit * (100_000 // len(unit)), BlockKind.TABLE)
