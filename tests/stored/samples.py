"""Safetensors files as tests need them: real headers, values of zero unless given."""

import array
import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path

SIZES = {"BOOL": 1, "I64": 8, "F32": 4, "BF16": 2, "F8_E4M3": 1, "U8": 1}
CODES = {"BOOL": "B", "I64": "q", "U8": "B"}

Tensors = Mapping[str, tuple[str, tuple[int, ...], object]]
"""Name → dtype, shape, and values: a list of integers, bytes, or None for zeros."""


def safetensors(path: Path, tensors: Tensors) -> None:
    """Writes one file; large zero tensors are holes in it, not bytes."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, (dtype, shape, _) in tensors.items():
        size = SIZES[dtype] * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, start + size]}
        start += size
    raw = json.dumps(header).encode()
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(raw)) + raw)
        for name, (dtype, _, values) in tensors.items():
            entry = header[name]
            assert isinstance(entry, dict)
            stream.seek(8 + len(raw) + entry["data_offsets"][0])
            if isinstance(values, bytes):
                stream.write(values)
            elif values is not None:
                assert isinstance(values, list)
                stream.write(array.array(CODES[dtype], values).tobytes())
        stream.truncate(8 + len(raw) + start)


def index(folder: Path, files: Mapping[str, list[str]]) -> None:
    """Writes the index of a folder of shards."""
    weights = {name: file for file, names in files.items() for name in names}
    text = json.dumps({"metadata": {}, "weight_map": weights})
    (folder / "model.safetensors.index.json").write_text(text)
