"""What a YAML parser complains about → a sentence that a person can act on.

The parser names grammar ("did not find expected key"); people typed a colon, a tab or a star.
The character at the reported place, and the line that it stands in, tell which.
"""

from __future__ import annotations

import re

from omnislash.brain.tree import DEPTH_MAX
from omnislash.errors import Fault

_QUOTE = "Put the value in quotes."
#: Signs that can't begin a value without quotes.
_RESERVED = frozenset("*&!%@`")
#: What stands in front of a value: the beginning of the line, a colon, a dash, a comma or a bracket.
_VALUE_START = re.compile(r"(?:^|: |- |, |[\[{])\s*")
_CLOSERS = ("'", '"', "]", "}")
#: Part of the parser's words → sentence and next step; the first part that occurs decides.
_KNOWN = (
    ("mapping values are not allowed", "A key can't stand here.", "Check the indentation, and the line above."),
    ("block sequence entries are not allowed", "A list item '- ' can't begin here.", "Begin it on a line of its own."),
    ("block collection", "This line is no item of the list above it.", "Begin it with '- ', or mend its indentation."),
    ("found unexpected end of stream", "A quoted text is never closed.", "Close the quotes."),
    ("found unexpected document indicator", "A quoted text is never closed.", "Close the quotes."),
    ("unknown escape character", "There is an unknown escape after a backslash.", "Use single quotes around it."),
    ("invalid unicode character escape", "There is an escape for no character.", "Write the character itself."),
    ("did not find expected hexdecimal", "There is an unfinished escape after a backslash.", "Use single quotes."),
    ("',' or ']'", "A list that begins with '[' is not closed, or a ',' is missing.", "Add ']' or ','."),
    ("',' or '}'", "A block that begins with '{' is not closed, or a ',' is missing.", "Add '}' or ','."),
    ("could not find expected ':'", "This line has no ': ' after a key.", "Write it as `key: value`."),
    ("expected <document start>", "This line is indented less than the one before.", "Give both the same indentation."),
    ("maximum nesting depth", f"Values are nested more than {DEPTH_MAX} deep.", "No setting needs that; flatten it."),
    ("block mapping", "This is no `key: value` of the block above it.", "Check the indentation, or quote the value."),
    ("node content", "There is a bracket or sign where a value should begin.", _QUOTE),
)


def explain_yaml_error(error: Exception, text: str, *, path: str, first_line: int) -> Fault:
    """Return the fault for what the parser refused.

    Args:
        error: What the parser raised.
        text: The text that it was given.
        path: Name of the file in the fault.
        first_line: Line of the file in which `text` begins.
    """
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Fault(path, f"The file is not valid YAML: {error}.", hint="Check its first lines.")
    words = f"{getattr(error, 'context', None) or ''} {getattr(error, 'problem', None) or ''}".strip().lower()
    line, column = _begin(error, mark.line, mark.column)
    typed = _line_of(text, line)
    reserved = _reserved_before(typed, column)
    message, hint = _explain(words, typed, column, reserved)
    column = column if reserved is None else reserved
    return Fault(path, message, line=line + first_line, column=column + 1, hint=hint)


def _begin(error: Exception, line: int, column: int) -> tuple[int, int]:
    """Return the place that helps: where an unclosed quote or bracket opens, else where the parser stopped."""
    context = getattr(error, "context_mark", None)
    words = f"{getattr(error, 'context', None) or ''} {getattr(error, 'problem', None) or ''}"
    if context is not None and any(sign in words for sign in ("quoted scalar", "flow ", "simple key")):
        return context.line, context.column
    return line, column


def _line_of(text: str, line: int) -> str:
    lines = text.split("\n")
    return lines[line] if line < len(lines) else ""


def _explain(words: str, line: str, column: int, reserved: int | None) -> tuple[str, str]:
    before = line[:column].rstrip()
    if "\t" in line[: column + 1] and not before:
        return "There is a tab where only spaces may indent.", "Replace the tab by spaces."
    if reserved is not None:
        return f"A value without quotes can't begin with {line[reserved]!r}.", _QUOTE
    if ": " in before and "mapping values" in words:
        return "There is a second ': ' in a value without quotes.", _QUOTE
    if ("did not find expected" in words or "but found" in words) and before.endswith(_CLOSERS):
        return f"There is text behind the closing {before[-1]!r}.", "Put the whole value in quotes of the other kind."
    for part, message, hint in _KNOWN:
        if part in words:
            return message, hint
    return f"This is not valid YAML: {words}.", _QUOTE


def _reserved_before(line: str, column: int) -> int | None:
    """Return where the value begins in or behind which the parser stopped, if a reserved sign begins it."""
    found = [match.end() for match in _VALUE_START.finditer(line, 0, column + 1)]
    start = found[-1] if found else 0
    return start if line[start : start + 1] in _RESERVED else None
