"""A brain made of a few files, and what the checks find in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

import pytest

from omnislash.checks.examining import choose_checks
from omnislash.checks.examining import examine as run_checks
from omnislash.shipped import constitution_directory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from omnislash.checks.findings import CheckResult

#: The day on which the tests live: a Tuesday.
TODAY = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


class Examine(Protocol):
    """Makes a brain and examines it; a second call of a test adds its files to the same brain."""

    def __call__(
        self,
        files: Mapping[str, str | bytes],
        *ids: str,
        now: datetime = TODAY,
        environment: Mapping[str, str] | None = None,
    ) -> dict[str, CheckResult]:
        """Return what the named checks (or all) find, by id; a name that ends in `/` makes a directory."""


@pytest.fixture
def brain_root(tmp_path: Path) -> Path:
    """Return the directory of the brain that `examine` fills; it exists, and is empty until then."""
    root = tmp_path / "brain"
    root.mkdir()
    return root


@pytest.fixture
def examine(brain_root: Path) -> Examine:
    """Return the examination; without an `omnislash.yaml` among the files, an empty one is made."""

    def run(
        files: Mapping[str, str | bytes],
        *ids: str,
        now: datetime = TODAY,
        environment: Mapping[str, str] | None = None,
    ) -> dict[str, CheckResult]:
        for path, content in {"omnislash.yaml": "{}\n", **files}.items():
            _put(brain_root, path, content)
        report = run_checks(
            brain_root,
            shipped=constitution_directory(),
            now=now,
            environment={} if environment is None else environment,
            checks=choose_checks(ids),
        )
        return {result.id: result for result in report.checks}

    return run


def _put(root: Path, path: str, content: str | bytes) -> None:
    file = root / path
    if path.endswith("/"):
        file.mkdir(parents=True, exist_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
