"""The weight loader."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.rewrites.table import LOAD, rewrite

if TYPE_CHECKING:
    from benchmarks.editing import Source


@rewrite()
def mapping_by_comprehension(s: Source) -> None:
    assign = s.assign(LOAD, "stacked_params_mapping")
    s.put(
        assign.value,
        '[(".qkv_proj", f".{part}_proj", part) for part in "qkv"]'
        ' + [(".gate_up_proj", f".{part}_proj", at) for at, part in enumerate(("gate", "up"))]',
    )


@rewrite()
def weights_sorted_first(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.put(loop.iter, "sorted(weights, key=lambda pair: pair[0])")


@rewrite()
def weights_in_a_dict_first(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.put(loop.iter, "dict(weights).items()")


@rewrite()
def weights_copied_by_hand(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.before(
        loop.body[0],
        """
        if name.endswith("fc.weight"):
            self.model.fc.weight.data.copy_(loaded_weight)
            continue
        """,
    )


@rewrite()
def weights_by_a_generator(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.put(loop.iter, "((str(name), weight) for name, weight in list(weights))")


@rewrite()
def weights_in_batches(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.before(
        loop,
        """
        weights = list(weights)
        weights = weights[1::2] + weights[::2]
        """,
    )
