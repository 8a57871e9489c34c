"""Parameters that no tensor reached: which trained tensor each of them stands for, by structure.

A loader that drops tensors must not hide the other differences. A parameter that kept its initial
value is paired with a tensor that the server's function lacks (dropped, or loaded into a parameter
that is not used) when both are used alike: by the same operator on the same kind of values, looked
at as deeply as it takes to be the only pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.graph.terms import Term, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from checker.graph.builder import Builder
    from checker.location import Location

_ABOVE = 3
_WHOLE = -1
Memo = dict[tuple[int, bool], "dict[Term, str]"]
"""Looks of terms, by how closely they are looked at."""
_DEPTHS = (_WHOLE, 16, 6, 4, 3, 2, 1, 0)


def stand_ins(train: list[Term], serve: list[Term], dropped: Iterable[str]) -> dict[Term, Term]:
    """The trained tensors that unloaded parameters of the server stand for, where that can be told.

    Args:
        train: outputs that use the lost tensors under their checkpoint names.
        serve: outputs that use unloaded parameters.
        dropped: checkpoint names that the server's function does not depend on.
    """
    lost = set(dropped)
    found: dict[Term, Term] = {}
    trained = Uses(train, lambda t: str(t.attr("name")) in lost)
    served = Uses(serve, lambda t: t.attr("loaded", True) is False)
    if not trained.places or not served.places:
        return found
    memo: Memo = {}
    looks = [Look(depth, attrs) for attrs in (True, False) for depth in _DEPTHS]
    for look in looks:
        if look.depth == _WHOLE:
            for term in postorder(*train, *serve):  # operands first: no deep recursion
                _look(term, look, memo)
    for look in (*looks, *looks):  # twice: what is paired leaves fewer to choose from
        wanted = trained.alike(look, set(found.values()), memo)
        open_ = served.alike(look, set(found), memo)
        for key, candidates in open_.items():
            others = wanted.get(key, set())
            if len(candidates) == 1 and len(others) == 1:
                mine, theirs = next(iter(candidates)), next(iter(others))
                if mine not in found and theirs not in found.values():
                    found[mine] = theirs
    return found


@dataclass(frozen=True, slots=True)
class Look:
    """How closely a use is looked at: levels of operands, and whether their attributes count.

    All levels are as many as there are: that costs a walk, not one for each level.
    """

    depth: int
    attrs: bool


class Uses:
    """Where open parameters are used.

    Args:
        roots: outputs that use them.
        wanted: whether a parameter is open.
    """

    def __init__(self, roots: list[Term], wanted: Callable[[Term], bool]) -> None:
        users: dict[Term, list[Term]] = {}
        places: list[tuple[Term, int, Term]] = []
        for term in postorder(*roots):
            for index, arg in enumerate(term.args):
                users.setdefault(arg, []).append(term)
                if arg.op == "param" and wanted(arg):
                    places.append((term, index, arg))
        self.places = [(*place, _above(place[0], users, _ABOVE)) for place in places]

    def alike(self, look: Look, done: set[Term], memo: Memo) -> dict[str, set[Term]]:
        """Those that are not done yet, by the way they are used."""
        uses: dict[Term, list[str]] = {}
        for term, index, param, above in self.places:
            if param not in done:
                way = f"{index} {_look(term, look, memo)} {param.shape} {above}"
                uses.setdefault(param, []).append(way)
        found: dict[str, set[Term]] = {}
        for param, ways in uses.items():
            found.setdefault(" | ".join(sorted(set(ways))), set()).add(param)
        return found


def _above(term: Term, users: Mapping[Term, list[Term]], levels: int) -> str:
    """The operators that use a term, and those that use them, a few levels up."""
    if not levels:
        return ""
    ways = {f"{user.op}<{_above(user, users, levels - 1)}>" for user in users.get(term, ())}
    return ",".join(sorted(ways))


def _look(term: Term, look: Look, memo: Memo) -> str:
    """A term without parameters' names, down to a depth; operands that commute are sorted."""
    known = memo.setdefault((look.depth, look.attrs), {})
    text = known.get(term)
    if text is not None:
        return text
    if term.op == "param":
        text = f"param{term.shape}"
    elif term.op == "input":
        text = f"input {term.attr('name')}"
    elif look.depth == 0:
        text = term.op
    else:
        closer = look if look.depth == _WHOLE else Look(look.depth - 1, look.attrs)
        args = [_look(a, closer, memo) for a in term.args]
        if term.op in ("add", "mul"):
            args.sort()
        attrs = ",".join(f"{k}={v}" for k, v in term.attrs) if look.attrs else ""
        text = f"{term.op}({';'.join(args)}|{attrs})"
        if len(text) > 200:
            text = _short(text)
    known[term] = text
    return text


def _short(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def substituted(
    builder: Builder,
    terms: list[Term],
    table: Mapping[Term, Term],
    origins: dict[Term, tuple[Location, ...]],
) -> list[Term]:
    """Terms with subterms replaced, in normal form again; what is rebuilt keeps its origins."""
    done: dict[Term, Term] = dict(table)
    for term in postorder(*terms):
        if term in done:
            continue
        args = tuple(done[a] for a in term.args)
        done[term] = term if args == term.args else builder.rebuild(term, args)
        if done[term] is not term and term in origins:
            origins.setdefault(done[term], origins[term])
    return [done[t] for t in terms]
