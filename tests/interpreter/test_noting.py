"""Whatever is asked of a configuration is noted, and nothing that decides a run is missed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from checker.interpreter.noting import Noting, noted_config, noted_dict, says_the_same
from checker.interpreter.values import ConfigDict

DATA: dict[str, Any] = {"a": 1, "inner": {"x": [1], "y": 2}, "empty": {}}


def made(kind: str) -> tuple[Any, Noting]:
    noting = Noting(DATA)
    if kind == "plain":
        return noted_dict(DATA, noting), noting
    inner = {k: ConfigDict(v, k) if isinstance(v, dict) else v for k, v in DATA.items()}
    return noted_config(ConfigDict(inner, ""), noting), noting


@pytest.mark.parametrize("kind", ["plain", "config"])
@pytest.mark.parametrize(
    ("ask", "same", "other"),
    [
        (lambda d: d["a"], {"a": 1}, {"a": 2}),
        (lambda d: d.get("b"), {"c": 1}, {"b": None}),
        (lambda d: "b" in d, {}, {"b": 1}),
        (lambda d: d.get("inner"), {"inner": {}}, {"inner": 3}),
        (lambda d: d["inner"]["y"], {"inner": {"y": 2, "z": 1}}, {"inner": {"y": 3}}),
        (lambda d: bool(d["inner"]), {"inner": {"z": 1}}, {"inner": {}}),
        (lambda d: d["inner"].get("x"), {"inner": {"x": [1]}}, {"inner": {"x": [1, 2]}}),
    ],
)
def test_another_configuration_that_says_the_same_there_is_as_good(
    kind: str, ask: Callable[[Any], Any], same: dict[str, Any], other: dict[str, Any]
) -> None:
    config, noting = made(kind)
    ask(config)
    looks = json.loads(json.dumps(noting.told()))
    assert says_the_same(DATA, looks)
    assert says_the_same(same, looks)
    assert not says_the_same(other, looks)


@pytest.mark.parametrize("kind", ["plain", "config"])
@pytest.mark.parametrize(
    "walk",
    [
        lambda d: d != {}, list, len, dict, repr, sorted, json.dumps, copy.copy, copy.deepcopy, reversed,
        lambda d: {**d}, lambda d: dict(**d), lambda d: d == {},
        lambda d: d | {}, lambda d: {} | d, {}.update, lambda d: [*d.items()],
        lambda d: d.keys(), lambda d: d.values(), lambda d: d.pop("a"), lambda d: d.copy(),
        lambda d: d.setdefault("a", 1), lambda d: d.update(a=2), lambda d: d.clear(),
        lambda d: d.popitem(), lambda d: d.__setitem__("n", 1), lambda d: d.__delitem__("a"),
        lambda d: ConfigDict(d, ""), lambda d: next(iter(d)),
    ],
)  # fmt: skip
def test_what_walks_over_a_configuration_depends_on_all_of_it(
    kind: str, walk: Callable[[Any], Any]
) -> None:
    config, noting = made(kind)
    walk(config)
    assert not says_the_same({**DATA, "more": 1}, noting.told())
    config, noting = made(kind)
    walk(dict.__getitem__(config, "inner") if walk is len else config)
    assert noting.told()
