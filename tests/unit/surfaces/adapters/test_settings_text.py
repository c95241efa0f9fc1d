"""JSON with comments is read with the place of every value, and changed without touching the rest."""

from __future__ import annotations

import json
import time

import pytest

from omnislash.surfaces.adapters.settings_text import (
    DEPTH_MAX,
    SettingsTextError,
    has_comment,
    has_trailing_comma,
    insert,
    parse,
    read_value,
    remove,
    replace,
)


def value_of(text: str) -> object:
    """Return what a text says."""
    return read_value(text, parse(text))


class TestReading:
    """Reading a text."""

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("{}", {}),
            ("\ufeff{}", {}),
            ("[1, -2.50, 1e3, 0]", [1, -2.5, 1000.0, 0]),
            ('{"a": true, "b": null}', {"a": True, "b": None}),
            ('{"a": "\\u00e4 \\" \\\\ /"}', {"a": 'ä " \\ /'}),
            ('// first\n{"a": 1, /* two */ "b": [1,],}\n// last', {"a": 1, "b": [1]}),
            ('{"a": "// no comment", "b": "/* nor this */"}', {"a": "// no comment", "b": "/* nor this */"}),
            ("{\r\n}\r\n", {}),
            ('{"a": 1, "a": 2}', {"a": 2}),
        ],
    )
    def test_values(self, text: str, value: object) -> None:
        """Plain JSON, comments, a last comma and a byte order mark are read."""
        assert value_of(text) == value

    @pytest.mark.parametrize(
        ("text", "line", "column", "word"),
        [
            ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "comma"),
            ('{"a": }', 1, 7, "value"),
            ('{"a": 1', 1, 8, "comma"),
            ('{"a"', 1, 5, "colon"),
            ("{a: 1}", 1, 2, "JSON"),
            ("{'a': 1}", 1, 2, "single"),
            ('{"a": "x\n"}', 1, 7, "quotes"),
            ('{"a": "\\x"}', 1, 7, "quotes"),
            ("{} {}", 1, 4, "after the end"),
            ("[01]", 1, 2, "JSON"),
            ("[1.]", 1, 2, "JSON"),
            ("[NaN]", 1, 2, "JSON"),
            ("[truely]", 1, 2, "JSON"),
            ("{} /* open", 1, 4, "comment"),
            ("[,]", 1, 2, "value"),
            ("[1,,2]", 1, 4, "value"),
            ("", 1, 1, "ends"),
            ("\ufeff{\n\n?", 3, 1, "JSON"),
            ("{\r\n\r\n?", 3, 1, "JSON"),
            ("[" * (DEPTH_MAX + 1), 1, DEPTH_MAX + 1, "nested"),
        ],
    )
    def test_places_of_faults(self, text: str, line: int, column: int, word: str) -> None:
        """What is no JSON is refused with its line and column and the reason."""
        with pytest.raises(SettingsTextError) as caught:
            parse(text)

        assert (caught.value.line, caught.value.column) == (line, column)
        assert word in caught.value.message

    def test_comments_and_commas_are_known(self) -> None:
        """A comment and a last comma are found, and what only looks like one is not."""
        plain, odd = '{"a": "// x", "b": [1, 2]}', '{"a": [1, ], "b": 2 /* c */}'

        assert (has_comment(plain), has_trailing_comma(parse(plain))) == (False, False)
        assert (has_comment(odd), has_trailing_comma(parse(odd))) == (True, True)
        assert not has_comment(odd, parse(odd).get("a"))

    def test_unclosed_text_is_refused_quickly(self) -> None:
        """A megabyte of quotes and backslashes without an end costs no more than its length."""
        started = time.process_time()
        with pytest.raises(SettingsTextError):
            parse('{"a": "' + '\\"' * 500_000)

        assert time.process_time() - started < 2


class TestInserting:
    """Putting something at the end of an object or a list."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("{}", '{\n  "k": 1\n}'),
            ("{}\n", '{\n  "k": 1\n}\n'),
            ("{\n}\n", '{\n  "k": 1\n}\n'),
            ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "k": 1\n}\n'),
            ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"k": 1\n}\n'),
            ('{\n    "a": 1 // why\n}\n', '{\n    "a": 1, // why\n    "k": 1\n}\n'),
            ('{\n  "a": 1,\n}\n', '{\n  "a": 1,\n  "k": 1,\n}\n'),
            ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "k": 1\r\n}\r\n'),
            ('{"a":1}', '{"a":1, "k": 1}'),
            ("{\n  // nothing yet\n}", '{\n  // nothing yet\n  "k": 1\n}'),
            ('{\n  "a": 1\n  // the end\n}', '{\n  "a": 1,\n  // the end\n  "k": 1\n}'),
            ('{"a": 1 // x\n}', '{"a": 1, // x\n  "k": 1\n}'),
            ('{\n  "x": [\n    1\n  ],\n     "a": 1\n}', '{\n  "x": [\n    1\n  ],\n     "a": 1,\n  "k": 1\n}'),
            ('{ // x\n      "a": [\n  1]\n}', '{ // x\n      "a": [\n  1],\n      "k": 1\n}'),
        ],
    )
    def test_follows_its_neighbours(self, text: str, expected: str) -> None:
        """Indentation, line ends and commas are those of the text; comments stay where they are."""
        assert insert(text, parse(text), 1, key="k") == expected

    def test_nested_values_are_indented(self) -> None:
        """A value of several lines is indented like what it stands in."""
        text = '{\n\t"a": {\n\t\t"b": 1\n\t}\n}'
        inner = parse(text).get("a")
        assert inner is not None

        assert insert(text, inner, ["x"], key="c") == '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": [\n\t\t\t"x"\n\t\t]\n\t}\n}'

    @pytest.mark.parametrize("word", ['quo"te', "back\\slash", "ключ", "\u2028", "tab\t"])
    def test_any_text_can_be_a_value(self, word: str) -> None:
        """A text in any script and with any character comes back as it was."""
        assert value_of(insert("{}", parse("{}"), word, key=word)) == {word: word}


class TestRemoving:
    """Taking something out."""

    @pytest.mark.parametrize(
        ("text", "index", "expected"),
        [
            ('{\n  "a": 1,\n  "k": 1\n}', 1, '{\n  "a": 1\n}'),
            ('{\n  "k": 1,\n  "a": 1\n}', 0, '{\n  "a": 1\n}'),
            ('{\n  "a": 1,\n  "k": 1,\n}', 1, '{\n  "a": 1,\n}'),
            ('{\n  "k": 1\n}', 0, "{}"),
            ('{"a":1, "k": 1}', 1, '{"a":1}'),
            ('{"a": 1, "k": 2, "b": 3}', 1, '{"a": 1, "b": 3}'),
            ('{\n  // mine\n  "k": 1\n}', 0, "{\n  // mine\n}"),
            ('{\n  "a": 1, // mine\n  "k": 1 // too\n}', 1, '{\n  "a": 1 // mine\n   // too\n}'),
            ('{\n  // mine\n  "k": 1, "a": 2\n}', 0, '{\n  // mine\n   "a": 2\n}'),
            ('{\n  // mine\n  "k": 1}', 0, "{\n  // mine\n  }"),
            ('{ // x\n  "k": 1 /* two\n lines */,\n  "a": 2\n}', 0, '{ // x\n   /* two\n lines */\n  "a": 2\n}'),
        ],
    )
    def test_takes_its_comma_and_no_comment(self, text: str, index: int, expected: str) -> None:
        """The element and one comma go; every comment stays, and swallows nothing."""
        result = remove(text, parse(text), index)

        assert result == expected
        parse(result)

    def test_replacing_keeps_the_rest(self) -> None:
        """A value is replaced where it stands."""
        text = '{"a": "old", /* c */ "b": 1.0}'
        node = parse(text).get("a")
        assert node is not None

        assert replace(text, node, "new") == '{"a": "new", /* c */ "b": 1.0}'


def test_a_long_file_is_read_in_seconds() -> None:
    """A megabyte, as a host's own state may have, is parsed within a few seconds."""
    text = json.dumps({"history": [{"display": f"prompt {n}", "n": n, "pasted": {}} for n in range(13_000)]}, indent=2)
    started = time.process_time()
    parse(text)

    assert len(text) > 1_000_000
    assert time.process_time() - started < 3
