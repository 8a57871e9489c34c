"""Values that the wires read and no configuration states, from those that it states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.contract.expressions import BadExpression, Value, evaluate, integer, place

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Stated:
    """Names are switches; `count` counts the items of a list."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def name(self, name: str) -> Value:
        if name not in self._values:
            raise BadExpression(f"knows no value {name!r}")
        value = self._values[name]
        found: Value = tuple(value) if isinstance(value, list) else value
        return found

    def indexed(self, name: str, index: Value) -> Value:
        value = self.name(name)
        at = integer(index)
        if not isinstance(value, tuple) or not 0 <= at < len(value):
            raise BadExpression(f"finds no item {at} in {name!r}")
        return value[at]

    def each(self, variable: str, index: int) -> _Stated:
        return _Stated({**self._values, variable: index})

    def call(
        self, function: str, parameter: str | None, args: list[Value], attrs: dict[str, Value]
    ) -> Value:
        match function, args:
            case "count", [tuple() as items] if parameter is None and not attrs:
                return len(items)
        raise BadExpression(f"has no place for {function!r} of these")

    def takes_parameter(self, function: str) -> bool:  # noqa: ARG002 - as every scope is asked
        return False


def derived(document: Mapping[str, Any], switches: Mapping[str, Any]) -> dict[str, Any]:
    """The switches with what follows from them, each in turn: a later one reads earlier ones.

    Raises:
        InputError: an expression of the document cannot be evaluated.
    """
    found = dict(switches)
    for name, expression in document.get("derived", {}).items():
        try:
            value = evaluate(expression, _Stated(found))
        except BadExpression as error:
            raise place(error, f"derived.{name}") from None
        found[name] = list(value) if isinstance(value, tuple) else value
    return found
