"""An own cache and own index settings for each test: no test here needs the network."""

from __future__ import annotations

import os
import threading
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.sources.samples import Index, handler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's cache nor the machine's pip settings reach a test."""
    for name in list(os.environ):
        if name.startswith("PIP_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("NETRC", str(tmp_path / "no-netrc"))
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


class QuietServer(ThreadingHTTPServer):
    """A client that hangs up, because it does not want the whole file, is no news."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@pytest.fixture
def start_index() -> Iterator[Callable[..., Index]]:
    """Start an index; all are stopped at the end."""
    servers: list[QuietServer] = []

    def start(**options: bool | str) -> Index:
        index = Index(**options)  # type: ignore[arg-type]
        server = QuietServer(("127.0.0.1", 0), handler(index))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        index.port = server.server_port
        return index

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def index(start_index: Callable[..., Index], monkeypatch: pytest.MonkeyPatch) -> Index:
    """One index, in effect."""
    index = start_index()
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    return index


@pytest.fixture
def in_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small test archives read the way large ones are."""
    monkeypatch.setattr("checker.sources.transfer.WHOLE_LIMIT", 0)
    monkeypatch.setattr("checker.sources.transfer._TAIL", 512)
    monkeypatch.setattr("checker.sources.archive.CHUNK_SIZE", 4096)
    monkeypatch.setattr("checker.sources.archive.CHUNK_GAP", 64)
