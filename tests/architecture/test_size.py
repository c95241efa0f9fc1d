"""Functions and files stay small."""

from __future__ import annotations

import ast
import math
import statistics
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "omnislash"
FILES = sorted(PACKAGE.rglob("*.py"))


def p90(values: list[int]) -> int:
    """Return the value that nine of ten do not exceed."""
    return sorted(values)[math.ceil(len(values) * 0.9) - 1]


def functions(file: Path) -> dict[str, int]:
    """Return the physical lines of each function of a file."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, kinds))
    name = file.relative_to(PACKAGE)
    return {f"{name}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1 for node in found}


@pytest.fixture(scope="module")
def function_lines() -> dict[str, int]:
    """Return the lines of every function of the package."""
    return {name: lines for file in FILES for name, lines in functions(file).items()}


@pytest.fixture(scope="module")
def file_lines() -> dict[str, int]:
    """Return the lines of every module that has any."""
    counts = {str(file.relative_to(PACKAGE)): file.read_text().count("\n") for file in FILES}
    return {name: lines for name, lines in counts.items() if lines > 1}


def test_functions_are_short(function_lines: dict[str, int]) -> None:
    """The median function has at most 8 lines, nine of ten at most 30."""
    lines = list(function_lines.values())

    assert len(lines) > 500
    assert statistics.median(lines) <= 8
    assert p90(lines) <= 30


def test_no_function_is_long(function_lines: dict[str, int]) -> None:
    """No function has more than 60 lines."""
    assert {name: lines for name, lines in function_lines.items() if lines > 60} == {}


def test_files_are_short(file_lines: dict[str, int]) -> None:
    """The median file has at most 150 lines, nine of ten at most 400."""
    lines = list(file_lines.values())

    assert len(lines) > 60
    assert statistics.median(lines) <= 150
    assert p90(lines) <= 400


def test_no_file_is_long(file_lines: dict[str, int]) -> None:
    """No file has more than 600 lines."""
    assert {name: lines for name, lines in file_lines.items() if lines > 600} == {}
