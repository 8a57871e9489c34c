"""The builder: operators in, terms in normal form out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph import attention, elementwise, layout, linear, masks, reduce, reshape, rotary
from checker.graph.dims import Dim, symbol
from checker.graph.rules import Number, Rule, attrs_key
from checker.graph.terms import Attr, Pool, Shape, ShapeError, Term, canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.location import Location

ORIGINS_KEPT: Final = 3
DEPTH: Final = 120
"""Nested rewrites beyond this depth are left undone, so that no input overflows the stack."""

_RULES: Final[dict[str, Rule]] = {
    **elementwise.RULES,
    **layout.RULES,
    **reshape.RULES,
    **linear.RULES,
    **reduce.RULES,
    **rotary.RULES,
    **attention.RULES,
}


class Builder:
    """Normalising constructors over a pool, and where each new term came from.

    One builder serves one extraction; builders that share a pool give the same object for the same
    function. `here` is the location of what is being interpreted; every term made meanwhile gets it
    as an origin.
    """

    def __init__(self, pool: Pool | None = None) -> None:
        self.pool = Pool() if pool is None else pool
        self.here: Location | None = None
        self.origins: dict[Term, tuple[Location, ...]] = {}
        self.watch: Callable[[Term], None] | None = None
        self.joined: dict[tuple[Term, Term, int], Term | None] = {}
        self._memo: dict[tuple[str, tuple[Term, ...], str], Term] = {}
        self._depth = 0

    # Leaves

    def input(self, name: str, shape: Shape) -> Term:
        """A value that is given from outside."""
        return self.make("input", (), shape, name=name)

    def param(self, name: str, shape: Shape, loaded: bool = True) -> Term:
        """A parameter, by its checkpoint name; `loaded=False` if no tensor reaches it."""
        if loaded:
            return self.make("param", (), shape, name=name)
        return self.make("param", (), shape, name=name, loaded=False)

    def const(self, value: Number, shape: Shape = ()) -> Term:
        """A number; with a shape, a tensor filled with it."""
        return self.full(value, shape) if shape else self.make("const", (), (), value=value)

    def full(self, value: Number, shape: Shape) -> Term:
        """A tensor that has this value everywhere."""
        return self.make("full", (), shape, value=value) if shape else self.const(value)

    def empty(self, shape: Shape) -> Term:
        """An uninitialised buffer. What is left of it in a result is undefined."""
        return self.make("empty", (), shape)

    def unknown(self, reason: str, shape: Shape) -> Term:
        """A value that could not be derived. No two of them are equal, whatever the reason."""
        return self.make("unknown", (), shape, reason=reason, serial=self.pool.serial())

    # Operators

    def op(self, name: str, /, *args: Term, **attrs: Attr) -> Term:
        """The operator applied to terms, in normal form.

        Raises:
            ShapeError: the operands do not fit.
        """
        rule = _RULES.get(name)
        if rule is None:
            raise KeyError(f"no operator is called {name}")
        canonised = {key: canonical(value) for key, value in attrs.items()}
        memo = (name, args, attrs_key(canonised))
        known = self._memo.get(memo)
        if known is None:
            self._depth += 1
            try:
                known = rule(self, args, canonised)
            finally:
                self._depth -= 1
            self._memo[memo] = known
        return known

    def make(self, op: str, args: tuple[Term, ...], shape: Shape, **attrs: Attr) -> Term:
        """The term as given; only rules call this."""
        term = self.pool.make(op, args, attrs, shape)
        if self.here is not None:
            seen = self.origins.get(term, ())
            if self.here not in seen and len(seen) < ORIGINS_KEPT:
                self.origins[term] = (*seen, self.here)
        if self.watch is not None:
            self.watch(term)
        return term

    def rebuild(self, term: Term, args: tuple[Term, ...]) -> Term:
        """The same operator over other arguments of the same shapes, in normal form."""
        here, origins = self.here, self.origins.get(term)
        if origins:
            self.here = origins[0]
        attrs = dict(term.attrs)
        if term.op in ("expand", "opaque"):  # the shape of the result is no attribute of it
            attrs["shape"] = term.shape
        try:
            return self.op(term.op, *args, **attrs)
        finally:
            self.here = here

    @property
    def deep(self) -> bool:
        """Whether rewrites are nested so deeply that optional ones must stop."""
        return self._depth > DEPTH

    def band(self, term: Term, size: Dim | None = None) -> masks.Band | None:
        """The band of distances (query minus key) in which a mask predicate holds, if it is one."""
        return masks.band(term, symbol("S") if size is None else size)


__all__ = ["Builder", "ShapeError"]
