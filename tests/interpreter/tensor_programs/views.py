"""Views and in-place writes: x (S, 6), y (S, 6), q (1, S, 6), v (6,), w (4, 6), ids (S,) integers."""

import torch


def case_write_through_slice(x, y, **_):
    x = x * 1
    x[:, 2:4].add_(y[:, :2])
    return x


def case_write_through_named_slice(x, y, **_):
    x = x * 1
    part = x[:, 1:3]
    part += 1
    return x, part


def case_write_through_select(x, **_):
    x = x * 1
    column = x[:, 2]
    column += 10
    return x, column


def case_write_through_single_slice(x, **_):
    x = x * 1
    column = x[:, 2:3]
    column.mul_(3)
    return x


def case_write_to_base_is_seen_by_view(x, y, **_):
    x = x * 1
    part = x[:, :3]
    x.copy_(y)
    return part


def case_write_through_view_of_view(x, **_):
    x = x * 1
    x.view(-1, 2, 3)[:, 1, 1:] = 0
    return x


def case_write_through_transpose(x, v, **_):
    x = x * 1
    t = x.t()
    t[1] = 5
    t += v[:, None]
    return x


def case_write_through_unsqueeze(x, **_):
    x = x * 1
    x.unsqueeze(0)[:, :, 0] = 1
    return x


def case_write_through_chunk(x, **_):
    x = x * 1
    a, b = x.chunk(2, dim=-1)
    a.mul_(2)
    b.zero_()
    return x


def case_write_through_split(x, y, **_):
    x = x * 1
    for part, other in zip(x.split([1, 2, 3], dim=-1), y.split([1, 2, 3], dim=-1)):
        part.copy_(other)
    return x


def case_write_through_unbind(x, **_):
    x = x.view(-1, 2, 3) * 1
    for i, part in enumerate(x.unbind(1)):
        part += i
    return x


def case_write_through_detach_and_data(x, **_):
    x = x * 1
    x.detach().add_(1)
    x.data.mul_(2)
    return x


def case_clone_does_not_share(x, **_):
    x = x * 1
    y = x.clone()
    y += 1
    return x, y


def case_arithmetic_does_not_share(x, **_):
    y = x + 0
    z = y
    z += 1
    y = y * 1
    y += 1
    return x, y, z


def case_augmented_rebinding_versus_in_place(x, **_):
    x = x * 1
    alias = x
    x = x + 1
    other = x
    other += 1
    return alias, x


def case_fill_zero_copy_scalars(x, **_):
    x = x * 1
    a = x.clone().fill_(3)
    b = x.clone().zero_()
    c = x.clone()
    c[:] = 7
    d = torch.zeros_like(x)
    d.copy_(x)
    return a, b, c, d, a + x


def case_broadcast_write(x, v, **_):
    x = x * 1
    x[:, :3] = v[:3]
    x += v
    return x


def case_broadcast_write_of_column(x, y, **_):
    x = x * 1
    x[:] = y[:, :1]
    return x


def case_new_buffer_by_slices(x, y, **_):
    out = torch.empty(x.shape[0], 12)
    out[:, :6] = x
    out[:, 6:] = y
    return out


def case_new_buffer_by_steps(x, y, **_):
    out = torch.empty(x.shape[0], 12)
    out[..., ::2] = x
    out[..., 1::2] = y
    return out


def case_zeros_partly_filled(x, **_):
    out = x.new_zeros(x.shape[0], 8)
    out[:, 1:7] = x
    return out


def case_reading_own_slice_while_writing(x, **_):
    x = x * 1
    x[:, 1:] = x[:, :-1] + 1
    return x


def case_swap_halves_in_place(x, **_):
    x = x * 1
    left = x[:, :3].clone()
    x[:, :3] = x[:, 3:]
    x[:, 3:] = left
    return x


def case_expand_sees_later_writes(v, **_):
    v = v * 1
    e = v.expand(3, 6)
    v.add_(1)
    return e


def case_select_and_negative_indices(x, **_):
    r = x.view(-1, 2, 3)
    return r[:, -1], r[..., -2], r[:, 0, 1:], r[:, None, 1], x[..., 0]


def case_slices(x, **_):
    return x[:, -2:], x[:, :-2], x[:, 1:5], x[:, 2:100], x[:, -100:3], x[1:], x[:-1]


def case_steps(x, **_):
    return x[:, ::2], x[:, 1::2], x[:, ::3], x.view(-1, 2, 3)[:, ::2]


def case_reshape_of_permuted_then_write(x, **_):
    r = (x * 1).view(-1, 2, 3).transpose(1, 2).reshape(-1, 6)
    r[:, :2] = 0
    return r


def case_in_place_methods(x, y, **_):
    a = x.clone().mul_(y).sub_(1).div_(2)
    b = x.clone().neg_()
    c = x.clone().clamp_(min=-0.5, max=0.5)
    d = x.clone().add_(y, alpha=2)
    return a, b, c, d


def case_in_place_on_positions(ids, **_):
    p = ids + 0
    q = p
    q.add_(1)
    return p, q


def case_list_of_views(x, **_):
    x = x * 1
    parts = [x[:, i] for i in range(3)]
    for p in parts:
        p.fill_(1)
    return x


def case_set_data(x, y, **_):
    a = x * 1
    b = a[:, :2]
    a.data = y
    return a, b


def case_masked_fill(x, **_):
    m = x > 0
    return x.masked_fill(m, 0.0), torch.where(m, x, -x), x * m, m.float(), (~m).int()


def case_copy_with_cast(x, ids, **_):
    p = ids * 1
    p.copy_(torch.ones_like(p) * 2)
    return p
