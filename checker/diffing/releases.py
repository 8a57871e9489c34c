"""The two releases of a diff, read for one setting of a draft after the other."""

from __future__ import annotations

import ast
import copy
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.diffing.beside import Beside, Handed
from checker.diffing.readings import Reading, between, graphs, same_function, undecided
from checker.drafts import flattened, state
from checker.exploring import Setting, plan, set_to
from checker.graph.terms import Pool
from checker.judging.wording import spelled
from checker.pairing import open_pair
from checker.processes import in_order
from checker.report.changes import Change, Kind, setting_words, together
from checker.sources.seen import also_seen, seen
from checker.verification import Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from checker.contract.model import Exploration
    from checker.pairing import Pairing
    from checker.report.explored import Around
    from checker.report.model import Report
    from checker.request import VerifyRequest
    from checker.sources import Tree


@dataclass(frozen=True, slots=True)
class Found:
    """What came of it: the reports on both, for the draft or the default one, and the changes."""

    old: Report
    new: Report
    changes: tuple[Change, ...]
    compared: Mapping[str, int]


_TOGETHER = 8
"""Questions that share a pool of terms."""


class Releases:
    """Reads both releases under one setting after the other."""

    def __init__(
        self,
        pairs: tuple[Pairing, Pairing],
        requests: tuple[VerifyRequest, VerifyRequest],
        server: bool,
        exploration: Exploration | None = None,
    ) -> None:
        self._pairs = pairs
        self._requests = requests
        self._server = server
        self._exploration = exploration
        self._pool = Pool()
        self._asked = 0
        self._readers = (Reader(), Reader())
        self._bases: dict[Any, tuple[Reading, Reading]] = {}
        self._switches: dict[Around, Mapping[str, Any]] = {}

    # -- one draft ------------------------------------------------------------------------------

    def for_draft(self) -> Found:
        """Whether a draft that the user has is still served right."""
        old, new = (
            Reading(*reader.read(pair, request, pool=self._pool), server=self._server)
            for reader, pair, request in zip(
                self._readers, self._pairs, self._requests, strict=True
            )
        )
        under = "the draft"
        changes = [*undecided(old, new, under)]
        said = {clause for change in changes for clause in change.clauses}
        changes += [
            change
            for change in between(old, new, self._pool, under)
            if not said or change.kind is not Kind.UNKNOWN or change.clauses
        ]
        return Found(old.report, new.report, together(changes), {"draft": 1})

    # -- everything -----------------------------------------------------------------------------

    def explored(self) -> Found:
        """What changed for any draft."""
        pair, exploration, _, settings = plan(self._pairs[0])
        self._pairs = (pair, replace(self._pairs[1], target=pair.target))
        self._exploration = exploration
        self._switches = {s.around: s.switches for s in settings if not s.changed}
        changes = [*self._names(settings[0])]
        if not self._server:
            later = plan(self._pairs[1])[3]
            changes += self._defaults([setting for setting in later if not setting.changed])
            added = [setting for setting in later if setting.around not in self._switches]
            self._switches |= {s.around: s.switches for s in added if not s.changed}
            settings += added
        items: list[Any] = [*settings]
        beside = self._beside()
        lines = list(beside.lines()) if self._server else []
        handed = list(beside.questions()) if self._server else []
        items += [*handed, *lines]
        progress = self._requests[0].access.progress
        for number, (found, records) in enumerate(in_order(self, items), start=1):
            if progress is not None:
                progress(f"compared {number} of {len(items)}")
            for tree, record in zip(self.trees(), records, strict=True):
                also_seen(tree, record)
            changes += found
        changes = _switches_once(changes, settings)
        changes += self._new_keys(settings)
        first = self._base(settings[0].around)
        reports = [reading.report for reading in first]
        compared = {
            "settings of a draft": len(settings),
            "targets": len(handed),
            "launch lines": len(lines),
        }
        return Found(reports[0], reports[1], together(changes), compared)

    def elsewhere(self) -> Releases:
        """The same in another process: with files and connections of its own."""
        quiet = [replace(r, access=replace(r.access, progress=None)) for r in self._requests]
        old, new = (replace(open_pair(one), target=self._pairs[0].target) for one in quiet)
        renamed = zip((old, new), self._pairs, strict=True)
        pairs = [replace(there, renames=here.renames) for there, here in renamed]
        other = Releases(
            (pairs[0], pairs[1]), (quiet[0], quiet[1]), self._server, self._exploration
        )
        other._switches = self._switches
        return other

    def work(self, item: Any) -> tuple[list[Change], list[dict[str, Any]]]:
        """What changed for one setting, target or launch line, and what was read so far."""
        self._asked += 1
        if self._asked % _TOGETHER == 0:  # terms are kept as long as their pool
            self._pool = Pool()
            self._bases.clear()
        if isinstance(item, Setting):
            changes = [*self._setting(item)]
        elif isinstance(item, Handed):
            changes = [*self._beside().target(item)]
        else:
            changes = [*self._beside().launch(item)]
        return changes, [seen(tree) for tree in self.trees()]

    def _beside(self) -> Beside:
        assert self._exploration is not None  # noqa: S101 - set before anything is explored
        switches = next(iter(self._switches.values()))
        return Beside(self._pairs, switches[self._exploration.layer_ids])

    def trees(self) -> list[Tree]:
        return [tree for pair in self._pairs for tree in pair.trees]

    # -- drafts ---------------------------------------------------------------------------------

    def _names(self, setting: Setting) -> Iterator[Change]:
        """What a conversion has to do to tensors' names; from here on it is done for each release.

        Else everything would be another function where one release only knows other names.
        """
        base = self._base(setting.around)
        clause = self._pairs[1].contract.fact_owner("weights")
        known = tuple(self._pairs[1].server.engine.draft_config.renames.items())
        if clause is None or not self._server or not known:
            return
        lost = [len(_lost(reading)) for reading in base]
        there = self._pairs
        self._pairs = (replace(there[0], renames=known), replace(there[1], renames=known))
        again = self._readings(setting)
        needs = [len(_lost(r)) < count for r, count in zip(again, lost, strict=True)]
        renames = [known if need else pair.renames for need, pair in zip(needs, there, strict=True)]
        self._pairs = (
            replace(there[0], renames=renames[0]), replace(there[1], renames=renames[1]),
        )  # fmt: skip
        self._bases.clear()
        if needs[0] != needs[1]:
            words = ", ".join(f"{old} as {new}" for old, new in known)
            loaded = base[0 if needs[1] else 1], base[1 if needs[1] else 0]
            text = f"{loaded[1].label} loads tensors by other names ({words}), {loaded[0].label}"
            kind = Kind.BREAKING if needs[1] else Kind.FIXED
            places = [r.side.loader_location for r in base]
            old, new = (() if place is None else (place,) for place in places)
            under = "tensors as training saves them"
            yield Change(kind, (clause.id,), f"{text} by those they have", (under,), old, new)

    def _defaults(self, later: Iterable[Setting]) -> Iterator[Change]:
        """Default drafts that the new trainer makes otherwise."""
        switches = self._pairs[1].contract.switches
        for setting in later:
            before, after = self._switches.get(setting.around), setting.switches
            if before is None:
                continue
            values = {
                name: (before.get(name, switch.default), after.get(name, switch.default))
                for name, switch in switches.items()
            }
            changed = {name: pair for name, pair in values.items() if pair[0] != pair[1]}
            if not changed:
                continue
            old, new = self._base(setting.around)[0], self._readings(setting)[1]
            worse, better = new.violated - old.violated, old.violated - new.violated
            kind = Kind.BREAKING if worse else Kind.FIXED if better else Kind.BEHAVIOUR
            owners = [clause for name in changed for clause in switches[name].clauses]
            words = ", ".join(
                f"{name} is {json.dumps(now)}, it was {json.dumps(was)}"
                for name, (was, now) in changed.items()
            )
            clauses = tuple(sorted(worse or better) or dict.fromkeys(owners))
            under = setting_words(setting.around.value, {})
            yield Change(kind, clauses, f"the draft that is made by default: {words}", (under,))

    def _setting(self, setting: Setting) -> Iterator[Change]:
        """Changes under a setting that its default draft does not show."""
        old, new = base = self._base(setting.around)
        under = setting_words(setting.around.value, setting.changed)
        if not setting.changed:
            yield from between(old, new, self._pool, under)
            return
        shown = [*between(old, new, self._pool, under)]
        mine = self._readings(setting)
        found = between(*mine, self._pool, under, new.violated)
        changes = [c for c in found if not _is_shown(c, shown)]
        effects = [not same_function(one, plain) for one, plain in zip(mine, base, strict=True)]
        if effects == [False, True] and not any(reading.side.failure for reading in mine):
            yield self._new_switch(setting, changes, mine[1], under)
            changes = [c for c in changes if c.kind in (Kind.BREAKING, Kind.UNKNOWN)]
        yield from changes

    def _new_switch(
        self, setting: Setting, changes: list[Change], reading: Reading, under: str
    ) -> Change:
        """A switch that the old release ignores and the new one obeys."""
        contract = reading.case.contract
        owned = [c for name in setting.changed for c in contract.switches[name].clauses]
        fixed = [c for change in changes if change.kind is Kind.FIXED for c in change.clauses]
        engine = reading.side.engine
        keys = {p.rpartition(".")[2] for n in setting.changed
                for p in spelled(contract.switches[n], engine)}  # fmt: skip
        reads = [r.location for r in reading.side.reads if r.key in keys and r.location]
        own = [place for place in reads if place.source == reading.label] or reads
        lines = {(place.path, place.line): place for place in reversed(own)}
        places = tuple(reversed(lines.values()))[:2]
        under += f" (now holds: {', '.join(fixed)})" if fixed else ""
        clauses = tuple(dict.fromkeys(owned))
        return Change(Kind.NEW_SWITCH, clauses, _effect(setting.changed), (under,), (), places)

    def _base(self, around: Any) -> tuple[Reading, Reading]:
        if around not in self._bases:
            self._bases[around] = self._readings(Setting(around, {}, self._switches[around]))
        return self._bases[around]

    def _readings(
        self, setting: Setting, also: Mapping[str, Any] | None = None
    ) -> tuple[Reading, Reading]:
        """Both releases under a setting, with more keys for the engine that is compared."""
        assert self._exploration is not None  # noqa: S101 - set before anything is explored
        found = []
        for reader, pair, request in zip(self._readers, self._pairs, self._requests, strict=True):
            written = set_to(pair, self._exploration, setting)
            if also:
                config = copy.deepcopy(
                    written.serve_config if self._server else written.train_config
                )
                for place, value in also.items():
                    state(config, place, value)
                side = {"serve_config" if self._server else "train_config": config}
                written = replace(written, **side)  # type: ignore[arg-type] # one of its fields
            case, report = reader.read(written, request, brief=True, pool=self._pool)
            found.append(Reading(case, report, self._server))
        return found[0], found[1]

    def _new_keys(self, settings: list[Setting]) -> Iterator[Change]:
        """Keys that only the new release reads, and obeys: those the contract does not know."""
        setting = settings[0]
        old, new = self._base(setting.around)
        contract, engine = new.case.contract, new.side.engine
        keys = {key for s in contract.switches.values() for k in spelled(s, engine)
                for key in (k, k.rpartition(".")[2])}  # fmt: skip
        keys |= {place for place, _ in flattened(engine.draft_config.keys)}
        before = {(r.place, r.key) for r in old.side.reads}
        mine = {tree.label for tree in self.trees() if tree.label == new.label}
        for read in new.side.reads:
            place = f"{read.place}.{read.key}" if read.place else read.key
            known = (read.place, read.key) in before or {place, read.key} & keys
            if known or read.found or read.location is None or read.location.source not in mine:
                continue
            before.add((read.place, read.key))
            value = _other(read.default)
            there = self._readings(setting, {place: value})
            if not same_function(there[1], new):
                text = f"{place} is read and takes effect (tried with {value!r})"
                clauses = [c.clauses[0] for c in graphs(new, there[1], self._pool, "") if c.clauses]
                under = setting_words(setting.around.value, {})
                yield Change(
                    Kind.NEW_SWITCH, tuple(dict.fromkeys(clauses)), text, (under,), (),
                    (read.location,),
                )  # fmt: skip


def _is_shown(change: Change, shown: list[Change]) -> bool:
    """Whether the default draft shows a change; what it shows otherwise is no other behaviour."""
    if change.kind is Kind.BEHAVIOUR and change.clauses:
        return any({*change.clauses} <= {*other.clauses} for other in shown)
    return any((change.kind, change.clauses) == (o.kind, o.clauses) for o in shown)


def _effect(names: Iterable[str]) -> str:
    """That switches have an effect now, in words."""
    said = [*names]
    return f"{', '.join(said)} {'takes' if len(said) == 1 else 'take'} effect"


def _switches_once(changes: list[Change], settings: list[Setting]) -> list[Change]:
    """A switch that has an effect alone is said alone: others beside it only make room for it."""
    new = {change.message for change in changes if change.kind is Kind.NEW_SWITCH}
    tried = {_effect(s.changed): frozenset(s.changed) for s in settings if s.changed}
    found = []
    for change in changes:
        names = tried.get(change.message, frozenset())
        fewer = [text for text in sorted(new) if tried.get(text, names) < names]
        alone = bool(fewer) and change.kind is Kind.NEW_SWITCH
        found.append(replace(change, message=fewer[0]) if alone else change)
    return found


def _lost(reading: Reading) -> list[str]:
    """The tensors that reach no parameter."""
    return [name for name, parameter in reading.side.weights.items() if parameter is None]


def _other(default: Any) -> Any:
    """Another value than a default, of its kind where it has one."""
    try:
        value = ast.literal_eval(repr(default))  # one that was kept is known by its spelling
    except (ValueError, SyntaxError):
        return True
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, (int, float)) else True
