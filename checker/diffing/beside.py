"""What stands beside a draft: what targets hand over, and what becomes of launch flags."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.engines import Inputs, Question, captured, known_targets, launched, told
from checker.interpreter.values import Unknown
from checker.report.changes import Change, Kind
from checker.solving import launch_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from checker.engines import Captured, Launched, Subject
    from checker.location import Location
    from checker.pairing import Pairing


@dataclass(frozen=True, slots=True)
class Handed:
    """A question about a target: what its class hands over."""

    target: str


class Beside:
    """Asks both releases of a server the same.

    Args:
        pairs: the old one's and the new one's.
        boundaries: those of an ordinary draft.
    """

    def __init__(self, pairs: tuple[Pairing, Pairing], boundaries: Sequence[int]) -> None:
        self._pairs = pairs
        self._boundaries = boundaries

    def _subjects(self) -> tuple[Subject, Subject]:
        old, new = (pair.server.outline(pair.contracts) for pair in self._pairs)
        return old, new

    def questions(self) -> Iterator[Handed]:
        """All classes."""
        engine = self._pairs[1].server.engine
        if engine.capture is None:
            return
        names = sorted({name for subject in self._subjects() for name in known_targets(subject)})
        yield from (Handed(name) for name in names)

    def target(self, item: Handed) -> Iterator[Change]:
        """What it hands over with no ids and with ordinary ones; of one kind, said at once."""
        found: dict[Kind, Change] = {}
        for ids in (None, tuple(self._boundaries)):
            for change in self._asked(item, ids):
                known = found.get(change.kind)
                if known is not None and known.message != change.message:
                    change = replace(known, message=f"{known.message}; {change.message}")  # noqa: PLW2901
                found[change.kind] = change
        yield from found.values()

    def _asked(self, item: Handed, ids: tuple[int, ...] | None) -> Iterator[Change]:
        contract = self._pairs[1].contract
        layers = (self._pairs[0].target or {}).get(contract.target["layers"], 0)
        found: list[Captured | None] = []
        graphs_: list[Captured | None] = []
        for subject in self._subjects():
            question = Question(item.target, layers, ids, None)
            there = item.target in known_targets(subject)
            said = told(subject, {}, {}, ids) if there else None
            found.append(captured(subject, question) if there else None)
            differs = said is not None and said.differs
            asked = replace(question, ids=said.graphs) if differs and said else None
            graphs_.append(None if asked is None else captured(subject, asked))
        change = _targets(found[0], found[1], (graphs_[0], graphs_[1]), item.target)
        clause = contract.fact_owner("capture")
        if change is not None:
            yield replace(change, clauses=() if clause is None else (clause.id,))

    def lines(self) -> Iterator[Mapping[str, Any]]:
        """The flags that drafting is started with, fewer of them, and others beside them."""
        engine = self._pairs[1].server.engine
        if engine.launch is None:
            return
        started = dict(engine.draft_config.launch)
        if not started:
            return
        yield started
        for name, value in started.items():
            yield {k: v for k, v in started.items() if k != name}
            if isinstance(value, int):
                yield {**started, name: 4 * value}
        for name, values in engine.draft_config.launch_choices.items():
            for value in values:
                if started.get(name) != value:
                    yield {**started, name: value}

    def launch(self, flags: Mapping[str, Any]) -> Iterator[Change]:
        found = []
        for pair in self._pairs:
            subject = pair.server.subject(pair.stubs)
            config = copy.deepcopy(dict(pair.server.engine.draft_config.keys))
            found.append(launched(subject, Inputs(config, pair.target, dict(flags))))
        clause = self._pairs[1].contract.fact_owner("launch")
        line = launch_line("", flags)
        change = _launches(found[0], found[1], line, "" if clause is None else clause.id)
        if change is not None:
            yield change


# -- targets ------------------------------------------------------------------------------------


def _targets(
    old: Captured | None, new: Captured | None, replayed: tuple[Any, Any], said: str
) -> Change | None:
    """What a target hands over otherwise. `replayed` is what captured graphs hand over."""
    if old is None or new is None:
        if old is None and new is None:
            return None
        text = "a new target" if old is None else "no target any more: nothing can be told to it"
        return Change(Kind.BEHAVIOUR if old is None else Kind.BREAKING, (), text, (said,))
    before, after = _handed(old, replayed[0]), _handed(new, replayed[1])
    if not old.is_decided and not new.is_decided:
        text = "what the target hands over is proven with neither"
        return Change(Kind.UNKNOWN, (), text, (said,))
    if before == after:
        return None
    good = [_is_good(captured, graphs) for captured, graphs in zip((old, new), replayed)]  # noqa: B905
    if not new.is_decided:
        kind = Kind.UNKNOWN
    elif not old.is_decided:
        kind = Kind.BEHAVIOUR
    elif good[0]:
        kind = Kind.BREAKING
    else:
        kind = Kind.FIXED if good[1] else Kind.BEHAVIOUR
    asked = "without ids" if new.ids is None else f"ids {[*new.ids]}"
    text = f"{asked}: {after} (it was: {before})"
    return Change(kind, (), text, (said,), _where(old), _where(new))


def _handed(found: Captured, replayed: Captured | None) -> str:
    if found.error is not None:
        return f"raises {found.error.type}"
    if found.boundaries is None:
        return f"not proven ({found.reason})"
    text = str(["?" if b is None else b for b in found.boundaries])
    if found.aliased:
        text += f", {list(found.aliased)} overwritten later"
    if replayed is not None and replayed.answer != found.answer:
        text += f", captured graphs {_handed(replayed, None)}"
    return text


def _is_good(found: Captured, replayed: Captured | None) -> bool:
    numbers = found.boundaries is not None and all(isinstance(b, int) for b in found.boundaries)
    same_graphs = replayed is None or replayed.answer == found.answer
    return found.error is None and numbers and not found.aliased and same_graphs


def _where(found: Captured) -> tuple[Location, ...]:
    place = found.error.location if found.error is not None else found.setter or found.place
    return () if place is None else (place,)


# -- launch flags -------------------------------------------------------------------------------


def _launches(old: Launched, new: Launched, line: str, clause: str) -> Change | None:
    """What the server makes of a launch line otherwise."""
    before, after = _launched(old), _launched(new)
    if before == after:
        return None
    if new.failure is not None and new.failure.type is None:
        kind = Kind.UNKNOWN
    elif _fits(old):
        kind = Kind.BEHAVIOUR if _fits(new) else Kind.BREAKING
    else:
        kind = Kind.FIXED if _fits(new) else Kind.BEHAVIOUR
    parts = [
        f"{name} is {after.get(name, 'not there')}, it was {before.get(name, 'not there')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]
    places = [tuple(sorted({*found.changed.values()}))[:2] for found in (old, new)]
    return Change(kind, (clause,), "; ".join(parts), (line,), *places)


def _launched(found: Launched) -> Mapping[str, str]:
    """What is left of the flags, and what is wrong with them, in words."""
    said = {
        name: "not known" if isinstance(value, Unknown) else str(value)
        for name, value in found.values.items()
    }
    said |= {f"{misfit.flag} (misfit)": misfit.text for misfit in found.misfits}
    if found.failure is not None:
        # what an exception says may be the text of the source
        said["the end"] = found.failure.type or f"not followed: {found.failure.message}"
    return said


def _fits(found: Launched) -> bool:
    left = found.effective()
    kept = all(left.get(name, value) == value for name, value in found.given.items())
    return kept and not found.misfits and found.failure is None
