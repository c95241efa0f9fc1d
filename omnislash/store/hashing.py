"""Content hashes, as they stand in the state database and in `expectHash`."""

from __future__ import annotations

import hashlib

#: What stands for "there is no file".
ABSENT = "absent"


def hash_bytes(data: bytes | None) -> str:
    """Return the SHA-256 of the bytes as 64 hex digits, or `absent` for None."""
    return ABSENT if data is None else hashlib.sha256(data).hexdigest()
