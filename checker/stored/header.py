"""The header of a safetensors file: eight bytes of length, then JSON; the data is not read."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from checker.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

MAX_HEADER = 100_000_000
"""The limit that the format's own library has."""

_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U16": 16, "I16": 16, "F16": 16,
    "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
_METADATA = "__metadata__"
_LFS = b"version https://git-lfs"


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor as a file holds it: `start` and `size` are the bytes of its values in the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    path: str
    start: int
    size: int

    @property
    def kind(self) -> str:
        """Whether its values are truth values, integers or floating-point numbers."""
        if self.dtype == "BOOL":
            return "bool"
        return "int" if self.dtype[0] in "IU" else "float"

    @property
    def is_plain(self) -> bool:
        """Whether values stand for themselves, and not for others by a scale kept elsewhere."""
        return self.dtype in ("F16", "BF16", "F32", "F64")


def read_header(path: Path) -> dict[str, StoredTensor]:
    """The tensors of one file by name.

    Raises:
        InputError: the file cannot be read, or is no whole safetensors file.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            start = stream.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            raw = stream.read(length if length <= min(MAX_HEADER, size) else len(_LFS))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", "give readable files", str(path)) from None
    if (start + raw).startswith(_LFS):
        message = "is a pointer of Git LFS, not the file itself"
        raise InputError(message, "fetch it: git lfs pull", str(path))
    if len(start) < 8:
        _broken(path, f"is {size} bytes long, which is no safetensors file")
    if length > MAX_HEADER:
        _broken(path, f"says that its header is {length} bytes long, more than {MAX_HEADER}")
    if length + 8 > size:
        _broken(path, f"ends before its header does ({size} bytes, header of {length})")
    return _tensors(path, _entries(path, raw), 8 + length, size)


def _entries(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        entries = json.loads(raw.decode(), object_pairs_hook=_unique)
    except _TwiceError as error:
        _broken(path, f"has the name {error} twice in its header")
    except (ValueError, RecursionError):
        _broken(path, "has a header that is no JSON")
    if not isinstance(entries, dict):
        _broken(path, "has a header that is no JSON object")
    if not raw.startswith(b"{"):
        _broken(path, "has a header that does not begin with its JSON object")
    told = entries.pop(_METADATA, {})
    if not isinstance(told, dict) or not all(isinstance(text, str) for text in told.values()):
        _broken(path, f"has a header whose {_METADATA} are no texts")
    return entries


class _TwiceError(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(repr(name) for name in names if names.count(name) > 1))
    return found


def _tensors(path: Path, entries: dict[str, Any], data: int, size: int) -> dict[str, StoredTensor]:
    found: dict[str, StoredTensor] = {}
    for name, entry in entries.items():
        match entry:
            case {
                "dtype": str(dtype),
                "shape": [*shape],
                "data_offsets": [int(start), int(end)],
            } if all(type(n) is int and n >= 0 for n in shape):
                pass
            case _:
                _broken(path, f"does not say dtype, shape and place of {name!r}")
        bits = _BITS.get(dtype)
        if bits is None:
            message = f"holds {name!r} as {dtype!r}, which is no kind of numbers that is known"
            raise InputError(message, "save it as another kind, or fetch it again", str(path))
        wanted, rest = divmod(bits * math.prod(shape), 8)
        if rest or end - start != wanted or not 0 <= start <= end:
            _broken(path, f"gives {name!r} {end - start} bytes where {dtype} {shape} has {wanted}")
        if data + end > size:
            _broken(path, f"ends before the values of {name!r} do")
        found[name] = StoredTensor(name, dtype, tuple(shape), str(path), data + start, end - start)
    _all_used(path, found, data, size)
    return found


def _all_used(path: Path, found: dict[str, StoredTensor], data: int, size: int) -> None:
    """Every byte behind the header belongs to one tensor: the format's own library asks for it."""
    last, reached = "", data
    for tensor in sorted(found.values(), key=lambda t: (t.start, t.size)):
        if tensor.start < reached:
            _broken(path, f"gives {last!r} and {tensor.name!r} the same bytes")
        if tensor.start > reached:
            _broken(path, f"has {tensor.start - reached} bytes before {tensor.name!r} of no tensor")
        last, reached = tensor.name, tensor.start + tensor.size
    if reached < size:
        _broken(path, f"has {size - reached} bytes at its end that belong to no tensor")


def _broken(path: Path, message: str) -> NoReturn:
    raise InputError(message, "save or fetch it again", str(path)) from None
