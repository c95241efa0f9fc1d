"""What an embedder promises, and the scale on which all of them answer.

Cosines of different models are not comparable: unrelated texts lie at .05 with one and at .80 with another.
So every embedder carries a calibration that maps its cosines onto the scale of `text-embedding-3-small`, on which the
floors were set (relevant notes about .3 to .75, small talk up to about .40).

Rules: RECALL-16, RECALL-O3, RECALL-O6.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, overload

from omnislash.errors import OmnislashError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from omnislash.core.languages import Script

    Vectors = NDArray[np.float32]


class EmbedderUnavailableError(OmnislashError):
    """The embedder can't be loaded, or does not answer."""

    kind = "embedder"


@dataclass(frozen=True, slots=True)
class Calibration:
    """A straight line from a model's cosine to the common scale."""

    #: Common scale for one of cosine; > 0, so that the order stays.
    slope: float
    #: What a cosine of 0 is on the common scale.
    offset: float
    #: What gave the two numbers: the measurement and its date.
    source: str

    @overload
    def raw(self, cosine: float) -> float: ...
    @overload
    def raw(self, cosine: Vectors) -> Vectors: ...
    def raw(self, cosine: float | Vectors) -> float | Vectors:
        """Return the value on the common scale as it is: what notes are ordered by."""
        return self.slope * cosine + self.offset

    @overload
    def score(self, cosine: float) -> float: ...
    @overload
    def score(self, cosine: Vectors) -> Vectors: ...
    def score(self, cosine: float | Vectors) -> float | Vectors:
        """Return the value on the common scale, held in [0, 1]: what floors are compared with."""
        scaled = self.raw(cosine)
        return min(max(scaled, 0.0), 1.0) if isinstance(scaled, float) else scaled.clip(0.0, 1.0)


#: The scale itself. Source: RECALL-16.
REFERENCE = Calibration(1.0, 0.0, "the scale of text-embedding-3-small, on which the floors were set")


class Embedder(Protocol):
    """Turns texts into vectors of unit length; may be used by several threads at once.

    Nothing heavy happens before `load`, which every call that embeds makes by itself.
    Each call that embeds may raise :class:`EmbedderUnavailableError`; the embedder can be asked again afterwards.
    """

    @property
    def name(self) -> str:
        """What people call the model."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 while that is not known, because an endpoint has not answered yet."""
        ...

    @property
    def window(self) -> int:
        """Tokens of a text that are read; what follows them may be left out."""
        ...

    @property
    def identity(self) -> str:
        """Name of the space: vectors may be compared, and kept, where it is the same. Known without loading."""
        ...

    @property
    def calibration(self) -> Calibration:
        """How the cosines of the space lie on the common scale."""
        ...

    def reads(self, script: Script | None, language: str | None) -> bool:
        """Tell whether floors hold for such text.

        Args:
            script: Of most of the letters; None for a script that no supported language is written in.
            language: The listed language that owns the script; None when none does.
        """
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of notes, shape (n, dimension), in the order of `texts`; no text may be blank."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a message or question, shape (dimension,); the text may not be blank."""
        ...

    def load(self) -> None:
        """Make ready; does nothing the second time.

        Raises:
            EmbedderUnavailableError: It can't be; the message says what is missing, the hint what to do.
        """
        ...


def make_identity(**parts: str | int) -> str:
    """Return the name of a space: a hash of everything that decides what its vectors are."""
    told = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(told.encode("ascii")).hexdigest()
