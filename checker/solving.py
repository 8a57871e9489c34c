"""What `solve` may change in one step, as the contract and the engine's description have it."""

from __future__ import annotations

import copy
import json
import re
import shlex
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from checker import shell
from checker.drafts import remove, state
from checker.judging.wording import spelled, stated
from checker.launch import ENVIRONMENT, parse_launch, words_of
from checker.report.model import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.contract.model import Switch
    from checker.judging.judge import Case
    from checker.pairing import Pairing
    from checker.report.model import Report


_PLAIN = re.compile(r"[\w${}/.:=@%+,-]+")
"""A word in which a shell does nothing but put in what variables hold."""


@dataclass(frozen=True, slots=True)
class Try:
    """What the server might be given."""

    config: dict[str, Any]
    launch: Mapping[str, Any]
    renames: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        """The same for the same things."""
        return json.dumps([self.config, dict(self.launch), self.renames], sort_keys=True)


def launch_line(line: str, flags: Mapping[str, Any], starts: tuple[str, ...] = ()) -> str:
    """A launch line with these flags: its own words stay where nothing is changed.

    Of a script it is the command that starts the server, with the variables that it is given.
    """
    had = parse_launch(line, starts) if line else {}
    words = words_of(line, starts) if line else []
    variables = {} if line else flags.get(ENVIRONMENT, {})
    kept = [f"{name}={value}" for name, value in variables.items()]
    taken = True
    for word in words:
        if word.startswith("--") and len(word) > 2:
            name = word[2:].partition("=")[0].replace("-", "_")
            taken = name not in had or (name in flags and flags[name] == had[name])
        if taken:
            kept.append(word)
    for name, value in flags.items():
        if name != ENVIRONMENT and (name not in had or had[name] != value):
            kept.append("--" + name.replace("_", "-"))
            kept += [] if value is True else [str(value)]
    return " ".join(map(_written, kept))


def _written(word: str) -> str:
    """A word for a shell; what only the shell knows is left for it to fill in."""
    if not shell.is_unknown(word):
        name, equals, value = word.partition("=")
        assigned = equals and name.isidentifier()
        return f"{name}={shlex.quote(value)}" if assigned else shlex.quote(word)
    if _PLAIN.fullmatch(word):
        return word
    escaped = word.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def neighbours(
    one: Try, case: Case, report: Report, pair: Pairing, layer_ids: str
) -> Iterator[Try]:
    """Everything that differs from a try in one thing, what speaks of its open clauses first."""
    open_ = {c.id for c in report.clauses if c.status is Status.VIOLATED or c.undecided}
    read = {r.key for r in case.serve.reads}
    whole = case.serve.failure is None
    switches = sorted(
        pair.contract.switches.values(), key=lambda switch: not open_ & {*switch.clauses}
    )
    yield from _launched(one, case, report, pair)
    yield from _renamed(one, pair)
    yield from _asked(one, case, pair, pair.contract.switches[layer_ids])
    for switch in switches:
        places = spelled(switch, pair.server.engine)
        if not whole or read & {place.rpartition(".")[2] for place in places}:
            yield from _spelled(one, places)
            if switch.default is not None and stated(one.config, places)[0] is None:
                yield replace(one, config=_with(one.config, {places[0]: switch.default}))
    for place, values in pair.server.engine.draft_config.choices.items():
        for value in values:
            yield replace(one, config=_with(one.config, {place: value}))
    for name, values in pair.server.engine.draft_config.launch_choices.items():
        for value in values:
            yield replace(one, launch={**one.launch, name: value})


def _launched(one: Try, case: Case, report: Report, pair: Pairing) -> Iterator[Try]:
    """Flags as the server leaves them, or without the misfits, or with others beside them."""
    flags = case.launched
    clause = pair.contract.fact_owner("launch")
    if flags is None or clause is None:
        return
    status = next((c.status for c in report.clauses if c.id == clause.id), None)
    if status in (Status.HOLDS, Status.NOT_APPLICABLE):
        return
    left = {k: v for k, v in flags.effective().items() if k in one.launch and v is not None}
    yield replace(one, launch={**one.launch, **left})
    for name, values in pair.server.engine.draft_config.launch_choices.items():
        for value in values:
            yield replace(one, launch={**one.launch, name: value})
    wrong = {misfit.flag for misfit in flags.misfits} | {*flags.decides}
    for name in sorted(wrong & {*one.launch}):
        yield replace(one, launch={k: v for k, v in one.launch.items() if k != name})
    started = pair.server.engine.draft_config.launch
    for names in ({*one.launch}, {*one.launch} - {*started}):
        kept = {k: v for k, v in one.launch.items() if k in names and k not in flags.given}
        yield replace(one, launch={**kept, **started})


def faults(case: Case) -> int:
    """How many launch flags do not suit the draft, or are in force with another value."""
    flags = case.launched
    if flags is None:
        return 0
    left = flags.effective()
    changed = [name for name, value in flags.given.items() if left.get(name, value) != value]
    return len(flags.misfits) + len(changed)


def _renamed(one: Try, pair: Pairing) -> Iterator[Try]:
    """Each set of the renames that conversions make."""
    known = tuple(pair.server.engine.draft_config.renames.items())
    for count in range(len(known) + 1):
        for chosen in combinations(known, count):
            yield replace(one, renames=chosen)


def _asked(one: Try, case: Case, pair: Pairing, switch: Switch) -> Iterator[Try]:
    """Other layer ids: those that the target asks for, the boundaries themselves, none."""
    engine, boundaries = pair.server.engine, case.train.aux_boundaries
    values: list[Any] = [] if case.serve.asking is None else [case.serve.asking]
    if boundaries is not None:
        offset = engine.draft_config.layer_ids
        values += [[b + step for b in boundaries] for step in (offset, 0)]
    places = spelled(switch, engine)
    for value in values:
        yield replace(one, config=_with(one.config, {places[0]: value}, without=places))
    yield replace(one, config=_with(one.config, {}, without=places))


def _spelled(one: Try, places: tuple[str, ...]) -> Iterator[Try]:
    """A switch under another of its spellings, and under all of them."""
    standing, value = stated(one.config, places)
    if standing is None:
        return
    for other in places:
        if other != standing:
            yield replace(one, config=_with(one.config, {other: value}, without=places))
    if len(places) > 1:
        every = dict.fromkeys(places, value)
        yield replace(one, config=_with(one.config, every, without=places))


def _with(
    config: dict[str, Any], values: Mapping[str, Any], without: tuple[str, ...] = ()
) -> dict[str, Any]:
    made = copy.deepcopy(config)
    for place in without:
        remove(made, place)
    for place, value in values.items():
        state(made, place, value)
    return made
