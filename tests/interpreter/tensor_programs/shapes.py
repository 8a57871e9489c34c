"""Shapes: reshape, permute, joins, reductions, products. Inputs as in `views`."""

import torch
import torch.nn.functional as F


def case_view_and_back(x, **_):
    h = x.view(-1, 2, 3)
    return h, h.transpose(0, 1), h.transpose(0, 1).reshape(2, -1), h.flatten(1), h.permute(2, 0, 1)


def case_heads_by_hand(q, **_):
    b, s, _h = q.shape
    h = q.view(b, s, 2, 3).transpose(1, 2)
    return h, h.transpose(1, 2).contiguous().view(b, s, 6), h.mean(-1), h.sum(1)


def case_merging_in_another_order_is_another_thing(x, **_):
    h = x.view(-1, 2, 3)
    return h.transpose(1, 2).reshape(-1, 6), h.reshape(-1, 3, 2), h.transpose(1, 2)


def case_batch_of_one(q, x, **_):
    return q.squeeze(0), x.unsqueeze(0), q[0], q + x, q.view(-1, 6), torch.cat([q, x[None]], dim=-1)


def case_minus_one(x, **_):
    return (
        x.view(x.shape[0], -1, 2),
        x.reshape(-1),
        x.view(-1, 3).view(-1, 6),
        x.unflatten(-1, (3, -1)),
    )


def case_flatten(x, **_):
    h = x.view(-1, 2, 3)
    return h.flatten(), h.flatten(0, 1), h.flatten(1, 2), torch.flatten(h, 1)


def case_squeeze(x, **_):
    a = x[:, None, :, None]
    return a.squeeze(), a.squeeze(1), a.squeeze(0), a.squeeze((1, 3)), a.squeeze(-1)


def case_expand(x, v, **_):
    return (
        v.expand(x.shape[0], 6),
        v.expand(2, -1),
        x[:, None].expand(-1, 3, -1),
        v[:, None].expand(6, 2),
        v.expand_as(x),
    )


def case_expand_and_reshape_is_repeat(x, **_):
    h = x.view(-1, 2, 3)
    return h[:, :, None].expand(-1, 2, 4, 3).reshape(-1, 8, 3), h.repeat_interleave(4, dim=1)


def case_cat(x, y, q, **_):
    return (
        torch.cat([x, y]),
        torch.cat([x, y], dim=-1),
        torch.cat((x, y), 1),
        torch.cat([x[:, :1], y], dim=1),
        torch.cat([q, q], dim=1),
        torch.hstack([x, y]),
    )


def case_cat_of_permuted(x, y, **_):
    a, b = x.t(), y.t()
    h, k = x.view(-1, 2, 3).transpose(0, 1), y.view(2, -1, 3)
    return (
        torch.cat([a, b]),
        torch.cat([a, b], 1),
        torch.cat([a, x.reshape(6, -1)], 0),
        torch.cat([h, k], dim=0),
    )


def case_cat_of_differently_split(x, y, **_):
    a = x.view(-1, 2, 3).flatten(1)
    return torch.cat([a, y], 0), torch.cat([x.view(-1, 2, 3).transpose(1, 2).reshape(-1, 6), y], 0)


def case_stack(x, y, **_):
    return (
        torch.stack([x, y]),
        torch.stack([x, y], dim=1),
        torch.stack([x, y], -1),
        torch.stack([x, y], dim=-1).flatten(-2),
    )


def case_vstack(v, x, **_):
    return torch.vstack([v, v]), torch.vstack([x, x])


def case_chunk_cat_round_trip(x, **_):
    a, b, c = x.chunk(3, -1)
    return (
        torch.cat([a, b, c], -1),
        torch.cat([c, b, a], -1),
        x.chunk(4, dim=1)[-1],
        x.chunk(2, -1)[1],
    )


def case_tensor_split(x, **_):
    parts = x.tensor_split(4, dim=1)
    return parts[0], parts[1], parts[3]


def case_narrow_select_unbind(x, **_):
    return (
        x.narrow(1, 2, 3),
        x.select(1, 4),
        torch.narrow(x, 1, 0, 2),
        x.view(-1, 2, 3).unbind(2)[1],
    )


def case_broadcast_arithmetic(x, v, **_):
    col = x[:, :1]
    return (
        x + v,
        x * col,
        col + v,
        x - v[None],
        x.view(-1, 2, 3) * v.view(2, 3),
        x.t() + x.t(),
        (v[:, None] * v),
        x / 2,
        2 - x,
        1 / (x + 10),
    )


def case_broadcast_permuted(x, v, **_):
    h = x.view(-1, 2, 3).transpose(1, 2)
    return h + v.view(3, 2), h * x.view(-1, 3, 2), x.t() * v[:, None], x.t() + x.sum(1)


def case_broadcast_split_factors(x, y, **_):
    return x.view(-1, 2, 3).flatten(1) + y, x.view(-1, 2, 3).transpose(1, 2).reshape(-1, 6) + y


def case_broadcast_two_ways(x, y, **_):
    return x[:, None, :] * y[None, :, :], x[:, :, None] + y[:, None, :]


def case_reductions(x, **_):
    h = x.view(-1, 2, 3)
    return (
        x.sum(-1),
        x.mean(0),
        h.sum(1),
        h.mean((1, 2)),
        h.sum((0, 2), keepdim=True),
        x.sum(),
        x.mean(),
        x.mean(-1, keepdim=True),
        x.t().sum(0),
        h.transpose(1, 2).mean(-1),
    )


def case_reduction_over_one(x, q, **_):
    a = x[:, None]
    return (
        a.sum(1),
        a.mean(1),
        q.sum(0),
        a.softmax(1),
        torch.softmax(q, dim=0),
        a.sum(1, keepdim=True),
    )


def case_reduction_result_is_new(x, **_):
    x = x * 1
    s = x[:, None].sum(1)
    s += 1
    return x


def case_softmax_axes(x, **_):
    h = x.view(-1, 2, 3)
    return (
        x.softmax(-1),
        torch.softmax(x, dim=0),
        F.softmax(h, dim=1),
        x.t().softmax(0),
        h.transpose(1, 2).softmax(-1),
    )


def case_argmax(x, **_):
    return (
        x.argmax(-1),
        x.argmax(dim=0),
        x.t().argmax(0),
        x.view(-1, 2, 3).argmax(1),
        x.argmax(-1, keepdim=True),
    )


def case_projections(x, w, v, q, **_):
    b = v[:4]
    return (
        F.linear(x, w),
        F.linear(x, w, b),
        x @ w.t(),
        x @ w.T,
        torch.matmul(x, w.transpose(0, 1)),
        F.linear(q, w),
        q @ w.t(),
        x.t().t() @ w.t(),
    )


def case_projection_of_permuted(x, w, **_):
    h = x.view(-1, 2, 3).transpose(1, 2).reshape(-1, 6)
    return F.linear(h, w), x.view(-1, 2, 3).flatten(1) @ w.t(), F.linear(x[None].transpose(0, 1), w)


def case_weight_slices(x, w, **_):
    return (
        F.linear(x, w[:2]),
        F.linear(x, w[2:]),
        F.linear(x[:, :3], w[:, :3]),
        torch.cat([F.linear(x, w[:2]), F.linear(x, w[2:])], -1),
    )


def case_matrix_products(x, y, w, **_):
    return w @ w.t(), x @ w.t() @ w, x.t() @ y, x @ y.t()


def case_batched_products(x, y, **_):
    a, b = x.view(-1, 2, 3).transpose(0, 1), y.view(-1, 2, 3).transpose(0, 1)
    return (
        a @ b.transpose(1, 2),
        torch.bmm(a, b.transpose(1, 2)),
        a[None] @ b.transpose(-1, -2),
        a @ b[:1].transpose(-1, -2),
    )


def case_embedding(ids, x, w, **_):
    return F.embedding(ids, w), w[ids], F.embedding(ids[None], w), w.t()[:, :4][ids], x[ids]


def case_elementwise_functions(x, y, **_):
    return (
        torch.sigmoid(x),
        x.tanh(),
        F.silu(x),
        F.relu(x),
        x.exp(),
        torch.cos(x),
        x.sin(),
        x.abs(),
        x.square(),
        x.pow(2),
        x**2,
        x**3,
        (x.abs() + 1).sqrt(),
        torch.rsqrt(x.abs() + 1),
        -x,
        torch.maximum(x, y),
        torch.minimum(x, y),
        x.clamp(-0.5, 0.5),
        torch.clamp(x, min=0),
        torch.add(x, y, alpha=3),
        torch.sub(x, y, alpha=2),
        torch.mul(x, 2),
        torch.div(x, 2),
        torch.where(x > y, x, y),
        F.gelu(x),
        F.gelu(x, approximate="tanh"),
        2**x,
        torch.pow(x, 2),
        (x.abs() + 1).log(),
        torch.reciprocal(x + 10),
    )


def case_inplace_flag(x, **_):
    a = x.clone()
    b = F.relu(a, inplace=True)
    c = x.clone()
    d = F.silu(c, inplace=True)
    return a, b, c, d


def case_out_argument(x, y, **_):
    out = torch.empty_like(x)
    r = torch.add(x, y, out=out)
    buf = torch.empty(x.shape[0], 12)
    torch.cat([x, y], dim=1, out=buf)
    return out, r, buf


def case_integers(ids, **_):
    return (
        ids + 1,
        ids * 2,
        ids // 2,
        ids % 3,
        ids / 2,
        -ids,
        ids.float() * 0.5,
        ids == 2,
        ids > 1,
        torch.arange(6),
        torch.arange(2, 8, 2),
        torch.arange(0, 5, step=2),
        torch.arange(start=1, end=4),
    )


def case_casts_that_change_values(x, ids, **_):
    return (
        (x * 3).long(),
        (x * 3).int().float(),
        x.bool(),
        (ids > 1).float(),
        (ids > 1).long() * 2,
        ids.bool(),
    )


def case_logical(x, y, **_):
    a, b = x > 0, y > 0
    return a & b, a | b, ~a, torch.logical_and(a, b), torch.logical_or(x, b), torch.logical_not(x)


def case_norm_by_hand(x, v, **_):
    var = x.pow(2).mean(-1, keepdim=True)
    return (
        x * torch.rsqrt(var + 1e-5) * v,
        F.rms_norm(x, (6,), v, 1e-5),
        F.layer_norm(x, (6,), v, v * 2, 1e-5),
    )


def case_rotary_by_hand(x, ids, **_):
    h = x.view(-1, 1, 6)
    inv = 1.0 / (100.0 ** (torch.arange(0, 6, 2).float() / 6))
    freqs = torch.outer(ids.float(), inv)
    emb = torch.cat([freqs, freqs], dim=-1)
    cos, sin = emb.cos()[:, None], emb.sin()[:, None]
    half = torch.cat([-h[..., 3:], h[..., :3]], dim=-1)
    return h * cos + half * sin


def case_constants(x, **_):
    return (
        x * torch.ones(6),
        x + torch.full((6,), 2.0),
        torch.tensor([1.0, 2.0, 3.0]) * 2,
        x + torch.tensor(3.0),
        x.new_full((2, 3), 5.0),
        torch.zeros(2, 3) + 1,
        torch.tensor(2) * x,
    )


def case_flip_order_of_factors(x, v, **_):
    h = x.view(-1, 3, 2)
    return h.permute(0, 2, 1).flatten(1) * v, h.permute(2, 0, 1).flatten(0, 1)


def case_nested_views(x, **_):
    a = x.view(-1, 2, 3)[:, 1]
    b = x.view(-1, 3, 2).transpose(1, 2)[:, 0]
    return (
        a,
        b,
        a + b,
        x.view(-1, 2, 3)[:, :, 1:].flatten(1),
        x.view(-1, 2, 3).transpose(1, 2)[:, 1:].reshape(-1, 4),
    )


def case_sum_of_mask(x, **_):
    return (x > 0).sum(-1), (x > 0).sum(), (x > 0).float().mean(-1)


def case_column_stack(x, y, v, ids, **_):
    rows = ids.to(x.dtype)
    return torch.column_stack([x, y]), torch.column_stack((rows, x)), torch.column_stack([v, v])


def case_repeat(x, v, q, **_):
    return x.repeat(1, 2), v.repeat(3), v.repeat(2, 1, 2), q.repeat(4, 1, 1), x[:, :1].repeat(2, 5)


def case_repeat_is_a_copy(x, **_):
    a = x.clone()
    b = a.repeat(1, 1)
    a.mul_(2)
    return b, torch.tile(x, (2,)), x.tile(3, 1), torch.tile(x, (2, 1, 1))


def case_pad(x, ids, **_):
    return (
        F.pad(x, (0, 1)),
        F.pad(x, (2, 1), value=-0.5),
        F.pad(x, [1, 0, 0, 2]),
        F.pad(ids, (1, 0)),
        F.pad(x, (-1, 1)),
        F.pad(x, (0, -2), mode="constant"),
    )


def case_einsum_projections(x, w, q, **_):
    return (
        torch.einsum("ti,oi->to", x, w),
        torch.einsum("oi,ti->to", w, x),
        torch.einsum("oi, ti -> ot", w, x),
        torch.einsum("bti,oi->bto", q, w),
        torch.einsum("ti,oi", x, w),
        torch.einsum("sx,ax->as", [x, w]),
    )


def case_einsum_heads(x, y, **_):
    a, b = x.view(-1, 2, 3), y.view(-1, 2, 3)
    return (
        torch.einsum("qhd,khd->hqk", a, b),
        torch.einsum("thd,tgd->tgh", a, b),
        torch.einsum("thd,thd->t", a, b),
        torch.einsum("thd,thd->", a, b),
        torch.einsum("thd,shd->ts", a, b),
    )


def case_einsum_products_and_sums(x, y, v, w, **_):
    return (
        torch.einsum("ti,ti->ti", x, y),
        torch.einsum("ti,i->it", x, v),
        torch.einsum("ti->it", x),
        torch.einsum("ti->i", x),
        torch.einsum("ti,oj->o", x, w),
        torch.einsum("ti,i->t", x, v),
        torch.einsum("i,j->ij", v, v),
        torch.einsum("ti,oi,oj->tj", x, w, w),
    )


def case_a_stack_summed_is_a_sum(x, y, **_):
    both = torch.stack([x, y])
    three = torch.stack([x, y, x * y], dim=1)
    return both.sum(0), both.mean(0), three.sum(1), three.mean(dim=1, keepdim=True), three.sum(-1)


def case_products_with_a_batch_of_one(x, q, w, **_):
    one = w.t()[None]
    return (
        torch.bmm(q, one),
        x @ one,
        torch.matmul(x.view(-1, 1, 6), one),
        torch.matmul(q, one[None]),
    )


def case_filled_with_truth(x, y, **_):
    yes = torch.ones_like(x, dtype=torch.bool)
    no = torch.zeros(x.shape[0], 1, dtype=torch.bool)
    return torch.where(yes, x, y), torch.where(no, x, y), yes, torch.full((2,), 3, dtype=torch.bool)
