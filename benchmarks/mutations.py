"""Mutants of Python files, said in terms of syntax: which edit of which node, never which text.

Every operator looks at one node of a function that is under test and offers replacements for parts
of the text. Annotations, docstrings, raised messages and formatted strings are left alone.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.sites import Changes, Site, Writer, sites

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file with one edit: spans of bytes and what takes their place."""

    operator: str
    place: str
    line: int
    changes: tuple[tuple[int, int, str], ...]

    def apply(self, text: str) -> str:
        """The edited text."""
        data = text.encode()
        for start, stop, new in sorted(self.changes, reverse=True):
            data = data[:start] + new.encode() + data[stop:]
        return data.decode()

    def shown(self, text: str) -> str:
        """Old and new, shortened, for a person."""
        data = text.encode()
        parts = [f"{data[a:b].decode()!r} -> {new!r}" for a, b, new in self.changes]
        return "; ".join(part if len(part) < 120 else part[:117] + "..." for part in parts)


def mutants(text: str, places: tuple[str, ...]) -> list[Mutant]:
    """All mutants of the functions and classes named, in the order of the text; each parses."""
    writer = Writer(text)
    found = []
    seen = set()
    for site in sites(ast.parse(text), places):
        for operator, changes in _offers(site, writer):
            mutant = Mutant(
                operator, site.function.place, getattr(site.node, "lineno", 0), tuple(changes)
            )
            edited = mutant.apply(text)
            if edited in seen or edited == text:
                continue
            seen.add(edited)
            try:
                ast.parse(edited)
            except SyntaxError:
                continue
            found.append(mutant)
    return found


# -- operators -------------------------------------------------------------------------------------


def _offers(site: Site, w: Writer) -> Iterator[tuple[str, Changes]]:
    node = site.node
    if isinstance(node, ast.stmt):
        yield from _of_statement(node, w)
        yield from _of_neighbours(node, site, w)
    match node:
        case ast.Call():
            yield from _of_call(node, w)
        case ast.Name(ctx=ast.Load()):
            yield from _of_name(node, site, w)
        case ast.Attribute(ctx=ast.Load()):
            yield from _of_attribute(node, site, w)
        case ast.Constant():
            yield from _of_constant(node, site, w)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) if len(parts) > 1:
            for one, other in itertools.pairwise(parts):
                yield "swap-elements", w.swap(one, other)
            if isinstance(getattr(node, "ctx", None), ast.Load):
                yield "duplicate-element", [w.put(parts[1], w.of(parts[0]))]
                yield "drop-element", _without(parts, 0, w)
                yield "drop-element", _without(parts, len(parts) - 1, w)
        case ast.BinOp():
            yield from _of_operator(node, w)
        case ast.For(iter=iterated):
            yield "loop-reversed", [w.put(iterated, f"reversed(list({w.of(iterated)}))")]
            yield "loop-shortened", [w.put(iterated, f"list({w.of(iterated)})[:-1]")]
            yield "loop-shortened", [w.put(iterated, f"list({w.of(iterated)})[1:]")]
        case ast.expr():
            yield from _of_choice(node, w)


def _of_choice(node: ast.expr, w: Writer) -> Iterator[tuple[str, Changes]]:
    match node:
        case ast.Compare(ops=[op], left=left, comparators=[right]):
            new = _COMPARISONS.get(type(op))
            if new:
                yield "other-comparison", [w.put(node, f"{w.of(left)} {new} {w.of(right)}")]
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield "and-or", [w.put(node, "(" + word.join(map(w.of, values)) + ")")]
            for kept in values:
                yield "drop-condition", [w.put(node, w.of(kept))]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "drop-not", [w.put(node, w.of(operand))]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "swap-branches", w.swap(body, orelse)
            yield "force-branch", [w.put(node, w.of(body))]
            yield "force-branch", [w.put(node, w.of(orelse))]
            yield "negate", [w.put(test, f"not ({w.of(test)})")]


def _of_statement(node: ast.stmt, w: Writer) -> Iterator[tuple[str, Changes]]:
    match node:
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Continue():
            yield "drop-statement", [w.put(node, "pass")]
        case ast.If(test=test) | ast.While(test=test):
            yield "negate", [w.put(test, f"not ({w.of(test)})")]
            if isinstance(node, ast.If):
                yield "force-branch", [w.put(test, "True")]
                yield "force-branch", [w.put(test, "False")]
    if isinstance(node, (ast.AugAssign, ast.Expr, ast.Assign)):
        indent = "\n" + " " * node.col_offset
        yield "duplicate-statement", [w.put(node, w.of(node) + indent + w.of(node))]


_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def _of_neighbours(node: ast.stmt, site: Site, w: Writer) -> Iterator[tuple[str, Changes]]:
    """What a statement gets from those around it: the place of the next one, another's guard."""
    for _, value in ast.iter_fields(site.parent):
        if isinstance(value, list) and node in value[:-1]:
            following = value[value.index(node) + 1]
            if isinstance(node, _SIMPLE) and isinstance(following, _SIMPLE):
                yield "swap-statements", w.swap(node, following)
    guards = site.function.guards
    if isinstance(node, ast.If):
        at = guards.index(node.test)
        for other in (*guards[at - 1 : at], *guards[at + 1 : at + 2]):
            yield "re-guard", [w.put(node.test, f"({w.of(other)})")]
    elif isinstance(node, ast.Assign) and guards:
        before = [g for g in guards if g.lineno < node.lineno]
        if before:
            indent = "\n" + " " * (node.col_offset + 4)
            yield "add-guard", [w.put(node, f"if {w.of(before[-1])}:{indent}{w.of(node)}")]


def _of_call(node: ast.Call, w: Writer) -> Iterator[tuple[str, Changes]]:
    plain = [a for a in node.args if not isinstance(a, ast.Starred)]
    for one, other in itertools.pairwise(plain):
        yield "swap-arguments", w.swap(one, other)
    for one, other in itertools.pairwise(node.keywords):
        yield "swap-keywords", w.swap(one.value, other.value)
    if plain:
        yield "drop-call", [w.put(node, w.of(plain[0]))]
        function = w.of(node.func)
        if len(plain) == 1 and not node.keywords:
            yield "call-twice", [w.put(node, f"{function}({w.of(node)})")]
    if isinstance(node.func, ast.Attribute):
        yield "drop-method", [w.put(node, w.of(node.func.value))]
    whole = [*node.args, *node.keywords]
    for index, item in enumerate(whole):
        if isinstance(item, ast.keyword) and item.arg is not None:
            yield "drop-keyword", _without(whole, index, w)
    if len(node.args) > 1:
        yield "drop-argument", _without(whole, len(node.args) - 1, w)


def _without(items: list[ast.expr] | list[ast.AST], index: int, w: Writer) -> Changes:
    """One item of a list left out, with a comma beside it."""
    start, stop = w.span(items[index])
    if index + 1 < len(items):
        stop = w.span(items[index + 1])[0]
    elif index:
        start = w.span(items[index - 1])[1]
    return [(start, stop, "")]


def _of_name(node: ast.Name, site: Site, w: Writer) -> Iterator[tuple[str, Changes]]:
    """Another name in scope: the neighbours of this one in the order of the text."""
    names = site.function.names
    if node.id not in names:
        return
    at = names.index(node.id)
    for step in (-1, 1, 2):
        if 0 <= at + step < len(names):
            yield "re-source", [w.put(node, names[at + step])]


def _of_attribute(node: ast.Attribute, site: Site, w: Writer) -> Iterator[tuple[str, Changes]]:
    siblings = site.function.attributes
    if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in siblings:
        at = siblings.index(node.attr)
        for step in (-1, 1):
            other = siblings[(at + step) % len(siblings)]
            yield "other-attribute", [w.put(node, f"self.{other}")]


def _of_constant(node: ast.Constant, site: Site, w: Writer) -> Iterator[tuple[str, Changes]]:
    value = node.value
    if isinstance(value, bool):
        yield "other-constant", [w.put(node, str(not value))]
    elif isinstance(value, int):
        yield "off-by-one", [w.put(node, f"({value + 1})")]
        yield "off-by-one", [w.put(node, f"({value - 1})")]
    elif isinstance(value, float):
        yield "other-constant", [w.put(node, repr(value * 2 + 1))]
    elif isinstance(value, str) and value:
        yield "other-key", [w.put(node, repr(value + "_x"))]
        yield "other-key", [w.put(node, repr(value[:-1]))]
        keys = site.function.keys
        if value in keys:
            yield "exchange-key", [w.put(node, repr(keys[(keys.index(value) + 1) % len(keys)]))]
    elif value is None:
        yield "other-constant", [w.put(node, "0")]


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//",
    ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip


def _of_operator(node: ast.BinOp, w: Writer) -> Iterator[tuple[str, Changes]]:
    new = _OPERATORS.get(type(node.op))
    if new:
        yield "other-operator", [w.put(node, f"({w.of(node.left)} {new} {w.of(node.right)})")]
    yield "drop-operand", [w.put(node, w.of(node.left))]
    yield "drop-operand", [w.put(node, w.of(node.right))]
    if isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod)):
        yield "swap-operands", w.swap(node.left, node.right)
