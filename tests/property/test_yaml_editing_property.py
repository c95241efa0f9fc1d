"""A changed value is the only change: every other line of a YAML text stays byte for byte."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from omnislash.brain.yaml_editing import UneditableError, Word, edit_yaml

NAMES = ["memory", "read", "recallScore", "a", "lines", "x-y", "no", "12", "Ω", "quoted: key"]
WORDS = ["4", "0.41", "true", "no", "main", "'*'", '"a # b"', "people/maria", "über", "'it''s'", "x#y", "0 4 * * *"]
COMMENTS = ["", "  # why", "\t# tab", " # 'quotes\" and: colons"]
#: What is written in place of a value: signs that mean something in YAML among them.
NEW = [
    "7",
    "0.5",
    "*",
    "a, b",
    "x: y",
    "# no",
    "- dash",
    "it's",
    'say "x"',
    "null",
    "~",
    "",
    " edge ",
    "[",
    "{x}",
    "%",
    "ü",
    "no",
]
VALUES: list[Word | tuple[Word, ...]] = [Word("7", is_text=False), Word("*"), (Word("ops"), Word("a, b"))]
#: The reader of the library that most programs use, which takes every value as the text that it is.
_READER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass
class Written:
    """A text as somebody wrote it, with what it says and where each value stands."""

    lines: list[str] = field(default_factory=list)
    #: Index of the line of each value, by its keys.
    places: dict[tuple[str, ...], int] = field(default_factory=dict)


def _spell(name: str) -> str:
    return f"'{name}'" if ": " in name else name


@st.composite
def written(draw: st.DrawFn) -> Written:
    """A text with comments, empty lines, quotes, lists, brackets and nesting of two or four columns."""
    out, unit = Written(), draw(st.sampled_from([1, 2, 4]))

    def block(depth: int, above: tuple[str, ...]) -> None:
        names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
        for name in names:
            lead, comment = " " * unit * depth, draw(st.sampled_from(COMMENTS))
            out.lines += draw(st.lists(st.sampled_from([f"{lead}# about", "", "# at the edge"]), max_size=2))
            kind = draw(st.sampled_from(["word", "word", "word", "block", "list", "flow"] if depth < 3 else ["word"]))
            if kind == "word":
                out.places[*above, name] = len(out.lines)
                out.lines.append(f"{lead}{_spell(name)}: {draw(st.sampled_from(WORDS))}{comment}")
            elif kind == "flow":
                out.lines.append(f"{lead}{_spell(name)}: {{k: [1, 'two'], z: 3}}{comment}")
            else:
                out.lines.append(f"{lead}{_spell(name)}:{comment}")
                if kind == "block":
                    block(depth + 1, (*above, name))
                else:
                    out.lines += [f"{lead}{' ' * unit}- {draw(st.sampled_from(WORDS))}{comment}"]

    block(0, ())
    return out


def _text(out: Written, newline: str, *, ends: bool) -> str:
    return newline.join(out.lines) + (newline if ends else "")


def _read(text: str) -> Any:
    """Return what a common reader of YAML sees, every value as the text that it is."""
    return yaml.load(text, Loader=_READER)


def _with(data: Any, keys: tuple[str, ...], value: Any) -> Any:
    below = dict(data) if isinstance(data, dict) else {}
    if len(keys) > 1:
        below[keys[0]] = _with(below.get(keys[0]), keys[1:], value)
    else:
        below[keys[0]] = value
    return below


@pytest.mark.rule("DASH-O2")
@settings(max_examples=60)
@given(out=written(), data=st.data(), newline=st.sampled_from(["\n", "\r\n"]), ends=st.booleans())
def test_setting_a_value_changes_its_line_alone(out: Written, data: st.DataObject, newline: str, *, ends: bool) -> None:
    """Whatever the text looks like, one line is another, its comment stays, and a reader finds the new value."""
    if not out.places:
        return
    keys = data.draw(st.sampled_from(sorted(out.places)))
    word = data.draw(st.sampled_from(NEW))
    text = _text(out, newline, ends=ends)

    new = edit_yaml(text, {keys: Word(word)})

    assert _read(new) == _with(_read(text), keys, word)
    old_lines, new_lines = text.split(newline), new.split(newline)
    place = out.places[keys]
    assert old_lines[:place] + old_lines[place + 1 :] == new_lines[:place] + new_lines[place + 1 :]
    comment = next((mark for mark in COMMENTS[1:] if old_lines[place].endswith(mark)), "")
    assert new_lines[place].endswith(comment)


@pytest.mark.rule("DASH-O2")
@settings(max_examples=60)
@given(out=written(), data=st.data(), newline=st.sampled_from(["\n", "\r\n"]), ends=st.booleans())
def test_a_key_that_is_removed_takes_its_line_alone(
    out: Written, data: st.DataObject, newline: str, *, ends: bool
) -> None:
    """Without the key the text is the old one without its line."""
    if not out.places:
        return
    keys = data.draw(st.sampled_from(sorted(out.places)))
    text = _text(out, newline, ends=ends)

    new = edit_yaml(text, {keys: None})

    lines = text.splitlines(keepends=True)
    del lines[out.places[keys]]
    assert new == "".join(lines)


def _lost(old: list[str], new: list[str]) -> list[str]:
    """Return the old lines that the new ones do not hold, behind the last old line that they do hold."""
    lost, at = [], 0
    for line in old:
        try:
            at = new.index(line, at) + 1
        except ValueError:
            lost.append(line)
    return lost


@pytest.mark.rule("DASH-O2")
@settings(max_examples=60)
@given(out=written(), data=st.data(), newline=st.sampled_from(["\n", "\r\n"]), ends=st.booleans())
def test_a_new_key_adds_lines_and_leaves_all_others(
    out: Written, data: st.DataObject, newline: str, *, ends: bool
) -> None:
    """A key that is new, at any depth, is found by a reader; every line that was there is there still, in its order."""
    text = _text(out, newline, ends=ends)
    keys = tuple(data.draw(st.lists(st.sampled_from(["memory", "lines", "fresh", "new"]), min_size=1, max_size=3)))
    value = data.draw(st.sampled_from(VALUES))
    plain = [word.text for word in value] if isinstance(value, tuple) else value.text
    before, known = _read(text), _read(text)
    for key in keys[:-1]:
        known = known.get(key, {}) if isinstance(known, dict) else None
    if not isinstance(known, dict) or keys[-1] in known:
        return

    new = edit_yaml(text, {keys: value})

    assert _read(new) == _with(before, keys, plain)
    gone = _lost(text.splitlines(), new.splitlines())
    assert all("{" in line for line in gone)  # a block in brackets grows in its line
    assert len(gone) <= 1


@pytest.mark.rule("DASH-O2")
def test_a_new_key_in_brackets_changes_their_line_alone() -> None:
    """What stands above and below a block in brackets stays."""
    assert edit_yaml("read: 4\nmemory: {k: 1}\na: 4\n", {("memory", "memory"): Word("7", is_text=False)}) == (
        "read: 4\nmemory: {k: 1, memory: 7}\na: 4\n"
    )


@settings(max_examples=150)
@given(text=st.text(st.sampled_from("ab:- \n\t#'\"[]{},&*!|>%?~0\r"), max_size=40), word=st.sampled_from(NEW))
def test_no_text_is_damaged(text: str, word: str) -> None:
    """Any text at all is either left alone, with an error, or says afterwards what it said before and the new value."""
    with contextlib.suppress(UneditableError):
        new = edit_yaml(text, {("a", "b"): Word(word)})

        before = _read(text) or {}
        assert _read(new) == _with(before, ("a", "b"), word)
