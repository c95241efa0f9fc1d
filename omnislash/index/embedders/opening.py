"""Which embedders a brain gets, by `memory.embeddingModel`, and what there is to say about them.

Rules: KNOB-21, RECALL-11, RECALL-O3, RECALL-O6, RECALL-O8, LANG-08.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.core.languages import resolve_languages
from omnislash.index.embedders.endpoint import Endpoint
from omnislash.index.embedders.minilm import MiniLM
from omnislash.index.embedders.multilingual import INSTALL, MultilingualE5, is_installed
from omnislash.index.embedders.openai_compatible import OpenAICompatible
from omnislash.index.embedders.ports import REFERENCE, Calibration, EmbedderUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omnislash.index.embedders.ports import Embedder

#: What `memory.embeddingModel` may say beside the name of an endpoint's model.
LOCAL, LOCAL_MULTILINGUAL, NONE = "local", "local-multilingual", "none"


@dataclass(frozen=True, slots=True)
class Opened:
    """The embedders of a brain; none is loaded yet."""

    #: The preferred one first; empty when recall is by words only.
    embedders: tuple[Embedder, ...]
    #: What doctor and the log of the start say about them, each one sentence or two.
    notes: tuple[str, ...] = ()


def open_embedders(
    model: str,
    *,
    languages: Sequence[str],
    environment: Mapping[str, str],
    calibration: Calibration | None = None,
    has_extra: bool | None = None,
    is_brief: bool = False,
) -> Opened:
    """Return the embedders that `memory.embeddingModel` names; nothing is loaded and nothing sent.

    With the extra installed both local ones are returned, whatever languages are listed: a text in Chinese can't be
    listed (LANG-08), and the second one is loaded when the first text comes that only it reads.
    An endpoint that can't be asked is returned all the same, with a note: each search says why it is words only.

    Args:
        model: `local`, `local-multilingual`, `none`, or the name of an endpoint's model.
        languages: `memory.languages`.
        environment: Where `OPENAI_API_KEY`, `OPENAI_BASE_URL` and the proxy variables are looked up.
        calibration: Of the endpoint's model, when it has been calibrated.
        has_extra: Whether the extra `multilingual` is installed; None to look.
        is_brief: True for a process that asks for a vector or two and ends.

    Raises:
        InvalidNameError: The list of languages is not one.
    """
    if model == NONE:
        return Opened(())
    if model in {LOCAL, LOCAL_MULTILINGUAL}:
        english = MiniLM.brief() if is_brief else MiniLM()
        installed = is_installed() if has_extra is None else has_extra
        if installed:
            return Opened((english, MultilingualE5()))
        return Opened((english,), _explain_extra(model, languages))
    endpoint = Endpoint.from_environment(environment)
    embedder = OpenAICompatible(model, endpoint, calibration=calibration or REFERENCE)
    return Opened((embedder,), _check_endpoint(endpoint))


def _explain_extra(model: str, languages: Sequence[str]) -> tuple[str, ...]:
    """Return what to say when the extra is not installed: nothing while nobody asks for it or needs it."""
    unread = [
        language for script, language in resolve_languages(languages).items() if not MiniLM.reads(script, language)
    ]
    told = []
    if model == LOCAL_MULTILINGUAL:
        told.append(f"memory.embeddingModel is {LOCAL_MULTILINGUAL}, but the multilingual embedder is not installed.")
    if unread:
        names = " and ".join(dict.fromkeys(unread))
        told.append(f"The local embedder reads English only: notes in {names} are found by their words alone.")
    return (" ".join([*told, _name_remedy()]),) if told else ()


def _name_remedy() -> str:
    if sys.platform == "win32":
        return "The multilingual one does not run on Windows; name an endpoint's model in memory.embeddingModel."
    return f"Install the multilingual one: {INSTALL}"


def _check_endpoint(endpoint: Endpoint) -> tuple[str, ...]:
    try:
        endpoint.check()
    except EmbedderUnavailableError as error:
        return (f"{error.message} {error.hint}",)
    return ()
