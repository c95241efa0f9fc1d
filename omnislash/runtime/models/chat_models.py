"""The model of a turn: a provider's, a harness command, or the offline one.

A model string is one of pydantic-ai's: `openai:<name>` speaks the Responses API, `openai-chat:<name>` chat completions
(which most servers of your own speak), `anthropic:<name>` the Messages API.
Keys and addresses of OpenAI and Anthropic come from the variables of the brain and from nowhere else; other providers
read their own variables from this process.

Rules: interface.md, "Command line"; issue 4, "Models".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from omnislash.brain.config import OFFLINE, PROJECT_FILE
from omnislash.brain.nearest import find_nearest, suggest
from omnislash.core.lines import quote_name
from omnislash.errors import ModelError
from omnislash.runtime.models.harness import TIME_LIMIT_S, HarnessModel
from omnislash.runtime.models.references import CLI, explain_harness, name_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_ai.models import Model as ChatModel
    from pydantic_ai.providers import Provider

    from omnislash.brain.files import BrainFiles

#: Waits before a request is sent again, in seconds: an overload or a rate limit is often over after that, and a person
#: does not wait much longer for the first word.
RETRY_DELAYS_S: Final = (1.0, 4.0)
_CHAT_COMPLETIONS: Final = "openai-chat"
_OPENAI: Final = frozenset({"openai", _CHAT_COMPLETIONS, "openai-responses"})
_ANTHROPIC: Final = "anthropic"
#: Where the providers answer when no base URL is given.
#: Source: https://platform.openai.com/docs/api-reference, https://docs.anthropic.com/en/api/overview
_OPENAI_URL: Final = "https://api.openai.com/v1"
_ANTHROPIC_URL: Final = "https://api.anthropic.com"
#: Stands for the key of a server of one's own that asks for none.
_NO_KEY: Final = "none"


def resolve_chat_model(
    reference: str | None,
    config: BrainFiles,
    *,
    environment: Mapping[str, str],
    is_over: Callable[[], bool] = lambda: False,
    time_limit_s: float = TIME_LIMIT_S,
    retry_delays_s: Sequence[float] = RETRY_DELAYS_S,
) -> ChatModel:
    """Return the model that a reference means, made for one turn.

    Args:
        reference: A name of `models:`, a model string, `cli:<name>` or `offline`; None for the offline model.
        config: Holds the models and harnesses.
        environment: Variables of the providers and commands.
        is_over: Tells a running command that nobody waits for its answer any more.
        time_limit_s: Seconds that a command may take.
        retry_delays_s: Waits before each further attempt of a request that failed before its first word.

    Raises:
        ModelError: Nothing is called so, its package is not installed, or its key is missing; one sentence.
    """
    string = name_model(reference, config)
    if string == OFFLINE:
        from omnislash.runtime.models.chat_offline import make_offline_chat  # noqa: PLC0415 - not needed for a provider

        return make_offline_chat()
    if string.startswith(CLI):
        return _make_harness(string, config, environment, is_over, time_limit_s)
    if not _names_provider(string):
        raise ModelError(_explain_unknown(string, reference, config))
    return _make_provider_model(string, environment, retry_delays_s)


def _make_harness(
    string: str,
    config: BrainFiles,
    environment: Mapping[str, str],
    is_over: Callable[[], bool],
    time_limit_s: float,
) -> ChatModel:
    from omnislash.runtime.models.cli_chat import make_cli_chat  # noqa: PLC0415 - not needed for a provider

    command = config.project.harnesses.get(string.removeprefix(CLI))
    if command is None:
        raise ModelError(explain_harness(string, config))
    harness = HarnessModel(
        string,
        command,
        directory=config.root,
        environment=environment,
        is_over=is_over,
        time_limit_s=time_limit_s,
    )
    return make_cli_chat(string, harness.ask)


def _make_provider_model(string: str, environment: Mapping[str, str], retry_delays_s: Sequence[float]) -> ChatModel:
    from pydantic_ai.exceptions import UserError  # noqa: PLC0415 - heavy
    from pydantic_ai.models import infer_model  # noqa: PLC0415 - heavy

    from omnislash.runtime.models.retrying import RetryingModel  # noqa: PLC0415 - heavy

    name = string.partition(":")[0]
    try:
        model = infer_model(string, provider_factory=lambda wanted: _make_provider(wanted, string, environment))
        if name == _CHAT_COMPLETIONS:
            model = _demand_ending(model, string)
    except ImportError as error:
        raise ModelError(_explain_extra(string, name)) from error
    except UserError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ModelError(f"The model {quote_name(string)} can't be used: {reason}.") from error
    return RetryingModel(model, retry_delays_s)


def _demand_ending(model: ChatModel, string: str) -> ChatModel:
    """Return a model of chat completions for which a stream without its last words is broken, and no short answer."""
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - an extra
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415 - an extra

    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return OpenAIChatModel(string.partition(":")[2], provider=model.provider or "openai", profile=profile)


def _make_provider(name: str, string: str, environment: Mapping[str, str]) -> Provider[Any]:
    """Return the provider of a model string, with its key and address."""
    from pydantic_ai.providers import infer_provider  # noqa: PLC0415 - heavy

    if name in _OPENAI:
        from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - an extra

        key, url = _find_access(string, "OPENAI", environment)
        return OpenAIProvider(api_key=key, base_url=url or _OPENAI_URL)
    if name == _ANTHROPIC:
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - an extra

        key, url = _find_access(string, "ANTHROPIC", environment)
        return AnthropicProvider(api_key=key, base_url=url or _ANTHROPIC_URL)
    return infer_provider(name)


def _find_access(string: str, prefix: str, environment: Mapping[str, str]) -> tuple[str, str | None]:
    """Return key and base URL of a provider; a server of one's own needs no key."""
    key, url = environment.get(f"{prefix}_API_KEY"), environment.get(f"{prefix}_BASE_URL")
    if not key and not url:
        message = f"The model {quote_name(string)} needs a key: set {prefix}_API_KEY, or name another model."
        raise ModelError(message)
    return key or _NO_KEY, url


def _names_provider(string: str) -> bool:
    """Tell whether a model string begins with a provider that the library knows."""
    from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415 - heavy

    name, colon, _ = string.partition(":")
    try:
        infer_provider_class(name)
    except ValueError:
        return False
    except ImportError:  # it is one, whose package is not installed
        return bool(colon)
    return bool(colon)


def _explain_unknown(string: str, reference: str | None, config: BrainFiles) -> str:
    """Return the sentence for a name that means nothing."""
    called = quote_name(string) if reference == string else f"{quote_name(string)}, which {reference!r} stands for"
    ways = f"Name one of models: in {PROJECT_FILE}, {CLI}<name> for a harness, {OFFLINE}, or <provider>:<model>."
    return f"There is no model {called}. {_suggest(string, config) or ways}"


def _suggest(string: str, config: BrainFiles) -> str | None:
    """Return `Did you mean …?`: a name of the brain, a known model of that name, or a provider that is spelt so."""
    own = [*config.project.models, *(f"{CLI}{name}" for name in config.project.harnesses), OFFLINE]
    provider, colon, name = string.partition(":")
    known = _list_known()
    if not colon:
        same = next((f"Did you mean {each!r}?" for each in known if each.endswith(f":{string}")), None)
        return suggest(string, own) or same
    near = find_nearest(provider, sorted({each.partition(":")[0] for each in known}))
    return suggest(string, own) or (f"Did you mean {f'{near}:{name}'!r}?" if near else None)


def _list_known() -> list[str]:
    """Return the model strings that the library knows, those of the shipped extras first."""
    from pydantic_ai.models import KnownModelName  # noqa: PLC0415 - heavy

    names = [each for each in get_args(getattr(KnownModelName, "__value__", KnownModelName)) if ":" in each]
    return sorted(names, key=lambda each: each.partition(":")[0] not in {"openai", _ANTHROPIC})


def _explain_extra(string: str, provider: str) -> str:
    """Return the sentence for a provider whose package is not installed."""
    base = "openai" if provider in _OPENAI else provider
    package = f"omnislash[{base}]" if base in {"openai", _ANTHROPIC} else f"pydantic-ai-slim[{base}]"
    return f"The model {quote_name(string)} needs a package that is not installed: pip install '{package}'."
