"""Names that real tensors have and that are not interpreted."""

from __future__ import annotations

_NAMES = """
_version addcdiv_ addcmul addcmul_ addmm addmm_ all amax amin any apply_ argmin argsort
as_strided atan2 backward baddbmm bernoulli_ bincount bitwise_and bitwise_not bitwise_or
bitwise_xor bmm broadcast_to ceil clamp_ clamp_max clamp_min count_nonzero cross cumprod
cumsum data_ptr dense_dim diag diagonal dot dsplit einsum erfinv expm1 exponential_
fill_diagonal_ flip fmod frac gather grad_fn hardswish histc hsplit index_add index_add_
index_copy index_copy_ index_fill_ index_put index_put_ index_select is_complex
is_contiguous is_cpu is_inference is_leaf is_nested is_pinned is_shared is_signed isfinite
isinf isnan itemsize layout lerp lerp_ log10 log1p log2 log_softmax logsumexp map_
masked_scatter_ masked_select max min mm moveaxis movedim mv names nan_to_num nbytes
ndimension nelement new_tensor nonzero norm normal_ numpy outer prod put_ random_
register_hook repeat reshape_as resize_ resize_as_ retain_grad roll round scatter
scatter_add scatter_add_ searchsorted set_ share_memory_ sign softplus sort squeeze_ std
storage storage_offset stride swapdims t_ take take_along_dim tensor_split tile tolist
topk transpose_ tril triu trunc trunc_normal_ type unfold uniform_ unique unsqueeze_
untyped_storage var version view_as vsplit where zero_
"""
OTHER_NAMES = frozenset(_NAMES.split())
"""Asked whether a tensor has one of these, the answer is yes."""
