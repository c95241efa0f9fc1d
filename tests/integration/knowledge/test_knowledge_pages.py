"""The Knowledge pages as a browser and a program meet them."""

from __future__ import annotations

import html
import itertools
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from omnislash.surfaces.dashboard import forms
from omnislash.surfaces.dashboard.app import make_app
from omnislash.surfaces.dashboard.desk import Desk
from omnislash.surfaces.dashboard.live import Changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integration.conftest import SampleBrain

BASE = "http://127.0.0.1:4111"
SECRET = b"s" * 32
JSON = {"Accept": "application/json"}


@pytest.fixture
def open_pages(sample: SampleBrain) -> Iterator[Callable[[], TestClient]]:
    """Open the dashboard of the sample brain as it is then."""
    opened: list[TestClient] = []

    def open_now() -> TestClient:
        brain = sample.open()
        desk = Desk(brain=brain, secret=SECRET, changes=Changes(sample.root, brain.open_version()))
        client = TestClient(make_app(desk), base_url=BASE, follow_redirects=False, raise_server_exceptions=False)
        opened.append(client)
        return client

    yield open_now
    for client in opened:
        client.close()


def _send(client: TestClient, path: str, *, headers: dict[str, str] | None = None, **fields: str) -> Any:
    """Send a form as a browser does, with what the page put into it."""
    if "omnislash_form" not in client.cookies:
        client.get("/knowledge")
    csrf = forms.sign(SECRET, client.cookies["omnislash_form"])
    return client.post(path, data={"csrf": csrf, **fields}, headers=headers)


def _hash(client: TestClient, path: str) -> str:
    return str(client.get(path, headers=JSON).json()["hash"])


def _text(page: str) -> str:
    """Return what a page says: without tags, entities resolved, white space as one blank."""
    main = page[page.index("<main") : page.index("</main>")]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


@pytest.mark.rule("DASH-01", "DASH-02", "DASH-04")
def test_the_page_browses_every_line(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """`/knowledge` opens on the manifest's line and lists all, with readings in words and as bars."""
    sample.manifest("{write: ops, fileMaxChars: 12000}")
    sample.put_memory("ops/MEMORY.md", "a" * 8794)
    sample.put_memory("private/MEMORY.md", "x\n")
    client = open_pages()
    answer = client.get("/knowledge")

    assert answer.status_code == 200
    assert '<h1>Knowledge: <span dir="auto">ops</span></h1>' in answer.text
    assert "8794 of 12000 fileMaxChars (73%)" in _text(answer.text)
    assert re.search(r'<meter min="0" max="12000" [^>]*value="8794" aria-label="[^"]*8794 of 12000', answer.text)
    assert 'href="/knowledge/private"' in answer.text
    assert client.get("/knowledge", headers=JSON).json()["line"] == "ops"
    assert client.get("/knowledge/private").status_code == 200


@pytest.mark.rule("DASH-01")
def test_a_brain_without_memory_says_so(open_pages: Callable[[], TestClient]) -> None:
    """No line, no log, no source yet: the page is there and says what comes."""
    client = open_pages()

    assert "Nothing has been written to this line yet" in _text(client.get("/knowledge").text)
    assert "No source is declared" in _text(client.get("/sources").text)


def test_every_page_has_one_heading_and_no_script(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """One h1, headings in order, labels on inputs, nothing inline, and the same object as JSON."""
    sample.put_memory("main/MEMORY.md", "### Deep\n\n# Top\n")
    sample.put("people/a.md", "# A\n")
    sample.sources("people")
    client = open_pages()
    file = "/knowledge/main/MEMORY.md"
    paths = [
        "/knowledge",
        "/knowledge/main",
        "/knowledge/main/new",
        "/sources",
        "/sources/people",
        "/sources/people/a.md",
    ]
    for path in [*paths, file, *(f"{file}?view={view}" for view in ("raw", "edit", "delete", "nonsense"))]:
        page = client.get(path).text
        levels = [int(level) for level in re.findall(r"<h([1-6])", page)]

        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
        assert not re.search(r"<[^>]*\s(style|on[a-z]+)=", page)
        assert re.findall(r"<script[^>]*>", page) == ['<script src="/static/live.js" defer>']
        ids = re.findall(r'\sid="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        for name in re.findall(r'<(?:input|textarea)(?![^>]*type="hidden")[^>]*\sid="([^"]+)"', page):
            assert f'<label for="{name}"' in page
        assert client.get(path, headers=JSON).headers["content-type"] == "application/json"


def test_script_in_a_note_is_inert(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """What a note holds is shown in each view and runs in none."""
    evil = "<script>alert(1)</script>\n\n</textarea></pre><img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))\n"
    sample.put_memory("main/evil.md", evil)
    client = open_pages()
    for view in ("read", "raw", "edit"):
        page = client.get(f"/knowledge/main/evil.md?view={view}").text

        assert "<script>" not in page
        assert "<img src=x" not in page
        assert 'href="javascript' not in page
        assert "alert(1)" in _text(page)


@pytest.mark.rule("DASH-05", "DASH-06")
def test_a_save_leads_back_to_the_file(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """A browser's form, line ends and all, becomes the file, a notice once, and a row of the log."""
    sample.put_memory("main/a.md", "\nOne.\r\nTwo.")
    client = open_pages()
    shown = client.get("/knowledge/main/a.md?view=edit").text
    area = shown[shown.index("<textarea") :]
    # A browser drops one line end right behind the tag, and sends all others as CR LF.
    content = html.unescape(area[area.index(">") + 1 : area.index("</textarea>")]).removeprefix("\n")
    answer = _send(
        client,
        "/knowledge/main/a.md",
        hash=_hash(client, "/knowledge/main/a.md"),
        content=content.replace("\n", "\r\n") + " End",
    )
    page = client.get(answer.headers["location"])

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/knowledge/main/a.md?notice=")
    assert sample.data("main/a.md") == b"\nOne.\r\nTwo. End"
    assert 'role="status">Changed main/a.md.' in page.text
    assert "a person" in _text(page.text)
    assert "Changed main/a.md." not in client.get(answer.headers["location"]).text


@pytest.mark.rule("DASH-O3")
def test_a_stale_save_keeps_both_texts(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """What is on disk now stands beside what was typed, and the next save goes over it knowingly."""
    sample.put_memory("main/a.md", "Old.\n")
    client = open_pages()
    opened = _hash(client, "/knowledge/main/a.md")
    sample.put_memory("main/a.md", "Theirs <b>now</b>.\n")
    answer = _send(client, "/knowledge/main/a.md", hash=opened, content="Mine & <i>yours</i>.")

    assert answer.status_code == 409
    assert 'role="alert">main/a.md has changed since it was opened' in answer.text
    assert "Theirs &lt;b&gt;now&lt;/b&gt;." in answer.text
    assert "Mine &amp; &lt;i&gt;yours&lt;/i&gt;.</textarea>" in answer.text
    assert "Save over what is on disk now" in answer.text
    assert "<del>−Theirs &lt;b&gt;now&lt;/b&gt;.</del>\n<ins>+Mine &amp; &lt;i&gt;yours&lt;/i&gt;.</ins>" in answer.text
    assert sample.text("main/a.md") == "Theirs <b>now</b>.\n"
    again = re.search(r'name="hash" value="([0-9a-f]{64})"', answer.text)
    assert again is not None
    assert again[1] != opened
    assert _send(client, "/knowledge/main/a.md", hash=again[1], content="Mine.").status_code == 303
    assert sample.text("main/a.md") == "Mine."


@pytest.mark.rule("DASH-O3")
def test_a_save_of_a_file_that_is_gone_keeps_the_text(
    sample: SampleBrain, open_pages: Callable[[], TestClient]
) -> None:
    """The page says that there is no such file any more; saving again makes it."""
    file = sample.put_memory("main/a.md", "Old.\n")
    client = open_pages()
    opened = _hash(client, "/knowledge/main/a.md")
    file.unlink()
    answer = _send(client, "/knowledge/main/a.md", hash=opened, content="Mine.")

    assert answer.status_code == 409
    assert "There is no such file any more" in _text(answer.text)
    assert "Mine.</textarea>" in answer.text
    assert 'name="hash" value="absent"' in answer.text
    assert _send(client, "/knowledge/main/a.md", hash="absent", content="Mine.").status_code == 303


@pytest.mark.rule("DASH-05", "BUDGET-11")
def test_the_budget_refuses_with_numbers_and_keeps_the_text(
    sample: SampleBrain, open_pages: Callable[[], TestClient]
) -> None:
    """The sentence names the numbers, and what was typed is still in the form."""
    sample.manifest("{fileMaxChars: 300}")
    sample.put_memory("main/MEMORY.md", "# Memory\n")
    client = open_pages()
    typed = "# Memory\n\n" + "x" * 400
    answer = _send(client, "/knowledge/main/MEMORY.md", hash=_hash(client, "/knowledge/main/MEMORY.md"), content=typed)

    assert answer.status_code == 422
    assert "it would be 410 chars, 110 over its fileMaxChars of 300" in _text(answer.text)
    assert f"{typed}</textarea>" in answer.text
    assert "On disk now" not in answer.text
    assert sample.text("main/MEMORY.md") == "# Memory\n"


@pytest.mark.rule("DASH-05", "BUDGET-07")
def test_dropped_sections_are_asked_about_first(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """Nothing is saved before the person has seen the dates and the numbers; the button agrees to just that."""
    sample.manifest("{fileMaxChars: 200}")
    sample.put_memory("main/MEMORY.md", "# Memory\n")
    client, page = open_pages(), "/knowledge/main/MEMORY.md"
    second = "## Memory (2026-08-02)\n\n- Kept.\n"
    typed = "# Memory\n\n## Memory (2026-08-01)\n\n- " + "a" * 150 + "\n\n" + second
    opened = _hash(client, page)
    asked = _send(client, page, hash=opened, content=typed)

    assert asked.status_code == 409
    assert f"the text has {len(typed)} chars, and main/MEMORY.md may have 200." in _text(asked.text)
    assert "this dated section goes: 2026-08-01." in _text(asked.text)
    assert ">Save and drop them</button>" in asked.text
    assert f"{typed}</textarea>" in asked.text
    assert sample.text("main/MEMORY.md") == "# Memory\n"
    assert client.get("/activity", headers=JSON).json()["log"]["rows"] == []
    agreed = re.search(r'name="agreed" value="([0-9a-f]{64})"', asked.text)
    assert agreed is not None

    other = typed.replace("Kept.", "Kept. " + "b" * 190)  # drops both, which nobody has agreed to
    again = _send(client, page, hash=opened, content=other, agreed=agreed[1])
    assert (again.status_code, sample.text("main/MEMORY.md")) == (409, "# Memory\n")
    assert "these dated sections go: 2026-08-01, 2026-08-02." in _text(again.text)

    saved = _send(client, page, hash=opened, content=typed, agreed=agreed[1])
    assert "were dropped: 2026-08-01." in _text(client.get(saved.headers["location"]).text)
    assert sample.text("main/MEMORY.md") == f"# Memory\n\n{second}"


@pytest.mark.rule("DASH-05")
def test_a_program_agrees_to_what_is_dropped(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """Without the field the answer is 409 with what would go; with it the save is made. A new file is asked about too."""
    sample.manifest("{fileMaxChars: 60}")
    client, page = open_pages(), "/knowledge/main/MEMORY.md"
    typed = "# Memory\n\n## Memory (2026-08-01)\n\n- " + "a" * 50 + "\n"
    asked = _send(client, page, headers=JSON, hash="absent", content=typed)
    drop = asked.json()["drop"]
    new = _send(client, "/knowledge/main/new", name="MEMORY", content=typed)

    assert (asked.status_code, new.status_code) == (409, 409)
    assert (drop["dates"], drop["chars"], drop["charsAfter"], drop["fileMaxChars"]) == (
        ["2026-08-01"],
        len(typed),
        len("# Memory\n\n"),
        60,
    )
    assert f'name="agreed" value="{drop["agreed"]}"' in new.text
    made = _send(client, page, headers=JSON, hash="absent", content=typed, agreed=drop["agreed"])
    assert (made.status_code, sample.text("main/MEMORY.md")) == (200, "# Memory\n\n")


def test_a_person_is_told_of_no_tool(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """What is refused over the budget or is not there names no way that only an agent has."""
    sample.manifest("{fileMaxChars: 60}")
    client = open_pages()
    refused = _send(client, "/knowledge/main/MEMORY.md", headers=JSON, hash="absent", content="x" * 100).json()
    gone = _send(client, "/knowledge/main/gone.md", headers=JSON, hash="0" * 64, action="delete").json()

    assert refused["message"].endswith("no dated section is left to drop. Shorten curated sections first.")
    assert gone["message"] == "There is no file main/gone.md; nothing was changed."


def test_a_new_file_and_its_refusals(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """`.md` may be left out; a bad name, a taken one and an empty text come back with what was typed."""
    sample.put_memory("main/taken.md", "x\n")
    client = open_pages()
    made = _send(client, "/knowledge/main/new", name="topics/План 100%", content="Hi\r\n")
    assert made.status_code == 303
    assert made.headers["location"].startswith(f"/knowledge/main/topics/{quote('План 100%')}.md?")
    assert sample.text("main/topics/План 100%.md") == "Hi\n"
    assert client.get(made.headers["location"]).status_code == 200

    for name, content, said in [
        ("../up", "Text", "the segment '..' is not allowed"),
        ("", "Text", "hidden"),
        ("taken", "Text", "There is a file main/taken.md already"),
        ("ok", " ", "The content is empty."),
        ("2026/notes", "Text", "no day, week, month, quarter or year"),
    ]:
        answer = _send(client, "/knowledge/main/new", name=name, content=content)

        assert answer.status_code in {409, 422}
        assert said in _text(answer.text)
        assert f"{content}</textarea>" in answer.text
    assert sample.text("main/taken.md") == "x\n"
    assert _send(client, "/knowledge/nope/new", name="x", content="x").status_code == 404


def test_deleting_asks_first(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """The question is a page of its own, so that it works without script; the answer is the line and a notice."""
    sample.put_memory("main/a.md", "x\n")
    client = open_pages()
    page = client.get("/knowledge/main/a.md?view=delete").text
    assert "Delete the whole file main/a.md ?" in _text(page)
    assert (sample.root / "memory/main/a.md").exists()
    answer = _send(client, "/knowledge/main/a.md", action="delete", hash=_hash(client, "/knowledge/main/a.md"))

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/knowledge/main?")
    assert "Deleted main/a.md." in _text(client.get(answer.headers["location"]).text)
    assert not (sample.root / "memory/main/a.md").exists()


def test_a_program_saves_and_deletes(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """The answer in JSON is the verdict with the hash for the next save; the status says how it went."""
    sample.put_memory("main/a.md", "Old.\n")
    client = open_pages()
    path = "/knowledge/main/a.md"
    stale = _send(client, path, headers=JSON, hash="0" * 64, content="New.")
    saved = _send(client, path, headers=JSON, hash=stale.json()["hash"], content="New.")
    deleted = _send(client, path, headers=JSON, action="delete", hash=saved.json()["hash"])

    assert (stale.status_code, stale.json()["stale"], stale.json()["outcome"]) == (409, True, "refused")
    assert (saved.status_code, saved.json()["stale"], saved.json()["outcome"]) == (200, False, "written")
    assert (deleted.status_code, deleted.json()["hash"]) == (200, "absent")
    assert _send(client, path, headers=JSON, content="New.").json()["error"]["kind"] == "usage"


def test_a_form_from_elsewhere_changes_nothing(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """Without the signature of a page of this site no save, no deletion and no new file."""
    sample.put_memory("main/a.md", "Old.\n")
    client = open_pages()
    opened = _hash(client, "/knowledge/main/a.md")
    client.get("/knowledge")
    for path, fields in [
        ("/knowledge/main/a.md", {"hash": opened, "content": "Evil."}),
        ("/knowledge/main/a.md", {"hash": opened, "action": "delete"}),
        ("/knowledge/main/new", {"name": "b", "content": "Evil."}),
    ]:
        assert client.post(path, data={"csrf": "0" * 64, **fields}).status_code == 403
    assert sample.text("main/a.md") == "Old.\n"
    assert not (sample.root / "memory/main/b.md").exists()


@pytest.mark.rule("SOURCE-18")
def test_sources_are_read_and_never_written(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """Folders and documents are shown with links between them; there is no form, and a POST is refused."""
    sample.put("people/maria k/style.md", "See [Alex](../alex.md), [memory](../../memory/main/MEMORY.md).\n")
    sample.put("people/alex.md", "Alex.\n")
    sample.put("deep/er/notes/x.md", "x\n")
    sample.sources("people", "deep/er", "gone")
    client = open_pages()

    assert "There is nothing at gone" in _text(client.get("/sources").text)
    assert 'href="/sources/people/maria%20k"' in client.get("/sources/people").text
    page = client.get("/sources/people/maria%20k/style.md").text
    assert 'href="/sources/people/alex.md"' in page
    assert 'href="/knowledge/main/MEMORY.md"' in page
    assert "<form" not in page
    assert "memory only reads it" in _text(page)
    assert client.get("/sources/people/alex.md?view=edit").text.count("<textarea") == 0
    assert _send(client, "/sources/people/alex.md", hash="absent", content="x").status_code == 405
    assert client.get("/sources/deep").headers["location"] == "/sources"
    assert client.get("/sources/people/none.md").status_code == 404
    assert client.get("/sources/memory/main").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/knowledge/main/%2e%2e/%2e%2e/omnislash.yaml",
        "/knowledge/main%2f..%2f..%2fsecret.md",
        "/knowledge/%2e%2e/secret.md",
        "/knowledge/main//etc/passwd",
        "/knowledge/main/%2fetc%2fpasswd.md",
        "/knowledge/main/..%5c..%5csecret.md",
        "/knowledge/main/a%00.md",
        "/knowledge/main/.omnislash/token.md",
        "/knowledge/.omnislash/state.md",
        "/knowledge/.git",
        "/knowledge/main/.git/x.md",
        "/knowledge/main/%ff.md",
        "/knowledge/main/" + "a" * 3000,
        "/sources/%2e%2e/secret.md",
        "/sources/people/%2e%2e/secret.md",
        "/sources/people/..%2fsecret.md",
        "/sources/constitution/MANIFEST.yaml",
        "/sources/people/.git/x.md",
        "/sources/people/a%00b",
        "/sources//etc/passwd",
        "/sources/people/link.md",
        "/knowledge/main/link.md",
    ],
)
def test_path_tricks_are_a_sentence(sample: SampleBrain, open_pages: Callable[[], TestClient], path: str) -> None:
    """400, 403 or 404 with one sentence, for a browser and a program, and nothing of the file."""
    secret = sample.put("secret.md", "TOP-SECRET-TEXT\n")
    sample.put("people/a.md", "x\n")
    sample.put_memory("main/MEMORY.md", "x\n")
    for link in ("people/link.md", "memory/main/link.md"):
        os.symlink(secret, sample.root / link)  # noqa: PTH211 - both are strings of the test
    sample.sources("people")
    client = open_pages()
    for headers in (None, JSON):
        answer = client.get(path, headers=headers)

        assert answer.status_code in {400, 403, 404}
        assert "TOP-SECRET-TEXT" not in answer.text
        assert "Traceback" not in answer.text
    assert answer.json()["error"]["message"].rstrip().endswith((".", "…"))


@pytest.mark.parametrize(
    "name", ["a b.md", "100%.md", "c#d.md", "e?f.md", "g'h\".md", "<i>.md", "שלום.md", "a&amp;b.md"]
)
def test_names_of_every_kind_are_reached(sample: SampleBrain, open_pages: Callable[[], TestClient], name: str) -> None:
    """The link in the list opens the file, and the forms of its page send to it."""
    sample.put_memory(f"main/{name}", "The very text.\n")
    client = open_pages()
    links = re.findall(r'<a href="([^"]+)">([^<]+)</a>', client.get("/knowledge/main").text)
    href = next(html.unescape(href) for href, text in links if html.unescape(text) == name)
    page = client.get(f"{href}?view=edit")
    action = re.search(r'<form method="post" action="(/knowledge[^"]+)"', page.text)

    assert "The very text." in page.text
    assert action is not None
    assert _send(client, html.unescape(action[1]), hash=_hash(client, href), content="New.").status_code == 303
    assert sample.text(f"main/{name}") == "New."


def test_a_long_file_is_paged(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """A megabyte is rendered in part, with a link to the rest; raw goes on part by part."""
    sample.put_memory("main/long.md", "".join(f"Line {number}\n" for number in range(27_000)))
    client = open_pages()
    page = client.get("/knowledge/main/long.md").text
    raw = client.get("/knowledge/main/long.md?view=raw&offset=100000").text

    assert "Only the first 100 000 chars" in _text(page).replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert 'href="/knowledge/main/long.md?view=raw&amp;offset=100000"' in page
    assert len(page) < 250_000
    assert 'href="/knowledge/main/long.md?view=raw&amp;offset=200000">Next part' in raw
    assert 'href="/knowledge/main/long.md?view=raw&amp;offset=0">Previous part' in raw
    for odd in ("-1", "x", "9" * 30, "²"):
        assert client.get(f"/knowledge/main/long.md?view=raw&offset={odd}").status_code == 200


def test_a_disk_that_says_no_keeps_the_text(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """A file that its owner made read-only: the sentence, the text, and the file as it was."""
    file = sample.put_memory("main/a.md", "Old.\n")
    file.chmod(0o444)
    client = open_pages()
    answer = _send(client, "/knowledge/main/a.md", hash=_hash(client, "/knowledge/main/a.md"), content="Mine.")

    assert answer.status_code == 503
    assert "permission denied" in _text(answer.text)
    assert "Mine.</textarea>" in answer.text
    assert file.read_text() == "Old.\n"


def test_times_are_in_the_brains_zone(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """A file of 09:00 in UTC reads 18:00 in Tokyo, on the page of the line and on its own."""
    sample.manifest(timezone="Asia/Tokyo")
    file = sample.put_memory("main/MEMORY.md", "x\n")
    os.utime(file, (1_788_080_400, 1_788_080_400))
    client = open_pages()

    for path in ("/knowledge/main", "/knowledge/main/MEMORY.md"):
        assert (
            '<time datetime="2026-08-30T18:00:00+09:00" title="Asia/Tokyo">2026-08-30 18:00</time>'
            in client.get(path).text
        )
    assert client.get("/knowledge/main/MEMORY.md", headers=JSON).json()["zone"] == "Asia/Tokyo"


def test_a_file_with_a_nul_is_not_edited(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """A browser would send another character in its place, so the page says so in place of the form."""
    sample.put_memory("main/a.md", b"one\x00two\n")
    page = open_pages().get("/knowledge/main/a.md?view=edit").text

    assert "NUL character" in page
    assert "<textarea" not in page


def test_the_raw_view_begins_with_its_empty_line(sample: SampleBrain, open_pages: Callable[[], TestClient]) -> None:
    """The line end behind a `<pre>` is not shown by a browser, so one stands there before those of the file."""
    sample.put_memory("main/a.md", "\none\n")

    assert ">\n\none\n</pre>" in open_pages().get("/knowledge/main/a.md?view=raw").text
