"""Answers given before: a run that would read the same bytes again need not be made again.

An answer is kept under everything that was asked, with the program and its contracts themselves as
part of the question. It is given again only if every source, opened anew, would still give what was
read of it, or if what has changed there is nothing that the answer depends on (`checker.standing`).
Nothing of the stages is imported on the way, but what parses a file that has changed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.kept import Answer, digest_of
from checker.launch import files_of
from checker.program import program_digest
from checker.sources import library_trees, open_source
from checker.sources.seen import changes, seen
from checker.sources.store import Store, default_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from checker.configs import ConfigFile
    from checker.pairing import Opened
    from checker.request import Access, CaptureRequest, VerifyRequest
    from checker.sources import Tree
    from checker.sources.seen import Changes

_MOST = 1024
"""Answers that are kept, with what they depend on."""
_OWED = "-owed"


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
        opened = [] if kept is None else [self._opened(side) for side in kept["sides"]]
        found = None if kept is None else _changes(kept["sides"], opened)
        if kept is None or found is None:
            return None
        if any(change for side in found for change in side):
            from checker.standing import still

            owed = self._store.read_json(self._place + _OWED)
            anew = None if owed is None else still(kept, owed, opened, found)
            if anew is None:
                return None
            kept, owed = anew
            self._write(kept, owed)
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
        from checker.standing import owing

        self._write(kept, owing(answer, opened))
        self._store.prune(self._most)

    def _write(self, kept: dict[str, Any], owed: dict[str, Any] | None) -> None:
        self._store.write_json(kept, self._place)
        if owed is not None:
            self._store.write_json({**owed, "of": digest_of(kept)}, self._place + _OWED)

    def _opened(self, side: Mapping[str, Any]) -> list[Tree]:
        """The trees of a side, opened anew; none where one cannot be: the run itself says why."""
        how: dict[str, Any] = {
            "offline": self._access.offline,
            "progress": self._access.progress,
        }
        try:
            own = open_source(side["spec"], package=side["package"], **how)
            return [own, *library_trees(own, [(n, s) for n, s in side["libraries"]], **how)]
        except InputError:
            return []


def _changes(
    sides: Sequence[Mapping[str, Any]], opened: Sequence[Sequence[Tree]]
) -> list[list[Changes]] | None:
    """What has changed in each tree of each side; None where one is another."""
    found = []
    for side, trees in zip(sides, opened, strict=True):
        if len(trees) != len(side["trees"]):
            return None
        told = [changes(tree, was) for tree, was in zip(trees, side["trees"], strict=True)]
        if None in told:
            return None
        found.append([change for change in told if change is not None])
    return found


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
        "repository": _repository(),  # where findings are shown
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


def _repository() -> str:
    """The nearest folder from here upwards that is a repository; "" where none is."""
    here = os.getcwd()
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above
    return here


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
