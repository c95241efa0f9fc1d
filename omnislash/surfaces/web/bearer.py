"""The bearer token of a request.

Source: RFC 6750.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING

from omnislash.surfaces.web.answers import answer, read_headers

if TYPE_CHECKING:
    from starlette.types import Scope, Send

_CHALLENGE = b'Bearer realm="omnislash"'
#: How long a header may be to be compared with the token at all.
_LONGEST_HEADER = 2048


def carries_token(scope: Scope, token: str) -> bool:
    """Tell whether a request has exactly one Authorization header, and it is `Bearer` with the token."""
    headers = read_headers(scope, b"authorization")
    if len(headers) != 1 or len(headers[0]) > _LONGEST_HEADER:
        return False
    scheme, _, given = headers[0].partition(" ")
    return scheme.lower() == "bearer" and is_token(given.strip(" "), token)


def is_token(given: str, token: str) -> bool:
    """Compare in a time that tells nothing about the token."""
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())


async def refuse_token(scope: Scope, send: Send) -> None:
    """Answer 401 and say what is asked for."""
    is_wrong = bool(read_headers(scope, b"authorization"))
    challenge = _CHALLENGE + (b', error="invalid_token"' if is_wrong else b"")
    text = (
        "The token is not the one of this server."
        if is_wrong
        else "This server asks for its token: send it as Authorization: Bearer TOKEN."
    )
    await answer(scope, send, HTTPStatus.UNAUTHORIZED, text, headers=[(b"www-authenticate", challenge)])
