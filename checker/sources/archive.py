"""Reading a zip from a distance: its directory once, then only the ranges that are needed.

The directory is parsed by the standard library; what it says is then checked, because an archive
is input from outside. Members whose names lead out of the tree condemn the archive. Links,
encrypted members, bombs and members longer than a source file can be are refused when asked for:
an ordinary server wheel holds compiled libraries that nobody reads.

Members are read in *chunks*, ranges of neighbouring source files of some dozens of kilobytes: one
request costs as much as a thousand small files, and larger chunks would bring mostly files that
nobody reads. The plan of chunks depends on the directory alone, so each range is fetched, and kept,
at most once.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import struct
import zlib
from bisect import bisect_left
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from checker.errors import InputError
from checker.sources.tree import MEMBER_LIMIT, MissingMember

if TYPE_CHECKING:
    import zipfile

MEMBER_COUNT_LIMIT = 200_000
DIRECTORY_LIMIT = 64 * 1024 * 1024
RATIO_LIMIT = 200
RATIO_FLOOR = 1024 * 1024
CHUNK_SIZE = 64 * 1024
CHUNK_GAP = 16 * 1024

_STORED, _DEFLATED = 0, 8

_SOURCE = re.compile(
    r"\.(py|pyi|json|ya?ml|toml|cfg|ini|txt|md|rst|jinja)$|\.(dist|egg)-info/|(^|/)PKG-INFO$"
)
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_REMEDY = "use another release or source; this archive is not safe to read"


@dataclass(frozen=True, slots=True)
class Directory:
    """What lies where in an archive: columns, sorted by path, as they are cached.

    Attributes:
        paths: the members' paths within the archive.
        offsets: where each member's local header begins.
        packed, sizes, checks: compressed size, size and CRC-32 of each.
        refused: why a member is not read (by path); a deflated or stored member is not in it.
        chunks: where each range that is fetched in one piece begins and ends.
        chunk_of: the index of the chunk each member lies in; -1 for a refused one.
        sources: how many chunks, the first ones, hold source files; each other holds one member.
    """

    paths: list[str]
    offsets: list[int]
    packed: list[int]
    sizes: list[int]
    checks: list[int]
    methods: list[int]
    refused: dict[str, str]
    chunks: list[list[int]]
    chunk_of: list[int]
    sources: int

    def to_json(self) -> dict[str, Any]:
        """As a plain object for the cache."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Directory | None:
        """From the cache; None when it is of another shape."""
        try:
            return cls(**value)
        except TypeError:
            return None

    @property
    def digest(self) -> str:
        """A sha256 of the directory, hence (through the CRCs) of the content."""
        content = json.dumps([self.paths, self.sizes, self.checks, self.offsets])
        return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()

    def row(self, path: str) -> int | None:
        """The row of a path, or None."""
        at = bisect_left(self.paths, path)
        return at if at < len(self.paths) and self.paths[at] == path else None


def parse_directory(file: IO[bytes], label: str) -> Directory:
    """The directory of a zip archive, checked.

    Raises:
        InputError: it is no zip archive, is damaged, or has members outside the tree.
    """
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            infos = {i.filename: i for i in members if not i.filename.endswith("/")}
            end = archive.start_dir
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, struct.error) as error:
        raise InputError(
            f"no readable zip archive: {error}", "fetch it again, or use another source", label
        ) from error
    if len(infos) > MEMBER_COUNT_LIMIT:
        raise InputError(f"the archive has {len(infos)} members", _REMEDY, label)
    for name in infos:
        if leaves_tree(name):
            raise InputError(f"the archive has a member outside its tree: {name!r}", _REMEDY, label)
    paths = sorted(infos)
    rows = [infos[path] for path in paths]
    refused = {info.filename: reason for info in rows if (reason := _refusal(info, end))}
    chunks, chunk_of, sources = _plan(rows, refused, end)
    return Directory(
        paths=paths,
        offsets=[info.header_offset for info in rows],
        packed=[info.compress_size for info in rows],
        sizes=[info.file_size for info in rows],
        checks=[info.CRC for info in rows],
        methods=[info.compress_type for info in rows],
        refused=refused,
        chunks=chunks,
        chunk_of=chunk_of,
        sources=sources,
    )


def leaves_tree(name: str) -> bool:
    """Whether a member's name is absolute, climbs, or would mean so on another platform."""
    return (
        "\\" in name
        or (len(name) > 1 and name[1] == ":")
        or any(part in ("..", ".", "") for part in name.split("/"))
    )


def is_source(name: str) -> bool:
    """Whether a member is likely to be read: code, configuration, metadata."""
    return _SOURCE.search(name) is not None


def too_large(size: int, packed: int) -> str | None:
    """Why a member of this size is refused, or None."""
    if size > MEMBER_LIMIT:
        return f"is {size} bytes long, more than any source file"
    if size > RATIO_FLOOR and size > RATIO_LIMIT * packed:
        return f"unpacks to {size // max(packed, 1)} times its size"
    return None


def _refusal(info: zipfile.ZipInfo, end: int) -> str | None:
    if not 0 <= info.header_offset < end:
        return "does not lie in the archive"
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "is a link" if kind == stat.S_IFLNK else "is no regular file"
    if info.flag_bits & 0x1:
        return "is encrypted"
    if info.compress_type not in (_STORED, _DEFLATED):
        return f"is packed by method {info.compress_type}, which wheels do not use"
    return too_large(info.file_size, info.compress_size) or too_large(info.compress_size, 1)


def _plan(
    rows: list[zipfile.ZipInfo], refused: dict[str, str], end: int
) -> tuple[list[list[int]], list[int], int]:
    """Group neighbouring source files into chunks; every other readable member stands alone."""
    order = sorted(range(len(rows)), key=lambda row: rows[row].header_offset)
    chunk_of = [-1] * len(rows)
    chunks: list[list[int]] = []
    alone: list[tuple[int, list[int]]] = []
    for position, row in enumerate(order):
        info = rows[row]
        if info.filename in refused:
            continue
        following = rows[order[position + 1]].header_offset if position + 1 < len(order) else end
        span = [info.header_offset, _member_end(info, following, end)]
        if not is_source(info.filename):
            alone.append((row, span))
            continue
        if (
            chunks
            and span[0] - chunks[-1][1] <= CHUNK_GAP
            and span[1] - chunks[-1][0] <= CHUNK_SIZE
        ):
            chunks[-1][1] = max(span[1], chunks[-1][1])
        else:
            chunks.append(span)
        chunk_of[row] = len(chunks) - 1
    sources = len(chunks)
    for row, span in alone:
        chunk_of[row] = len(chunks)
        chunks.append(span)
    return chunks, chunk_of, sources


def _member_end(info: zipfile.ZipInfo, following: int, end: int) -> int:
    """Where a member's data ends at the latest: its local header's extra field is not known."""
    least = (
        info.header_offset
        + _LOCAL_HEADER.size
        + len(info.filename.encode("utf-8", "replace"))
        + info.compress_size
    )
    return min(max(least, min(following, least + 0x10000)), end)


def extract(directory: Directory, row: int, chunk: bytes, label: str) -> bytes:
    """One member, out of the chunk it lies in.

    Raises:
        InputError: the bytes are not what the directory says (their CRC-32 is checked).
    """
    start = directory.offsets[row] - directory.chunks[directory.chunk_of[row]][0]
    path = directory.paths[row]
    damaged = InputError(
        f"member {path} is damaged", "fetch it again, or use another source", label
    )
    header = chunk[start : start + _LOCAL_HEADER.size]
    if len(header) < _LOCAL_HEADER.size:
        raise damaged
    fields = _LOCAL_HEADER.unpack(header)
    name_start = start + _LOCAL_HEADER.size
    data_start = name_start + fields[9] + fields[10]
    if fields[0] != b"PK\x03\x04" or not _same_name(
        chunk[name_start : name_start + fields[9]], path
    ):
        raise damaged
    data = chunk[data_start : data_start + directory.packed[row]]
    if directory.methods[row] == _DEFLATED:
        try:
            data = zlib.decompressobj(-15).decompress(data, directory.sizes[row] + 1)
        except zlib.error:
            raise damaged from None
    if len(data) != directory.sizes[row] or zlib.crc32(data) != directory.checks[row]:
        raise damaged
    return data


def _same_name(raw: bytes, path: str) -> bool:
    return any(raw == path.encode(encoding, "replace") for encoding in ("utf-8", "cp437"))


def readable(directory: Directory, path: str, label: str) -> int:
    """The row of a path that can be read.

    Raises:
        MissingMember: there is no such path.
        InputError: it is refused.
    """
    row = directory.row(path)
    if row is None:
        raise MissingMember(label, path)
    if path in directory.refused:
        raise InputError(f"member {path} {directory.refused[path]}", _REMEDY, label)
    return row
