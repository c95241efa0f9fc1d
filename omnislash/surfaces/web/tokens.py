"""The token of a door that listens elsewhere than on loopback: given in the environment, or kept in a file."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from typing import TYPE_CHECKING

from omnislash.errors import StorageError, UsageError
from omnislash.store.disk import Disk, open_regular, read_descriptor
from omnislash.store.lone_files import write_new

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The variable that gives a token in place of the file.
TOKEN_VARIABLE = "OMNISLASH_TOKEN"  # noqa: S105 - the name of a variable
#: The file in the brain's `.omnislash/` that keeps one.
TOKEN_FILE = "token"  # noqa: S105 - the name of a file
#: The characters that RFC 6750 lets a bearer token have; 16 of them are more than anybody guesses at a limited rate.
_FORM = re.compile(r"[A-Za-z0-9._~+/-]{16,512}=*", re.ASCII)
_NEEDED = "it must have 16 to 512 letters, digits or ._~+/- and no spaces"
_NEW_BYTES = 32
_MODE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def choose_token(directory: Path, environment: Mapping[str, str]) -> str:
    """Return the token of OMNISLASH_TOKEN, else of the brain's file, which is made when there is none.

    Args:
        directory: The brain's `.omnislash/`.
        environment: Where OMNISLASH_TOKEN is looked up.

    Raises:
        UsageError: The token is empty or too short, or others can read the file.
        StorageError: The file can't be read or made.
    """
    given = environment.get(TOKEN_VARIABLE)
    if given is not None:
        if not _FORM.fullmatch(given):
            message = f"{TOKEN_VARIABLE} can't be used as a token: {_NEEDED}."
            raise UsageError(message, key=TOKEN_VARIABLE, hint="Unset it to have one made in .omnislash/token.")
        return given
    place = directory / TOKEN_FILE
    try:
        return _read_token(place) or _make_token(place, Disk())
    except OSError as error:
        message = f".omnislash/{TOKEN_FILE} can't be used: {error.strerror or error}."
        raise StorageError(message, path=f".omnislash/{TOKEN_FILE}", hint=f"Or set {TOKEN_VARIABLE}.") from error


def _read_token(place: Path) -> str | None:
    """Return the token of the file; None when there is no file."""
    try:
        descriptor = open_regular(place)
    except FileNotFoundError:
        return None
    try:
        is_open = bool(os.fstat(descriptor).st_mode & _OTHERS)
        text = read_descriptor(descriptor).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
    path = f".omnislash/{TOKEN_FILE}"
    if is_open:
        message = f"{path} can be read by other users of this machine, so the token in it can't be trusted."
        raise UsageError(message, path=path, hint="Remove it to have a new one made, or set its mode to 600.")
    if not _FORM.fullmatch(text):
        message = f"{path} holds no usable token: {_NEEDED}."
        raise UsageError(message, path=path, hint="Remove the file to have a new one made.")
    return text


def _make_token(place: Path, disk: Disk) -> str:
    """Make the file with a new token and return it; that of another process when it was faster."""
    token = secrets.token_urlsafe(_NEW_BYTES)
    if not place.parent.is_dir():
        with contextlib.suppress(FileExistsError):
            disk.make_directory(place.parent)
    for path, text in ((place.parent / ".gitignore", "*\n"), (place, f"{token}\n")):
        with contextlib.suppress(FileExistsError):
            write_new(path, text.encode(), mode=_MODE, disk=disk)
    return _read_token(place) or token
