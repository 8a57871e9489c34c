import torch


def case_largest_along_an_axis(x, **_):
    values, places = torch.max(x, dim=-1)
    kept, where = torch.max(x[:, :4], dim=1, keepdim=True)
    return values, places, kept, where


def case_largest_of_one(x, **_):
    column = x[:, 2:3]
    values, places = torch.max(column, dim=1, keepdim=True)
    few, at = torch.topk(x, 1, dim=-1)
    return values, places, few, at


def case_argmax_of_probabilities(x, **_):
    return torch.softmax(x * 3, dim=-1).argmax(dim=-1)


def case_rows_of_a_single_row(x, ids, **_):
    row = x[:1]
    nothing = ids[:2] * 0
    return row[nothing, :], row[nothing.unsqueeze(1)]


def case_gathers_of_one(x, ids, **_):
    column = x[:, 1:2]
    nothing = torch.zeros((x.shape[0], 1), dtype=torch.long)
    wide = torch.zeros((x.shape[0], 3), dtype=torch.long)
    return torch.gather(column, 1, nothing), torch.gather(column, dim=1, index=wide)


def case_repetitions(x, **_):
    row = x[:1]
    return row.repeat(3, 1), x.repeat(1, 1), x[:, 0].repeat(2, 1), row.repeat(2, 1, 1)


def case_repeated_is_a_copy(x, **_):
    row = x[:1] * 1
    copied = row.repeat(1, 1)
    copied.add_(1)
    return row, copied


def case_rolls(x, ids, **_):
    before = torch.roll(x, 2, dims=-1)
    back = torch.roll(x, shifts=-1, dims=0)
    return before, back, x.roll(1, 0), ids.roll(-2), torch.roll(x, 8, 1), torch.roll(x, 0, 0)


def case_selected_by_a_mask_that_is_true_everywhere(x, ids, **_):
    everywhere = torch.ones_like(ids, dtype=torch.bool)
    return torch.masked_select(ids, everywhere), x.masked_select(torch.ones_like(x).to(torch.bool))


def case_products_added(x, y, v, **_):
    half = torch.addcmul(x, y, v, value=0.5)
    return half, x.addcmul(y, y), torch.addcdiv(x, y, v * v + 1, value=2), x.addcdiv(y, v * v + 1)


def case_ranges_from_another_start(x, **_):
    count = torch.arange(1, x.shape[0] + 1)
    return count, count - torch.arange(x.shape[0]), torch.arange(2, 8, 3)
