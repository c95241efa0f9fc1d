"""What went wrong at a provider, as one sentence: which model, what happened, what to do next.

A sentence never holds a key: what a provider says is repeated only where it explains a rejected request, clipped, with
credentials masked and the keys of the environment taken out.

Rules: SECRET-O2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic_ai import exceptions as errors

from omnislash.core.credentials import mask_secrets
from omnislash.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Explain: TypeAlias = "Callable[[Any, Mapping[str, str]], tuple[str, str]]"

#: How much of a provider's own words is repeated, in characters.
_SAID_CHARS: Final = 300
#: Shortest value of a variable that is taken for a key.
_KEY_CHARS: Final = 8
#: Words in the name of a variable whose value is never repeated.
_KEY_WORDS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_AGAIN: Final = "Try again in a moment"
#: Stages of a request at which nothing was sent yet.
_BEFORE: Final = frozenset({"pool", "connect"})


def explain_failure(error: Exception, model: str, environment: Mapping[str, str]) -> ModelError:
    """Return the one sentence for what a model or its provider's library raised.

    Args:
        error: What was raised.
        model: What the model is called.
        environment: Variables whose keys must not be repeated.
    """
    explain = next(explain for kind, explain in _KINDS if isinstance(error, kind))
    what, remedy = explain(error, environment)
    return ModelError(f"The model {model} gave no answer: {what}. {remedy}.")


# -- each kind: what happened and what to do, both without a full stop; the first that fits is told ------------------


def _limited(error: Any, _environment: Mapping[str, str]) -> tuple[str, str]:
    wait = f"Try again in {error.retry_after:.0f} seconds" if error.retry_after else _AGAIN
    return "the provider's rate limit is reached (429)", wait


def _late(error: Any, _environment: Mapping[str, str]) -> tuple[str, str]:
    return f"it did not finish within {error.timeout:g} seconds", _AGAIN


def _silent(error: Any, _environment: Mapping[str, str]) -> tuple[str, str]:
    if error.phase in _BEFORE:
        return "no connection to the provider came about in time", "Check the network and the provider's base URL"
    return "the provider went silent", _AGAIN


def _unconnected(error: Any, _environment: Mapping[str, str]) -> tuple[str, str]:
    if error.phase in _BEFORE:
        return "the provider can't be reached", "Check the network and the provider's base URL"
    return "the connection broke off before the answer was complete", _AGAIN


def _missing(error: Any, _environment: Mapping[str, str]) -> tuple[str, str]:
    near = getattr(error, "suggested_model_id", None)
    hint = f"Did you mean {near!r}? " if near else ""
    what = "the provider has no such model, or its base URL is wrong (404)"
    return what, f"{hint}Check the model's name where it is configured"


def _failed(error: Any, _environment: Mapping[str, str]) -> tuple[str, str]:
    code = getattr(error, "status_code", None)
    return f"its provider failed{f' ({code})' if code else ''}", _AGAIN


def _rejected(error: Any, environment: Mapping[str, str]) -> tuple[str, str]:
    code = getattr(error, "status_code", None)
    said = _repeat(_find_words(error.body), environment)
    what = f"the provider turned the request down{f' ({code})' if code else ''}{said}"
    return what, "Check the model and its settings"


def _unfit(error: Exception, environment: Mapping[str, str]) -> tuple[str, str]:
    return f"it can't be asked so{_repeat(str(error), environment)}", "Check the model and its settings"


def _say(what: str, remedy: str) -> _Explain:
    return lambda _error, _environment: (what, remedy)


_KINDS: Final[tuple[tuple[type[Exception], _Explain], ...]] = (
    (
        errors.ModelQuotaExceededError,
        _say("the account's quota or credit is used up", "Check the plan and the billing at the provider"),
    ),
    (
        errors.ModelContextWindowExceededError,
        _say("the conversation is longer than it can take", "Start a new session; what is in memory comes along"),
    ),
    (errors.ModelOverloadedError, _say("its provider is overloaded (529)", _AGAIN)),
    (
        errors.ContentFilterError,
        _say("a content filter stopped the answer", "Word the message differently, or use another model"),
    ),
    (
        errors.OutputTokenLimitExceeded,
        _say("its answer was cut off at the model's length limit", "Ask for less at once"),
    ),
    (errors.ModelRateLimitError, _limited),
    (errors.ModelTimeoutError, _silent),
    (errors.ModelConnectionError, _unconnected),
    (errors.ModelRequestTimeout, _late),
    (errors.ModelNotFoundError, _missing),
    (
        errors.ModelAuthenticationError,
        _say("the provider does not accept the key", "Check the key in the provider's variable"),
    ),
    (errors.ModelUnavailableError, _failed),
    (errors.ModelServerError, _failed),
    (errors.ModelHTTPError, _rejected),
    (errors.ModelRequestRejectedError, _rejected),
    (errors.ModelAPIError, _say("its answer could not be read", _AGAIN)),
    (
        errors.UsageLimitExceeded,
        _say("it went on asking for tools beyond the limit of one turn", "Ask for less at once"),
    ),
    (errors.UnexpectedModelBehavior, _say("its answer was empty or could not be read", _AGAIN)),
    (errors.UserError, _unfit),
    (Exception, _say("its answer could not be read", _AGAIN)),
)


def _find_words(body: object) -> str:
    """Return the message in a provider's error body; '' without one."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message") if isinstance(inner, dict) else inner
    return said if isinstance(said, str) else ""


def _repeat(said: str, environment: Mapping[str, str]) -> str:
    """Return `: ` and the words of a provider, on one line, clipped, without a key; '' for none."""
    text = hide_keys(" ".join(said.split()), environment).rstrip(".")
    return f": {text[:_SAID_CHARS]}" if text else ""


def hide_keys(text: str, environment: Mapping[str, str]) -> str:
    """Return a text without the keys of an environment and whatever else looks like a credential."""
    for name, value in environment.items():
        if len(value) >= _KEY_CHARS and any(word in name.upper() for word in _KEY_WORDS):
            text = text.replace(value, f"[{name}]")
    return mask_secrets(text)
