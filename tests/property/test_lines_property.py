"""Whatever text comes in, a managed path stays in its line."""

from __future__ import annotations

import ntpath
import posixpath
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from omnislash.core.lines import (
    is_line_name,
    kind_of,
    parse_authored_path,
    parse_line_name,
    parse_managed_path,
    parse_source,
    split_path,
)
from omnislash.errors import InvalidNameError

#: Any text at all, lone surrogates included, and text made of what paths are made of.
ANY_TEXT = st.text(st.characters(), max_size=60)
PIECES = st.sampled_from(
    [
        "main",
        "ops",
        "..",
        ".",
        "/",
        "//",
        "\\",
        "2026",
        "11",
        "2026-11-30",
        "-W53",
        ".md",
        "MEMORY.md",
        " ",
        "\0",
        "con",
        ":",
        "~",
    ]
)
PATH_LIKE = st.lists(PIECES | st.text(string.printable, max_size=3), max_size=9).map("".join)
TEXT = ANY_TEXT | PATH_LIKE


@pytest.mark.rule("LINE-01", "SCOPE-02")
@settings(max_examples=200, deadline=None)
@given(TEXT)
@example("main/../hr/MEMORY.md")
@example("main/..\\hr\\MEMORY.md")
@example("main/C:/x.md")
def test_accepted_path_stays_in_its_line(text: str) -> None:
    """A text is a path that is its own normal form inside its line, on any system, or it is refused."""
    try:
        path = parse_managed_path(text)
    except InvalidNameError:
        return
    line, rest = split_path(path)
    assert path == text
    assert is_line_name(line)
    assert posixpath.normpath(f"/brain/memory/{path}") == f"/brain/memory/{line}/{rest}"
    assert ntpath.normpath(f"c:/brain/memory/{path}").replace("\\", "/") == f"c:/brain/memory/{line}/{rest}"
    assert kind_of(path) is not None


@pytest.mark.rule("LINE-07", "LINE-09")
@settings(max_examples=200, deadline=None)
@given(TEXT)
def test_line_name_is_total(text: str) -> None:
    """A text is a line name of one harmless segment, or it is refused."""
    if not is_line_name(text):
        with pytest.raises(InvalidNameError):
            parse_line_name(text)
        return
    assert set(text) <= set(string.ascii_lowercase + string.digits + "_-")
    assert 1 <= len(text) <= 64
    assert text[0] not in "_-"
    assert not (len(text) == 4 and text.isdigit())


@pytest.mark.rule("SOURCE-05", "SOURCE-06")
@settings(max_examples=200, deadline=None)
@given(TEXT)
def test_source_stays_in_the_brain(text: str) -> None:
    """A text is a source below the brain, or it is refused; so is a document."""
    for parse in (parse_source, parse_authored_path):
        try:
            path = parse(text)
        except InvalidNameError:
            continue
        assert path == text
        assert posixpath.normpath(f"/brain/{path}") == f"/brain/{text}"
        assert not any(segment.startswith(".") for segment in path.split("/"))
