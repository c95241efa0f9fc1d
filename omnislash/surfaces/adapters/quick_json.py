"""JSON without the package `json`, whose imports take as long as the start of the interpreter's own library.

The package itself hands its work to these C functions; where an interpreter has none of them, the package is used.

Source: Lib/json/decoder.py and Lib/json/encoder.py of CPython 3.11 to 3.14.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Rules:
    """What the decoder of the package hands to its scanner by default."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner empties it after each text


try:
    from _json import encode_basestring_ascii as quote  # what a text is as JSON
    from _json import make_scanner

    _scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_Rules())  # type: ignore[arg-type]  # it wants any object with these
except ImportError:  # pragma: no cover - another interpreter
    from json import JSONDecoder
    from json import dumps as quote

    _scan = JSONDecoder().raw_decode


def decode(text: str) -> Any:
    """Return the value that a text begins with.

    Raises:
        ValueError: It begins with none.
    """
    try:
        return _scan(text, 0)[0]
    except StopIteration:
        message = "this is no JSON"
        raise ValueError(message) from None


def encode(value: object) -> str:
    """Return a value as JSON: None, booleans, whole numbers, texts, lists, and objects of these."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{quote(key)}:{encode(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(encode, value)) + "]"
    return repr(value)
