"""What stands between the words of a session and was said by nobody in it, and how it is taken out.

Omnislash puts blocks of memory and the recall into a turn. If a review took them for words of the user, a memory would
come in again through its own recall, each time with a new date. So they go before anybody reads the transcript: the
blocks with their tags, the recall with its heading and its notes, and what a harness wraps around hooks, commands and
reminders.

A note inside a block can't end it (`core.escaping`), so that what is cut is the whole block. Somebody who writes a tag
by hand in the middle of a sentence keeps the sentence: a tag that is never closed is just text, and of one that is
closed only what it encloses goes.

Rules: FLUSH-04; issue 4, "a memory cannot re-enter through its own recall".
"""

from __future__ import annotations

import re
from typing import Final

from omnislash.recall.formatting import HEADING, PREAMBLE
from omnislash.runtime.flushing.flush_prompt import CLOSING, FLUSH_MARKER

#: The blocks of a turn, those of a review, and the events that a hook is handed.
_OWN: Final = r"agent-(?:memory(?:-periods|-daily|-keep)?|environment|context-snapshot|transcript|events)"
_OWN_OPEN = re.compile(rf"<({_OWN})(?:[ \t][^<>\n]*)?(/?)>")
#: The same as we write it, with its place: what is cut from a whole file, where a tag written by hand could be closed in
#: another message.
_OWN_PLACED = re.compile(
    r"<(agent-(?:memory(?:-periods|-daily)?(?=[ \t]+(?:path|line)=)|environment|context-snapshot))(?:[ \t][^<>\n]*)?(/?)>"
)
#: The same alone on its line: as it is written by us, and hardly by hand.
_OWN_LINE = re.compile(rf"^[ \t>]*<{_OWN}(?:[ \t][^<>\n]*)?>[ \t]*$", re.MULTILINE)
#: What a harness wraps around what it adds itself: reminders, hooks, commands that ran on the spot, the editor's state.
_HARNESS: Final = (
    r"(?:system-reminder|(?:user-prompt-submit|session-start|post-tool-use|pre-tool-use)-hook"
    r"|command-(?:name|message|args|contents)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)"
    r"|ide_(?:opened_file|selection|diagnostics)|new-diagnostics|task-notification|persisted-output|tool_use_error)"
)
_HARNESS_OPEN = re.compile(rf"<({_HARNESS})(?:[ \t][^<>\n]*)?(/?)>")
_HARNESS_END = re.compile(rf"</{_HARNESS}>")
#: A note of the recall: its label, as `recall.formatting` writes it.
_HIT = re.compile(r"- \[[^\]\n]+:\d+(?:-\d+)?(?: · [0-9-]+)?\] ")
_FOOTER = re.compile(r"_INCOMPLETE — .*_\s*(?:</[a-z_-]+>\s*)?$|Memory could not be searched properly: ")
_NOTICE = re.compile(r"^\[Request interrupted by user(?: for tool use)?\]$", re.MULTILINE)
_BROKEN = re.compile(r"[\ud800-\udfff]")


def is_review(text: str) -> bool:
    """Tell whether a message is that of a curator: a review is not reviewed, or a harness that does it would never end.

    Rules: FLUSH-O6.
    """
    return FLUSH_MARKER in text and CLOSING in text


def strip_injected(text: str) -> str:
    """Return the words that somebody said: without blocks, recall, and what a harness had added."""
    plain = _repair(text)
    if "<" in plain or HEADING in plain:
        plain = _cut_recall(plain)
        plain = _cut_blocks(plain, _OWN_OPEN)
        plain = _cut_unclosed(plain)
        plain = _cut_blocks(plain, _HARNESS_OPEN)
    return (_NOTICE.sub("", plain) if "[Request interrupted" in plain else plain).strip()


def strip_blocks(text: str) -> str:
    """Return a whole file without the blocks and the recalls in it, before it is split by who speaks.

    What a note says could look like a speaker of the file; so it has to go first.
    """
    plain = _repair(text)
    return _cut_blocks(_cut_recall(plain), _OWN_PLACED)


def _repair(text: str) -> str:
    """Return the text with one kind of line end and whole characters."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if unified.isascii() or _BROKEN.search(unified) is None:
        return unified
    return unified.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _cut_blocks(text: str, opening: re.Pattern[str]) -> str:
    """Return the text without what stands between an opening tag and its end, both included; linear in its length."""
    kept, done, at = [], 0, 0
    endless: set[str] = set()
    while found := opening.search(text, at):
        at = found.end()
        name = found[1]
        end = -1 if name in endless else at if found[2] else text.find(f"</{name}>", at)
        if end < 0:
            endless.add(name)
            continue
        kept.append(text[done : found.start()])
        done = at = end if found[2] else end + len(name) + 3
    return "".join([*kept, text[done:]])


def _cut_unclosed(text: str) -> str:
    """Return the text without a block of ours whose end was cut off, to the end of what the harness had wrapped it in."""
    kept, done = [], 0
    while found := _OWN_LINE.search(text, done):
        kept.append(text[done : found.start()])
        end = _HARNESS_END.search(text, found.end())
        done = end.start() if end else len(text)
    return "".join([*kept, text[done:]])


def _cut_recall(text: str) -> str:
    """Return the text without sections of recall: the heading, and the lines that belong to it."""
    if HEADING not in text:
        return text
    kept: list[str] = []
    inside = False
    lines = text.split("\n")
    for at, line in enumerate(lines):
        before = _find_heading(line)
        if before is None and not (inside and _belongs(line, lines[at + 1] if at + 1 < len(lines) else "")):
            inside = False
            kept.append(line)
            continue
        inside = True
        ending = _HARNESS_END.findall(line)[-1] if _HARNESS_END.search(line) and line.rstrip().endswith(">") else ""
        kept += [f"{before or ''}{ending}"] if before or ending else []
    return "\n".join(kept)


def _find_heading(line: str) -> str | None:
    """Return what stands before the heading of a recall, which is alone on its line but for a hook's name; else None."""
    place = line.find(HEADING)
    before, rest = line[:place], line[place + len(HEADING) :].strip()
    if place < 0 or rest not in {"", "— NOT CHECKED"}:
        return None
    return before if not before.strip(" \t>") or before.rstrip().endswith((":", ">")) else None


def _belongs(line: str, next_line: str) -> bool:
    """Tell whether a line goes on with a recall: the fixed sentence, a note, the rest of a note, or the footer."""
    bare = line.lstrip(" \t>")
    if bare.startswith(PREAMBLE) or _HIT.match(bare) or _FOOTER.match(bare):
        return True
    return line.startswith("  ") or (not line.strip() and next_line.startswith("  "))
