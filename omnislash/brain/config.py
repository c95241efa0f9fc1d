"""`omnislash.yaml`: what is embedded and searched, and the models by name.

Rules: KNOB-21, LANG-03, LANG-06, LANG-07, LANG-O1, LANG-O2, SOURCE-01, SOURCE-04 to SOURCE-06, SOURCE-O7, ADAPT-O1.
"""

# ruff: noqa: RUF009  the calls return dataclass fields
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omnislash.brain.decoding import Block, Decoded, decode, setting
from omnislash.brain.fields import ListOf, Named, Site, Table, Text, UnfitError
from omnislash.brain.memory_block import parse_source_entry
from omnislash.brain.tree import Node, Scalar, Sequence, find_node
from omnislash.brain.yaml_text import parse_yaml
from omnislash.core.languages import DEFAULT_LANGUAGES, resolve_languages
from omnislash.errors import InvalidNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omnislash.core.lines import AuthoredPath

#: Name of the file at the root of a brain; its presence makes a directory a brain.
PROJECT_FILE = "omnislash.yaml"
#: Name of the model that needs nothing but this machine.
OFFLINE = "offline"


def parse_filled(text: str) -> str:
    """Return a text that must not be empty.

    Raises:
        UnfitError: When it is.
    """
    if not text.strip():
        message = "The text is empty."
        raise UnfitError(message, "Write a value, or remove the key.")
    return text


#: Text that must not be empty.
FILLED = Named("text", parse_filled)


#: Reads `memory.sources`.
SOURCES = ListOf(Named("a path relative to the brain", parse_source_entry))


@dataclass(frozen=True, slots=True)
class LanguageList:
    """The languages of the word leg, in order."""

    expects: str = "a list of languages"

    def read(self, node: Node, site: Site) -> tuple[str, ...]:
        """Return the names; each that is unknown, repeated or left without a script is reported."""
        names = ListOf(Text("the name of a language")).read(node, site)
        if not names:
            raise UnfitError("The list is empty; expected a list of languages.", "Remove the key for [english].")
        accepted: list[str] = []
        items = node.items if isinstance(node, Sequence) else ()
        for index, item in enumerate(child for child in items if isinstance(child, Scalar)):
            try:
                resolve_languages([*accepted, item.text])
            except InvalidNameError as error:
                site.item(index).report(item.mark, error.message, error.hint)
            else:
                accepted.append(item.text)
        return tuple(accepted)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectMemory:
    """What of a brain is indexed, and how."""

    #: `local`, `local-multilingual`, `none`, or a provider's model name.
    embedding_model: str = setting(
        FILLED,
        text="Model that turns text into vectors: local, local-multilingual, none, or a provider's model name.",
        default="local",
    )
    #: Authored directories and files, as written.
    sources: tuple[AuthoredPath, ...] = setting(
        SOURCES,
        text="Directories and .md files outside memory/ that are indexed; roles name them to see them.",
        default=(),
    )
    #: Languages whose words are stemmed; one script has one language.
    languages: tuple[str, ...] = setting(
        LanguageList(), text="Languages whose words are compared by stem; order matters.", default=DEFAULT_LANGUAGES
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectConfig:
    """The project config, read at process start (ADAPT-O4)."""

    #: What is indexed.
    memory: ProjectMemory = setting(Block(ProjectMemory), text="What is indexed, and how.", default=ProjectMemory())
    #: Model strings by the name that `modelRef` uses.
    models: Mapping[str, str] = setting(
        Table(Named("a name", parse_filled), FILLED), text="Models by the name that modelRef uses.", default={}
    )
    #: Commands by the name that `cli:<name>` uses.
    harnesses: Mapping[str, tuple[str, ...]] = setting(
        Table(Named("a name", parse_filled), ListOf(FILLED, filled=True)),
        text="Commands that read a prompt on stdin, by the name that cli:<name> uses.",
        default={},
    )

    def has_model(self, model_ref: str) -> bool:
        """Tell whether a `modelRef` names a model, `offline` or, with `cli:` in front, a harness."""
        kind, _, name = model_ref.partition(":")
        return model_ref in {*self.models, OFFLINE} or (kind == "cli" and name in self.harnesses)


def salvage_sources(found: Decoded[ProjectConfig]) -> tuple[AuthoredPath, ...] | None:
    """Return the declared sources, also of a file that has faults elsewhere; None when they are not known."""
    if found.value is not None:
        return found.value.memory.sources
    node = find_node(found.root, "memory", "sources") if found.root is not None else None
    site = Site("")
    values = site.read(SOURCES, node, node.mark) if node is not None else ()
    return values[0] if values and not site.faults else None


def parse_project(text: str, *, path: str = PROJECT_FILE) -> Decoded[ProjectConfig]:
    """Return the project config, or every fault in it."""
    return decode(ProjectConfig, parse_yaml(text, path=path), path=path)
