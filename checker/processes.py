"""Many questions of one kind, asked in as many processes as pay, answered in their order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, Protocol

from checker.errors import InputError
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

    What a limit of time has ended anywhere counts as if it had been here. However this process
    ends, the others end with it, at once.

    Raises:
        InputError: another process was ended from outside, or what the worker raises.
    """
    processors = min(os.cpu_count() or 1, len(items) // few, _MOST)
    if processors < 2 or "fork" not in multiprocessing.get_all_start_methods():
        for item in items:
            yield worker.work(item)
        return
    stop, running = os.pipe()  # nothing is written: it is closed when this process ends
    try:
        with ProcessPoolExecutor(
            processors,
            multiprocessing.get_context("fork"),
            _begin,
            (worker, stop, running),
        ) as pool:
            try:
                for answer, late in pool.map(_one, items):
                    OUT_OF_TIME.extend(late)
                    yield answer
            except BaseException:
                os.close(running)
                running = -1
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    except BrokenProcessPool:
        raise InputError(
            "one of the processes was ended from outside, as is done where memory runs out",
            "run it again: it goes on from what was finished",
        ) from None
    finally:
        os.close(stop)
        if running >= 0:
            os.close(running)


def _begin(worker: Worker, stop: int, running: int) -> None:
    """A process of its own: Ctrl-C is for the one that started it, and ends this one through it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.close(running)
    threading.Thread(target=_end_with, args=(stop,), daemon=True).start()
    _here[:] = [worker.elsewhere()]
    OUT_OF_TIME.clear()


def _end_with(stop: int) -> None:
    """Ends this process when the other end of a pipe is closed."""
    os.read(stop, 1)
    os._exit(1)


def _one(item: Any) -> tuple[Any, list[str]]:
    return _here[0].work(item), list(OUT_OF_TIME)
