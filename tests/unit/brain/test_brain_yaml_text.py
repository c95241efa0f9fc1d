"""YAML text becomes a tree with places, and every trap of YAML is refused or left as text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import yaml

from omnislash.brain import yaml_text
from omnislash.brain.tree import DEPTH_MAX, Mapping, Scalar, Tree, find_entry, find_node, key_lines, to_plain
from omnislash.brain.yaml_errors import explain_yaml_error
from omnislash.brain.yaml_text import VALUES_MAX, parse_yaml

if TYPE_CHECKING:
    from omnislash.errors import Fault


def read(text: str) -> Tree:
    """Parse a text as the file f.yaml."""
    return parse_yaml(text, path="f.yaml")


def plain(text: str) -> object:
    """Return the values of a text that must be free of faults."""
    tree = read(text)
    assert tree.faults == ()
    assert tree.root is not None
    return to_plain(tree.root)


def only_fault(text: str) -> Fault:
    """Return the one fault of a text."""
    (fault,) = read(text).faults
    return fault


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        pytest.param("no", "no", id="no"),
        pytest.param("NO", "NO", id="norway"),
        pytest.param("on", "on", id="on"),
        pytest.param("off", "off", id="off"),
        pytest.param("yes", "yes", id="yes"),
        pytest.param("True", "True", id="capital true"),
        pytest.param("Null", "Null", id="capital null"),
        pytest.param("012", "012", id="leading zero"),
        pytest.param("1.10", "1.10", id="version"),
        pytest.param("12:30", "12:30", id="time"),
        pytest.param("1_000", "1_000", id="separator"),
        pytest.param("0x1F", "0x1F", id="hexadecimal"),
        pytest.param("+5", "+5", id="plus"),
        pytest.param(".inf", ".inf", id="infinity"),
        pytest.param("1e3", "1e3", id="exponent"),
        pytest.param("2026-11-30", "2026-11-30", id="date"),
        pytest.param("2026-11-30 08:00:00", "2026-11-30 08:00:00", id="date and time"),
        pytest.param("2026-02-30", "2026-02-30", id="impossible day"),
        pytest.param("2026-13-45", "2026-13-45", id="impossible month"),
        pytest.param("=", "=", id="default value"),
        pytest.param("9" * 400, "9" * 400, id="number beyond every size"),
        pytest.param("'4'", "4", id="quoted number"),
        pytest.param("'true'", "true", id="quoted switch"),
        pytest.param("''", "", id="quoted nothing"),
        pytest.param("true", True, id="true"),
        pytest.param("false", False, id="false"),
        pytest.param("4", 4, id="number"),
        pytest.param("-4", -4, id="negative number"),
        pytest.param("0", 0, id="zero"),
        pytest.param("", None, id="nothing"),
        pytest.param("~", None, id="tilde"),
        pytest.param("null", None, id="null"),
    ],
)
def test_only_plain_words_become_values(typed: str, value: object) -> None:
    """Only true, false, null and plain whole numbers are no text; nothing else is guessed at (O-22, O-23)."""
    assert plain(f"key: {typed}\n") == {"key": value}


def test_words_are_keys() -> None:
    """A key is the text that was typed, `on`, `no` and numbers included."""
    assert plain("on: 1\nno: 2\n1001: 3\ntrue: 4\n'': 5\n") == {"on": 1, "no": 2, "1001": 3, "true": 4, "": 5}


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing but a comment\n", "---\n", "~\n", "\ufeff"])
def test_empty_text_is_an_empty_block(text: str) -> None:
    """A file that holds nothing has no keys and no faults."""
    assert plain(text) == {}


def test_bom_and_crlf_leave_no_trace() -> None:
    """No key begins with the byte order mark and no value ends in a carriage return (O-24, O-25)."""
    assert plain("\ufeffname: nova\r\nlist:\r\n  - a\r\ntext: |\r\n  one\r\n  two\r\n") == {
        "name": "nova",
        "list": ["a"],
        "text": "one\ntwo\n",
    }


def test_places_count_from_one() -> None:
    """Keys and values know line and column, also with an offset for frontmatter."""
    tree = parse_yaml("a:\n  read: [x, ops]\n", path="f.yaml", first_line=2)
    assert tree.root is not None
    assert key_lines(tree.root) == {"a": 2, "a.read": 3}

    mark = find_entry(tree.root, ("a", "read"), "ops")
    assert (mark.line, mark.column) == (3, 13)


def test_absent_values_have_a_place() -> None:
    """A name that is not in the list is shown at the list, and one without a list at the top of the file."""
    tree = read("x: 1\na: [b]\n")
    assert tree.root is not None
    assert find_entry(tree.root, ("a",), "z").line == 2
    assert find_entry(tree.root, ("q", "r"), "z").line == 1
    assert find_node(tree.root, "a", 1) is None
    assert find_node(tree.root, "x", "y") is None


def test_doubled_key_names_both_lines() -> None:
    """A key that is given twice is refused with both lines, and the first value stays (O-21)."""
    tree = read("tools: [read]\nline: a\nname: b\ntools: [read, shell]\n")
    (fault,) = tree.faults
    assert fault.message == "The key `tools` is given twice: in line 1 and in line 4."
    assert (fault.line, fault.column) == (4, 1)
    assert tree.root is not None
    assert to_plain(tree.root) == {"tools": ["read"], "line": "a", "name": "b"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("a: &x 1\n", 1, "anchor, &x", id="anchor"),
        pytest.param("b: 1\na: *x\n", 2, "alias, *x", id="alias"),
        pytest.param("b: 1\n<<: {a: 1}\n", 2, "merge key", id="merge key"),
        pytest.param("a: !!python/object:os.system x\n", 1, "a tag", id="tag"),
        pytest.param("a: !!map {b: 1}\n", 1, "a tag", id="tag of a block"),
        pytest.param("? [a, b]\n: c\n", 1, "A key is a list", id="list as key"),
        pytest.param("~: c\n", 1, "A key is a list, a block or empty", id="null as key"),
        pytest.param('a: "x\\0y"\n', 1, "NUL", id="escaped NUL"),
        pytest.param("a: 1\n---\nb: 2\n", 2, "second document", id="second document"),
        pytest.param("- a\n- b\n", 1, "a list where keys are expected", id="list at the top"),
        pytest.param("just words\n", 1, "text where keys are expected", id="text at the top"),
    ],
)
def test_trap_is_refused_at_its_place(text: str, line: int, words: str) -> None:
    """What YAML would expand, load or merge is refused, with the line."""
    fault = only_fault(text)
    assert fault.line == line
    assert words in fault.message
    assert fault.hint


@pytest.mark.parametrize(
    ("text", "place", "words", "step"),
    [
        pytest.param("a:\n\tb: 1\n", (2, 1), "tab", "Replace the tab by spaces.", id="tab"),
        pytest.param("a: 1\n\tb: 2\n", (2, 1), "tab", "Replace the tab by spaces.", id="tab after a value"),
        pytest.param("summary: tide notes: north\n", (1, 20), "second ': '", "in quotes", id="second colon"),
        pytest.param("path: `D:\\agent`\n", (1, 7), "begin with '`'", "in quotes", id="backtick"),
        pytest.param("title: *Soft launch*\n", (1, 8), "begin with '*'", "in quotes", id="star"),
        pytest.param("read: [*]\n", (1, 8), "begin with '*'", "in quotes", id="every line without quotes"),
        pytest.param("a: [x, %y]\n", (1, 8), "begin with '%'", "in quotes", id="percent"),
        pytest.param("links:\n  - [[harbour]]s\n", (2, 16), "behind the closing ']'", "in quotes", id="link"),
        pytest.param("a: 'it's'\n", (1, 8), 'behind the closing "\'"', "in quotes", id="apostrophe"),
        pytest.param("note: 50% off: today\n", (1, 14), "second ': '", "in quotes", id="percent off"),
        pytest.param("a: 'x\nb: 1\n", (1, 4), "never closed", "Close the quotes", id="open quote"),
        pytest.param("a: [x,\nb: 1\n", (1, 4), "not closed", "']'", id="open list"),
        pytest.param("a: {x: 1\n", (1, 4), "not closed", "'}'", id="open block"),
        pytest.param("a: 1\nb\n", (2, 1), "no ': '", "key: value", id="no colon"),
        pytest.param("   a: 1\n  b: 2\n", (2, 3), "indented less", "indentation", id="less indented"),
        pytest.param("a: 1\n  b: 2\n", (2, 4), "can't stand here", "indentation", id="more indented"),
        pytest.param('a: "\\q"\n', (1, 4), "unknown escape", "single quotes", id="escape"),
    ],
)
def test_broken_syntax_is_explained(text: str, place: tuple[int, int], words: str, step: str) -> None:
    """Broken syntax is told by what was typed, at the place to mend, with the next step (O-18, O-19)."""
    tree = read(text)
    (fault,) = tree.faults
    assert tree.root is None
    assert (fault.line, fault.column) == place
    assert words in fault.message
    assert step in (fault.hint or "")


def test_every_fault_is_reported_in_one_run() -> None:
    """Faults that do not break the syntax do not hide each other."""
    tree = read("a: &x 1\nb: *x\nb: 2\n<<: {}\nc: \x07\n")
    assert [fault.line for fault in tree.faults] == [5, 1, 2, 3, 4]


def test_unreadable_characters_keep_the_lines() -> None:
    """A separator that editors do not show is reported and changes no line number behind it."""
    tree = read("a: x\u2028y\nb: &z 1\n")
    assert [(fault.line, fault.column) for fault in tree.faults] == [(1, 5), (2, 4)]


def test_anchor_bomb_is_cheap() -> None:
    """A bomb of aliases is refused without being expanded."""
    bomb = "a: &a [x, x]\n" + "".join(f"a{n}: &b{n} [*a, *a, *a, *a, *a, *a, *a, *a]\n" for n in range(40))
    started = time.perf_counter()
    tree = read(bomb)
    assert time.perf_counter() - started < 10
    assert len(tree.faults) == 101
    assert "not listed" in tree.faults[-1].message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: " + "[" * 10_000, id="open lists"),
        pytest.param("a: " + "[" * 10_000 + "]" * 10_000, id="lists"),
        pytest.param("a: " + "{b: " * 10_000, id="blocks in braces"),
        pytest.param("- " * 10_000, id="dashes"),
        pytest.param("".join(f"{' ' * n}a:\n" for n in range(1_200)), id="indented blocks"),
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    """However deep a text nests, it is refused at the limit and nothing overflows."""
    fault = read(text).faults[-1]
    assert fault.message == f"Values are nested more than {DEPTH_MAX} deep."


def test_very_many_values_are_refused() -> None:
    """A file with more values than any brain needs is refused."""
    fault = read("a: [" + "1, " * (VALUES_MAX + 1) + "]\n").faults[-1]
    assert f"more than {VALUES_MAX} values" in fault.message


def test_half_a_character_is_a_fault() -> None:
    """Text that came from bytes that are no UTF-8 is refused, not crashed on."""
    assert "U+DC80" in only_fault("a: \udc80\n").message


def test_alias_as_key_is_told_once() -> None:
    """A key that is an alias is refused, and its value is dropped."""
    tree = read("*x : 1\na: 2\n")
    assert ["alias" in fault.message for fault in tree.faults] == [True]
    assert tree.root is not None
    assert to_plain(tree.root) == {"a": 2}


def test_error_without_a_place_is_told() -> None:
    """A complaint of the parser that has no place is still a fault of the file."""
    fault = explain_yaml_error(yaml.YAMLError("odd"), "", path="f.yaml", first_line=1)
    assert fault.render() == "f.yaml: The file is not valid YAML: odd. Check its first lines."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("a: &x 1\n", "anchor", id="anchor"),
        pytest.param("a:\n\tb: 1\n", "tab", id="tab"),
        pytest.param("read: [*]\n", "begin with '*'", id="star"),
        pytest.param("a: 'it's'\n", "behind the closing", id="apostrophe"),
        pytest.param("a: b: c\n", "second ': '", id="second colon"),
        pytest.param('a: "\\UFFFFFFFF"\n', "not valid YAML", id="escape beyond every character"),
        pytest.param('a: "\\ud800"\n', "half of a character", id="escaped half"),
        pytest.param("a: " + "[" * 10_000, "nested more than", id="deep"),
    ],
)
def test_parser_without_the_c_library_is_as_strict(text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML comes without libyaml, the same is refused and nothing raises."""
    monkeypatch.setattr(yaml_text, "_LOADER", yaml.SafeLoader)
    assert words in only_fault(text).message


def test_nested_values_become_plain() -> None:
    """Blocks of another system are handed on as dicts, lists and values; a refused value is None."""
    tree = read("loop: {check: {mode: replay, at: 12:30, times: [1, '1']}, x: *a}\n")
    assert isinstance(tree.root, Mapping)
    assert to_plain(tree.root) == {"loop": {"check": {"mode": "replay", "at": "12:30", "times": [1, "1"]}, "x": None}}


def test_block_text_is_never_null() -> None:
    """Text in a `|` block is text, whatever it says."""
    tree = read("a: |-\n  null\nb: >-\n  4\n")
    assert tree.root is not None
    scalars = [node for node in tree.root.entries.values() if isinstance(node, Scalar)]
    assert [(scalar.text, scalar.plain, scalar.is_null) for scalar in scalars] == [
        ("null", False, False),
        ("4", False, False),
    ]
