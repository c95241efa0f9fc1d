"""Reading what a `Host` or an `Origin` header names: strictly, because a browser may have been talked into sending it.

Source: RFC 9110 section 7.2 (Host), RFC 6454 section 7 (Origin), RFC 3986 section 3.2 (authority).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

#: `name`, `name:port`, `1.2.3.4:port` or `[v6]:port`; no user, no path, no zone of an IPv6 address.
_AUTHORITY = re.compile(
    r"(?:(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\.?)|\[(?P<v6>[0-9A-Fa-f:.]{2,45})\])(?::(?P<port>[0-9]{0,5}))?",
    re.ASCII,
)
#: The ports that a URL leaves out.
DEFAULT_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """A host and, where one is named, a port."""

    #: In lower case without a last dot; an IP address in its shortest form and without brackets.
    host: str
    port: int | None = None


def parse_authority(text: str) -> Authority | None:
    """Return what `text` names; None for anything but a host with or without a port."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > _LAST_PORT:
        return None
    if found["v6"] is None:
        return Authority(host=normalise_host(found["name"]), port=port)
    address = parse_address(found["v6"])
    return Authority(host=str(address), port=port) if address is not None else None


def parse_origin(text: str) -> tuple[str, Authority] | None:
    """Return the scheme and the authority of an `Origin` header; None for `null` and for anything else that is no URL."""
    scheme, found, rest = text.partition("://")
    scheme = scheme.lower()
    authority = parse_authority(rest) if found and scheme in DEFAULT_PORTS else None
    return None if authority is None else (scheme, authority)


def normalise_host(host: str) -> str:
    """Return a host in lower case without its last dot; an IP address in its shortest form."""
    address = parse_address(host.strip("[]") if host.startswith("[") else host)
    return host.lower().removesuffix(".") if address is None else str(address)


def parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an IP address, an IPv4 one also when it comes in the clothes of IPv6; None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
