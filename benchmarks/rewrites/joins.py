"""The join of the two halves before the first layer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.rewrites.places import joined
from benchmarks.rewrites.table import LAYER, rewrite

if TYPE_CHECKING:
    from benchmarks.editing import Source


@rewrite()
def join_by_hstack(s: Source) -> None:
    joined(s, "torch.hstack(({a}, {b}))")


@rewrite()
def join_by_concatenate(s: Source) -> None:
    joined(s, "torch.concatenate([{a}, {b}], dim=1)")


@rewrite()
def join_by_concat_along_axis_one(s: Source) -> None:
    joined(s, "torch.concat([{a}, {b}], dim=1)")


@rewrite()
def join_by_column_stack(s: Source) -> None:
    joined(s, "torch.column_stack([{a}, {b}])")


@rewrite()
def join_by_stack_and_flatten(s: Source) -> None:
    joined(s, "torch.stack([{a}, {b}], dim=1).flatten(1)")


@rewrite()
def join_with_a_batch_dimension(s: Source) -> None:
    joined(s, "torch.cat([{a}.unsqueeze(0), {b}.unsqueeze(0)], dim=-1).squeeze(0)")


@rewrite()
def join_with_none_indexing(s: Source) -> None:
    joined(s, "torch.cat([{a}[None], {b}[None]], dim=2)[0]")


@rewrite()
def join_taken_apart_and_put_together(s: Source) -> None:
    joined(s, "torch.cat(torch.cat([{a}, {b}], dim=-1).chunk(2, dim=-1), dim=-1)")


@rewrite()
def join_transposed(s: Source) -> None:
    joined(s, "torch.cat([{a}.t(), {b}.T], dim=0).transpose(0, 1).contiguous()")


@rewrite()
def join_by_vstack_of_transposed(s: Source) -> None:
    joined(s, "torch.vstack([{a}.t(), {b}.t()]).t()")


BUFFERS = {
    "empty": """
        width = embeds.shape[-1]
        buffer = torch.empty(
            (embeds.shape[0], 2 * width), dtype=embeds.dtype, device=embeds.device
        )
        buffer[:, :width] = {a}
        buffer[:, width:] = {b}
        """,
    "new_empty": """
        tokens, width = embeds.shape
        buffer = embeds.new_empty(tokens, width + {b}.shape[1])
        buffer[..., width:] = {b}
        buffer[..., :width] = {a}
        """,
    "zeros_and_copy": """
        width = embeds.size(-1)
        buffer = torch.zeros(embeds.size(0), 2 * width, dtype=embeds.dtype, device=embeds.device)
        buffer.narrow(-1, 0, width).copy_({a})
        buffer.narrow(1, width, width).copy_({b})
        """,
    "halves": """
        buffer = torch.empty_like({a}.repeat(1, 2))
        for half, value in zip(buffer.chunk(2, dim=-1), ({a}, {b})):
            half.copy_(value)
        """,
}


def _buffer(name: str, text: str) -> None:
    def edit(s: Source) -> None:
        call = s.call(LAYER, "torch.cat")
        first, second = (s.of(e) for e in call.args[0].elts)  # type: ignore[attr-defined]
        statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
        s.before(statement, text.format(a=first, b=second))
        s.put(call, "buffer")

    edit.__name__ = f"join_in_a_buffer_{name}"
    rewrite()(edit)


for _name, _text in BUFFERS.items():
    _buffer(_name, _text)


@rewrite()
def join_into_out(s: Source) -> None:
    call = s.call(LAYER, "torch.cat")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.before(statement, "buffer = embeds.new_empty(embeds.shape[0], 2 * embeds.shape[1])")
    s.put(call.args[-1] if len(call.args) > 1 else call.keywords[-1], "dim=-1, out=buffer")


@rewrite()
def join_by_padding(s: Source) -> None:
    joined(
        s,
        "(nn.functional.pad({a}, (0, embeds.shape[-1])) + nn.functional.pad({b}, "
        "(embeds.shape[-1], 0)))",
    )


@rewrite()
def join_by_moved_axes(s: Source) -> None:
    joined(s, "torch.stack([{a}, {b}], dim=-1).transpose(1, 2).reshape(embeds.shape[0], -1)")


@rewrite()
def join_of_rows_written_one_after_another(s: Source) -> None:
    joined(s, "torch.stack([{a}, {b}]).permute(1, 0, 2).flatten(start_dim=1, end_dim=-1)")


@rewrite()
def halves_cut_out_of_a_longer_join(s: Source) -> None:
    joined(s, "torch.cat([{b}, {a}, {b}], dim=-1)[:, embeds.shape[-1] :]")
