"""The files of a new brain: short, commented, and right as they stand."""

from __future__ import annotations

_PROJECT = """\
# This file makes the directory a brain. Every setting has a default; `omnislash help configuration` lists them.
memory:
  # Documents of your own that roles may read, relative to this directory. Memory never writes them.
  # sources: [content, handbook.md]
  languages: [english]
"""

_MANIFEST = """\
# Defaults for every role of this brain; a role's own file may say otherwise.
memory:
  # How long a line's MEMORY.md may be, in chars; 0 = no limit. When it is full, its oldest dated notes go first;
  # they stay in the daily logs.
  fileMaxChars: 12000
locale:
  # Decides which day an entry belongs to, and its time.
  timezone: UTC
"""

_NOVA = """\
---
name: Nova
description: The assistant you talk to.
# What it may do with its memory; take away what it should not.
capabilities: [memory:read, memory:write, memory:edit, memory:delete]
# An empty block turns memory on. It writes the line `main`, and reads it.
memory: {}
---
You are Nova.

Write down what will still matter tomorrow: decisions with their reason, promises with their date, how people want things.
Make an entry a priority only when every future conversation needs it.
"""

_IGNORE = """\
.omnislash/
.omnislash-*
memory/.memory-index.db*
"""

#: Path in the brain → text.
FILES = {
    "omnislash.yaml": _PROJECT,
    "constitution/MANIFEST.yaml": _MANIFEST,
    "features/chat/nova.agent.md": _NOVA,
}
#: What every brain has, the example's copy included.
IGNORE = (".gitignore", _IGNORE)
