"""What came of a call of a tool, as the protocol has it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mcp_types import CallToolResult, TextContent

from omnislash.surfaces.mcp.seat import to_sendable
from omnislash.surfaces.mcp.shapes import FAULTS


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a call."""

    #: The answer as an object; None when there is none but a sentence.
    answer: dict[str, Any] | None
    #: What went wrong, in sentences; None when nothing did.
    problem: str | None = None

    def to_result(self) -> CallToolResult:
        """Return the answer as the protocol has it: the object, and the same as text."""
        if self.answer is None:
            return CallToolResult(content=[_to_content(self.problem or "")], is_error=True)
        content = _to_content(json.dumps(self.answer, ensure_ascii=False))
        return CallToolResult(
            content=[content],
            structured_content=json.loads(content.text),
            is_error=self.answer.get("outcome") in FAULTS,
        )


def _to_content(text: str) -> TextContent:
    return TextContent(type="text", text=to_sendable(text))
