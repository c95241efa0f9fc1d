"""Text is checked at the door and normalised in as few ways as possible."""

from __future__ import annotations

import json

import pytest

from omnislash.core.content import CONTENT_MAX_CHARS, check_content, normalise_content
from omnislash.errors import InvalidContentError


@pytest.mark.rule("WRITE-15")
@pytest.mark.parametrize(
    ("given", "stored"),
    [
        pytest.param("one", "one", id="a plain line"),
        pytest.param("one\r\ntwo\rthree", "one\ntwo\nthree", id="CRLF and lone CR"),
        pytest.param("\n \t\n\none\n\n", "one", id="outer blank lines"),
        pytest.param("one \t", "one", id="white space at the end"),
        pytest.param("    indented\n  less", "    indented\n  less", id="indentation of the first line"),
        pytest.param("one  \n\n   \n\ttwo", "one  \n\n   \n\ttwo", id="inner white space"),
        pytest.param("می\u200cرود", "می\u200cرود", id="zero-width non-joiner"),
        pytest.param(
            "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\u200d\U0001f469\u200d\U0001f467", id="ZWJ"
        ),
        pytest.param("\u200fمرحبا", "\u200fمرحبا", id="right-to-left mark"),
        pytest.param("e\u0301 and \u00e9", "e\u0301 and \u00e9", id="both Unicode forms"),
    ],
)
def test_only_line_ends_and_the_outside_change(given: str, stored: str) -> None:
    """Line ends, outer blank lines and white space at the very end are normalised; all else is kept."""
    assert normalise_content(given) == stored
    assert normalise_content(stored) == stored


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("می\u200cرود", id="Persian with a non-joiner"),
        pytest.param("\U0001f468\u200d\U0001f469\u200d\U0001f467", id="a family"),
        pytest.param("السلام\u200f عليكم", id="Arabic with a direction mark"),
        pytest.param("क्\u200dष", id="Hindi with a joiner"),
        pytest.param("q", id="one letter"),
        pytest.param(json.loads('"bed \\ud83c\\udf3b sown"'), id="a pair written as two escapes"),
        pytest.param("x" * CONTENT_MAX_CHARS, id="exactly the longest"),
        pytest.param("\U0001f33b" * (CONTENT_MAX_CHARS // 2), id="exactly the longest in pairs"),
    ],
)
def test_honest_text_is_accepted(text: str) -> None:
    """Invisible characters that a script needs, emoji, one letter and a text at the limit are stored."""
    check_content(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "is empty", id="nothing"),
        pytest.param(" \t\r\n\u00a0\u3000", "is empty", id="only white space"),
        pytest.param("bed \x00 sown", "NUL character at offset 4", id="NUL"),
        pytest.param(json.loads('"bed \\ud83c sown"'), "half of a surrogate pair (U+D83C) at offset 4", id="high half"),
        pytest.param("\udf3b", "half of a surrogate pair (U+DF3B) at offset 0", id="low half"),
        pytest.param("x" * (CONTENT_MAX_CHARS + 1), "has 1000001 chars", id="one too long"),
        pytest.param("\U0001f33b" * (CONTENT_MAX_CHARS // 2) + "x", "has 1000001 chars", id="one too long in pairs"),
    ],
)
def test_what_no_file_should_hold_is_refused(text: str, said: str) -> None:
    """Empty text, NUL, half a pair and a text over the limit are refused with the argument's name and the reason."""
    with pytest.raises(InvalidContentError) as caught:
        check_content(text, what="new text")
    assert caught.value.message.startswith("The new text ")
    assert said in caught.value.message
    assert caught.value.hint


def test_braces_in_the_text_do_no_harm() -> None:
    """The message is made from the reason, never from the text."""
    with pytest.raises(InvalidContentError, match="NUL character at offset 6"):
        check_content("{what}\x00{0}")
