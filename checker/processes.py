"""Many questions of one kind, asked in as many processes as pay, answered in their order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

from checker.interpreter.machine import OUT_OF_TIME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FEW = 4
"""Questions that one process is started for at least."""
_MOST = 8
_here: list[Worker] = []


class Worker(Protocol):
    """Answers questions, here or in another process."""

    def elsewhere(self) -> Worker:
        """The same in another process: with files and connections of its own."""
        ...

    def work(self, item: Any) -> Any:
        """The answer to one question; it goes from process to process."""
        ...


def in_order(worker: Worker, items: Sequence[Any], few: int = _FEW) -> Iterator[Any]:
    """The answer to each question.

    What a limit of time has ended anywhere counts as if it had been here.
    """
    processors = min(os.cpu_count() or 1, len(items) // few, _MOST)
    if processors < 2 or "fork" not in multiprocessing.get_all_start_methods():
        for item in items:
            yield worker.work(item)
        return
    with ProcessPoolExecutor(
        processors, multiprocessing.get_context("fork"), _begin, (worker,)
    ) as pool:
        try:
            for answer, late in pool.map(_one, items):
                OUT_OF_TIME.extend(late)
                yield answer
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin(worker: Worker) -> None:
    """A process of its own: Ctrl-C is for the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here[:] = [worker.elsewhere()]
    OUT_OF_TIME.clear()


def _one(item: Any) -> tuple[Any, list[str]]:
    return _here[0].work(item), list(OUT_OF_TIME)
