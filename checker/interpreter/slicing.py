"""Following one thing through long functions: only what leads to certain calls is run.

A server's set-up is thousands of lines of which a handful matter to a question: who calls a certain
method, with what, and in which order with other things. The statements that lead there are run, in
their order and under their conditions, with those that bind what they use; all others are passed
over.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.interpreter import slicing_parts as parts
from checker.interpreter.values import ClassValue, Function, Raised, Stuck, Value
from checker.syntax.nodes import children

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from checker.interpreter.machine import Frame, Machine
    from checker.interpreter.statements import Signal
    from checker.interpreter.values import ModuleValue, Scope

_DEEP = 8


@dataclass(slots=True, eq=False)
class Slice:
    """What is followed: calls of `methods`, and of `ends`, which are not entered.

    `root` is the class of the stand-in, and `given` the attributes that it has; other functions
    know it by `names`; `package` is where the functions lie that may lead somewhere; `note` is
    called for each function that holds an end. What is filled in on the way: `wanted`, attributes
    that decide or are handed on, by the classes that have them; the rest is kept for speed.
    """

    methods: frozenset[str]
    ends: frozenset[str]
    package: str
    given: frozenset[str]
    note: Callable[[], object]
    root: ClassValue
    names: dict[str, ClassValue]
    wanted: dict[str, set[ClassValue]] = field(default_factory=dict)
    reaching: dict[ast.AST, bool] = field(default_factory=dict)
    bodies: dict[ast.AST, list[ast.stmt]] = field(default_factory=dict)
    passing: set[ast.stmt] = field(default_factory=set)
    named: dict[ast.AST, list[Function]] = field(default_factory=dict)
    inner: dict[ast.AST, dict[str, tuple[str, str]]] = field(default_factory=dict)

    def run(self, m: Machine, function: Function) -> list[ast.stmt] | None:
        """What is run of a function that is called; an end is noted."""
        body = self.enter(m, function)
        if body is not None and self._ends(function.node):
            self.note()
        return body

    def prepare(self, m: Machine, function: Function, scope: Scope, body: list[ast.stmt]) -> None:
        """Local names that nothing binds in what is run are unknown."""
        bound = {
            n.id
            for n in parts.nodes(function.node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for stmt in body:
            for node in parts.nodes(stmt):
                if isinstance(node, ast.Name) and node.id in bound:
                    reason = f"{node.id}, which was not followed"
                    scope.names.setdefault(node.id, m.unknown(reason, harmless=True))

    def enter(self, m: Machine, function: Function) -> list[ast.stmt] | None:
        """The part of a function's body that is run; None where it is run as a whole."""
        node = function.node
        if isinstance(node, ast.Lambda) or not self._reaches(m, function, 0):
            return None
        if self._ends(node):
            return []
        if node not in self.bodies:
            self.bodies[node] = self._kept(m, function, node.body)
            if m.debug:
                text = ast.unparse(ast.Module(self.bodies[node], []))
                sys.stderr.write(f"followed of {function.name}:\n{text}\n")
        return self.bodies[node]

    def grow(self, m: Machine, functions: list[Function]) -> None:
        """Adds the attributes that decide or are handed on, until there are no more."""
        seen: set[ast.AST] = set()
        before = -1
        while before != self._size():
            before = self._size()
            self.reaching.clear()
            seen.clear()
            for function in functions:
                self._collect(m, function, seen, 0)
        self.bodies.clear()

    def _collect(self, m: Machine, function: Function, seen: set[ast.AST], depth: int) -> None:
        node = function.node
        if node in seen or isinstance(node, ast.Lambda) or depth > _DEEP:
            return
        seen.add(node)
        if self._ends(node) or not self._reaches(m, function, 0):
            return
        for stmt in self._kept(m, function, node.body):
            for inner in self._deciding(m, function, stmt):
                if not isinstance(inner, ast.Attribute) or not isinstance(inner.value, ast.Name):
                    continue
                if not isinstance(inner.ctx, ast.Load):
                    continue
                name = inner.value.id
                mine = name == parts.receiver(function)
                owner = function.owner if mine else self.names.get(name)
                if owner is None or (owner in self.root.mro and inner.attr in self.given):
                    continue
                if owner.lookup(inner.attr) is None:
                    self.wanted.setdefault(inner.attr, set()).add(owner)
        for used in self._used(m, function):
            self._collect(m, used, seen, depth + 1)

    def _deciding(self, m: Machine, function: Function, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes of a kept statement, without those that only bind local names."""
        if node not in self.passing:
            yield from self._looked_at(m, function, node, self.passing)

    def _looked_at(
        self,
        m: Machine,
        function: Function,
        node: ast.AST,
        without: Collection[ast.AST] = (),
    ) -> Iterator[ast.AST]:
        """The nodes of a statement, but for arguments that play no part further on."""
        yield node
        unused: list[ast.AST] = []
        if isinstance(node, ast.Call):
            called = self._used(m, function, node.func)
            if called and self._reaches(m, called[0], 0):
                unused = self._unused(m, called[0], node)
        for child in children(node):
            if child not in unused and child not in without:
                yield from self._looked_at(m, function, child, without)

    def _unused(self, m: Machine, called: Function, call: ast.Call) -> list[ast.AST]:
        """Arguments that a function which is followed does not look at in what is run of it."""
        if isinstance(called.node, ast.Lambda):
            return []
        loaded = {
            n.id
            for stmt in (() if self._ends(called.node) else self._kept(m, called, called.node.body))
            for n in parts.nodes(stmt)
            if isinstance(n, ast.Name)
        }
        spec = called.node.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        names = names[1:] if parts.receiver(called) is not None else names
        given: list[tuple[str | None, ast.AST]] = list(zip(names, call.args, strict=False))
        given += [(k.arg, k) for k in call.keywords]
        return [value for name, value in given if name is not None and name not in loaded]

    # -- what leads there ------------------------------------------------------------------------

    def _ends(self, node: ast.AST) -> bool:
        return any(parts.called(inner) in self.ends for inner in parts.nodes(node))

    def _reaches(self, m: Machine, function: Function, depth: int) -> bool:
        """Whether calling a function may come to one of the calls, or set what decides there."""
        node = function.node
        if node in self.reaching or depth > _DEEP:
            return self.reaching.get(node, False)
        self.reaching[node] = False
        found = any(self._hits(function, inner) for inner in parts.nodes(node)) or any(
            self._reaches(m, used, depth + 1) for used in self._used(m, function)
        )
        self.reaching[node] = found
        return found

    def _hits(self, function: Function, node: ast.AST) -> bool:
        name = parts.called(node)
        if name is not None:
            return name in self.methods or name in self.ends
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
            return False
        owner = function.owner
        return owner is not None and any(
            cls in owner.mro or owner in cls.mro for cls in self.wanted.get(node.attr, ())
        )

    def _size(self) -> int:
        return sum(len(owners) for owners in self.wanted.values())

    def _used(self, m: Machine, function: Function, body: ast.AST | None = None) -> list[Function]:
        """The functions that the body of one names and that lie where something may lead on."""
        key = body or function.node
        if key not in self.named:
            self.named[key] = self._named(m, function, key)
        return self.named[key]

    def _named(self, m: Machine, function: Function, body: ast.AST) -> list[Function]:
        found: list[Function] = []
        if function.node not in self.inner:
            self.inner[function.node] = parts.imported(function)
        inside = self.inner[function.node]
        for node in parts.nodes(body):
            value: Value = None
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and function.owner is not None
                and node.value.id == parts.receiver(function)
            ):
                value = next(iter(function.owner.lookup(node.attr) or ()), None)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                value = self._global(m, function.module, node.id, inside)
            made = parts.function(value)
            if made is not None and made is not function:
                found.append(made)
        return found

    def _global(
        self, m: Machine, module: ModuleValue, name: str, inside: dict[str, tuple[str, str]]
    ) -> Value:
        from checker.interpreter import imports

        if name in inside:
            source, original = inside[name]
            home = m.module(source) if self._near(source) else None
            return None if home is None else self._found(m, home, original)
        if module.file is None or name not in module.file.touching:
            return None
        for stmt in module.file.touching[name]:
            if isinstance(stmt, ast.ImportFrom):
                if not self._near(imports.absolute_name(module, stmt)):
                    return None
            elif not isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
                return None
        return self._found(m, module, name)

    def _found(self, m: Machine, module: ModuleValue, name: str) -> Value:
        from checker.interpreter import imports

        try:
            return imports.module_name(m, module, name)
        except (Raised, Stuck):
            m.check_budget()
            return None

    def _near(self, module: str) -> bool:
        return module == self.package or module.startswith(self.package + ".")

    # -- what is kept ----------------------------------------------------------------------------

    def _kept(self, m: Machine, function: Function, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that lead there, and those that bind the local names they use."""
        leaves = list(parts.leaves(body))
        chosen = {stmt for stmt in leaves if self._leads(m, function, stmt)}
        self._go_on(leaves, chosen)
        last = max((stmt.lineno for stmt in chosen), default=0)
        bare = {
            stmt
            for stmt in leaves
            if isinstance(stmt, ast.Return) and stmt not in chosen and stmt.lineno < last
        }
        while True:
            kept = parts.filtered(body, chosen, bare)
            names = {
                n.id
                for stmt in kept
                for n in self._looked_at(m, function, stmt)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
            }
            more = {stmt for stmt in leaves if stmt not in chosen and names & parts.binds(stmt)}
            if not more:
                return kept
            chosen |= more
            self.passing |= more

    @staticmethod
    def _go_on(leaves: list[ast.stmt], chosen: set[ast.stmt]) -> None:
        """What calls something that a chosen statement bound leads on, too."""
        made: set[str] = set()
        for stmt in leaves:
            if stmt in chosen and isinstance(stmt, ast.Assign):
                made |= {t.id for t in stmt.targets if isinstance(t, ast.Name)}
        for stmt in leaves:
            used = {
                n.id
                for call in parts.nodes(stmt)
                if isinstance(call, ast.Call)
                for n in parts.nodes(call.func)
                if isinstance(n, ast.Name)
            }
            if used & made:
                chosen.add(stmt)

    def _leads(self, m: Machine, function: Function, stmt: ast.stmt) -> bool:
        if any(self._hits(function, node) for node in parts.nodes(stmt)):
            return True
        return any(self._reaches(m, used, 1) for used in self._used(m, function, stmt))


def bind_only(m: Machine, frame: Frame, stmt: ast.stmt) -> Signal | None:
    """A statement that only binds names: what cannot be followed of it is unknown."""
    from checker.interpreter import statements

    try:
        return statements.plain_statement(m, frame, stmt)
    except (Raised, Stuck):
        m.check_budget()
    for name in parts.binds(stmt):
        frame.scope.names[name] = m.unknown(f"{name}, which was not followed", harmless=True)
    return None


def follow(
    m: Machine,
    holder: Value,
    functions: Value,
    methods: Value,
    ends: Value,
    package: Value,
    note: Value,
    known_as: Value,
) -> None:
    """Calls methods of a stand-in one after the other; of all they lead to, what matters is run."""
    from checker.interpreter import calls

    made = Slice(
        frozenset(methods),
        frozenset(ends),
        str(package),
        frozenset(holder.attrs),
        lambda: calls.call(m, note, [], {}),
        holder.cls,
        {str(name): holder.cls for name in known_as},
    )
    roots = [root for root in map(parts.function, functions) if root is not None]
    made.grow(m, roots)
    if m.debug:
        leading = sorted({n.name for n, r in made.reaching.items() if r})  # type: ignore[attr-defined]
        sys.stderr.write(f"wanted {sorted(made.wanted)} by way of {leading}\n")
    outer, m.slice = m.slice, made
    try:
        for root in roots:
            if made.enter(m, root) is None:
                continue
            spec = root.node.args
            names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)][1:]
            given = {
                name: holder.attrs.get(name, m.unknown(f"the argument {name}", harmless=True))
                for name in names
            }
            calls.call(m, root, [holder], given)
    finally:
        m.slice = outer
