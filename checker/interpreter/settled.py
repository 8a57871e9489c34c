"""Definitions that are the same in every run over the same trees, evaluated once for all of them.

What a module's top level binds to a name is the same each time if evaluating it changed nothing
that was there before, decided nothing, and looked only at what is the same each time: most classes,
functions and imports. Those runs share, one after another, with the modules they stand in. What may
change while the checked code runs (what a class holds, a list) is put back before another run gets
it; a name that was bound anew in a run, and what stands on what a run has changed, is evaluated in
that run. That rests on every change being told (`Definitions.changes`).
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.interpreter.accounts import Account, accounting
from checker.interpreter.steady import MISSING, Held, Steady
from checker.interpreter.values import Instance, ModuleValue, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine
    from checker.interpreter.stubs import Summary
    from checker.location import Location
    from checker.syntax import Ledger

_OWN = frozenset(("__name__", "__package__", "__doc__", "op"))
"""Names that a module has before anything of it runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """What a definition is in every run, with what it stands on and what was noted on the way.

    `marks` are the statements of its module that need not run for it; `objects` may have got a
    taint in a run.
    """

    home: ModuleValue
    values: dict[str, Value]
    needs: tuple[tuple[ModuleValue, str, Value], ...]
    summaries: tuple[Settled, ...]
    settings: dict[str, Value]
    stores: frozenset[str]
    held: tuple[Held, ...]
    objects: tuple[Instance, ...]
    marks: tuple[tuple[int, str], ...]
    pins: dict[str, None]
    assumptions: dict[str, None]
    doubts: dict[str, Location | None]
    ledger: Ledger
    own: int | None


class Definitions:
    """The definitions that runs over one workspace share.

    Only one run uses them at a time: where the next one begins, all modules are as they were.
    """

    def __init__(self) -> None:
        self._builtins: dict[str, Value] | None = None
        self.modules: dict[str, ModuleValue] = {}
        self.stubs: dict[str, ModuleValue] = {}
        self._names: dict[tuple[ModuleValue, str], Settled | None] = {}
        self._summaries: dict[int, Settled | None] = {}
        self._defining: dict[tuple[ModuleValue, str], int] = {}
        self._given: dict[int, bool] = {}
        self._held: dict[int, tuple[Value, Settled]] = {}
        self._changed: list[Settled] = []
        self._dirty: dict[int, Settled] = {}
        self._stores: dict[int, str] = {}
        self._stored: set[str] = set()
        self._apart: dict[int, bool] = {}

    def begin(self, builtins: Callable[[], dict[str, Value]]) -> dict[str, Value]:
        """Another run begins; gives Python's own names, which the first run builds."""
        self._given.clear()
        self._changed.clear()
        self._stores.clear()
        self._stored.clear()
        self._apart.clear()
        self._defining.clear()
        for module in (*self.modules.values(), *self.stubs.values()):
            names = module.scope.names
            own = {name: names[name] for name in _OWN if name in names}
            names.clear()
            names.update(own)
            module.done.clear()
            module.done_names.clear()
            module.touched = module.is_stub
        if self._builtins is None:
            self._builtins = builtins()
        return self._builtins

    def shares(self, value: Value) -> bool:
        """Whether runs share an object or a container."""
        return id(value) in self._held

    def changes(self, m: Machine, value: Value) -> None:
        """An object or a container is about to be changed."""
        held = self._held.get(id(value))
        if held is None:
            if id(value) in self._stores:
                self._stored.add(self._stores[id(value)])
                m.asked += 1
            return
        if held[1] not in self._changed:
            self._changed.append(held[1])
            self._dirty[id(held[1])] = held[1]
            self._apart.clear()
        if m.account is not None:
            m.account.spoiled = True

    def unnoticed(self) -> list[Held]:
        """What was changed without being said to be: nothing, or runs see what others did."""
        every = {id(settled): settled for _, settled in self._held.values()}
        quiet = [settled for key, settled in every.items() if key not in self._dirty]
        return [held for settled in quiet for held in settled.held if not held.is_same()]

    def reads_setting(self, m: Machine, name: str) -> None:
        """A fact of the deployment is looked at."""
        if m.account is not None:
            m.account.settings[name] = m.settings.get(name)

    def reads_store(self, m: Machine, name: str, store: Value) -> None:
        """What summaries keep for each other in a run is looked at; at first it is empty."""
        self._stores[id(store)] = name
        if m.account is not None:
            m.account.stores.add(name)

    def _is_apart(self, settled: Settled) -> bool:
        """Whether the run has changed nothing of a definition, and of what it stands on."""
        if not self._changed:
            return True
        known = self._apart.get(id(settled))
        if known is None:
            needed = (self._names.get((module, name)) for module, name, _ in settled.needs)
            below = [*settled.summaries, *(other for other in needed if other is not None)]
            known = settled not in self._changed and all(map(self._is_apart, below))
            self._apart[id(settled)] = known
        return known

    # -- names of modules ----------------------------------------------------------------------

    def name(
        self,
        m: Machine,
        module: ModuleValue,
        name: str,
        before: ast.stmt | None,
        evaluate: Callable[[], Value],
    ) -> Value:
        """A module's name: what it is in every run, else what evaluating it gives.

        With `before`, only the statements above that one have run.
        """
        file = module.file
        if file is None or module.is_stub or name in module.done_names:
            value = evaluate()
        elif name not in file.touching:
            value = evaluate()
            if value is not MISSING and name not in module.scope.names:
                return value  # another module's, where it was looked up
        else:
            value = self._touched(m, module, name, before, evaluate)
        if m.account is not None:
            self.looked_up(m, module, name, value)
        return value

    def looked_up(self, m: Machine, module: ModuleValue, name: str, value: Value) -> None:
        """The evaluation that is going on has asked for a name."""
        account = m.account
        if account is None:
            return
        if not module.is_stub or value is MISSING:
            known = account.needs.setdefault((module, name), value)
            account.spoiled = account.spoiled or known is not value
        elif name not in _OWN and name not in account.binds:
            self.used(m, self._defining.get((module, name)))

    def _touched(
        self,
        m: Machine,
        module: ModuleValue,
        name: str,
        before: ast.stmt | None,
        evaluate: Callable[[], Value],
    ) -> Value:
        """A name that statements of its module bind."""
        assert module.file is not None
        every = module.file.touching[name]
        above = every if before is None else [s for s in every if s.lineno < before.lineno]
        if not above:
            return evaluate()
        key = module, name
        settled, is_whole = self._names.get(key), len(above) == len(every)
        if len(above) == 1 and settled is not None and self._give(m, settled):
            if is_whole:
                module.done_names.add(name)
            return settled.values[name]
        if key in self._names or len(above) > 1 or not _is_simple(above[0], name):
            with accounting(m, None):
                return evaluate()
        account = Account()
        with m.workspace.noting() as ledger, accounting(m, account):
            value = evaluate()
        if module.scope.names.get(name, MISSING) is value:
            marks = ((id(above[0]), name if isinstance(above[0], ast.ImportFrom) else ""),)
            settled = self._settle(module, {name: value}, account, marks, ledger)
        if settled is not None or not self._changed:
            self._names[key] = settled
        return value

    # -- summaries -----------------------------------------------------------------------------

    def summary(
        self,
        m: Machine,
        summary: Summary,
        home: ModuleValue,
        binds: frozenset[str],
        evaluate: Callable[[], dict[str, Value]],
    ) -> dict[str, Value]:
        """What a summary defines. `binds` are all names that it binds in its file's module."""
        key, names = id(summary), home.scope.names
        settled = self._summaries.get(key)
        self._defining.update(dict.fromkeys(((home, name) for name in binds), key))
        if settled is not None and self._give(m, settled):
            values = settled.values
        elif key in self._summaries:
            with accounting(m, None):
                values = evaluate()
        else:
            account = Account(key, binds)
            with m.workspace.noting() as ledger, accounting(m, account):
                values = evaluate()
            account.pins.update(dict.fromkeys(summary.pins))
            bound = {name: names[name] for name in binds if name in names}
            settled = self._settle(home, bound, account, (), ledger)
            if settled is not None or not self._changed:
                self._summaries[key] = settled
        self.used(m, key)
        return values

    def used(self, m: Machine, summary: int | None) -> None:
        """The evaluation that is going on uses what a summary defines."""
        account = m.account
        if account is None or summary == account.own:
            return
        settled = None if summary is None else self._summaries.get(summary)
        if settled is None:
            account.spoiled = True
        else:
            account.summaries[id(settled)] = settled

    # -- settling ------------------------------------------------------------------------------

    def _settle(
        self,
        home: ModuleValue,
        values: dict[str, Value],
        account: Account,
        marks: tuple[tuple[int, str], ...],
        ledger: Ledger,
    ) -> Settled | None:
        """A definition that is the same in every run; None if it may not be."""
        if account.spoiled or account.stores & self._stored:
            return None
        for (module, name), value in account.needs.items():
            settled = self._names.get((module, name))
            if settled is not None:
                if settled.values[name] is not value or not self._is_apart(settled):
                    return None
            elif name in module.done_names or not (value is MISSING or name in _OWN):
                return None
        if not all(map(self._is_apart, account.summaries.values())):
            return None
        steady = Steady(self._held)
        try:
            if not steady.are(values.values()):
                return None
        except RecursionError:
            return None
        found = Settled(
            home=home,
            values=dict(values),
            needs=tuple((*key, value) for key, value in account.needs.items()),
            summaries=tuple(account.summaries.values()),
            settings=copy.deepcopy(account.settings),
            stores=frozenset(account.stores),
            held=tuple(steady.held),
            objects=tuple(o for o in steady.found.values() if isinstance(o, Instance)),
            marks=marks,
            pins=account.pins,
            assumptions=account.assumptions,
            doubts=account.doubts,
            ledger=ledger,
            own=account.own,
        )
        self._held.update((key, (value, found)) for key, value in steady.found.items())
        self._given[id(found)] = True
        return found

    def _give(self, m: Machine, settled: Settled) -> bool:
        """Gives a run what is settled; False if the run has something else under a name."""
        known = self._given.get(id(settled))
        if known is None:
            known = self._given[id(settled)] = self._is_given(m, settled)
        return known

    def _is_given(self, m: Machine, settled: Settled) -> bool:
        if not self._is_apart(settled):
            return False  # evaluated now, it might come out otherwise
        if settled.stores & self._stored or any(
            m.settings.get(name) != value for name, value in settled.settings.items()
        ):
            return False
        home = settled.home
        for module, name, value in settled.needs:
            needed = self._names.get((module, name))
            if needed is not None and name not in module.done_names and not self._give(m, needed):
                return False
            if module.scope.names.get(name, MISSING) is not value:
                return False
        for summary in settled.summaries:
            if not self._give(m, summary):
                return False
        if self._dirty.pop(id(settled), None) is not None:
            for held in settled.held:
                held.restore()
            for item in settled.objects:
                item.tainted = None
        home.scope.names.update(settled.values)
        if home.is_stub:
            assert settled.own is not None
            self._defining.update(dict.fromkeys(((home, n) for n in settled.values), settled.own))
        else:
            home.done.update(settled.marks)
        m.pins.update(settled.pins)
        m.assumptions.update(settled.assumptions)
        for reason, place in settled.doubts.items():
            m.doubts.setdefault(reason, place)
        m.workspace.note_once(settled.ledger)
        return True


def _is_simple(stmt: ast.stmt, name: str) -> bool:
    """Whether a statement binds that name and no other."""
    match stmt:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return stmt.name == name
        case ast.Assign(targets=[ast.Name(id=bound)]):
            return bound == name
        case ast.AnnAssign(target=ast.Name(id=bound), value=value):
            return bound == name and value is not None
        case ast.ImportFrom():
            return True  # only the part that binds the name is run
        case ast.Import(names=[_]):
            return True
        case _:
            return False


__all__ = ["Definitions"]
