"""What tests of whole turns share: a provider's server, and a brain that reaches it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from omnislash.engine import ModelOptions, SearchOptions
from omnislash.runtime.models.chat_models import resolve_chat_model
from tests.integration.running.provider_servers import serve_providers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_ai.models import Model as ChatModel

    from omnislash import Brain
    from omnislash.brain.files import BrainFiles
    from tests.integration.conftest import SampleBrain
    from tests.integration.running.provider_servers import ProviderServer

#: Without embedders a search finds by words, and nothing heavy is loaded.
WORDS_ONLY = SearchOptions(embedders=())


@pytest.fixture(scope="module")
def one_server() -> Iterator[ProviderServer]:
    """Serve for the tests of one file."""
    with serve_providers() as server:
        yield server


@pytest.fixture
def server(one_server: ProviderServer) -> ProviderServer:
    """Return the server with nothing to play and nothing kept."""
    one_server.play()
    for kept in (one_server.bodies, one_server.paths, one_server.headers):
        kept.clear()
    return one_server


def open_with(sample: SampleBrain, server: ProviderServer, *, delays_s: tuple[float, ...] = ()) -> Brain:
    """Open a brain whose models are those of the server; further attempts wait `delays_s`."""
    environment = server.environment

    def make(reference: str | None, config: BrainFiles) -> ChatModel:
        return resolve_chat_model(reference, config, environment=environment, retry_delays_s=delays_s)

    return sample.open(models=ModelOptions(environment=environment, chat=make), search=WORDS_ONLY)


def read_rows(sample: SampleBrain, table: str) -> list[tuple[Any, ...]]:
    """Return every row of a table of the state database."""
    with closing(sqlite3.connect(sample.root / ".omnislash" / "state.db")) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


def read_session(sample: SampleBrain) -> dict[str, list[tuple[Any, ...]]]:
    """Return everything that is remembered of sessions."""
    return {table: read_rows(sample, table) for table in ("sessions", "session_blocks", "session_turns")}
