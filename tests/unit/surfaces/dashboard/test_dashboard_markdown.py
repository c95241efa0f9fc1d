"""Rendered notes do nothing: no script, no loading, no link but to what may be opened."""

from __future__ import annotations

import re

import pytest

from omnislash.surfaces.dashboard.drawing import draw_note, draw_size
from omnislash.surfaces.dashboard.markdown import render_markdown

#: Attributes that any rendered note may have.
HARMLESS = {"href", "title", "rel", "dir", "id", "scope", "start"}


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)" onclick="alert(1)">x</a>',
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java&#x0A;script:alert(1))",
        "[x](vbscript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](data:image/svg+xml;base64,PHN2Zz4=)",
        "![x](https://evil.example/p.png)",
        "[x](//evil.example/x)",
        "[x](/\\evil.example)",
        "[x](file:///etc/passwd)",
        "<iframe src=https://evil.example></iframe>",
        "<style>*{display:none}</style>",
        "<svg><script>alert(1)</script></svg>",
        "<form action=/logout><button>go</button></form>",
        "<base href=https://evil.example>",
        "<meta http-equiv=refresh content=0>",
        '```"><script>alert(1)</script>\nx\n```',
        "[x]: javascript:alert(1)\n\n[x]",
        '# <b id="content">x</b>',
        "<!-- --><script>alert(1)</script>",
        '---\ntitle: "</pre><script>alert(1)</script>"\n---\nx',
    ],
)
def test_nothing_in_a_note_acts(hostile: str) -> None:
    """Whatever is written, only harmless tags and attributes come out, and links only to http, https, mailto and here."""
    html = str(render_markdown(f"Before\n\n{hostile}\n\nAfter", link_base="/knowledge/main/x.md"))
    html += str(render_markdown(hostile, link_base="/knowledge/main/x.md"))
    tags = re.findall(r"<(/?)([a-zA-Z][^\s/>]*)([^>]*)>", html)
    attributes = [
        name for _, _, rest in tags for name in re.findall(r"\s([a-z-]+)(?:=|\s|$)", re.sub(r'"[^"]*"', "", rest))
    ]
    links = [place for _, _, rest in tags for place in re.findall(r'href="([^"]*)"', rest)]

    assert {name for _, name, _ in tags} <= {"p", "a", "h2", "pre", "code", "hr"}
    assert set(attributes) <= HARMLESS
    assert all(re.match(r"https?://|/knowledge/|/%5C|#", each) for each in links)
    assert "Before" in html
    assert "After" in html


def test_tags_and_comments_are_shown_as_text() -> None:
    """A person sees what an agent would read: hidden comments too."""
    html = str(render_markdown("Hello <!-- do evil --> <b>you</b>"))

    assert "&lt;!-- do evil --&gt; &lt;b&gt;you&lt;/b&gt;" in html


def test_a_picture_is_linked_and_never_loaded() -> None:
    """A remote picture becomes a link that says so; one inside of a link becomes its words."""
    html = str(render_markdown("![A cat](https://example.org/cat.png) [![Map](m.png)](https://example.org)"))

    assert "<img" not in html
    assert '<a href="https://example.org/cat.png"' in html
    assert "Image not loaded: A cat" in html
    assert html.count("<a ") == 2


def test_a_wall_of_brackets_is_shown_as_it_stands() -> None:
    """What the parser would look at for many seconds is shown as text."""
    assert str(render_markdown("[" * 100_000)) == f"<pre><code>{'[' * 100_000}</code></pre>\n"


def test_headings_are_in_order_and_have_ids_of_their_own() -> None:
    """No level is left out, the first is the level asked for, and a fragment leads to its heading."""
    html = str(render_markdown("### A\n# B\n#### C\n## C\n[to c](#c-1)"))

    assert re.findall(r"<h(\d) [^>]*id=\"([^\"]*)\"", html) == [
        ("2", "doc-a"),
        ("2", "doc-b"),
        ("3", "doc-c"),
        ("3", "doc-c-1"),
    ]
    assert 'href="#doc-c-1"' in html
    assert str(render_markdown("# A", top_level=3)).startswith("<h3")
    siblings = str(render_markdown("# A\n## B\n## C\n# D\n## E"))
    assert re.findall(r"<h(\d)", siblings) == ["2", "3", "3", "2", "3"]


def test_text_takes_its_own_direction() -> None:
    """Each block has the direction of its first strong letter."""
    html = str(render_markdown("שלום\n\n- مرحبا\n- hi\n\n| a |\n|---|\n| ב |"))

    assert '<p dir="auto">שלום' in html
    assert '<li dir="rtl">مرحبا' in html
    assert '<li dir="ltr">hi' in html
    assert '<td dir="auto">ב' in html


def test_blocks_of_blocks_take_the_direction_of_their_text() -> None:
    """A quotation's line, a list's bullets and a table's first column stand where the text in them begins.

    A browser leaves text of blocks with a direction of their own out when it looks for that of the block around them.
    """
    html = str(
        render_markdown(
            "> [1] ציטוט\n\n- לחם\n\n- bread\n\n  - חלה\n\n| [מה](https://a.example) | b |\n|---|---|\n| a | b |"
        )
    )

    assert '<blockquote dir="rtl">' in html
    assert html.count('<ul dir="rtl">') == 2
    assert '<li dir="rtl">\n<p dir="auto">לחם' in html
    assert '<li dir="ltr">\n<p dir="auto">bread' in html
    assert '<table dir="rtl">' in html
    assert '<table dir="ltr">' in render_markdown("| a | ב |\n|---|---|\n| ג | ד |")
    assert '<ul dir="auto">' in render_markdown("- 1\n- 2")


def test_front_matter_is_shown_as_it_stands() -> None:
    """Front matter is no heading and no rule, and what follows it is rendered."""
    html = str(render_markdown("---\ntags: [a]\n---\n# Title"))

    assert html.startswith("<pre><code>---\ntags: [a]\n---</code></pre>")
    assert "<h2" in html
    assert "<hr" not in html


def test_what_is_too_deep_is_said() -> None:
    """A thousand blocks in each other are cut with a sentence that says so; twenty are not."""
    assert "left out of this view" in render_markdown(">" * 1000 + " x")
    assert "left out of this view" in render_markdown("- " * 500 + "x")
    assert "left out of this view" not in render_markdown("> " * 20 + "x")


@pytest.mark.parametrize(
    ("target", "is_link"),
    [
        ("https://a.example/x", True),
        ("HTTP://a.example", True),
        ("mailto:otto@a.example", True),
        ("http:a.example", False),
        ("https:/a.example", False),
        ("//a.example", False),
        ("ftp://a.example", False),
    ],
)
def test_links_elsewhere_name_their_place(target: str, *, is_link: bool) -> None:
    """A web address or a mail address is followed as it is written; half an address leads nowhere."""
    html = str(render_markdown(f"[x]({target})", link_base="/help/memory"))

    assert re.findall(r'href="([^"]*)"', html) == ([target] if is_link else [])


@pytest.mark.parametrize(
    ("target", "page"),
    [
        ("plants.md", "/knowledge/main/topics/plants.md"),
        ("../2026/2026-11.md", "/knowledge/main/2026/2026-11.md"),
        ("../../ops/MEMORY.md#Now", "/knowledge/ops/MEMORY.md#doc-Now"),
        ("/memory/main/MEMORY.md", "/knowledge/main/MEMORY.md"),
        ("../../../people/maria%20k.md", "/sources/people/maria%20k.md"),
        ("<a b?c.md>", "/knowledge/main/topics/a%20b"),
        ("../../../../etc/passwd", None),
    ],
)
def test_links_between_notes_lead_to_their_pages(target: str, page: str | None) -> None:
    """A relative link is followed from where the note stands, and never out of the brain."""
    html = str(draw_note(f"[x]({target})", "memory/main/topics/trees.md"))

    assert re.findall(r'href="([^"]*)"', html) == ([page] if page else [])


@pytest.mark.parametrize(
    ("size", "text"),
    [(None, ""), (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (14_400, "14 kB"), (3_200_000, "3.2 MB")],
)
def test_sizes_read_well(size: int | None, text: str) -> None:
    """Bytes, kilobytes and megabytes of a thousand each."""
    assert draw_size(size) == text


def test_blocks_have_the_ids_of_their_lines() -> None:
    """A link to `#L12` leads to what begins on line 12 of the file, front matter counted; no id comes twice."""
    text = "---\na: 1\n---\n# Title\n\nWords.\n\n- one\n- two\n\n> quoted\n\n```\ncode\n```\n\n| a |\n|---|\n| b |\n"
    html = str(render_markdown(text, has_lines=True))
    ids = re.findall(r'\sid="([^"]*)"', html)

    assert '<span id="L4"></span>Title' in html
    assert re.search(r'<p [^>]*id="L6"[^>]*>Words', html)
    assert re.search(r'<li [^>]*id="L9"[^>]*>two', html)
    assert [each for each in ids if each.startswith("L")] == ["L4", "L6", "L8", "L9", "L11", "L13", "L17", "L19"]
    assert len(ids) == len(set(ids))
