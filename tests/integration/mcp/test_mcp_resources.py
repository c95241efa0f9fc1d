"""Files of the read set as MCP resources."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from mcp import MCPError
from mcp_types import ResourceTemplateReference, TextResourceContents

from omnislash.surfaces.mcp import resources
from tests.integration.mcp.conftest import MEMORY, connect, open_brain

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Resource

    from tests.integration.conftest import SampleBrain

pytestmark = pytest.mark.anyio
#: How a file that is not there is answered: by its own code until 2025-11-25, by that of a wrong parameter since.
NOT_FOUND = {"legacy": -32002, "auto": -32602}


async def list_all(client: Client) -> list[Resource]:
    """Return every resource, page by page."""
    found, cursor = [], None
    while True:
        page = await client.list_resources(cursor=cursor)
        found += page.resources
        cursor = page.next_cursor
        if cursor is None:
            return found


async def read_text(client: Client, uri: str) -> str:
    """Return the text of a resource."""
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert (content.uri, content.mime_type) == (uri, "text/markdown")
    return content.text


@pytest.mark.rule("SCOPE-11", "TOOL-O3")
async def test_readable_files_are_resources(sample: SampleBrain, mode: str) -> None:
    """The own line, further lines and sources that the role may read are listed with what they are, and read whole."""
    texts = {
        "main/2026/08/2026-08-29.md": "# 2026-08-29\n\n- 10:00 Grüße aus Łódź 🌱\n",
        "main/MEMORY.md": MEMORY,
        "main/a plan #1 & 100%?.md": "",
        "people/Łódź.md": "Bela\n",
    }
    for path, text in texts.items():
        (sample.put if path.startswith("people") else sample.put_memory)(path, text)
    sample.put_memory("hr/MEMORY.md", "- secret\n")
    sample.put("people/picture.png", b"\x89PNG")
    sample.sources("people")
    sample.role("nova", "{recall: [people]}")

    async with connect(open_brain(sample), mode=mode) as client:
        found = await list_all(client)
        read = {each.name: await read_text(client, each.uri) for each in found}

    assert [each.name for each in found] == sorted(texts)
    assert read == texts
    by_name = {each.name: each for each in found}
    assert by_name["people/Łódź.md"].uri == "omnislash:///people/%C5%81%C3%B3d%C5%BA.md"
    assert by_name["main/MEMORY.md"].description == "Curated memory of the line main"
    assert by_name["people/Łódź.md"].description == "Authored document"
    for name, text in texts.items():
        each = by_name[name]
        assert (each.size, each.mime_type) == (len(text.encode()), "text/markdown")
        assert each.annotations is not None
        assert (each.annotations.last_modified or "").startswith("20")


@pytest.mark.rule("TOOL-05", "TOOL-01")
async def test_files_need_the_reading_capability(sample: SampleBrain, mode: str) -> None:
    """Without `memory:read` there is no resource, no template and nothing to read."""
    sample.put_memory("main/MEMORY.md", MEMORY)
    sample.role("nova", capabilities="memory:write")

    async with connect(open_brain(sample), mode=mode) as client:
        assert (await client.list_resources()).resources == []
        assert (await client.list_resource_templates()).resource_templates == []
        with pytest.raises(MCPError, match="memory:read") as caught:
            await client.read_resource("omnislash:///main/MEMORY.md")

    assert caught.value.error.code == NOT_FOUND[mode]


async def test_long_lists_come_in_pages(sample: SampleBrain, mode: str) -> None:
    """More files than fit on a page are told of by a cursor, each of them once."""
    paths = [f"main/n{number:03}.md" for number in range(resources.PAGE + 5)]
    for path in paths:
        sample.put_memory(path, "x\n")

    async with connect(open_brain(sample), mode=mode) as client:
        first = await client.list_resources()
        found = await list_all(client)

    assert len(first.resources) == resources.PAGE
    assert [each.name for each in found] == paths


@pytest.mark.parametrize("tool", ["memory_list", "resources"])
async def test_a_name_that_is_no_text_ends_no_page(
    sample: SampleBrain, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    """A file that nobody can name is in no list, and a reader who goes on page by page comes to the end of it."""
    monkeypatch.setattr(resources, "PAGE", 1)
    sample.role("nova", "{read: [Docs]}")
    sample.sources("Docs")
    for name in (b"Docs/a.md", b"Docs/caf\xe9.md", b"Docs/d.md"):
        sample.put(os.fsdecode(name), "x\n")
    found: list[str] = []
    cursor = None
    async with connect(open_brain(sample)) as client:
        for _ in range(4):
            if tool == "resources":
                page = await client.list_resources(cursor=cursor)
                found += [each.name for each in page.resources]
                cursor = page.next_cursor
            else:
                given = {"limit": 1, **({"cursor": cursor} if cursor else {})}
                answer = (await client.call_tool("memory_list", given)).structured_content
                found += [each["path"] for each in answer["entries"]]
                cursor = answer.get("nextCursor")
            if cursor is None:
                break

    assert (found, cursor) == (["Docs/a.md", "Docs/d.md"], None)


async def test_missing_files_and_wrong_addresses(sample: SampleBrain, mode: str) -> None:
    """What is not there, or is no address at all, is an error of the protocol with a sentence."""
    uris = ["omnislash:///main/none.md", "omnislash:///../../etc/passwd", "omnislash:///main/%2e%2e/x.md", "file:///x"]

    async with connect(open_brain(sample), mode=mode) as client:
        for uri in uris:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert caught.value.error.code == NOT_FOUND[mode]
            assert caught.value.error.message.endswith(".")


async def test_huge_files_are_refused(sample: SampleBrain, mode: str) -> None:
    """A file over the limit is not cut in silence: the error names its size and how to read it in parts."""
    sample.put_memory("main/huge.md", "x" * (resources.LARGEST + 1))
    sample.put_memory("main/large.md", "x" * resources.LARGEST)

    async with connect(open_brain(sample), mode=mode) as client:
        assert len(await read_text(client, "omnislash:///main/large.md")) == resources.LARGEST
        with pytest.raises(MCPError, match=f"{resources.LARGEST + 1} chars.* memory_read with offset"):
            await client.read_resource("omnislash:///main/huge.md")


async def test_bytes_that_are_no_text_are_readable(sample: SampleBrain) -> None:
    """A file with broken UTF-8 is handed out with marks in place of what is broken."""
    sample.put_memory("main/old.md", b"caf\xe9\n")

    async with connect(open_brain(sample)) as client:
        assert await read_text(client, "omnislash:///main/old.md") == "caf\ufffd\n"


async def test_paths_are_completed(sample: SampleBrain, mode: str) -> None:
    """The template takes any readable path, and a client can have it completed."""
    for path in ("main/MEMORY.md", "main/plan.md", "hr/plan.md"):
        sample.put_memory(path, "x\n")

    async with connect(open_brain(sample), mode=mode) as client:
        (template,) = (await client.list_resource_templates()).resource_templates
        reference = ResourceTemplateReference(uri=template.uri_template)
        found = [
            (await client.complete(reference, {"name": "path", "value": begun})).completion.values
            for begun in ("main/p", "", "hr")
        ]

    assert template.uri_template == "omnislash:///{+path}"
    assert found == [["main/plan.md"], ["main/MEMORY.md", "main/plan.md"], []]
