"""A markdown file → its frontmatter and its body.

Frontmatter begins in the first line with `---` alone and ends with the next line that is `---` alone.
The body is everything behind that line, untouched.

In a note, a rule `---` that is never closed is simply text, and so is a block that does not parse: a note is
never lost for its header.
In a role, heartbeat or hook the same is a fault, because instructions would run without the limits that the
header sets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from omnislash.brain.tree import Mapping, Mark, Tree
from omnislash.brain.yaml_text import parse_yaml
from omnislash.errors import Fault

_OPENING = re.compile(r"\ufeff?---[ \t]*\r?(?:\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_LATE = re.compile(r"\ufeff?(?:[ \t]*\r?\n)+---[ \t]*\r?\n")
_BLURRED = re.compile(r"\ufeff?[ \t]*---[ \t]+[^\s-]|\ufeff?[ \t]+---[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A markdown file in two parts; `text == opening line + header + closing line + body`."""

    #: The lines between the two rules, with their line ends; None when the file has no frontmatter.
    header: str | None
    #: The rest of the file, word for word.
    body: str
    #: Line of the file in which the body begins.
    body_line: int = 1


@dataclass(frozen=True, slots=True)
class Document:
    """A file whose frontmatter must be right."""

    #: The keys, and what is wrong with them.
    tree: Tree
    #: The rest of the file, word for word.
    body: str


def split_frontmatter(text: str) -> Frontmatter:
    """Return the two parts of a markdown file; without a closing rule the whole file is body."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Frontmatter(None, text)
    body_line = text.count("\n", 0, closing.end()) + 1
    return Frontmatter(text[opening.end() : closing.start()], text[closing.end() :], body_line)


def parse_document(text: str, *, path: str) -> Document:
    """Return keys and body of a role, heartbeat or hook; a file without frontmatter has no keys.

    Args:
        text: Text of the file.
        path: Name of the file in faults, relative to the brain.
    """
    parts = split_frontmatter(text)
    if parts.header is not None:
        return Document(parse_yaml(parts.header, path=path, first_line=2), parts.body)
    problem = _find_problem(text, path)
    if problem is not None:
        return Document(Tree(None, (problem,)), text)
    return Document(Tree(Mapping({}, Mark(1, 1))), text.removeprefix("\ufeff"))


def _find_problem(text: str, path: str) -> Fault | None:
    """Return why a file without frontmatter was probably meant to have one."""
    if _OPENING.match(text):
        message = "The frontmatter that begins here is never closed."
        return Fault(path, message, line=1, column=1, hint="Write a line `---` behind its last key.")
    if _LATE.match(text):
        message = "The frontmatter does not begin in the first line."
        return Fault(path, message, line=1, column=1, hint="Delete the empty lines above `---`.")
    if _BLURRED.match(text):
        message = "The line that opens the frontmatter holds more than `---`."
        return Fault(path, message, line=1, column=1, hint="Write `---` alone in it.")
    return None
