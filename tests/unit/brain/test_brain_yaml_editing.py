"""Single values of a YAML text are changed in the text's own spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.brain.yaml_editing import UneditableError, Word, edit_yaml

if TYPE_CHECKING:
    from omnislash.brain.yaml_editing import Value

SEVEN = Word("7", is_text=False)
AB: tuple[Word, ...] = (Word("a"), Word("b"))


@pytest.mark.rule("DASH-O2")
@pytest.mark.parametrize(
    ("text", "key", "value", "right"),
    [
        pytest.param("a: 1 # why\n", "a", SEVEN, "a: 7 # why\n", id="a number keeps its comment"),
        pytest.param("a:  'x'\n", "a", Word("it's"), "a:  'it''s'\n", id="single quotes stay"),
        pytest.param("a: '1' # why\n", "a", SEVEN, "a: 7 # why\n", id="a number needs no quotes"),
        pytest.param('a: "x"\n', "a", Word('say "b"'), 'a: "say \\"b\\""\n', id="double quotes stay"),
        pytest.param("a: x\n", "a", Word("7"), "a: '7'\n", id="text that looks like a number is quoted"),
        pytest.param("a: x\n", "a", Word("no"), "a: 'no'\n", id="text that looks like a switch is quoted"),
        pytest.param("a: x\n", "a", Word("*/5 * * * *"), "a: '*/5 * * * *'\n", id="a star is quoted"),
        pytest.param("a: x\n", "a", Word("b: c # d"), "a: 'b: c # d'\n", id="signs of YAML are quoted"),
        pytest.param("a: x\n", "a", Word("one\ntwo"), 'a: "one\\ntwo"\n', id="a line end is escaped"),
        pytest.param("a: x\n", "a", Word("b, c"), "a: b, c\n", id="a comma needs no quotes outside of brackets"),
        pytest.param("{a: x}\n", "a", Word("b, c"), "{a: 'b, c'}\n", id="and needs them inside"),
        pytest.param("a: |\n  one\n  two\nb: 1\n", "a", SEVEN, "a: 7\nb: 1\n", id="a text block is replaced"),
        pytest.param("a: one\n  two # c\nb: 1\n", "a", SEVEN, "a: 7 # c\nb: 1\n", id="a word over two lines"),
        pytest.param("a:\nb: 1\n", "a", SEVEN, "a: 7\nb: 1\n", id="an empty value"),
        pytest.param("a: ~\n", "a", SEVEN, "a: 7\n", id="a null"),
        pytest.param("a: []\n", "a", AB, "a: [a, b]\n", id="an empty list is filled"),
        pytest.param("a: [ 'a' , c ] # d\n", "a", AB, "a: ['a', b] # d\n", id="what stays in a list keeps its quotes"),
        pytest.param("a:\n- a # x\n- c\n", "a", AB, "a:\n- a # x\n- b\n", id="a list without indentation"),
        pytest.param("a: # l\n  - c\n  - a\n", "a", (), "a: [] # l\n", id="a list is emptied"),
        pytest.param("a:\n  - b # x\n", "a", AB, "a:\n  - a\n  - b # x\n", id="an item before the first"),
        pytest.param("a:\n  - a\n", "a", AB, "a:\n  - a\n  - b\n", id="an item behind the last"),
        pytest.param("a: 1", "b", SEVEN, "a: 1\nb: 7\n", id="a last line without its end gets one"),
        pytest.param("# c\n", "b.c", SEVEN, "# c\nb:\n  c: 7\n", id="a text of comments"),
        pytest.param("", "b.c", AB, "b:\n  c: [a, b]\n", id="an empty text"),
        pytest.param(
            "a:\n   x: 1\n# end\n", "a.y.z", SEVEN, "a:\n   x: 1\n   y:\n      z: 7\n# end\n", id="own columns"
        ),
        pytest.param("a: # c\nb: 1\n", "a.x", SEVEN, "a: # c\n  x: 7\nb: 1\n", id="a block without keys"),
        pytest.param("a: {}\n", "a.x.y", SEVEN, "a: {x: {y: 7}}\n", id="a block in brackets"),
        pytest.param("a: {b: 1, } # c\n", "a.x", SEVEN, "a: {b: 1, x: 7, } # c\n", id="a comma at the end"),
        pytest.param("a:\n  x: 1\n  y: 2\n", "a.x", None, "a:\n  y: 2\n", id="a key is removed"),
        pytest.param("a:\n  # c\n  x: 1\nb: 1\n", "a.x", None, "a:\n  # c\nb: 1\n", id="the last key of a block"),
        pytest.param("a: {x: 1, y: 2}\n", "a.x", None, "a: {y: 2}\n", id="the first key in brackets"),
        pytest.param("a: {x: 1, y: 2}\n", "a.y", None, "a: {x: 1}\n", id="the last key in brackets"),
        pytest.param("a:\n  - b\n  - c\nd: 1\n", "a", None, "d: 1\n", id="a list is removed"),
        pytest.param("a: 1\n", "b.c", None, "a: 1\n", id="a key that is not there"),
        pytest.param("\ufeffa: 1\r\n", "b", SEVEN, "\ufeffa: 1\r\nb: 7\r\n", id="a mark and line ends of Windows"),
        pytest.param("'a b': 1\n", "a b", SEVEN, "'a b': 7\n", id="a key in quotes"),
        pytest.param("---\na: 1\n...\n", "b", SEVEN, "---\na: 1\nb: 7\n...\n", id="the marks of a document"),
    ],
)
def test_value_is_changed_in_place(text: str, key: str, value: Value | None, right: str) -> None:
    """The new text is the old one but for the value, and nothing around it."""
    assert edit_yaml(text, {tuple(key.split(".")): value}) == right


@pytest.mark.rule("DASH-O2")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("a: {b: 1}\n", SEVEN, id="a block becomes a word"),
        pytest.param("a:\n  b: 1\n", AB, id="a block becomes a list"),
        pytest.param("a: [b]\n", SEVEN, id="a list becomes a word"),
        pytest.param("a:\n- b\n", SEVEN, id="a list of lines becomes a word"),
        pytest.param("a: &x 1\n", SEVEN, id="an anchor"),
        pytest.param("a: 1\na: 2\n", SEVEN, id="a key that is given twice"),
        pytest.param("a: [1\n", SEVEN, id="broken syntax"),
        pytest.param("? a\n: 1\n", None, id="a key with a sign of its own"),
        pytest.param("- a\n", SEVEN, id="no keys at all"),
    ],
)
def test_what_needs_a_rewrite_is_refused(text: str, value: Value | None) -> None:
    """A change that would need more than the value is an error that names the key, and no damaged text."""
    with pytest.raises(UneditableError, match=r"^a$"):
        edit_yaml(text, {("a",): value})


@pytest.mark.rule("DASH-O2")
@pytest.mark.parametrize("text", ["a: 1\n", "a: [b]\n", "a:\n- b\n", "a: ''\n"])
def test_a_key_below_a_value_does_not_replace_it(text: str) -> None:
    """What a key holds is lost to no key below it: the change is refused and named."""
    with pytest.raises(UneditableError, match=r"^a\.b$"):
        edit_yaml(text, {("a", "b"): SEVEN})


def test_changes_come_one_after_another() -> None:
    """Several changes of one text are all made, also where one makes the place of the next."""
    changes: dict[tuple[str, ...], Value | None] = {
        ("a", "x"): None,
        ("a", "y"): SEVEN,
        ("b", "c"): AB,
        ("b", "d"): Word("e"),
    }

    assert edit_yaml("a:\n  x: 1\n", changes) == "a:\n  y: 7\nb:\n  c: [a, b]\n  d: e\n"
