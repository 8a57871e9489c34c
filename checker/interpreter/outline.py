"""Running a model in outline: what heavy parts compute is left open, the way between them is run.

For the question which intermediate states a model hands over, attention and experts may compute
anything. With an outline set, modules are built when something of them is first asked for, statement
by statement: what cannot be followed leaves the names it would have bound unknown. The parts of a
decoder layer are not entered; each call of one gives a fresh tensor.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.interpreter import outline_parts as parts
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import ClassValue, Function, Instance, Raised, Stuck, Value

if TYPE_CHECKING:
    from checker.graph.terms import Term
    from checker.interpreter.machine import Frame, Machine
    from checker.interpreter.statements import Signal

MISSING = object()


@dataclass(slots=True, eq=False)
class Outline:
    """The state of an outline run.

    `layers` is the number of decoder layers: a list of that many modules holds them. `entries[b]`
    is what the first part of layer `b` is given (`entries[layers]`: what the first norm after the
    last layer is given), that is boundary `b`; None where it cannot be told.
    """

    layers: int
    pending: dict[int, tuple[Instance, list[Value], dict[str, Value]]] = field(default_factory=dict)
    building: list[Instance] = field(default_factory=list)
    indices: dict[int, int] = field(default_factory=dict)
    entries: dict[int, Term | None] = field(default_factory=dict)
    awaited: int | None = None
    depth: int = 0
    calls: int = 0
    stored: list[tuple[Tensor, Term]] = field(default_factory=list)

    # -- building ------------------------------------------------------------------------------

    def postpone(
        self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]
    ) -> Instance | None:
        """An object that is not built yet, if the class is a module of the checked code."""
        if not is_module(cls) or is_summarised(cls):
            return None
        instance = Instance(cls)
        self.pending[id(instance)] = (instance, args, kwargs)
        return instance

    def ensure(self, m: Machine, instance: Instance) -> None:
        """Builds an object that was postponed."""
        found = self.pending.pop(id(instance), None)
        if found is None:
            return
        from checker.interpreter import calls

        _, args, kwargs = found
        init = instance.cls.lookup("__init__")
        if init is None:
            return
        self.building.append(instance)
        outer, self.depth = self.depth, 0
        try:
            calls.call(m, init[0], [instance, *args], kwargs)
        except (Raised, Stuck) as error:
            m.check_budget()
            instance.tainted = m.unknown(said(error), harmless=True)
        finally:
            self.depth = outer
            self.building.pop()

    def mark_layers(self, items: Value) -> None:
        """Notes the modules of a list that is as long as there are layers."""
        if isinstance(items, list) and len(items) == self.layers:
            for index, item in enumerate(items):
                if isinstance(item, Instance) and id(item) in self.pending:
                    self.indices[id(item)] = index

    def keep(self, m: Machine, item: Value) -> None:
        """A value is put into a list: what a tensor holds then is noted."""
        if isinstance(item, Tensor):
            self.stored.append((item, item.term(m)))

    # -- running -------------------------------------------------------------------------------

    def is_part(self, instance: Value) -> bool:
        """Whether an object is a part of the layer being run: it is not entered."""
        return (
            self.depth > 0
            and isinstance(instance, Instance)
            and is_module(instance.cls)
            and not is_summarised(instance.cls)
            and id(instance) not in self.indices
        )

    def called(
        self, m: Machine, instance: Instance, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """The call of an object: parts of a layer are not entered, layers are counted."""
        from checker.interpreter import calls

        if self.is_part(instance):
            return self.part(m, instance.cls, "forward", args, kwargs)
        index = self.indices.get(id(instance))
        if index is None or self.depth:
            return calls.call_instance(m, instance, args, kwargs)
        self.enter(index)
        try:
            return calls.call_instance(m, instance, args, kwargs)
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
        """A method of a part: not entered either, if it is given tensors."""
        from checker.interpreter import calls

        if isinstance(function, Function) and parts.tensors_of([*args, *kwargs.values()]):
            return self.part(m, instance.cls, function.name, args, kwargs)
        return calls.call(m, function, [instance, *args], kwargs)

    def part(
        self, m: Machine, cls: ClassValue, method: str, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """What a part of a layer gives: anything, shaped like what it is given."""
        tensors = parts.tensors_of([*args, *kwargs.values()])
        if not tensors:
            return m.unknown(f"{cls.name}.{method} is not followed", harmless=True)
        self.entered(m, tensors[0] if len(tensors) == 1 else None)
        self.calls += 1
        count = parts.arity(cls, method)
        name = f"{cls.name} {self.calls}"
        if count is None:
            return parts.like(m, tensors[0], name)
        return tuple(parts.like(m, tensors[0], f"{name}.{i}") for i in range(count))

    def enter(self, index: int) -> None:
        """A decoder layer begins."""
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


def said(error: Exception) -> str:
    """Why something could not be followed."""
    if isinstance(error, Raised):
        return f"{error.type_name}: {error.message}"
    return error.reason if isinstance(error, Stuck) else str(error)


# -- statements of a constructor -------------------------------------------------------------------


def run_statement(m: Machine, frame: Frame, stmt: ast.stmt) -> Signal | None:
    """A statement of a constructor: what it cannot bind is unknown, and it goes on."""
    from checker.interpreter import expressions, statements

    if isinstance(stmt, ast.If):
        try:
            value = expressions.evaluate(m, frame, stmt.test)
            taken = m.truth(value, "if")
        except (Raised, Stuck):
            m.check_budget()
            return _both(m, frame, stmt)
        return statements.run_block(m, frame, stmt.body if taken else stmt.orelse)
    try:
        return statements.plain_statement(m, frame, stmt)
    except (Raised, Stuck) as error:
        m.check_budget()
        if m.debug:
            parts.note(m, said(error), error)
        unknown = m.unknown(f"while it is built: {said(error)}", harmless=True)
        for target in _targets(stmt):
            try:
                statements.assign(m, frame, target, unknown)
            except (Raised, Stuck):
                m.check_budget()
        return None


def _targets(stmt: ast.stmt) -> list[ast.expr]:
    """What a statement binds; of compound ones nothing (their own statements see to it)."""
    match stmt:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target, value=value) if value is not None:
            return [target]
        case ast.AugAssign(target=target):
            return [target]
        case _:
            return []


def _both(m: Machine, frame: Frame, stmt: ast.If) -> Signal | None:
    """A condition that nothing decides: both branches run; where they differ it is unknown."""
    from checker.interpreter import statements

    holder = frame.first_argument
    places = [frame.scope.names]
    if isinstance(holder, Instance):
        places.append(holder.attrs)
    before = [dict(place) for place in places]
    after: list[list[dict[str, Value]]] = []
    for body in (stmt.body, stmt.orelse):
        signal = statements.run_block(m, frame, body)
        if signal is not None and signal.kind == "return" and body is stmt.body:
            pass  # as if it went on: what the rest sets is set
        after.append([dict(place) for place in places])
        for place, old in zip(places, before, strict=True):
            place.clear()
            place.update(old)
    for place, one, two in zip(places, after[0], after[1], strict=True):
        for name in dict.fromkeys([*one, *two]):
            a, b = one.get(name, MISSING), two.get(name, MISSING)
            same = a is b or (parts.is_plain(a) and type(a) is type(b) and a == b)
            reason = f"{name} depends on a condition that nothing decides"
            place[name] = a if same else m.unknown(reason, harmless=True)
    return None


def is_lenient(m: Machine, name: str, first: Value) -> bool:
    """Whether a function is the constructor of an object that is being built."""
    outline = m.outline
    return (
        outline is not None
        and name == "__init__"
        and bool(outline.building)
        and first is outline.building[-1]
    )


__all__ = ["Outline", "is_lenient", "is_module", "run_statement"]
