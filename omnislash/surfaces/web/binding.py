"""Where an HTTP door listens, and which `Host` and `Origin` headers belong there.

On loopback everybody who can reach the door is a user of this machine, and no token is needed; a web page is kept out
by its Host (a name that was made to point here) and by its Origin. Elsewhere a token is needed as well.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.errors import UsageError
from omnislash.surfaces.web.authorities import (
    DEFAULT_PORTS,
    Authority,
    normalise_host,
    parse_address,
    parse_authority,
    parse_origin,
)
from omnislash.surfaces.web.tokens import choose_token

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Further names, with or without a port, under which a door is reached, such as that of a proxy in front of it.
NAMES_VARIABLE = "OMNISLASH_HOST_NAMES"
_LOCALHOST = "localhost"
_HOST_FORM = re.compile(r"[A-Za-z0-9._:\[\]-]+", re.ASCII)
_PORTS = range(65_536)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """An address that a door listens on, and the token that it asks for."""

    #: A host name or an IP address, as it was given.
    host: str
    #: 0 = any free one, until the door is open.
    port: int
    #: What a caller has to know; None on loopback, where none is needed.
    token: str | None = None
    #: Further names, each with or without a port, that a Host header may carry.
    names: tuple[str, ...] = ()

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """The address to open, without a last slash; a door that is open everywhere is named by its loopback address."""
        address = parse_address(self.host.strip("[]"))
        if address is not None and address.is_unspecified:
            address = parse_address("127.0.0.1" if address.version == 4 else "::1")  # noqa: PLR2004 - IPv4
        host = self.host if address is None else f"[{address}]" if ":" in str(address) else str(address)
        return f"http://{host}:{self.port}"

    def allows_host(self, header: str | None) -> bool:
        """Tell whether a `Host` header names this door; a missing one does not."""
        authority = None if header is None else parse_authority(header)
        return authority is not None and self._names(authority, "http")

    def allows_origin(self, header: str) -> bool:
        """Tell whether an `Origin` header is that of a page of this door; `null` is not."""
        origin = parse_origin(header)
        if origin is None:
            return False
        scheme, authority = origin
        return self._names(authority, scheme)

    def _names(self, authority: Authority, scheme: str) -> bool:
        port = authority.port or DEFAULT_PORTS[scheme]
        if scheme == "http" and port == self.port and self._is_own(authority.host):
            return True
        return any(self._is_named(authority.host, port, name) for name in self.names)

    def _is_own(self, host: str) -> bool:
        if self.is_loopback:
            return is_loopback(host)
        address = parse_address(self.host.strip("[]"))
        if address is not None and address.is_unspecified:
            return parse_address(host) is not None or host == _LOCALHOST
        return host == normalise_host(self.host)

    def _is_named(self, host: str, port: int, name: str) -> bool:
        """Tell whether a further name is meant: at its own port, or at this door's and the usual ones."""
        named = parse_authority(name)
        if named is None or named.host != host:
            return False
        return port == named.port if named.port is not None else port in {self.port, *DEFAULT_PORTS.values()}


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine and nothing else; a name other than `localhost` could be anything."""
    address = parse_address(host.strip("[]"))
    return normalise_host(host) == _LOCALHOST if address is None else address.is_loopback


def choose_binding(host: str, port: int, *, directory: Path, environment: Mapping[str, str]) -> Binding:
    """Return where to listen, with the token that is needed there.

    Args:
        host: A host name or an IP address.
        port: 0 to 65535; 0 = any free one.
        directory: The brain's `.omnislash/`; elsewhere than on loopback a token is kept there.
        environment: OMNISLASH_TOKEN is used in place of it, and OMNISLASH_HOST_NAMES lists further names.

    Raises:
        UsageError: The host, the port, a name or the token can't be used.
        StorageError: The token can't be read or kept.
    """
    if not _HOST_FORM.fullmatch(host):
        message = f"--host is {host!r}; it must be a host name or an IP address, such as 127.0.0.1 or 0.0.0.0."
        raise UsageError(message, key="--host")
    if port not in _PORTS:
        message = f"--port is {port}; it must be a number from 0 to {_PORTS[-1]}, where 0 takes any free port."
        raise UsageError(message, key="--port")
    names = _split_names(environment.get(NAMES_VARIABLE, ""))
    if is_loopback(host):
        return Binding(host=host, port=port, names=names)
    token = choose_token(directory, environment)
    return Binding(host=host, port=port, token=token, names=names + _machine_names())


def _split_names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if parse_authority(name) is None:
            message = f"{NAMES_VARIABLE} holds {name!r}, which is no host name; write names such as brain.example, or brain.example:8443."
            raise UsageError(message, key=NAMES_VARIABLE)
    return names


def _machine_names() -> tuple[str, ...]:
    """Return what this machine calls itself, as people write it in an address."""
    full = socket.gethostname().strip()
    short = full.partition(".")[0]
    return tuple(dict.fromkeys(name for name in (full, short, f"{short}.local") if parse_authority(name)))
