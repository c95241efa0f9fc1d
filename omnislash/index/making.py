"""What an index was made for: when one of these is another, the stored notes and terms are not what they would be now.

Rules: LANG-O6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omnislash.index.notes import NOTES_VERSION
from omnislash.index.stemming import STEMS_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence


def describe_making(languages: Sequence[str], models: Sequence[str]) -> dict[str, Any]:
    """Return `{notes, stems, languages, models}`, as it is kept under `madeBy` in the table `meta`.

    Args:
        languages: `memory.languages`.
        models: Identities of the embedders, the default one first.
    """
    return {"notes": NOTES_VERSION, "stems": STEMS_VERSION, "languages": list(languages), "models": list(models)}
