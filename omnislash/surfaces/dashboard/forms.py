"""Forms that only this site can send: each carries a signature of a value that the browser holds in a cookie.

The guards in front refuse what another site sends by its headers; this holds where a browser sends none.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

_COOKIE: Final = "omnislash_form"
#: Name of the field that carries the signature, and of the header by which a program may send it.
FIELD: Final = "csrf"
_HEADER: Final = "x-csrf"
_NONCE_BYTES, _NONCE_MAX = 24, 64
#: Bytes of one field as it is sent, and how many fields a form has: no more than the guards let a body have, for a note of
#: a million bytes is three times as long when it is sent, and a form of settings has some fields for each line.
_FIELD_BYTES, _FIELDS_MAX = 4 * 1024 * 1024, 10_000


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form; a file in it is not taken."""

    fields: Mapping[str, str]

    def text(self, name: str) -> str:
        """Return a field as it was typed, with the line ends of this system; '' when it is absent.

        A browser sends every line end of a text area as CR LF.
        """
        return self.fields.get(name, "").replace("\r\n", "\n")

    def word(self, name: str) -> str | None:
        """Return a field without the space around it; None when it is absent or empty."""
        return self.fields.get(name, "").strip() or None


def new_nonce() -> str:
    """Return a value for the cookie of a browser that has none."""
    return secrets.token_urlsafe(_NONCE_BYTES)


def find_nonce(request: Request) -> str | None:
    """Return the value of the browser's cookie; None when it has none that could be ours."""
    nonce = request.cookies.get(_COOKIE, "")
    return nonce if 0 < len(nonce) <= _NONCE_MAX and nonce.isascii() else None


def sign(secret: bytes, nonce: str) -> str:
    """Return the signature that a form carries: HMAC-SHA-256 of the cookie's value."""
    return hmac.new(secret, nonce.encode("ascii"), hashlib.sha256).hexdigest()


def remember(request: Request, answer: Response, nonce: str) -> None:
    """Set the cookie when the browser lacks it; no script and no other site gets it."""
    if request.cookies.get(_COOKIE) != nonce:
        answer.set_cookie(
            _COOKIE, nonce, path="/", httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )


async def read(request: Request, secret: bytes) -> Form:
    """Return the form of a request.

    Raises:
        HTTPException: 403 when it was not sent from a page of this site; 400 when it can't be read.
    """
    try:
        fields = _take_fields(await request.form(max_fields=_FIELDS_MAX, max_part_size=_FIELD_BYTES))
    except ClientDisconnect as error:  # nobody hears the answer
        raise HTTPException(400, "The form did not arrive whole; nothing was changed.") from error
    nonce = find_nonce(request)
    given = fields.get(FIELD) or request.headers.get(_HEADER, "")
    if nonce is None or not hmac.compare_digest(sign(secret, nonce).encode(), given.encode()):
        raise HTTPException(
            403,
            "This form was not sent from a page of this dashboard, or the dashboard was started anew meanwhile. "
            "Nothing was changed. Go back, load the page again and repeat it.",
        )
    return Form(fields)


def _take_fields(data: FormData) -> dict[str, str]:
    return {name: value for name, value in data.items() if not isinstance(value, UploadFile)}
