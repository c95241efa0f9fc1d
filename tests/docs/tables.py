"""The tables of the help pages that are made from the code; `make help-tables` writes them into the pages.

The tests compare the pages with the same rows, so a page that was forgotten is noticed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from omnislash.brain.settings import SettingRow, settings_table
from omnislash.checks.loading import load_checks

PAGES = Path(__file__).resolve().parents[2] / "omnislash" / "help"
#: Files whose memory block has the keys of the manifest's, which the page lists once.
PATCHING = ("*.agent.md", "*.heartbeat.md", "*.hook.md")


def setting_rows() -> dict[str, list[str]]:
    """Return the rows of each file's table of settings."""
    rows = defaultdict(list)
    for row in settings_table():
        inside_block = row.key.removeprefix("agent.").startswith("memory.")
        if not (row.file in PATCHING and inside_block):
            rows[row.file].append(_render(row))
    return rows


def _render(row: SettingRow) -> str:
    expects = row.expects + (f" ({row.unit})" if row.unit else "")
    default = "required" if row.is_required else (f"`{row.default}`" if row.default is not None else "")
    return f"| `{row.key}` | {expects} | {default} | {row.help} |"


def check_rows() -> list[str]:
    """Return the rows of the table of doctor's checks."""
    return [f"| `{check.id}` | {check.protects} |" for check in load_checks()]


def replace_rows(text: str, heading: str, rows: list[str]) -> str:
    """Return a page with other rows in the table below a `## ` heading."""
    before, mark, after = text.partition(f"## {heading}\n")
    head, rule, rest = after.partition("|---")
    dashes, _, body = rest.partition("\n")
    tail = re.sub(r"\A(?:\|.*\n)*", "", body)
    return before + mark + head + rule + dashes + "\n" + "".join(f"{row}\n" for row in rows) + tail


def main() -> None:
    """Write the tables."""
    page = PAGES / "configuration.md"
    text = page.read_text(encoding="utf-8")
    for file, rows in setting_rows().items():
        text = replace_rows(text, file, rows)
    page.write_text(text, encoding="utf-8")
    page = PAGES / "doctor.md"
    page.write_text(replace_rows(page.read_text(encoding="utf-8"), "The checks", check_rows()), encoding="utf-8")


if __name__ == "__main__":
    main()
