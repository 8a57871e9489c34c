"""``diff``: what changed in meaning between two releases of one engine.

Both are read beside the same counterpart: for a draft that the user has, or for default drafts and
single switches around them, all target classes, and a few launch lines.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.diffing import (
    Reading,
    graphs,
    launches,
    same_function,
    statuses,
    targets,
)
from checker.drafts import flattened, state
from checker.engines import Inputs, Question, captured, known_targets, launched, load_engines, told
from checker.errors import InputError
from checker.example import example
from checker.exploring import Setting, plan, set_to
from checker.graph.terms import Pool
from checker.judging.wording import spelled
from checker.pairing import allow_deep_recursion, open_pair, pairing
from checker.processes import in_order
from checker.report.changes import Change, Changes, Kind, setting_words, together
from checker.solving import launch_line
from checker.sources.seen import also_seen, seen
from checker.verify import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.contract.model import Exploration
    from checker.engines import Captured, Subject
    from checker.location import Location
    from checker.pairing import Opened, Pairing
    from checker.report.model import Report
    from checker.request import DiffRequest, VerifyRequest
    from checker.sources import Tree


def diff(request: DiffRequest, opened: list[Opened] | None = None) -> Changes:
    """Every change of meaning that was found, with the lines of both releases.

    Args:
        request: what is asked.
        opened: gets the sides that were opened: what the answer depends on.

    Raises:
        InputError: something the user gave cannot be used, or the two are of different engines.
    """
    allow_deep_recursion()
    server = _is_server(request)
    requests = tuple(_asked(request, spec, server) for spec in (request.old, request.new))
    whole = request.check.train_config is not None or request.check.serve_config is not None
    pairs = [(pairing if whole else open_pair)(one) for one in requests]
    if opened is not None:
        opened += [side for pair in pairs for side in (pair.trainer, pair.server)]
    engines = [(pair.server if server else pair.trainer).engine.name for pair in pairs]
    if engines[0] != engines[1]:
        raise InputError(
            f"{request.old} is {engines[0]} and {request.new} is {engines[1]}",
            "compare two releases of one engine",
        )
    differ = _Differ((pairs[0], pairs[1]), (requests[0], requests[1]), server)
    return differ.for_draft() if whole else differ.explored()


def _is_server(request: DiffRequest) -> bool:
    """Whether the releases are a server's: by their name, else by who is named beside them."""
    check, name = request.check, request.old.partition("==")[0].removeprefix("installed:")
    roles = {e.distribution: e.role for e in load_engines(check.contracts)}
    if name in roles:
        server = roles[name] == "server"
    elif not check.train and not check.serve:
        raise InputError(
            f"whether {request.old} is a trainer or a server is not known by its name",
            "name the other side with --train or --serve",
        )
    else:
        server = bool(check.train)
    if check.serve if server else check.train:
        option = "--serve" if server else "--train"
        raise InputError(
            "names the side that is compared", "name only the other side, or none", option
        )
    return server


def _asked(request: DiffRequest, spec: str, server: bool) -> VerifyRequest:
    check, pair = request.check, example(request.check.access).request
    if server:
        return replace(check, serve=spec, train=check.train or pair.train)
    return replace(check, train=spec, serve=check.serve or pair.serve)


@dataclass(frozen=True, slots=True)
class _Handed:
    """A question about a target: its class, and the boundaries that are asked for."""

    target: str
    ids: tuple[int, ...] | None


_TOGETHER = 8
"""Questions that share a pool of terms."""


class _Differ:
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
        self._switches: dict[Any, Mapping[str, Any]] = {}

    # -- one draft ------------------------------------------------------------------------------

    def for_draft(self) -> Changes:
        """Whether a draft that the user has is still served right."""
        old, new = (
            Reading(*reader.read(pair, request, pool=self._pool), server=self._server)
            for reader, pair, request in zip(
                self._readers, self._pairs, self._requests, strict=True
            )
        )
        under = "the draft"
        changes = [*statuses(old, new, under)]
        known = {clause for change in changes for clause in change.clauses}
        changes += [c for c in graphs(old, new, self._pool, under) if not known & {*c.clauses}]
        verdicts = old.report.verdict.value, new.report.verdict.value
        return self._answer(old.report, new.report, changes, {"draft": 1}, verdicts)

    # -- everything -----------------------------------------------------------------------------

    def explored(self) -> Changes:
        """What changed for any draft."""
        pair, exploration, _, settings = plan(self._pairs[0])
        self._pairs = (pair, replace(self._pairs[1], target=pair.target))
        self._exploration = exploration
        self._switches = {s.around: s.switches for s in settings if not s.changed}
        changes = [*self._names(settings[0])]
        items: list[Any] = [*settings]
        lines, handed = list(self._lines()), list(self._questions())
        items += [*handed, *lines]
        progress = self._requests[0].access.progress
        for number, (found, records) in enumerate(in_order(self, items), start=1):
            if progress is not None:
                progress(f"compared {number} of {len(items)}")
            for tree, record in zip(self._trees(), records, strict=True):
                also_seen(tree, record)
            changes += found
        changes += self._new_keys(settings)
        first = self._base(settings[0].around)
        reports = [reading.report for reading in first]
        compared = {
            "settings of a draft": len(settings),
            "targets": len({h.target for h in handed}),
            "launch lines": len(lines),
        }
        return self._answer(reports[0], reports[1], changes, compared, None)

    def elsewhere(self) -> _Differ:
        """The same in another process: with files and connections of its own."""
        quiet = [replace(r, access=replace(r.access, progress=None)) for r in self._requests]
        old, new = (replace(open_pair(one), target=self._pairs[0].target) for one in quiet)
        renamed = zip((old, new), self._pairs, strict=True)
        pairs = [replace(there, renames=here.renames) for there, here in renamed]
        other = _Differ((pairs[0], pairs[1]), (quiet[0], quiet[1]), self._server, self._exploration)
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
        elif isinstance(item, _Handed):
            changes = [*self._target(item)]
        else:
            changes = [*self._launch(item)]
        return changes, [seen(tree) for tree in self._trees()]

    def _trees(self) -> list[Tree]:
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

    def _setting(self, setting: Setting) -> Iterator[Change]:
        """Changes under a setting that its default draft does not show."""
        old, new = base = self._base(setting.around)
        under = setting_words(setting.around.value, setting.changed)
        if not setting.changed:
            yield from self._between(old, new, under)
            return
        shown = {(c.kind, c.clauses) for c in self._between(old, new, under)}
        mine = self._readings(setting)
        changes = [c for c in self._between(*mine, under) if (c.kind, c.clauses) not in shown]
        effects = [not same_function(one, plain) for one, plain in zip(mine, base, strict=True)]
        if effects == [False, True] and not any(reading.side.failure for reading in mine):
            yield self._new_switch(setting, changes, mine[1], under)
            changes = [c for c in changes if c.kind in (Kind.BREAKING, Kind.UNKNOWN)]
        yield from changes

    def _between(self, old: Reading, new: Reading, under: str) -> Iterator[Change]:
        found = [*statuses(old, new, under)]
        known = {clause for change in found for clause in change.clauses}
        yield from found
        ended = any(reading.side.failure is not None for reading in (old, new))
        if found and ended:
            return  # an exception that comes or goes is said by the clause that it breaks
        for change in graphs(old, new, self._pool, under):
            if not change.clauses or not known & {*change.clauses}:
                yield change

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
        places = [r.location for r in reading.side.reads if r.key in keys and r.location]
        names = ", ".join(setting.changed)
        text = f"{names} takes effect" + (f"; {', '.join(fixed)} now hold" if fixed else "")
        clauses = tuple(dict.fromkeys((*fixed, *owned)))
        return Change(Kind.NEW_SWITCH, clauses, text, (under,), (), tuple(places[:2]))

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
        mine = {tree.label for tree in self._trees() if tree.label == new.label}
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

    # -- targets and launch lines ---------------------------------------------------------------

    def _subjects(self) -> tuple[Subject, Subject]:
        old, new = (pair.server.outline(pair.contracts) for pair in self._pairs)
        return old, new

    def _questions(self) -> Iterator[_Handed]:
        """All classes, with no ids and with ordinary ones."""
        engine = self._pairs[1].server.engine
        if not self._server or engine.capture is None or self._exploration is None:
            return
        names = sorted({name for subject in self._subjects() for name in known_targets(subject)})
        default = next(iter(self._switches.values()))[self._exploration.layer_ids]
        ids = tuple(default)  # not what a server captures without any
        for name in names:
            for asked in (None, ids):
                yield _Handed(name, asked)

    def _target(self, item: _Handed) -> Iterator[Change]:
        contract = self._pairs[1].contract
        layers = (self._pairs[0].target or {}).get(contract.target["layers"], 0)
        found: list[Captured | None] = []
        graphs_: list[Captured | None] = []
        for subject in self._subjects():
            question = Question(item.target, layers, item.ids, None)
            there = item.target in known_targets(subject)
            said = told(subject, {}, {}, item.ids) if there else None
            found.append(captured(subject, question) if there else None)
            differs = said is not None and said.differs
            asked = replace(question, ids=said.graphs) if differs and said else None
            graphs_.append(None if asked is None else captured(subject, asked))
        change = targets(found[0], found[1], (graphs_[0], graphs_[1]), item.target)
        clause = contract.fact_owner("capture")
        if change is not None:
            yield replace(change, clauses=() if clause is None else (clause.id,))

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        """The flags that drafting is started with, fewer of them, and others beside them."""
        engine = self._pairs[1].server.engine
        if not self._server or engine.launch is None:
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

    def _launch(self, flags: Mapping[str, Any]) -> Iterator[Change]:
        found = []
        for pair in self._pairs:
            subject = pair.server.subject(pair.stubs)
            config = copy.deepcopy(dict(pair.server.engine.draft_config.keys))
            found.append(launched(subject, Inputs(config, pair.target, dict(flags))))
        clause = self._pairs[1].contract.fact_owner("launch")
        line = launch_line("", flags)
        change = launches(found[0], found[1], line, "" if clause is None else clause.id)
        if change is not None:
            yield change

    # -- the answer -------------------------------------------------------------------------------

    def _answer(
        self,
        old: Report,
        new: Report,
        changes: list[Change],
        compared: Mapping[str, int],
        draft: tuple[str, str] | None,
    ) -> Changes:
        sides = [(r.serve if self._server else r.train) for r in (old, new)]
        whole = together(changes)
        return Changes(
            sides[0],
            sides[1],
            new.train if self._server else new.serve,
            whole,
            compared,
            draft,
            new.assumptions,
            _excerpts(whole, self._trees()),
        )


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


def _excerpts(changes: tuple[Change, ...], trees: list[Tree]) -> dict[Location, str]:
    """The source line of every place that a change names."""
    by_label = {tree.label: tree for tree in trees}
    found: dict[Location, str] = {}
    for change in changes:
        for place in (*change.old, *change.new):
            tree = by_label.get(place.source)
            if tree is None:
                continue
            lines = tree.read(place.path).decode("utf-8", "replace").splitlines()
            if 0 < place.line <= len(lines):
                found[place] = lines[place.line - 1].strip()
    return found
