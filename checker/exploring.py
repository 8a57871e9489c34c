"""``verify`` without configurations: a trainer's default drafts, and switches around them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.contract.derived import derived
from checker.contract.loading import load_exploration
from checker.drafts import place_of, written
from checker.engines import Inputs, defaults
from checker.errors import InputError
from checker.pairing import open_pair
from checker.processes import in_order
from checker.report.explored import Around, Explored
from checker.report.model import Status
from checker.sources.seen import also_seen, seen
from checker.verification import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.contract.model import Exploration
    from checker.engines import Defaults
    from checker.pairing import Opened, Pairing
    from checker.report.model import Report
    from checker.request import VerifyRequest


@dataclass(frozen=True, slots=True)
class Setting:
    """Switches to try: those of a default draft, with some of them `changed`."""

    around: Around
    changed: Mapping[str, Any]
    switches: Mapping[str, Any]


def explore(request: VerifyRequest, opened: list[Opened] | None = None) -> Report:
    """The report on the default draft, with the verdict for every setting that was tried.

    The default draft is the one that the trainer's command makes; where the release has none, the
    one that its library makes.

    Raises:
        InputError: something the user gave cannot be used, or the default draft cannot be told.
    """
    if request.witness:
        raise InputError(
            "--witness runs one draft, and no configuration is given",
            "give --train-config and --serve-config",
            "command line",
        )
    pair = open_pair(request)
    if opened is not None:
        opened += [pair.trainer, pair.server]
    pair, exploration, told, settings = plan(pair)
    first, *others = settings
    explorer = _Explorer(pair, request, exploration)
    report = explorer.reader.report(explorer.pair(first), _noted(request, first, told))
    found = [_explored(first, report)]
    progress = request.access.progress
    for number, (explored, seen_there) in enumerate(in_order(explorer, others), start=2):
        if progress is not None:
            progress(f"explored {number} of {len(settings)} configurations")
        for tree, record in zip(pair.trees, seen_there, strict=True):
            also_seen(tree, record)
        found.append(explored)
    return replace(report, configurations=tuple(found))


def plan(pair: Pairing) -> tuple[Pairing, Exploration, Defaults, list[Setting]]:
    """The pair with its target, and what is tried: the default drafts, the first of them first.

    Raises:
        InputError: the default draft cannot be told.
    """
    exploration = load_exploration()
    pair = replace(pair, target=target_for(pair, exploration))
    told = _defaults(pair, exploration)
    able = {
        name
        for name, switch in pair.contract.switches.items()
        if place_of(switch, pair.trainer.engine) is not None
    }
    filled = _filled(exploration, _layers(pair, exploration))
    return pair, exploration, told, list(_settings(told, filled, able))


def set_to(pair: Pairing, exploration: Exploration, setting: Setting) -> Pairing:
    """The pair with the configurations of one setting, each in its engine's format."""
    contract, ids = pair.contract, exploration.layer_ids
    engines = (pair.trainer.engine, pair.server.engine)
    train, serve = (written(contract, ids, setting.switches, engine) for engine in engines)
    return replace(pair, train_config=train, serve_config=serve)


def target_for(pair: Pairing, exploration: Exploration) -> dict[str, Any]:
    """The target: the given configuration, or an ordinary one of the given class and layers."""
    given = pair.target or {}
    stated = any(pair.contract.target["hidden"] in part for part in _parts(given))
    return dict(given) if stated else {**exploration.target, **given}


def _layers(pair: Pairing, exploration: Exploration) -> int:
    """How many layers the target has; a configuration of several models has them nested."""
    key = pair.contract.target["layers"]
    counts = [part.get(key) for part in (*_parts(pair.target or {}), exploration.target)]
    return next(count for count in counts if isinstance(count, int))


def _parts(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [config, *(value for value in config.values() if isinstance(value, dict))]


def _defaults(pair: Pairing, exploration: Exploration) -> Defaults:
    subject = pair.trainer.subject(pair.stubs)
    size = exploration.draft[pair.contract.roles["draft-vocabulary"]]
    told = defaults(subject, Inputs({}, pair.target), size)
    if not told.library and told.command_line is None:
        where = f" ({told.location})" if told.location else ""
        raise InputError(
            f"what {pair.trainer.tree.label} trains by default is not known: {told.reason}{where}",
            "give --train-config and --serve-config",
        )
    return told


def _noted(request: VerifyRequest, first: Setting, told: Defaults) -> VerifyRequest:
    """The request, with what is to be said about the configuration that it did not give."""
    made = {
        Around.COMMAND_LINE: "no configuration is given: the draft is the one that the training"
        " command makes by default",
        Around.LIBRARY: "no configuration is given: the draft is the library's default, in the"
        " target's sizes (no training command was found)",
    }[first.around]
    notes = [*request.notes, made]
    if first.around is Around.LIBRARY and told.reason:
        notes.append(f"the training command's defaults are not known: {told.reason}")
    if request.target is None:
        notes.append("no target is given: it is the one of the contract's exploration")
    elif request.target.config is None:
        notes.append("the target's sizes are those of the contract's exploration")
    return replace(request, notes=tuple(notes))


def _filled(exploration: Exploration, layers: int) -> Exploration:
    """The same with the boundaries that a target of so many layers has."""
    said = (exploration.boundaries, *exploration.other_boundaries)
    values = [derived({"derived": {"ids": text}}, {"layers": layers})["ids"] for text in said]
    default, *others = ({exploration.layer_ids: value} for value in values)
    return replace(
        exploration,
        draft={**exploration.draft, **default},
        settings=(*exploration.settings, *others),
    )


def _settings(told: Defaults, exploration: Exploration, able: set[str]) -> Iterator[Setting]:
    """The default drafts, the first of them the default one, each with what is tried around it.

    `able` are the switches that the trainer's configurations can state.
    """
    bases = [(Around.COMMAND_LINE, told.command_line), (Around.LIBRARY, told.library or None)]
    for around, said in bases:
        if said is None:
            continue
        base = {**exploration.draft, **said}
        yield Setting(around, {}, base)
        for setting in exploration.settings:
            changed = {k: v for k, v in setting.items() if base.get(k) != v}
            if changed and set(changed) <= able:
                yield Setting(around, changed, {**base, **changed})


def _explored(setting: Setting, report: Report) -> Explored:
    return Explored(
        setting.around,
        setting.changed,
        report.verdict,
        tuple(c.id for c in report.clauses if c.status is Status.VIOLATED),
        tuple(c.id for c in report.clauses if c.undecided),
        tuple(c.id for c in report.clauses if c.status is Status.HOLDS),
    )


class _Explorer:
    """Reads a pair under one setting after the other."""

    def __init__(self, pair: Pairing, request: VerifyRequest, exploration: Exploration) -> None:
        self.request = request
        self.reader = Reader()
        self._pair = pair
        self._exploration = exploration

    def elsewhere(self) -> _Explorer:
        """The same in another process: with files and connections of its own."""
        quiet = replace(self.request, access=replace(self.request.access, progress=None))
        opened = replace(open_pair(quiet), target=self._pair.target)
        return _Explorer(opened, quiet, self._exploration)

    def work(self, setting: Setting) -> tuple[Explored, list[dict[str, Any]]]:
        """The verdict under a setting, and what was read of each tree so far."""
        report = self.reader.brief(self.pair(setting), self.request)
        return _explored(setting, report), [seen(tree) for tree in self._pair.trees]

    def pair(self, setting: Setting) -> Pairing:
        """The pair for one setting."""
        return set_to(self._pair, self._exploration, setting)
