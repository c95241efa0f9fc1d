"""JSON text → the same tree with positions that YAML gives, and as strict.

Python's own parser judges the syntax; a second, iterative pass over the tokens keeps places and finds keys
that are given twice, which the parser would drop without a word.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from omnislash.brain.file_text import clean_text
from omnislash.brain.tree import DEPTH_MAX, Mapping, Mark, Node, Scalar, Sequence, Tree
from omnislash.errors import Fault

_TOKEN = re.compile(r'[{}\[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+')
_STEPS = {
    "Expecting property name": "Put the name in double quotes, and no comma before a closing brace.",
    "Illegal trailing comma": "Remove the comma before the closing bracket.",
    "Expecting ',' delimiter": "Add a comma between two values.",
    "Expecting ':' delimiter": "Write a colon after the name.",
    "Expecting value": "Write a value; comments are not allowed in JSON.",
    "Extra data": "Remove what follows the closing brace.",
    "Unterminated string": "Close the quotes.",
}


class _ConstantError(ValueError):
    """The text holds NaN or Infinity."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


def parse_json(text: str, *, path: str) -> Tree:
    """Return the tree of a JSON text and everything in it that is refused; no text makes it raise.

    An empty text is a block without keys.

    Args:
        text: The text, with or without a byte order mark.
        path: Name of the file in faults, relative to the brain.
    """
    text, faults = clean_text(text, path=path)
    if not text.strip():
        return Tree(Mapping({}, Mark(1, 1)), faults)
    problem = _find_problem(text, path)
    if problem is not None:
        return Tree(None, (*faults, problem))
    builder = _Builder(path)
    root = builder.build(text)
    faults = (*faults, *builder.faults)
    if isinstance(root, Mapping):
        return Tree(root, faults)
    message = "There is no block of names where one is expected."
    return Tree(None, (*faults, Fault(path, message, line=1, hint='Write { "name": … }.')))


def _find_problem(text: str, path: str) -> Fault | None:
    if _depth(text) > DEPTH_MAX:
        return Fault(path, f"Values are nested more than {DEPTH_MAX} deep.", hint="No setting needs that; flatten it.")
    try:
        json.loads(text, parse_constant=_refuse_constant, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        hint = next((step for words, step in _STEPS.items() if error.msg.startswith(words)), "Mend it there.")
        return Fault(path, f"This is not valid JSON: {error.msg}.", line=error.lineno, column=error.colno, hint=hint)
    except _ConstantError as error:
        return Fault(path, f"{error} is no JSON value.", hint="Write a number or null.")
    return None


def _depth(text: str) -> int:
    """Return how deep brackets nest, at least; strings do not count."""
    deepest = depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token.group(), 0)
        deepest = max(deepest, depth)
    return deepest


class _Builder:
    """Builds the tree of a text whose syntax is right."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.faults: list[Fault] = []
        self.open: list[tuple[str, Mark, list[Node]]] = []

    def build(self, text: str) -> Node:
        done: list[Node] = []
        line, start = 1, 0
        for match in _TOKEN.finditer(text):
            line += text.count("\n", start, match.start())
            start = match.start()
            mark = Mark(line, start - text.rfind("\n", 0, start))
            node = self.take(match.group(), mark)
            if node is not None:
                (self.open[-1][2] if self.open else done).append(node)
        return done[0]

    def take(self, sign: str, mark: Mark) -> Node | None:
        """Return a finished value; None while there is none."""
        if sign in "{[":
            self.open.append((sign, mark, []))
        elif sign in "}]":
            return self.close(*self.open.pop())
        elif sign not in ",:":
            is_text = sign.startswith('"')
            return Scalar(json.loads(sign) if is_text else sign, not is_text, mark)
        return None

    def close(self, bracket: str, mark: Mark, items: list[Node]) -> Node:
        if bracket == "[":
            return Sequence(tuple(items), mark)
        entries: dict[str, Node] = {}
        keys: dict[str, Mark] = {}
        for name, value in zip(items[::2], items[1::2], strict=True):
            key = name.text if isinstance(name, Scalar) else ""
            if key in keys:
                self.report_twice(key, keys[key], name.mark)
                continue
            entries[key], keys[key] = value, name.mark
        return Mapping(entries, mark, keys)

    def report_twice(self, key: str, first: Mark, second: Mark) -> None:
        message = f"The key `{key}` is given twice: in line {first.line} and in line {second.line}."
        fault = Fault(self.path, message, line=second.line, column=second.column, key=key, hint="Keep one of them.")
        self.faults.append(fault)
