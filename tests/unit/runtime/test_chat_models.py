"""Which model a turn runs on, and what is said when there is none."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.wrapper import WrapperModel

from omnislash.errors import ModelError
from omnislash.runtime.models.chat_models import resolve_chat_model
from omnislash.runtime.models.references import find_turn_reference, name_model
from tests.unit.runtime.test_models import make_config

if TYPE_CHECKING:
    from pathlib import Path

#: Built so that no scanner takes it for a key.
KEY = "sk-" + "abcdEFGH1234" * 3
ENVIRONMENT = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
PROJECT = """
models:
  smart: anthropic:claude-opus-5
  fast: openai:gpt-5-mini
  default: offline
  odd: opnai:gpt-4o-mini
harnesses: {smart: [cat]}
"""


@pytest.mark.parametrize(
    ("frontmatter", "expected"),
    [("modelRef: smart", "smart"), ("model: openai:gpt-4o", "openai:gpt-4o"), ("memory: {}", "default")],
)
def test_the_role_then_the_default(tmp_path: Path, frontmatter: str, expected: str) -> None:
    """The role's own model, else the one called `default`."""
    config = make_config(tmp_path, role=frontmatter, project=PROJECT)

    assert find_turn_reference(config, config.find_role("system:consolidator")) == expected


def test_offline_when_nothing_is_named(tmp_path: Path) -> None:
    """A brain without a default runs its turns offline."""
    config = make_config(tmp_path, role="memory: {}", project="memory: {}\n")
    role = config.find_role("system:consolidator")

    assert find_turn_reference(config, role) is None
    assert name_model(None, config) == "offline"
    assert resolve_chat_model(None, config, environment={}).model_name == "offline"


@pytest.mark.parametrize(
    ("reference", "kind", "name"),
    [
        ("openai:gpt-4o-mini", OpenAIResponsesModel, "gpt-4o-mini"),
        ("openai-responses:gpt-4o-mini", OpenAIResponsesModel, "gpt-4o-mini"),
        ("openai-chat:my-own", OpenAIChatModel, "my-own"),
        ("fast", OpenAIResponsesModel, "gpt-5-mini"),
    ],
)
def test_a_model_string(tmp_path: Path, reference: str, kind: type, name: str) -> None:
    """Any model string, also by the name that stands for it; a model that is not known yet is one as well."""
    model = resolve_chat_model(reference, make_config(tmp_path, project=PROJECT), environment=ENVIRONMENT)

    assert isinstance(model, WrapperModel)
    assert isinstance(model.wrapped, kind)
    assert model.model_name == name


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("smrt", "There is no model 'smrt'. Did you mean 'smart'?"),
        ("opnai:gpt-4o-mini", "There is no model 'opnai:gpt-4o-mini'. Did you mean 'openai:gpt-4o-mini'?"),
        ("odd", "There is no model 'opnai:gpt-4o-mini', which 'odd' stands for. Did you mean 'openai:gpt-4o-mini'?"),
        ("offlin", "There is no model 'offlin'. Did you mean 'offline'?"),
        ("zzz", "There is no model 'zzz'. Name one of models: in omnislash.yaml, cli:<name> for a harness"),
        ("", "There is no model ''."),
        ("cli:smrt", "omnislash.yaml has no harness 'smrt'. Did you mean 'cli:smart'?"),
    ],
)
def test_a_name_that_means_nothing(tmp_path: Path, reference: str, told: str) -> None:
    """One sentence with the nearest name."""
    with pytest.raises(ModelError) as caught:
        resolve_chat_model(reference, make_config(tmp_path, project=PROJECT), environment=ENVIRONMENT)

    assert caught.value.message.startswith(told)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("reference", "variable"),
    [("openai:x", "OPENAI_API_KEY"), ("openai-chat:x", "OPENAI_API_KEY"), ("anthropic:x", "ANTHROPIC_API_KEY")],
)
@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}])
def test_a_missing_key(
    tmp_path: Path,
    reference: str,
    variable: str,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The variable is named, and the key of the process is not taken in its place."""
    monkeypatch.setenv(variable, KEY)
    with pytest.raises(ModelError) as caught:
        resolve_chat_model(reference, make_config(tmp_path), environment=environment)

    assert caught.value.message == f"The model {reference!r} needs a key: set {variable}, or name another model."


def test_a_server_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    """With a base URL and no key the model is made all the same."""
    environment = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}

    model = resolve_chat_model("openai-chat:llama", make_config(tmp_path), environment=environment)

    assert model.base_url == "http://127.0.0.1:1/v1/"


@pytest.mark.parametrize(
    ("reference", "package", "told"),
    [
        ("openai:x", "openai", "pip install 'omnislash[openai]'"),
        ("openai-chat:x", "openai", "pip install 'omnislash[openai]'"),
        ("anthropic:x", "anthropic", "pip install 'omnislash[anthropic]'"),
        ("groq:x", "groq", "pip install 'pydantic-ai-slim[groq]'"),
    ],
)
def test_a_missing_extra(
    tmp_path: Path, reference: str, package: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence says what to install."""
    for name in list(sys.modules):
        ours = re.match(rf"{package}(\.|$)|pydantic_ai\.(models|providers)\.{package}(\.|$)", name)
        if ours:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelError) as caught:
        resolve_chat_model(reference, make_config(tmp_path), environment=ENVIRONMENT)

    assert caught.value.message == f"The model {reference!r} needs a package that is not installed: {told}."


def test_a_key_is_in_no_repr(tmp_path: Path) -> None:
    """A model that is printed by mistake gives nothing away."""
    for reference in ("openai:x", "openai-chat:x", "anthropic:x"):
        model = resolve_chat_model(reference, make_config(tmp_path), environment=ENVIRONMENT)
        assert KEY not in f"{model!r} {model} {vars(model)}"
