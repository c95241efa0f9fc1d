"""Whether the models that are named can run: known, installed, with their key, with their command.

Nothing is asked of a provider, and of a key only whether it is set.

Rules: PERIOD-15, KNOB-21, RECALL-O6, DOCTOR-16; help page `models`.
"""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from omnislash.brain.config import OFFLINE, PROJECT_FILE
from omnislash.brain.manifest import MANIFEST_FILE
from omnislash.brain.nearest import suggest
from omnislash.checks.faults import findings_of, shorten
from omnislash.checks.findings import Check, Finding, Group, Severity, info
from omnislash.checks.key_places import KeyPlaces
from omnislash.core.credentials import mask_secrets
from omnislash.core.lines import quote_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from omnislash.brain.files import BrainFiles
    from omnislash.checks.examined import Examined, Listed, SeenFile

_CLI: Final = "cli:"
#: The model of a role that names none.
_DEFAULT: Final = "default"
_OPENAI: Final = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
_ANTHROPIC: Final = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
#: Variables of which one must be set, by provider: a key, or the address of a server of one's own.
#: Source: pydantic-ai 2.60, `pydantic_ai/providers/`.
_VARIABLES: Final = {
    **dict.fromkeys(("openai", "openai-chat", "openai-responses"), _OPENAI),
    "anthropic": _ANTHROPIC,
    **dict.fromkeys(("google", "google-decisions"), ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "alibaba": ("ALIBABA_API_KEY", "DASHSCOPE_API_KEY"),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("CO_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "heroku": ("HEROKU_INFERENCE_KEY",),
    "huggingface": ("HF_TOKEN",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshotai": ("MOONSHOTAI_API_KEY",),
    "nebius": ("NEBIUS_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "xai": ("XAI_API_KEY",),
}
#: Packages of the shipped extras, by provider; the library itself is asked about all others.
_PACKAGES: Final = {
    **dict.fromkeys(("openai", "openai-chat", "openai-responses"), "openai"),
    "anthropic": "anthropic",
}


@dataclass(frozen=True, slots=True)
class _Use:
    """One place that names a model."""

    path: str
    line: int | None
    key: str
    #: As written: a name of `models:`, or a model string.
    reference: str


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why a model string can't run, and what to do."""

    severity: Severity
    message: str
    hint: str


class Models(Check):
    """Every model that is named exists, and has its key."""

    id: ClassVar[str] = "models"
    title: ClassVar[str] = "Models"
    protects: ClassVar[str] = "A turn, a heartbeat or a summary does not fail at night because its model can't run."
    group: ClassVar[Group] = Group.CONFIGURATION
    reads_files: ClassVar[bool] = True

    def __init__(self) -> None:
        """Begin with no file seen."""
        self._project = KeyPlaces(PROJECT_FILE)
        self._manifest = KeyPlaces(MANIFEST_FILE)

    def wants(self, entry: Listed) -> bool:
        """Tell whether keys of the file are told with their line."""
        return self._project.is_at(entry) or self._manifest.is_at(entry)

    def see(self, file: SeenFile) -> None:
        """Keep the two files whose keys are told with their line."""
        self._project.see(file)
        self._manifest.see(file)

    def conclude(self, brain: Examined) -> Iterable[Finding]:
        """Return what can't run, then what runs on the offline model."""
        if any(fault.path == PROJECT_FILE for fault in brain.config.faults):
            return [info(f"{PROJECT_FILE} does not load, so nothing can be said about the models.", path=PROJECT_FILE)]
        uses = [*_list_roles(brain.config), *self._list_summaries(brain.config)]
        found = [
            *_find_unknown_names(brain, uses),
            *(each for use in uses if use.reference not in brain.config.project.models for each in _judge(use, brain)),
            *self._find_bad_models(brain, {use.reference for use in uses} | {_DEFAULT}),
            *self._find_bad_commands(brain, _list_harnesses(brain.config, uses)),
            *self._find_bad_embedder(brain),
        ]
        order = list(Severity)[::-1]
        told = sorted(found, key=lambda finding: order.index(finding.severity))
        groups = [[each for each in told if each.severity is severity] for severity in order]
        return [*(each for group in groups for each in shorten(group, "models to look at")), *_tell_offline(brain)]

    def _list_summaries(self, config: BrainFiles) -> Iterator[_Use]:
        """Yield the models of the period summaries."""
        consolidation = config.manifest.memory.consolidation
        named: list[tuple[tuple[str, ...], str | None]] = [(("modelRef",), consolidation.model_ref)]
        named += [(("lines", line, "modelRef"), each.model_ref) for line, each in consolidation.lines.items()]
        for keys, reference in named:
            if reference is not None:
                path = ("memory", "consolidation", *keys)
                yield _Use(MANIFEST_FILE, self._manifest.line_of(*path), ".".join(path), reference)

    def _find_bad_models(self, brain: Examined, used: set[str]) -> Iterator[Finding]:
        """Yield what is wrong with the entries of `models:`; what nobody uses is only worth knowing."""
        for name, string in brain.config.project.models.items():
            use = _Use(PROJECT_FILE, self._project.line_of("models", name), f"models.{name}", string)
            for finding in _judge(use, brain, may_be_name=False):
                yield finding if name in used else replace(finding, severity=Severity.INFO)

    def _find_bad_commands(self, brain: Examined, used: set[str]) -> Iterator[Finding]:
        """Yield each harness whose command is not there."""
        for name, command in brain.config.project.harnesses.items():
            if not _has_command(command[0], brain):
                yield Finding(
                    Severity.WARN if name in used else Severity.INFO,
                    f"The command {_quote(command[0])} of the harness {_quote(name)} is not found on the PATH.",
                    PROJECT_FILE,
                    self._project.line_of("harnesses", name),
                    f"harnesses.{name}",
                    "Install it, write its whole path, or start the worker with a PATH that holds it.",
                )

    def _find_bad_embedder(self, brain: Examined) -> Iterator[Finding]:
        """Yield why texts get no vectors from the model that `memory.embeddingModel` names."""
        # They load numpy, which a check of another kind does not need.
        from omnislash.index.embedders.endpoint import Endpoint  # noqa: PLC0415
        from omnislash.index.embedders.opening import LOCAL, LOCAL_MULTILINGUAL, NONE, open_embedders  # noqa: PLC0415
        from omnislash.index.embedders.ports import EmbedderUnavailableError  # noqa: PLC0415

        memory = brain.config.project.memory
        line, key = self._project.line_of("memory", "embeddingModel"), "memory.embeddingModel"
        if memory.embedding_model in {LOCAL, LOCAL_MULTILINGUAL}:
            opened = open_embedders(
                memory.embedding_model, languages=memory.languages, environment=brain.environment, calibration=None
            )
            severity = Severity.INFO if memory.embedding_model == LOCAL else Severity.WARN
            yield from (Finding(severity, note, PROJECT_FILE, line, key) for note in opened.notes)
        elif memory.embedding_model != NONE:
            try:
                Endpoint.from_environment(brain.environment).check()
            except EmbedderUnavailableError as error:
                yield Finding(Severity.WARN, error.message, PROJECT_FILE, line, key, error.hint)


def _list_roles(config: BrainFiles) -> Iterator[_Use]:
    """Yield the models that roles name."""
    for role in sorted(config.roles.values(), key=lambda role: role.path):
        key = "modelRef" if role.model_ref is not None else "model"
        reference = role.model_ref or role.model
        if reference is not None:
            yield _Use(role.path, role.key_lines.get(key), key, reference)


def _find_unknown_names(brain: Examined, uses: Iterable[_Use]) -> Iterator[Finding]:
    """Yield what loading found of each `modelRef`: a failure where it is no model string either."""
    references = {(use.path, use.key): use.reference for use in uses}
    for finding in findings_of(brain.config, Models.id):
        reference = references.get((finding.path or "", finding.key or ""), "")
        runs = ":" in reference and not reference.startswith(_CLI) and _find_unknown(reference, brain) is None
        yield finding if runs else replace(finding, severity=Severity.FAIL)


def _judge(use: _Use, brain: Examined, *, may_be_name: bool = True) -> Iterator[Finding]:
    """Yield why what a place names can't run; nothing for a `modelRef` that loading has named already."""
    trouble = _find_trouble(use.reference, brain)
    is_named = may_be_name and use.key.endswith("modelRef") and not brain.config.project.has_model(use.reference)
    if trouble is not None and not (is_named and trouble.severity is Severity.FAIL):
        yield Finding(trouble.severity, trouble.message, use.path, use.line, use.key, trouble.hint)


def _find_trouble(string: str, brain: Examined) -> _Trouble | None:
    """Return why a model string can't run; None when it can, as far as this machine can tell."""
    if string == OFFLINE:
        return None
    if string.startswith(_CLI):
        return _find_missing_harness(string, brain.config)
    return _find_unknown(string, brain) or _find_missing_key(string, brain)


def _find_missing_harness(string: str, config: BrainFiles) -> _Trouble | None:
    name, known = string.removeprefix(_CLI), config.project.harnesses
    if name in known:
        return None
    hint = (
        suggest(string, [f"{_CLI}{each}" for each in known]) or f"Name its command under harnesses in {PROJECT_FILE}."
    )
    return _Trouble(Severity.FAIL, f"{PROJECT_FILE} has no harness {_quote(name)}.", hint)


def _find_unknown(string: str, brain: Examined) -> _Trouble | None:
    """Return why no provider takes a model string: it names none, or its package is not installed."""
    provider, colon, name = string.partition(":")
    if not (colon and name):
        ways = f"Name one of models: in {PROJECT_FILE}, {_CLI}<name> for a harness, {OFFLINE}, or <provider>:<model>."
        hint = suggest(string, [*brain.config.project.models, OFFLINE]) or ways
        return _Trouble(Severity.FAIL, f"There is no model {_quote(string)}.", hint)
    package = _PACKAGES.get(provider)
    if package is not None:
        is_there = importlib.util.find_spec(package) is not None
        return None if is_there else _needs_package(string, f"omnislash[{package}]")
    return _ask_library(string, provider)


def _ask_library(string: str, provider: str) -> _Trouble | None:
    """Return what the library says of a provider that is none of the shipped extras."""
    # It takes a second to load, which only a provider of this kind is worth.
    from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415

    try:
        infer_provider_class(provider)
    except ValueError:
        hint = suggest(provider, _VARIABLES) or "Write <provider>:<model>, for example anthropic:claude-opus-5."
        return _Trouble(Severity.FAIL, f"{_quote(string)} names no provider that is known.", hint)
    except ImportError:
        return _needs_package(string, f"pydantic-ai-slim[{provider}]")
    return None


def _quote(text: str) -> str:
    """Return a text of a setting in quotes, without a credential that was put there by mistake."""
    return quote_name(mask_secrets(text))


def _needs_package(string: str, package: str) -> _Trouble:
    message = f"The model {_quote(string)} needs a package that is not installed."
    return _Trouble(Severity.FAIL, message, f"pip install '{package}'")


def _find_missing_key(string: str, brain: Examined) -> _Trouble | None:
    variables = _VARIABLES.get(string.partition(":")[0], ())
    if not variables or any(brain.environment.get(name) for name in variables):
        return None
    message = f"The model {_quote(string)} needs a key, and {variables[0]} is not set here."
    return _Trouble(
        Severity.WARN, message, f"Set {' or '.join(variables)} where omnislash runs, or name another model."
    )


def _list_harnesses(config: BrainFiles, uses: Iterable[_Use]) -> set[str]:
    """Return the names of the harnesses that something runs on."""
    models = config.project.models
    strings = {models.get(use.reference, use.reference) for use in uses} | {models.get(_DEFAULT, OFFLINE)}
    return {string.removeprefix(_CLI) for string in strings if string.startswith(_CLI)}


def _has_command(program: str, brain: Examined) -> bool:
    """Tell whether a program can be started from the brain's directory."""
    if "/" in program:
        return shutil.which(str(brain.root / program)) is not None
    return shutil.which(program, path=brain.environment.get("PATH", "")) is not None


def _tell_offline(brain: Examined) -> list[Finding]:
    """Return which roles of the brain run on the offline model because nothing names another one."""
    if _DEFAULT in brain.config.project.models:
        return []
    silent = [role.id for role in brain.config.roles.values() if not (role.is_shipped or role.model or role.model_ref)]
    if not silent:
        return []
    message = (
        f"No model is called {_DEFAULT}, so roles that name none run on the offline model: {_join(sorted(silent))}."
    )
    return [info(message, path=PROJECT_FILE, hint="To change that, write `models: {default: <provider>:<model>}`.")]


def _join(names: list[str]) -> str:
    shown = names[:10]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")
