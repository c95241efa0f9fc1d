"""Bytes of a configuration file become text, and what is wrong with them is named with its place."""

from __future__ import annotations

import pytest

from omnislash.brain.file_text import FILE_MAX_BYTES, clean_text, decode_text, find_unreadable, too_large


def test_mark_is_skipped() -> None:
    """The byte order mark is no part of the text (O-24)."""
    assert decode_text(b"\xef\xbb\xbfa: 1\n", path="f") == ("a: 1\n", ())


def test_other_encoding_names_offset_and_line() -> None:
    """The first byte that is no UTF-8 is named with offset, line and column, and the rest can still be read."""
    text, (fault,) = decode_text("name: nova\ntown: Zürich\n".encode("latin-1"), path="f.yaml")
    assert text == "name: nova\ntown: Z\ufffdrich\n"
    assert fault.message == "The byte 0xFC at offset 18 is not UTF-8."
    assert (fault.line, fault.column, fault.hint) == (2, 8, "Save the file as UTF-8.")


def test_utf16_is_named() -> None:
    """A file saved as UTF-16 is told as such."""
    text, (fault,) = decode_text("a: 1".encode("utf-16"), path="f")
    assert text == ""
    assert fault.message == "The file is UTF-16."


@pytest.mark.parametrize(
    ("char", "words"),
    [
        pytest.param("\0", "NUL", id="NUL"),
        pytest.param("\x1b", "control character U+001B", id="escape"),
        pytest.param("\x7f", "control character U+007F", id="delete"),
        pytest.param("\x85", "line separator U+0085", id="next line"),
        pytest.param("\u2029", "line separator U+2029", id="paragraph separator"),
        pytest.param("\ufeff", "byte order mark", id="mark in the middle"),
        pytest.param("\udc9f", "half of a character, U+DC9F", id="surrogate"),
        pytest.param("\uffff", "control character U+FFFF", id="no character"),
    ],
)
def test_unreadable_character_is_named(char: str, words: str) -> None:
    """Each character that no setting may hold is named and replaced."""
    text, (fault,) = clean_text(f"a\nb: {char}c", path="f", first_line=5)
    assert text == "a\nb: \ufffdc"
    assert words in fault.message
    assert (fault.line, fault.column) == (6, 4)
    assert find_unreadable(char) == char


def test_lone_carriage_return_is_named() -> None:
    """A carriage return alone is refused, one before a line feed is an ordinary line end."""
    _, (fault,) = clean_text("a: 1\rb: 2\r\n", path="f")
    assert fault.message == "There is a carriage return without a line feed."


def test_all_scripts_are_readable() -> None:
    """Text of any script, emoji and combining marks included, is left alone."""
    text = "Заметки, 猫, नमस्ते, 🌻, e\u0301, a\tb\r\n"
    assert clean_text(text, path="f") == (text, ())
    assert find_unreadable(text) is None


def test_binary_data_is_no_flood() -> None:
    """Binary data gives a hundred faults and one that says so."""
    _, faults = clean_text("\x01" * 5_000, path="f")
    assert len(faults) == 101
    assert "binary data" in faults[-1].message


def test_size_is_named() -> None:
    """A file over the limit is refused with its size and the limit."""
    message = too_large("f", 10_485_760).message
    assert "10485760" in message
    assert str(FILE_MAX_BYTES) in message
