"""The check `models`: whether the models that are named can run."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.checks.findings import Finding, Severity, Status
from omnislash.index.embedders import opening

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.doctor.conftest import Examine

ID = "models"
PROJECT = "omnislash.yaml"
MANIFEST = "constitution/MANIFEST.yaml"
NOVA = "features/nova.agent.md"
#: Stands for a key, and looks like none.
VALUE = "not-a-key"
KEYS = {"OPENAI_API_KEY": VALUE, "ANTHROPIC_API_KEY": VALUE}


def role(line: str = "name: Nova") -> str:
    """Return a role with this key in line 2."""
    return f"---\n{line}\n---\nYou are Nova.\n"


def models(**named: str) -> str:
    """Return a project config with these models, one a line from line 2 on."""
    return "models:\n" + "".join(f"  {name}: '{string}'\n" for name, string in named.items())


def without_key(string: str, variables: str, place: tuple[str, int, str]) -> Finding:
    """Return the warning about a key that is not set."""
    path, line, key = place
    first = variables.partition(" ")[0]
    return Finding(
        Severity.WARN,
        f"The model '{string}' needs a key, and {first} is not set here.",
        path,
        line,
        key,
        f"Set {variables} where omnislash runs, or name another model.",
    )


@pytest.fixture(autouse=True)
def _with_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the multilingual embedder installed, whatever this machine has."""
    monkeypatch.setattr(opening, "is_installed", lambda: True)


def test_models_that_can_run_pass(examine: Examine, brain_root: Path) -> None:
    """A provider with its key, a server of one's own, a harness by name and by path, and `offline`."""
    (brain_root / "bin").mkdir()
    command = brain_root / "bin/answer"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    project = models(
        default="anthropic:claude-opus-5", small="openai:gpt-6-mini", own="openai-chat:llama", no="offline"
    )
    files = {
        PROJECT: project + "harnesses:\n  smart: [answer, -p]\n  near: [bin/answer]\n",
        MANIFEST: "memory: {consolidation: {modelRef: offline, lines: {main: {periods: [week], modelRef: 'cli:smart'}}}}\n",
        NOVA: role("modelRef: small"),
        "features/a.agent.md": role("model: own"),
        "features/b.agent.md": role("modelRef: cli:near"),
        "features/c.agent.md": role("model: offline"),
        "features/d.agent.md": role(),
    }
    environment = {**KEYS, "PATH": str(brain_root / "bin")}

    result = examine(files, ID, environment=environment)[ID]

    assert (result.status, result.findings) == (Status.PASS, ())


def test_roles_without_a_model_are_told_to_run_offline(examine: Examine) -> None:
    """Where nothing is called `default`."""
    files = {NOVA: role(), "features/ops.agent.md": role(), "features/x.agent.md": role("model: offline")}

    result = examine(files, ID)[ID]

    assert result.status is Status.PASS
    assert result.findings == (
        Finding(
            Severity.INFO,
            "No model is called default, so roles that name none run on the offline model: nova, ops.",
            PROJECT,
            hint="To change that, write `models: {default: <provider>:<model>}`.",
        ),
    )


@pytest.mark.parametrize(
    ("string", "variables"),
    [
        ("openai:gpt-6", "OPENAI_API_KEY or OPENAI_BASE_URL"),
        ("openai-chat:llama", "OPENAI_API_KEY or OPENAI_BASE_URL"),
        ("anthropic:claude-opus-5", "ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL"),
        ("deepseek:chat", "DEEPSEEK_API_KEY"),
    ],
)
def test_a_key_that_is_not_set_is_a_warning(examine: Examine, string: str, variables: str) -> None:
    """By the name of its variable; an address of one's own does as well, and an empty value is none."""
    files = {PROJECT: models(default=string)}
    first, _, second = variables.partition(" or ")

    result = examine(files, ID, environment={first: ""})[ID]

    assert result.status is Status.WARN
    assert result.findings == (without_key(string, variables, (PROJECT, 2, "models.default")),)
    assert examine(files, ID, environment={second or first: VALUE})[ID].findings == ()


@pytest.mark.parametrize(
    ("line", "key"), [("model: openai:gpt-6", "model"), ("model: own", "models.own"), ("modelRef: own", "models.own")]
)
def test_the_place_is_that_of_the_model_string(examine: Examine, line: str, key: str) -> None:
    """The role where it stands there, else the entry that it names, once for all who name it."""
    files = {PROJECT: models(own="openai:gpt-6"), NOVA: role(line), "features/b.agent.md": role(line)}

    findings = [each for each in examine(files, ID)[ID].findings if each.severity is Severity.WARN]

    places = [(NOVA, "model"), ("features/b.agent.md", "model")] if key == "model" else [(PROJECT, "models.own")]
    assert sorted((each.path, each.key) for each in findings) == sorted(places)


def test_what_nobody_uses_is_only_worth_knowing(examine: Examine) -> None:
    """An entry that no role and no summary names."""
    files = {PROJECT: models(spare="openai:gpt-6") + "harnesses: {spare: [no-such-command]}\n"}

    result = examine(files, ID)[ID]

    assert result.status is Status.PASS
    assert [(each.severity, each.key) for each in result.findings] == [
        (Severity.INFO, "models.spare"),
        (Severity.INFO, "harnesses.spare"),
    ]


@pytest.mark.parametrize(
    ("string", "message", "hint"),
    [
        ("opnai:gpt-6", "'opnai:gpt-6' names no provider that is known.", "Did you mean 'openai'?"),
        ("gpt-6", "There is no model 'gpt-6'.", None),
        ("openai:", "There is no model 'openai:'.", None),
        ("cli:smart", "omnislash.yaml has no harness 'smart'.", "Name its command under harnesses in omnislash.yaml."),
    ],
)
def test_a_string_that_names_nothing_fails(examine: Examine, string: str, message: str, hint: str | None) -> None:
    """Each turn on it would end in an error."""
    result = examine({PROJECT: models(default=string)}, ID, environment=KEYS)[ID]

    assert result.status is Status.FAIL
    (finding,) = result.findings
    assert (finding.severity, finding.message, finding.path) == (Severity.FAIL, message, PROJECT)
    assert (finding.line, finding.key) == (2, "models.default")
    assert finding.hint == hint if hint else finding.hint


def test_a_name_that_stands_for_a_name_fails(examine: Examine) -> None:
    """Names are looked up once, so `default: smart` means a model string `smart`."""
    files = {PROJECT: models(default="smart", smart="openai:gpt-6")}

    (finding,) = [each for each in examine(files, ID, environment=KEYS)[ID].findings if each.key == "models.default"]

    assert (finding.severity, finding.message) == (Severity.FAIL, "There is no model 'smart'.")


def test_a_model_ref_that_names_nothing_fails_once(examine: Examine) -> None:
    """In a role and in the manifest; what was meant is told."""
    files = {
        PROJECT: models(default="offline", small="offline"),
        MANIFEST: "memory:\n  consolidation:\n    modelRef: smal\n",
        NOVA: role("modelRef: cli:smart"),
    }

    result = examine(files, ID)[ID]

    assert result.status is Status.FAIL
    assert result.findings == (
        Finding(
            Severity.FAIL,
            "'smal' is neither a model nor a harness of omnislash.yaml.",
            MANIFEST,
            3,
            "memory.consolidation.modelRef",
            "Did you mean 'small'?",
        ),
        Finding(
            Severity.FAIL,
            "'cli:smart' is neither a model nor a harness of omnislash.yaml.",
            NOVA,
            2,
            "modelRef",
            "Name it under models in omnislash.yaml.",
        ),
    )


def test_a_model_ref_that_is_a_model_string_runs(examine: Examine) -> None:
    """It is a warning, because the key takes a name; that its key is missing is another one."""
    files = {PROJECT: models(default="offline"), NOVA: role("modelRef: openai:gpt-6")}

    result = examine(files, ID)[ID]

    assert result.status is Status.WARN
    assert [each.message for each in result.findings] == [
        "'openai:gpt-6' is neither a model nor a harness of omnislash.yaml.",
        "The model 'openai:gpt-6' needs a key, and OPENAI_API_KEY is not set here.",
    ]


def test_a_summary_of_one_line_has_a_model_too(examine: Examine) -> None:
    """Its key is told with its line."""
    manifest = "memory:\n  consolidation:\n    lines:\n      main:\n        periods: [week]\n        modelRef: own\n"

    assert examine({PROJECT: models(own="openai:x"), MANIFEST: manifest}, ID)[ID].findings == (
        without_key("openai:x", "OPENAI_API_KEY or OPENAI_BASE_URL", (PROJECT, 2, "models.own")),
    )


def test_a_package_that_is_missing_fails(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install."""
    real = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> Any:
        return None if name == "anthropic" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)

    result = examine({PROJECT: models(default="anthropic:x")}, ID, environment=KEYS)[ID]

    assert result.findings == (
        Finding(
            Severity.FAIL,
            "The model 'anthropic:x' needs a package that is not installed.",
            PROJECT,
            2,
            "models.default",
            "pip install 'omnislash[anthropic]'",
        ),
    )


@pytest.mark.parametrize("program", ["no-such-command", "./bin/none", "/nowhere/none", "~/bin/none"])
def test_a_command_that_is_not_there_is_a_warning(examine: Examine, program: str) -> None:
    """On the PATH or at its place; it is looked for as it would be started."""
    project = models(default="cli:smart") + f"harnesses:\n  smart: ['{program}', -p]\n"

    result = examine({PROJECT: project}, ID, environment={"PATH": "/usr/bin:/bin"})[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(
            Severity.WARN,
            f"The command '{program}' of the harness 'smart' is not found on the PATH.",
            PROJECT,
            4,
            "harnesses.smart",
            "Install it, write its whole path, or start the worker with a PATH that holds it.",
        ),
    )


def test_an_embedding_model_without_its_key_is_a_warning(examine: Examine) -> None:
    """The floors were set on it, and search falls back to words."""
    project = "memory:\n  embeddingModel: text-embedding-3-small\n"

    result = examine({PROJECT: project}, ID)[ID]

    assert result.status is Status.WARN
    assert result.findings == (
        Finding(
            Severity.WARN,
            "OPENAI_API_KEY is not set, so the embedding endpoint can't be asked.",
            PROJECT,
            2,
            "memory.embeddingModel",
            "Set OPENAI_API_KEY (and OPENAI_BASE_URL for another endpoint), or memory.embeddingModel: local.",
        ),
    )
    assert examine({PROJECT: project}, ID, environment=KEYS)[ID].findings == ()


@pytest.mark.parametrize(
    ("model", "severity"), [("local", Severity.INFO), ("local-multilingual", Severity.WARN), ("none", None)]
)
def test_local_embedders_say_what_they_cannot_read(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, model: str, severity: Severity | None
) -> None:
    """Without the extra, notes in German are found by their words; who asked for the extra is warned."""
    monkeypatch.setattr(opening, "is_installed", lambda: False)
    project = f"memory:\n  embeddingModel: {model}\n  languages: [german]\n"

    findings = examine({PROJECT: project}, ID)[ID].findings

    assert [(each.severity, each.line, each.key) for each in findings] == (
        [] if severity is None else [(severity, 2, "memory.embeddingModel")]
    )
    assert all("pip install" in each.message for each in findings)


def test_nothing_is_guessed_when_the_project_config_does_not_load(examine: Examine) -> None:
    """Its own fault is told by another check."""
    files = {PROJECT: "models: [\n", NOVA: role("modelRef: small")}

    assert examine(files, ID)[ID].findings == (
        Finding(Severity.INFO, "omnislash.yaml does not load, so nothing can be said about the models.", PROJECT),
    )


def test_two_things_at_once_are_both_said_failures_first(examine: Examine) -> None:
    """A missing key, a name that is none, and a command that is not there."""
    project = models(default="openai:x", bad="nix") + "harnesses: {smart: [no-such-command]}\n"
    files = {PROJECT: project, NOVA: role("model: bad"), "features/b.agent.md": role("modelRef: cli:smart")}

    findings = examine(files, ID)[ID].findings

    assert [(each.severity.value, each.key) for each in findings] == [
        ("fail", "models.bad"),
        ("warn", "models.default"),
        ("warn", "harnesses.smart"),
    ]


@pytest.mark.rule("SECRET-O2")
def test_no_value_of_a_key_is_shown(examine: Examine) -> None:
    """Neither that of a variable, nor one that was written where a model belongs, also where a text is cut."""
    key = "sk-" + "ant-api03-" + "Ab3dEf6hIj9l" * 8 + "-_AA"
    files = {
        PROJECT: models(default=key),
        NOVA: role(f"model: '{'x' * 60}:{key}'"),
        "features/b.agent.md": role(f"modelRef: {key}"),
    }

    result = examine(files, ID, environment={"OPENAI_KEY": VALUE, "PATH": VALUE})[ID]

    assert [each.severity for each in result.findings] == [Severity.FAIL] * 3
    assert sum("[redacted: Anthropic key]" in each.message for each in result.findings) == 2
    assert VALUE not in str(result.to_json())
    assert "sk-" not in str(result.to_json())
