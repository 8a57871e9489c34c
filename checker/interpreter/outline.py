"""Running a model in outline: what heavy parts compute is left open, the way between them is run.

For the question which intermediate states a model hands over, attention and experts may compute
anything. With an outline set, modules are built when something of them is first asked for,
statement by statement: what cannot be followed leaves the names it would have bound unknown. The
parts of a decoder layer are not entered; each call of one gives a fresh tensor.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.graph.dims import symbol
from checker.interpreter import conditions
from checker.interpreter import outline_parts as parts
from checker.interpreter.births import births
from checker.interpreter.looping_ahead import AHEAD
from checker.interpreter.numbered import DIFFERS
from checker.interpreter.tensors import Tensor, arranged, fresh_input
from checker.interpreter.values import (
    ClassValue,
    Function,
    Instance,
    Raised,
    Stuck,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator

    from checker.graph.terms import Term
    from checker.interpreter.machine import Machine
    from checker.interpreter.merging import Merging
    from checker.location import Location

MISSING = object()
Stored = tuple[Tensor, "Term", "Location | None"]


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """A concatenation along the features: the tensors it was made of, with what they were then."""

    whole: Tensor
    term: Term
    parts: tuple[tuple[Tensor, Term], ...]


@dataclass(slots=True, eq=False)
class Outline:
    """The state of an outline run.

    `layers` is the number of decoder layers: a list of that many modules holds them. `entries[b]`
    is what the first part of layer `b` is given (`entries[layers]`: what the first norm after the
    last layer is given), that is boundary `b`; None where it cannot be told. `built` counts the
    objects that were postponed and have been built since; `modules` tells of classes whether they
    are modules. `shortened`: loops leave out iterations that do what others did
    (`checker.interpreter.looping`); `passed` are the layers of those, which hold nothing of what
    they would. `merging`: conditions that do not matter outside of a call are not followed out of
    it (`checker.interpreter.merging`). `runs` counts the calls of layers. `pairs`: what parts of
    layers gave that return several values or one, which is a tuple as soon as it is taken for one.
    `norms` are those that gave a value. `unclear`: why what is handed over could not be told.
    `doubtful` counts what is being followed that the server may not do, `unsure` holds objects that
    were made there; `skipped`: a constructor had a statement that could not be followed.
    `initialiser`: the last call that a statement of a constructor is. `choices` are the classes of
    which a part may be that stands for one of several (`stands_for`).
    """

    layers: int
    pending: dict[int, tuple[Instance, list[Value], dict[str, Value]]] = field(default_factory=dict)
    built: int = 0
    modules: dict[ClassValue, bool] = field(default_factory=dict)
    building: list[Instance] = field(default_factory=list)
    indices: dict[int, int] = field(default_factory=dict)
    entries: dict[int, Term | None] = field(default_factory=dict)
    awaited: int | None = None
    depth: int = 0
    calls: int = 0
    stored: list[Stored] = field(default_factory=list)
    choices: dict[int, list[ClassValue]] = field(default_factory=dict)
    stands_for: dict[int, list[Instance]] = field(default_factory=dict)
    kept: list[ClassValue] = field(default_factory=list)
    joined: dict[int, Joined] = field(default_factory=dict)
    norms: dict[Term, Value] = field(default_factory=dict)
    shortened: bool = True
    merging: Merging | None = None
    runs: int = 0
    passed: dict[int, Instance] = field(default_factory=dict)
    pairs: dict[int, tuple[Tensor, tuple[Value, ...]]] = field(default_factory=dict)
    unclear: list[str] = field(default_factory=list)
    called_at: Location | None = None
    joined_at: Location | None = None
    doubtful: int = 0
    unsure: set[int] = field(default_factory=set)
    skipped: bool = False
    initialiser: ast.expr | None = None

    # -- building ------------------------------------------------------------------------------

    def postpone(
        self, m: Machine, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]
    ) -> Instance | None:
        """An object that is not built yet, if the class is a module of the checked code."""
        if cls not in self.modules:
            self.modules[cls] = is_module(cls)
        if not self.modules[cls] or not is_open(cls):
            return None
        instance = Instance(cls)
        self.pending[id(instance)] = (instance, args, kwargs)
        if not self.is_sure(m):
            self.unsure.add(id(instance))
        if any(id(outer) in self.indices for outer in self.building):
            instance.tainted = m.unknown(f"a part of a layer ({cls.name})", harmless=True)
        return instance

    def ensure(self, m: Machine, instance: Instance) -> None:
        """Builds an object that was postponed."""
        if instance.tainted is not None:
            return  # a part of a layer is never looked into
        found = self.pending.get(id(instance))
        if found is None:
            return
        from checker.interpreter import calls

        _, args, kwargs = found
        if m.loop is not None:
            args, kwargs = m.loop.arguments(m, instance, args, kwargs)
        del self.pending[id(instance)]
        self.built += 1
        init = instance.cls.lookup("__init__")
        if init is None:
            return
        self.building.append(instance)
        outer, self.depth = self.depth, 0
        saved = m.journal.saved if m.journal is not None else None
        if m.journal is not None and saved is not None and saved.has((*args, *kwargs.values())):
            m.journal.unsettled += 1  # it is built of what is changed only in this way
        # the server built it where it was made, whether or not it comes to where it is asked for
        around, self.doubtful = self.doubtful, int(id(instance) in self.unsure)
        journal, m.journal = m.journal, None  # it is no deed of the call that asks for it
        asked, first = len(m.decisions), next(births)
        try:
            calls.call(m, init[0], [instance, *args], parts.fitting(m, init[0], args, kwargs))
        except (Raised, Stuck) as error:
            if m.is_over():  # it may be built when there is more time
                self.pending[id(instance)] = found
                instance.attrs.clear()
                raise
            instance.tainted = m.unknown(said(error), harmless=True)
            if isinstance(error, Raised) and error.certain:
                if journal is not None:
                    journal.unsettled += 1  # it is said only once
                raise
            m.check_budget()
        finally:
            self.doubtful = around
            self.depth = outer
            self.building.pop()
            m.journal = journal
            if journal is not None:
                journal.builds(first, instance.number)
                journal.unsettled += len(m.decisions) > asked

    def is_sure(self, m: Machine) -> bool:
        """Whether the server certainly comes to where we are, with what we have."""
        return not self.doubtful and not self.skipped and not m.trying

    @contextmanager
    def in_doubt(self) -> Iterator[None]:
        """What is done in there the server may not do, or not do just so."""
        self.doubtful += 1
        try:
            yield
        finally:
            self.doubtful -= 1

    def mark_layers(self, items: Value) -> None:
        """Notes the modules of a list that is as long as there are layers."""
        if isinstance(items, list) and len(items) == self.layers:
            for index, item in enumerate(items):
                if isinstance(item, Instance) and id(item) in self.pending:
                    self.indices[id(item)] = index

    def keep(self, m: Machine, item: Value) -> None:
        """A value is put into a list: what a tensor holds then is noted."""
        if isinstance(item, Tensor):
            self.stored.append((item, item.term(m), m.location()))

    def join(self, m: Machine, parts: list[Tensor], made: Tensor, last: bool) -> None:
        """Tensors are concatenated: which ones is noted, if it is along the features."""
        if last:
            pairs = tuple((part, arranged(m, part).term(m)) for part in parts)
            self.joined[id(made)] = Joined(made, made.term(m), pairs)
            self.joined_at = m.location()

    def one_class(self, m: Machine, classes: dict[Value, ClassValue], key: Unknown) -> ClassValue:
        """One of several classes, each in turn: every layer is then of that class.

        Where each has a name of its own, the key is that name from then on.
        """
        *others, last = classes
        named = len(set(classes.values())) == len(classes)
        building = self.apart()
        try:
            for name in others:
                if named and conditions.is_constant(m, key, name):
                    return classes[name]
                if not named and m.decide(f"whether {key.reason} is {classes[name].name}"):
                    return classes[name]
        finally:
            self.building = building
        if named:
            conditions.is_for_sure(m, key, last)
        return classes[last]

    def apart(self) -> list[Instance]:
        """Leaves what is being built for something that is no part of it; gives what to restore."""
        building, self.building = self.building, []
        return building

    def with_unknown(self, m: Machine, left: Value, right: Value) -> Value:
        """An operator with something unknown: a tensor gives one of which nothing is known."""
        for side in (left, right):
            if isinstance(side, Tensor) and side.kind == "float":
                self.calls += 1
                return parts.like(m, side, f"scaled {self.calls}")
        return left if isinstance(left, Unknown) else right

    def is_batch(self, m: Machine, value: Value) -> bool:
        """Whether a value is one tensor of any number of tokens, where a model takes several.

        Parts of layers, which may give more than is seen of them, are another matter.
        """
        if self.depth or not isinstance(value, Tensor):
            return False
        shape = value.shape(m)
        return bool(shape) and shape[0] == symbol("S")

    def look_into(self, m: Machine, instance: Instance) -> None:
        """All that an object holds is looked at."""
        if m.loop is not None and id(instance) in self.indices:
            m.loop.touched(m, instance, "__dict__")
        self.check_passed(m, instance)
        self.ensure(m, instance)

    def check_passed(self, m: Machine, instance: Instance) -> None:
        """Refuses to look at a layer that was left out: its answer is for a run of all layers."""
        if id(instance) in self.passed:
            raise m.stuck(f"what a layer that was run holds, which {DIFFERS}")

    def recognise(self, m: Machine, instance: Instance) -> None:
        """It comes to which object this is: iterations of a loop over layers are told apart."""
        index = self.indices.get(id(instance))
        if index == AHEAD:
            raise m.stuck(f"which layer it is, which {DIFFERS}")
        if m.loop is not None and index is not None:
            m.loop.pin()

    # -- running -------------------------------------------------------------------------------

    def is_part(self, instance: Value) -> bool:
        """Whether an object is a part of the layer being run: it is not entered."""
        if not isinstance(instance, Instance):
            return False
        if self.depth > 0 and is_open(instance.cls) and id(instance) not in self.indices:
            return True
        return id(instance.cls) in self.choices

    def is_built(self, instance: Value) -> bool:
        """Whether an object was built in outline: it may have more attributes than were seen."""
        return isinstance(instance, Instance) and is_open(instance.cls)

    def called(
        self, m: Machine, instance: Instance, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """The call of an object: parts of a layer are not entered, layers are counted."""
        from checker.interpreter import calls

        if self.is_part(instance) or id(instance.cls) in self.choices:
            return self.part(m, instance.cls, "forward", args, kwargs)
        return self.run(m, instance, lambda: calls.call_instance(m, instance, args, kwargs))

    def run(self, m: Machine, instance: Instance, work: Callable[[], Value]) -> Value:
        """Does what runs an object: layers are counted."""
        index = self.indices.get(id(instance))
        if index is None or self.depth:
            return work()
        if index == AHEAD:
            raise m.stuck(f"a call of another iteration's layer, which {DIFFERS}")
        self.called_at = self.called_at or m.location()
        if m.loop is not None:
            m.loop.entered(index)
        self.enter(index)
        try:
            return work()
        finally:
            self.leave(index)

    def method(
        self,
        m: Machine,
        instance: Instance,
        function: Value,
        args: list[Value],
        kwargs: dict[str, Value],
    ) -> Value:
        """A method of a part: not entered either, if it is given tensors.

        What is running itself, and runs the layer, is no part of it: it may be called back.
        """
        from checker.interpreter import calls

        runs = any(frame.first_argument is instance for frame in m.frames)
        if isinstance(function, Function) and not runs:
            return self.part(m, instance.cls, function.name, args, kwargs)
        return calls.call(m, function, [instance, *args], kwargs)

    def part(
        self, m: Machine, cls: ClassValue, method: str, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """What a part of a layer gives: anything, shaped like what it is given."""
        m.asked += 1
        values = [*args, *kwargs.values()]
        tensors = parts.tensors_of(values)
        self.entered(m, tensors[0] if len(tensors) == 1 else None)
        if not tensors and not any(isinstance(v, (Unknown, Tensor)) for v in values):
            return m.unknown(f"{cls.name}.{method} is not followed", harmless=True)
        shape = tensors[0].shape(m) if tensors else (symbol("S"), symbol("H"))
        self.calls += 1
        name = f"{cls.name} {self.calls}"
        if m.debug and not tensors:
            parts.note(
                m, f"{name} is given {[v for v in values if isinstance(v, Unknown)]}", m.trail()[-1]
            )
        count, always = self._arity(m, cls, method)
        items = tuple(fresh_input(m, f"{name}.{i}", shape) for i in range(count or 0))
        if count is not None and always:
            return items
        one = fresh_input(m, name, shape)
        if count is not None:
            self.pairs[id(one)] = one, items
        return one

    def several(self, value: Value) -> tuple[Value, ...] | None:
        """The values that a part gave, where it may have given several; None for anything else."""
        found = self.pairs.get(id(value))
        return found[1] if found is not None else None

    def _arity(self, m: Machine, cls: ClassValue, method: str) -> tuple[int | None, bool]:
        """How many values a part gives, one number after the other, and whether always."""
        found = {parts.arity(c, method) for c in self.choices.get(id(cls), (cls,))}
        counts = sorted({count for count, _ in found if count is not None})
        if len(counts) < 2:  # what may be several values is one until it is taken for more
            return counts[0] if counts else None, all(always for _, always in found)
        chosen = counts[-1]
        for count in counts[:-1]:
            if m.decide(f"whether {cls.name}.{method} gives {count}"):
                chosen = count
                break
        return chosen, all(always for count, always in found if count in (chosen, None))

    def enter(self, index: int) -> None:
        """A decoder layer begins."""
        self.runs += 1
        self.depth += 1
        self.awaited = index
        if index in self.entries:  # it runs twice: which of the two is meant cannot be told
            self.entries[index] = None
            self.awaited = None

    def leave(self, index: int) -> None:
        """A decoder layer ends; after the last one the final norm is awaited."""
        self.depth -= 1
        self.awaited = index + 1 if index + 1 == self.layers else None

    def entered(self, m: Machine, given: Tensor | None) -> None:
        """The first part of a layer, or the final norm, was given this."""
        if self.awaited is not None and (self.depth > 0 or self.awaited == self.layers):
            self.entries[self.awaited] = None if given is None else given.term(m)
            self.awaited = None


def is_module(cls: ClassValue) -> bool:
    """Whether a class is a torch module."""
    return any(c.name == "Module" and is_summarised(c) for c in cls.mro)


def is_summarised(cls: ClassValue) -> bool:
    """Whether the class itself is a summary."""
    return cls.module is not None and cls.module.is_stub


def is_open(cls: ClassValue) -> bool:
    """Whether what a module computes is left open: summaries marked `followed` are run instead."""
    return is_module(cls) and cls.lookup("followed") is None


def said(error: Exception) -> str:
    """Why something could not be followed."""
    if isinstance(error, Raised):
        return f"{error.type_name}: {error.message}"
    return error.reason if isinstance(error, Stuck) else str(error)


__all__ = ["Outline", "is_module"]
