"""Answers given before: a run that would read the same bytes again need not be made again.

An answer is kept under everything that was asked, with the program and its contracts themselves as
part of the question. It is given again only if every source, opened anew, would still give what was
read of it. Nothing of the stages is imported on the way.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.launch import files_of
from checker.program import program_digest
from checker.sources import library_trees, open_source
from checker.sources.seen import seen, unchanged
from checker.sources.store import Store, default_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from checker.configs import ConfigFile
    from checker.pairing import Opened
    from checker.request import Access, CaptureRequest, VerifyRequest

_MOST = 512
"""Answers that are kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was printed, the exit status, and what was written to files: paths and texts."""

    output: str
    status: int
    files: tuple[tuple[str, str], ...] = ()


class Answers:
    """The kept answers to one question.

    Args:
        question: everything that decides the answer besides the sources' contents, as JSON.
        access: how sources are come by; without a cache nothing is kept or given.
        folder: where they are kept.
        most: how many are kept there.
    """

    def __init__(
        self,
        question: Mapping[str, Any],
        access: Access,
        folder: str = "answers",
        most: int | None = None,
    ) -> None:
        self._access = access
        self._store = Store(default_folder(folder))
        self._most = _MOST if most is None else most
        self._place = ""
        if access.use_cache:
            asked = json.dumps([program_digest(), question], sort_keys=True)
            self._place = hashlib.sha256(asked.encode()).hexdigest()
        self._late = _out_of_time()

    def known(self) -> Answer | None:
        """The answer, if it was given before and nothing it depends on has changed."""
        if not self._access.use_cache:
            return None
        kept = self._store.read_json(self._place)
        if kept is None or not all(self._same(side) for side in kept["sides"]):
            return None
        files = tuple((path, text) for path, text in kept["files"])
        return Answer(kept["output"], kept["status"], files)

    def keep(self, answer: Answer, opened: Iterable[Opened]) -> None:
        """Keeps an answer with what it depends on.

        One that a limit of time has shaped is not kept.
        """
        if not self._access.use_cache or _out_of_time() > self._late:
            return
        sides = [
            {
                "spec": side.spec,
                "package": side.engine.package,
                "libraries": [*map(list, side.libraries)],
                "trees": [seen(tree) for tree in side.trees],
            }
            for side in opened
        ]
        if not sides:
            return  # nothing says what it depends on
        kept = {
            "sides": sides,
            "output": answer.output,
            "status": answer.status,
            "files": [*answer.files],
        }
        self._store.write_json(kept, self._place)
        self._store.prune(self._most)

    def _same(self, side: Mapping[str, Any]) -> bool:
        """Whether a side, opened anew, is what it was."""
        how: dict[str, Any] = {
            "offline": self._access.offline,
            "progress": self._access.progress,
        }
        try:
            own = open_source(side["spec"], package=side["package"], **how)
            trees = [own, *library_trees(own, [(n, s) for n, s in side["libraries"]], **how)]
        except InputError:
            return False  # the run itself says what is wrong
        return len(trees) == len(side["trees"]) and all(
            unchanged(tree, before) for tree, before in zip(trees, side["trees"], strict=True)
        )


def answered(
    question: Mapping[str, Any],
    access: Access,
    work: Callable[[list[Opened]], Answer],
    *,
    anew: bool = False,
    kept: bool = True,
) -> Answer:
    """The answer to a question: one that was given before, or a new one, which is kept.

    Args:
        question: see `Answers`.
        access: how sources are come by.
        work: makes the answer, and says which sides it has opened.
        anew: it is made in any case.
        kept: it is kept for the next time.
    """
    answers = Answers(question, access)
    known = None if anew or os.environ.get("EAGLE3_CHECK_DEBUG") else answers.known()
    if known is not None:
        return known
    opened: list[Opened] = []
    answer = work(opened)
    if kept:
        answers.keep(answer, opened)
    return answer


def _out_of_time() -> int:
    """How often a limit of time has ended something in this process."""
    machine = sys.modules.get("checker.interpreter.machine")
    return len(getattr(machine, "OUT_OF_TIME", ()))


def verify_question(request: VerifyRequest, rendering: list[Any]) -> dict[str, Any]:
    """A request as JSON, with how the answer is to be printed."""
    target = request.target
    return {
        "command": "verify",
        "rendering": rendering,
        "folder": os.getcwd(),  # where specs that are paths start
        "sides": [request.train, request.serve],
        "configs": [_file(request.train_config), _file(request.serve_config)],
        "drafts": [d and [d.path, d.seal] for d in (request.draft, request.serve_draft)],
        "target": target and [_file(target.config), target.architecture, target.layers],
        "launch": [request.launch, files_of(request.launch or "", request.launch_folder)],
        "renames": [[r.old, r.new] for r in request.renames],
        "with": [[[p.name, p.version] for p in pins]
                 for pins in (request.train_with, request.serve_with)],
        "strict": request.strict,
        "ranks": [request.tensor_parallel, request.pipeline_parallel],
        "notes": [*request.notes],
        "max_unproven": request.max_unproven,
        "waivers": _waivers(request),
        "contracts": [[file.path, file.digest] for file in request.contracts],
    }  # fmt: skip


def _waivers(request: VerifyRequest) -> list[Any]:
    """What does not count, and the day on which that is asked, where days matter."""
    import datetime

    said = [dataclasses.astuple(waiver) for waiver in request.waivers]
    ends = any(waiver.expires for waiver in request.waivers)
    today = datetime.datetime.now().astimezone().date().isoformat() if ends else None
    known = request.baseline
    return [said, today, known and [known.path, known.digest]]


def capture_question(request: CaptureRequest, rendering: list[Any]) -> dict[str, Any]:
    """The same for ``capture``."""
    return {
        "command": "capture",
        "rendering": rendering,
        "folder": os.getcwd(),
        "source": request.source,
        "target": [request.target, request.layers, _file(request.config)],
        "ids": request.ids,
        "ranks": request.tensor_parallel,
        "with": [[p.name, p.version] for p in request.with_],
        "contracts": [[file.path, file.digest] for file in request.contracts],
    }


def _file(config: ConfigFile | None) -> list[str] | None:
    return None if config is None else [config.path, hashlib.sha256(config.raw).hexdigest()]
