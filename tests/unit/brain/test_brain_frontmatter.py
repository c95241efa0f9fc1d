"""A markdown file is split into header and body without touching either."""

from __future__ import annotations

import pytest

from omnislash.brain.frontmatter import Frontmatter, parse_document, split_frontmatter
from omnislash.brain.tree import to_plain


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("---\na: 1\n---\nBody\n", Frontmatter("a: 1\n", "Body\n", 4), id="plain"),
        pytest.param("---\r\na: 1\r\n---\r\nBody\r\n", Frontmatter("a: 1\r\n", "Body\r\n", 4), id="crlf"),
        pytest.param("\ufeff---\na: 1\n--- \n\n x", Frontmatter("a: 1\n", "\n x", 4), id="mark"),
        pytest.param("---\n---\n", Frontmatter("", "", 3), id="empty header"),
        pytest.param("---\na: 1\n---", Frontmatter("a: 1\n", "", 3), id="no body"),
        pytest.param("---\na: |\n  ---\n---\nB", Frontmatter("a: |\n  ---\n", "B", 5), id="indented rule"),
        pytest.param("---\na: 1\n----\nb\n", Frontmatter(None, "---\na: 1\n----\nb\n"), id="longer rule"),
        pytest.param("---\nA note below a rule.\n", Frontmatter(None, "---\nA note below a rule.\n"), id="rule"),
        pytest.param("# Title\n---\nx\n---\n", Frontmatter(None, "# Title\n---\nx\n---\n"), id="late rules"),
        pytest.param("", Frontmatter(None, ""), id="empty"),
    ],
)
def test_split_keeps_every_byte(text: str, parts: Frontmatter) -> None:
    """Header and body come back as they stand; a rule that is never closed is body (O-19)."""
    assert split_frontmatter(text) == parts


def test_faults_count_lines_of_the_file() -> None:
    """The line of a fault is that of the file, not of the header (O-18)."""
    document = parse_document("---\nname: harbour\nsummary: tide notes: north quay\n---\nHigh water.\n", path="r.md")
    (fault,) = document.tree.faults
    assert fault.line == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("---\nname: x\nYou are x.\n", "never closed", id="never closed"),
        pytest.param("\n\n---\nname: x\n---\n", "does not begin in the first line", id="late"),
        pytest.param("\ufeff\r\n---\r\nname: x\r\n---\r\n", "does not begin in the first line", id="late with mark"),
        pytest.param("--- # role\nname: x\n---\n", "more than `---`", id="comment behind"),
        pytest.param(" ---\nname: x\n---\n", "more than `---`", id="indented"),
    ],
)
def test_lost_header_is_a_fault(text: str, words: str) -> None:
    """A header that would be taken for instructions is refused where it must be right."""
    (fault,) = parse_document(text, path="x.agent.md").tree.faults
    assert words in fault.message
    assert fault.line == 1
    assert fault.hint


@pytest.mark.parametrize("text", ["You are x.\n", "# Title\n\n---\nx\n", "", "----\nx\n"])
def test_file_without_header_has_no_keys(text: str) -> None:
    """A file that has no frontmatter at all is all body."""
    document = parse_document(text, path="x.agent.md")
    assert document.tree.faults == ()
    assert document.tree.root is not None
    assert to_plain(document.tree.root) == {}
    assert document.body == text
