"""JSON text becomes the same tree with places, as strictly as YAML."""

from __future__ import annotations

import pytest

from omnislash.brain.json_text import parse_json
from omnislash.brain.tree import key_lines, to_plain


def test_values_and_places() -> None:
    """Names, values and lines are kept; strings are text and never switches."""
    tree = parse_json('\ufeff{\n  "a": {"b": false, "c": "true"},\n  "d": [1, null, "\\u00e9"]\n}\n', path="f.json")
    assert tree.faults == ()
    assert tree.root is not None
    assert to_plain(tree.root) == {"a": {"b": False, "c": "true"}, "d": [1, None, "é"]}
    assert key_lines(tree.root) == {"a": 2, "a.b": 2, "a.c": 2, "d": 3}


@pytest.mark.parametrize("text", ["", "  \n"])
def test_empty_text_is_an_empty_block(text: str) -> None:
    """An empty file has no keys and no faults."""
    tree = parse_json(text, path="f.json")
    assert tree.root is not None
    assert (tree.root.entries, tree.faults) == ({}, ())


def test_doubled_name_names_both_lines() -> None:
    """A name that is given twice is refused with both lines."""
    (fault,) = parse_json('{\n"memory:delete": {"hitl": true},\n"memory:delete": {}\n}', path="f.json").faults
    assert fault.message == "The key `memory:delete` is given twice: in line 2 and in line 3."
    assert (fault.line, fault.column) == (3, 1)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param('{"a": 1,\n}', 1, "JSON", id="trailing comma"),
        pytest.param('{"a": 1\n"b": 2}', 2, "',' delimiter", id="no comma"),
        pytest.param('{"a" 1}', 1, "':' delimiter", id="no colon"),
        pytest.param('{"a": // why\n1}', 1, "Expecting value", id="comment"),
        pytest.param('{"a": 1} x', 1, "Extra data", id="more"),
        pytest.param('{"a": "x', 1, "Unterminated", id="open string"),
        pytest.param("{'a': 1}", 1, "property name", id="single quotes"),
        pytest.param("\x00\x01\x02", 1, "NUL", id="binary"),
        pytest.param("[1]", 1, "no block", id="list at the top"),
    ],
)
def test_broken_text_is_explained(text: str, line: int, words: str) -> None:
    """Broken JSON is refused with its line and a next step."""
    tree = parse_json(text, path="f.json")
    assert tree.root is None
    assert words in tree.faults[0].message
    assert tree.faults[0].line in {line, line + 1}
    assert all(fault.hint for fault in tree.faults)


def test_constants_of_javascript_are_refused() -> None:
    """NaN is no JSON value."""
    assert "NaN" in parse_json('{"a": NaN}', path="f").faults[0].message


@pytest.mark.parametrize("text", ["[" * 10_000, '{"a":' * 10_000, "[" * 10_000 + "]" * 10_000])
def test_deep_nesting_is_refused(text: str) -> None:
    """Deep nesting is refused and overflows nothing."""
    (fault,) = parse_json(text, path="f").faults
    assert "nested more than" in fault.message


def test_brackets_in_strings_do_not_nest() -> None:
    """Brackets in a string are text."""
    tree = parse_json('{"a": "' + "[" * 100 + '"}', path="f")
    assert tree.faults == ()
