"""The derived index: notes, stems, vectors, the two legs of search, and how fresh they are."""

from __future__ import annotations
