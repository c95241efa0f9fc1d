"""Whatever is typed, YAML text becomes a tree or faults; on the safe part it means what YAML means."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from omnislash.brain.file_text import decode_text
from omnislash.brain.frontmatter import parse_document, split_frontmatter
from omnislash.brain.json_text import parse_json
from omnislash.brain.manifest import parse_manifest
from omnislash.brain.roles import parse_role
from omnislash.brain.tree import Tree, key_lines, to_plain
from omnislash.brain.yaml_text import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Pieces that YAML gives a meaning, and that are rare in random text.
PIECES = st.sampled_from(
    [
        "a",
        "b: ",
        "memory:",
        "  ",
        "\n",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        ": ",
        "'",
        '"',
        "|\n",
        ">\n",
        "&x ",
        "*x",
        "!t ",
        "<<: ",
        "? ",
        "# ",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "\t",
        "\r\n",
        "\ufeff",
        "\u2028",
        "\x00",
        "~",
        "\\",
        "012",
        "é",
        "write: ",
        "read: ",
        "recentDays: ",
        "12:30",
        "4.0",
        "\\u0000",
        "`",
        "@",
        "%",
        "�",
    ]
)
TYPED = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(PIECES, max_size=30).map("".join),
)
WORDS = st.text(string.ascii_letters + string.digits + " .:,-_#'\"[]{}*&!%@`|>~?\\\n\téЖ猫🌻", max_size=20)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**17), 10**17), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)


def check_tree(tree: Tree) -> None:
    """Check what every tree promises: faults with a place and a step, or a root with places."""
    assert tree.root is not None or tree.faults
    assert all(fault.message.endswith(".") and fault.hint for fault in tree.faults)
    assert tree.root is None or all(line >= 1 for line in key_lines(tree.root).values())


@given(TYPED)
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_tree_or_faults(text: str) -> None:
    """No text makes the parsers raise, in YAML, in JSON or as a role, and what is refused has a reason."""
    check_tree(parse_yaml(text, path="f"))
    check_tree(parse_json(text, path="f"))
    check_tree(parse_document(f"---\n{text}\n---\n", path="f").tree)
    for found in (parse_manifest(text), parse_role(text, role_id="x", path="f")):
        assert (found.value is None) == bool(found.faults)


@given(TYPED)
@settings(max_examples=200, deadline=None)
def test_lines_of_faults_lie_in_the_text(text: str) -> None:
    """The line of a fault exists in the text, or is the one behind its end."""
    lines = text.count("\n") + text.count("\r") + 1
    assert all(1 <= (fault.line or 1) <= lines + 1 for fault in parse_yaml(text, path="f").faults)


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_become_text(data: bytes) -> None:
    """No bytes make the decoding raise, and what is no UTF-8 has a fault."""
    text, faults = decode_text(data, path="f")
    check_tree(parse_yaml(text, path="f"))
    try:
        expected = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        assert faults
    else:
        assert (text, faults) == (expected, ())


@given(TYPED, TYPED)
@settings(max_examples=200, deadline=None)
def test_split_keeps_the_text(header: str, body: str) -> None:
    """The parts of a file are pieces of it: nothing is changed on the way."""
    text = f"---\n{header}\n---\n{body}"
    parts = split_frontmatter(text)
    assert text.endswith(parts.body)
    assert parts.header is not None
    assert text.startswith(f"---\n{parts.header}---")


@given(st.dictionaries(WORDS, VALUES, max_size=5), st.booleans())
@settings(max_examples=200, deadline=None)
def test_safe_part_means_what_yaml_means(values: Mapping[str, Any], flow: bool) -> None:
    """What a YAML writer makes of plain values is read as those values, without a fault."""
    dumped = yaml.safe_dump(values, allow_unicode=True, default_flow_style=flow)
    tree = parse_yaml(dumped, path="f")
    assert tree.faults == ()
    assert tree.root is not None
    assert to_plain(tree.root) == yaml.safe_load(dumped) == values
