"""Transcripts from files: told apart by what they hold, and read into what was said by whom.

What omnislash and a harness put between the words is out of them (`injected`), so that what somebody is shown of
memory is never taken for something that somebody said.

Rules: FLUSH-04; interface.md, "Command line" (`flush`).
"""

from __future__ import annotations

import codecs

from omnislash.runtime.flushing.claude_code_transcripts import find_session, is_session, parse_session
from omnislash.runtime.flushing.markdown_transcripts import parse_markdown
from omnislash.runtime.flushing.spoken import Speaker, Spoken, Transcript

__all__ = ["Speaker", "Spoken", "Transcript", "decode_transcript", "find_session", "parse_transcript"]


def decode_transcript(data: bytes) -> str:
    """Return the text of a file, whatever is in it: a byte that is no UTF-8 becomes U+FFFD, a byte order mark goes."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def parse_transcript(text: str, *, after: int = 0) -> Transcript:
    """Return what was said in a session of Claude Code or in a markdown file; nothing for an empty one.

    Args:
        text: The file.
        after: So many records at the beginning are left out: they were reviewed before.

    Raises:
        UsageError: It is neither: nobody is named as a speaker.
    """
    plain = text.removeprefix("\ufeff")
    return parse_session(plain, after=after) if is_session(plain) else parse_markdown(plain, after=after)
