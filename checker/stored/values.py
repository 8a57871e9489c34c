"""Values of stored tensors, where they matter: small maps of ids, and whether two are the same."""

from __future__ import annotations

import array
import hashlib
import sys
from typing import TYPE_CHECKING

from checker.errors import InputError

if TYPE_CHECKING:
    from checker.stored.header import StoredTensor

MAX_BYTES = 64 * 1024 * 1024
"""No vocabulary's map is larger; a tensor of weights that has its name is."""

_CODES = {"BOOL": "B", "U8": "B", "I8": "b", "U16": "H", "I16": "h", "U32": "I", "I32": "i",
          "U64": "Q", "I64": "q"}  # fmt: skip
_CHUNK = 1 << 22


def integers(tensor: StoredTensor) -> array.array[int] | None:
    """The values of a small tensor of integers or truth values, None of one that is none."""
    code = _CODES.get(tensor.dtype)
    if code is None or tensor.size > MAX_BYTES:
        return None
    found = array.array(code)
    try:
        with open(tensor.path, "rb") as stream:  # noqa: PTH123 - the path is a text
            stream.seek(tensor.start)
            found.frombytes(stream.read(tensor.size))
    except (OSError, ValueError) as error:
        raise _gone(tensor, error) from None
    if sys.byteorder == "big":
        found.byteswap()
    return found


def digest(tensor: StoredTensor) -> str:
    """What identifies a tensor's values: two with the same digest hold the same bytes."""
    found = hashlib.sha256(f"{tensor.dtype}{tensor.shape}".encode())
    left = tensor.size
    try:
        with open(tensor.path, "rb") as stream:  # noqa: PTH123 - the path is a text
            stream.seek(tensor.start)
            while left > 0:
                part = stream.read(min(left, _CHUNK))
                if not part:
                    raise ValueError("the file has become shorter")
                found.update(part)
                left -= len(part)
    except (OSError, ValueError) as error:
        raise _gone(tensor, error) from None
    return found.hexdigest()


def _gone(tensor: StoredTensor, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    message = f"{tensor.name!r} cannot be read: {reason}"
    return InputError(message, "leave the folder alone while it is checked", tensor.path)
