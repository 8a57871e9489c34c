"""Hostile wheels and sdists."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import warnings
import zipfile
from typing import TYPE_CHECKING

from benchmarks.fuzz.cases import mangle

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

Files = "Mapping[str, bytes]"
_NAMES = (
    "../x.py", "/etc/x.py", "C:/x.py", "a/../../x.py", "a//b.py", "\\x.py", "a\0b.py", "", ".",
    "..",
    "toy_server", "toy_server/", "toy_server/eagle3.py/x", "é" * 300, "a" * 70_000, "\ud800.py",
    "toy_server/eagle3.py ", "TOY_SERVER/EAGLE3.PY", "toy_server/__init__.py", "con", "a\nb.py",
    "toy_server-1.0.dist-info/METADATA", "x-2.dist-info/METADATA", "\x1b[31m.py", "\u202e.py",
    "-rf",
)  # fmt: skip


def damaged_archive(
    rng: random.Random, files: Mapping[str, bytes], number: int
) -> tuple[str, str, bytes]:
    """How it was made, the file's name, and its bytes."""
    wheel = number % 5 < 3
    name = "toy_server-1.0-py3-none-any.whl" if wheel else "toy_server-1.0.tar.gz"
    if number % 2:
        how, data = mangle(rng, _wheel(files) if wheel else _sdist(files))
        return f"bytes: {how}", name, data
    table = _WHEELS if wheel else _SDISTS
    how = rng.choice(sorted(table))
    return how, name, table[how](rng, files)


def metadata(rng: random.Random) -> bytes:
    """Odd metadata of a distribution."""
    return rng.choice((
        b"", b"\0", b"\xff\xfe", b"Name\n", b"Name: \nVersion: \n", b"Version: x y\n",
        b"Name: a\n" * 999,
        b"Name: other\nVersion: 1\n", b"Requires-Dist: transformers ==\n",
        b"Requires-Dist: @@@\n" * 50,
        b"Name: toy-server\nVersion: 1.0\nRequires-Dist: transformers (>=9999; extra == 'a'\n",
        b"Name: toy-server\n continued\n\tmore\nVersion: 1!1.0.post1.dev0+l\n", b":" * 10_000,
        b"Metadata-Version: 99\nName: \xe9\nVersion: 1e5\n",
    ))  # fmt: skip


# --- zip ---------------------------------------------------------------------------------------


def _wheel(files: Mapping[str, bytes], more: list[tuple[zipfile.ZipInfo, bytes]] | None = None,
           method: int = zipfile.ZIP_DEFLATED) -> bytes:  # fmt: skip
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # a name given twice
        for path, content in files.items():
            archive.writestr(zipfile.ZipInfo(path), content, method)  # always of the same time
        for info, content in more or ():
            archive.writestr(info, content)
    return buffer.getvalue()


def _info(name: str, kind: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("placeholder")
    info.filename = name
    info.external_attr = kind << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _with_member(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    name = rng.choice(_NAMES)
    try:
        return _wheel(files, [(_info(name), b"x = 1\n")])
    except (ValueError, UnicodeEncodeError):
        return _wheel(files, [(_info("../" + name[:5].encode("ascii", "replace").decode()), b"")])


def _with_link(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    path = rng.choice(sorted(files))
    kind = rng.choice((stat.S_IFLNK, stat.S_IFIFO, stat.S_IFBLK, stat.S_IFDIR)) | 0o777
    rest = {p: c for p, c in files.items() if p != path}
    return _wheel(rest, [(_info(path, kind), b"/etc/passwd")])


def _bomb(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    path = rng.choice(sorted(files))
    return _wheel(
        {**files, path: rng.choice((b"\0", b"#", b"\n")) * rng.choice((1 << 20, 20 << 20))}
    )


def _lying(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    """One field of one header of the directory, of a member or of the end says something else."""
    data = bytearray(_wheel(files))
    mark = rng.choice((b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"))
    places = [i for i in range(len(data)) if data.startswith(mark, i)]
    at = rng.choice(places) + rng.randrange(4, 46)
    width = rng.choice((1, 2, 4))
    data[at : at + width] = rng.choice((b"\xff", b"\0", rng.randbytes(1))) * width
    return bytes(data)


def _twice(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    return _wheel(files, [(_info(p), b"raise\n") for p in files for _ in range(rng.randrange(3))])


def _packed(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    return _wheel(
        files, method=rng.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_STORED))
    )


def _many(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    return _wheel({**files, **{f"toy_server/m{n}.py": b"" for n in range(rng.choice((10, 5000)))}})


def _clash(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    """A file where others have a folder."""
    path = rng.choice(sorted(files))
    return _wheel({**files, path + "/__init__.py": b"", path.rpartition("/")[0] or "x": b"x"})


def _wheel_metadata(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    return _wheel({**files, "toy_server-1.0.dist-info/METADATA": metadata(rng)})


def _few(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    return _wheel({p: c for p, c in files.items() if rng.random() < 0.6})


def _around(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    """Bytes before and behind."""
    return rng.randbytes(rng.randrange(99)) + _wheel(files) + rng.randbytes(rng.randrange(99))


_WHEELS: dict[str, Callable[[random.Random, Mapping[str, bytes]], bytes]] = {
    "odd member": _with_member, "link": _with_link, "bomb": _bomb, "lying header": _lying,
    "names twice": _twice, "packed otherwise": _packed, "many members": _many, "clash": _clash,
    "odd metadata": _wheel_metadata, "members missing": _few, "bytes around": _around,
    "a tar": lambda _, files: _sdist(files), "lying header again": _lying,
}  # fmt: skip


# --- tar ---------------------------------------------------------------------------------------


def _sdist(
    files: Mapping[str, bytes], more: list[tuple[tarfile.TarInfo, bytes]] | None = None
) -> bytes:
    return gzip.compress(_tar(files, more), 1, mtime=0)


def _tar(
    files: Mapping[str, bytes], more: list[tuple[tarfile.TarInfo, bytes]] | None = None
) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        members = [(tarfile.TarInfo(f"toy_server-1.0/{path}"), c) for path, c in files.items()]
        for info, content in [*members, *(more or ())]:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _tar_member(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    name = rng.choice(_NAMES).encode("utf-8", "replace").decode()
    prefix = rng.choice(("", "toy_server-1.0/"))
    return _sdist(files, [(tarfile.TarInfo(prefix + name), b"x = 1\n")])


def _tar_link(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    path = rng.choice(sorted(files))
    info = tarfile.TarInfo(f"toy_server-1.0/{path}")
    info.type = rng.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE,
                            tarfile.GNUTYPE_SPARSE, b"Z"))  # fmt: skip
    info.linkname = rng.choice(("/etc/passwd", "../../x", path, ""))
    return _sdist({p: c for p, c in files.items() if p != path}, [(info, b"")])


def _tar_header(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    """A header whose sum is right and whose field is not."""
    data = bytearray(_tar(files))
    field = rng.choice(((100, 8), (124, 12), (136, 12), (156, 1), (257, 8), (0, 100), (345, 155)))
    start, width = field
    data[start : start + width] = rng.choice((b"\xff", b"7", b"-", b" ", b"\0", b"9", b"x")) * width
    total = sum(data[:148]) + 8 * 32 + sum(data[156:512])
    data[148:156] = f"{total:06o}\0 ".encode()
    return gzip.compress(bytes(data), 1, mtime=0)


def _tar_pax(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    info = tarfile.TarInfo("toy_server-1.0/p")
    info.type = rng.choice((tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME))
    content = rng.choice((b"30 path=../../x\n", b"x", b"9999999999 a=b\n", b"0 a=b\n",
    b"20 size=-1\n",
                          b"25 size=99999999999999\n", b"\0" * 600, b"19 hdrcharset=zz\n",
                          b"22 GNU.sparse.major=1\n"))  # fmt: skip
    buffer = bytearray(_tar({}, [(info, content)]))
    return gzip.compress(bytes(buffer[:1024]) + _tar(files), 1, mtime=0)


def _tar_bytes(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    """Damaged below the compression, where the checksum of gzip does not see it."""
    return gzip.compress(mangle(rng, _tar(files))[1], 1, mtime=0)


def _tar_packed(rng: random.Random, files: Mapping[str, bytes]) -> bytes:
    import bz2
    import lzma

    return rng.choice((
        lambda: bz2.compress(_tar(files)), lambda: lzma.compress(_tar(files)), lambda: _tar(files),
        lambda: gzip.compress(_sdist(files), mtime=0), lambda: _sdist(files) * 2,
        lambda: gzip.compress(b"", mtime=0), lambda: _wheel(files),
        lambda: gzip.compress(b"\0" * (64 << 20), 9, mtime=0),
    ))()  # fmt: skip


_SDISTS: dict[str, Callable[[random.Random, Mapping[str, bytes]], bytes]] = {
    "odd member": _tar_member, "link": _tar_link, "odd header": _tar_header, "odd pax": _tar_pax,
    "bytes within": _tar_bytes, "packed otherwise": _tar_packed,
    "odd metadata": lambda rng, files: _sdist({**files, "PKG-INFO": metadata(rng)}),
    "members missing": lambda rng, files: _sdist({p: c for p,
    c in files.items() if rng.random() < 0.6}),
}  # fmt: skip
