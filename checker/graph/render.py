"""Terms as an engineer would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph.matching import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.graph.labels import Labels
    from checker.graph.terms import Term

DEEPER: Final = "..."
_LONG: Final = 8
_SHOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "attention": ("visible",),
    "concat": (),
    "select": ("axis", "index"),
    "softmax": ("axis",),
    "mean": ("axis",),
    "repeat": ("axis", "times"),
    "rope": ("base", "dim"),
    "inv_freq": ("base", "dim"),
    "unflatten": ("sizes",),
    "flatten": ("count",),
    "permute": ("axes",),
    "gelu": ("approximate",),
    "input": (),
    "expand": (),
}
"""Which attributes tell a reader something; an operator that is not listed shows all of them."""


def render(
    term: Term,
    *,
    labels: Labels | None = None,
    names: Mapping[Term, str] | None = None,
    depth: int = 4,
) -> str:
    """The term in one line, wires by their names.

    Args:
        term: what to show; it is spelled out even if it is itself a wire.
        labels: the wires whose terms are shown by name.
        names: further terms shown by name; these come first.
        depth: how many operators deep; what is deeper is shown as ``...``.
    """
    known: dict[Term, str] = {}
    if labels is not None:
        for wire, value in sorted(labels.terms.items(), key=lambda item: item[0], reverse=True):
            known[value] = wire.name
    known.update(names or {})
    known.pop(term, None)
    return _text(term, known, depth)


def _text(term: Term, known: Mapping[Term, str], depth: int) -> str:
    if term in known:
        return known[term]
    leaf = _leaf(term)
    if leaf is not None:
        return leaf
    if depth <= 0:
        return DEEPER
    if term.op in ("add", "mul"):
        return _infix(term, known, depth)
    if term.op == "slice":
        return _slice(term, known, depth)
    args = [_text(arg, known, depth - 1) for arg in _reading_order(term)]
    if term.op == "pow":
        return f"{_grouped(args[0])}**{shown(term.attr('exponent'))}"
    name = str(term.attr("name")) if term.op == "opaque" else term.op
    return f"{name}({', '.join([*args, *_attributes(term)])})"


def _leaf(term: Term) -> str | None:
    match term.op:
        case "param":
            return str(term.attr("name")).removesuffix(".weight")
        case "input":
            return str(term.attr("name"))
        case "const" | "full":
            return shown(term.attr("value"))
        case "unknown":
            return f"unknown({term.attr('reason')})"
        case "iota":
            return f"arange({term.shape[0]})"
    return None


def _reading_order(term: Term) -> tuple[Term, ...]:
    """The parameter first, as in `linear(fc, features)`, then what it is applied to."""
    if term.op in ("linear", "rms_norm", "layer_norm", "embedding") and len(term.args) > 1:
        x, weight, *rest = term.args
        return (weight, *rest, x)
    return term.args


def _attributes(term: Term) -> list[str]:
    chosen = _SHOWN.get(term.op)
    if term.op == "rms_norm":
        return [f"offset={shown(term.attr('offset'))}"] if term.attr("offset") else []
    return [
        f"{name}={shown(value)}"
        for name, value in term.attrs
        if (name in chosen if chosen is not None else name != "name")
    ]


def _infix(term: Term, known: Mapping[Term, str], depth: int) -> str:
    """Operands sorted as text, so that a sum reads the same wherever it was built."""
    sign = " + " if term.op == "add" else " * "
    texts = sorted(
        (_text(arg, known, depth - 1 if arg.args else depth) for arg in _operands(term, known)),
        key=_complexity,
    )
    return sign.join(_grouped(text) if term.op == "mul" else text for text in texts)


def _operands(term: Term, known: Mapping[Term, str]) -> list[Term]:
    """The operands of a long sum down to a part of it that has a name."""
    found = list(term.args)
    while found[0].op == "add" and found[0] not in known and len(found) < _LONG:
        found[:1] = found[0].args
    return found


def _complexity(text: str) -> tuple[int, str]:
    return (text.count("("), text)


def _slice(term: Term, known: Mapping[Term, str], depth: int) -> str:
    start, stop = (shown(term.attr(name)) for name in ("start", "stop"))
    axis = term.attr("axis")
    where = f"{start}:{stop}" if axis == -1 else f"axis {axis}: {start}:{stop}"
    return f"{_grouped(_text(term.args[0], known, depth - 1))}[{where}]"


def _grouped(text: str) -> str:
    return f"({text})" if " + " in text or " * " in text else text
