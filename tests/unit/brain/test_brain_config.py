"""omnislash.yaml: sources, languages, models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from omnislash.brain.config import ProjectConfig, parse_project, salvage_sources

if TYPE_CHECKING:
    from omnislash.brain.decoding import Decoded


def memory(key: str, value: str) -> Decoded[ProjectConfig]:
    """Parse a project config with one key in its memory block."""
    return parse_project(f"memory:\n  {key}: {value}\n")


@pytest.mark.rule("KNOB-21", "LANG-03")
def test_empty_file_gives_defaults() -> None:
    """Without a word the local model, no sources and english hold."""
    config = parse_project("").value
    assert config == ProjectConfig()
    assert config is not None
    assert (config.memory.embedding_model, config.memory.sources, config.memory.languages) == (
        "local",
        (),
        ("english",),
    )


def test_example_of_the_interface_loads() -> None:
    """The documented file loads as it is written."""
    config = parse_project(
        "memory:\n"
        "  embeddingModel: local            # local | a provider's model name\n"
        "  sources: [content, people/maria, handbook.md]\n"
        "  languages: [english, russian]\n"
        "models:\n"
        "  smart: anthropic:claude-opus-5\n"
        "  offline: offline\n"
        "harnesses:\n"
        "  smart: [claude, -p]\n"
    ).value
    assert config is not None
    assert config.memory.sources == ("content", "people/maria", "handbook.md")
    assert config.models == {"smart": "anthropic:claude-opus-5", "offline": "offline"}
    assert config.harnesses == {"smart": ("claude", "-p")}
    assert [config.has_model(name) for name in ("smart", "cli:smart", "cli:fast", "fast")] == [True, True, False, False]


@pytest.mark.rule("SOURCE-01", "SOURCE-04", "SOURCE-05", "SOURCE-06", "SOURCE-O7")
@pytest.mark.parametrize(
    "source",
    ["content", "research/notes", "handbook.md", "content/Заметки/архив", "People/Maria_2", "v1.2/a-b", "हिन्दी/नोट"],
)
def test_source_is_taken_as_spelled(source: str) -> None:
    """Letters and digits of every script and either case make a source."""
    config = memory("sources", f"[{source}]").value
    assert config is not None
    assert config.memory.sources == (source,)


@pytest.mark.rule("SOURCE-05", "SOURCE-06")
@pytest.mark.parametrize("source", ["/content", "../x", "a/../b", "my notes", ".hidden", "a/_b", "a/-b", "a//b"])
def test_other_paths_are_no_source(source: str) -> None:
    """A source that could climb, hide or be misread fails the load at its own place."""
    (fault,) = memory("sources", f"[content, '{source}']").faults
    assert (fault.path, fault.line, fault.column, fault.key) == ("omnislash.yaml", 2, 22, "memory.sources[1]")
    assert source in fault.message


@pytest.mark.rule("LANG-05", "LANG-O2")
@pytest.mark.parametrize(
    "languages",
    [
        "[english]",
        "[english, russian]",
        "[english, serbian]",
        "[english, greek, arabic, armenian, tamil, hindi, russian]",
    ],
)
def test_languages_with_a_script_each_load(languages: str) -> None:
    """Languages load while each gets a script of its own."""
    config = memory("languages", languages).value
    assert config is not None
    assert list(config.memory.languages) == languages.strip("[]").split(", ")


@pytest.mark.rule("LANG-06", "LANG-07", "LANG-O1", "LANG-O2")
@pytest.mark.parametrize(
    ("languages", "named"),
    [
        pytest.param("[russian, ukrainian]", "ukrainian", id="cyrillic taken"),
        pytest.param("[ukrainian, russian]", "russian", id="cyrillic taken by ukrainian"),
        pytest.param("[english, german]", "german", id="latin taken"),
        pytest.param("[hindi, nepali]", "nepali", id="devanagari taken"),
        pytest.param("[english, russian, serbian]", "serbian", id="both scripts taken"),
        pytest.param("[klingon]", "klingon", id="unknown"),
        pytest.param("[english, english]", "english", id="repeated"),
        pytest.param("[no]", "'no'", id="a word that YAML takes for false"),
    ],
)
def test_language_without_words_fails(languages: str, named: str) -> None:
    """A language that is unknown, repeated or gets no word fails the load and is named (O-23)."""
    (fault,) = memory("languages", languages).faults
    assert named in fault.message
    assert fault.key is not None
    assert fault.key.startswith("memory.languages[")


def test_each_bad_language_is_named() -> None:
    """Two wrong entries are reported in one run."""
    keys = [fault.key for fault in memory("languages", "[english, german, klingon, russian]").faults]
    assert keys == ["memory.languages[1]", "memory.languages[2]"]


@pytest.mark.rule("LANG-O1")
@pytest.mark.parametrize("value", ["[]", "", "english", "{a: b}", "[[english]]"])
def test_languages_must_be_a_list_with_names(value: str) -> None:
    """An empty list, an empty key and a bare word fail the load."""
    assert memory("languages", value).value is None


def test_unknown_key_names_the_nearest() -> None:
    """A slip in a key is refused with the key that was meant."""
    (fault,) = memory("embedingModel", "local").faults
    assert fault.render() == (
        "omnislash.yaml:2:3: memory.embedingModel: 'embedingModel' is not a known key. Did you mean 'embeddingModel'?"
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("models: {smart: ''}\n", "models.smart", id="empty model"),
        pytest.param("models: {smart: [x]}\n", "models.smart", id="list as model"),
        pytest.param("models: [smart]\n", "models", id="list of models"),
        pytest.param("harnesses: {smart: claude -p}\n", "harnesses.smart", id="command as text"),
        pytest.param("harnesses: {smart: []}\n", "harnesses.smart", id="no command"),
        pytest.param("models: {' ': x}\n", "models. ", id="empty name"),
    ],
)
def test_models_are_named_text(text: str, key: str) -> None:
    """A model is text under a name, and a harness a list of words."""
    (fault,) = parse_project(text).faults
    assert fault.key == key


def test_sources_of_a_broken_file_are_known_if_they_are_sound() -> None:
    """A fault elsewhere does not hide the sources; a fault in them does."""
    assert salvage_sources(parse_project("memory: {sources: [content], languages: []}\n")) == ("content",)
    assert salvage_sources(parse_project("memory: {sources: [/content]}\n")) is None
    assert salvage_sources(parse_project("memory: {souces: [content]}\n")) is None
    assert salvage_sources(parse_project("memory: [\n")) is None
    assert salvage_sources(parse_project("memory: {sources: [content]}\n")) == ("content",)
