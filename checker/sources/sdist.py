"""Source distributions: a tar is read once, front to back, and becomes a zip like any wheel.

An sdist's build code is never run; its files are read as they lie.
"""

from __future__ import annotations

import io
import tarfile
import warnings
import zipfile
import zlib
from typing import IO

from checker.errors import InputError
from checker.sources.archive import MEMBER_COUNT_LIMIT, is_source, leaves_tree
from checker.sources.tree import MEMBER_LIMIT

TOTAL_LIMIT = 1024 * 1024 * 1024
_LINK = 0o120777 << 16
_REMEDY = "use another release or source; this archive is not safe to read"


def sdist_as_zip(file: IO[bytes], label: str) -> bytes:
    """The archive's source files as a zip, without the top folder that all sdists have.

    Links stay in it as links, so that reading one is refused by the same rule as in a wheel.

    Raises:
        InputError: it is no tar, leaves its tree, or is a bomb.
    """
    buffer = io.BytesIO()
    total = count = 0
    top: str | None = None
    try:
        with (
            tarfile.open(fileobj=file, mode="r|gz") as source,
            zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
            warnings.catch_warnings(),
        ):
            # Of two members of one name the later counts, as when a tar is unpacked.
            warnings.filterwarnings("ignore", "Duplicate name")
            for member in source:
                total += max(member.size, 0)
                count += 1
                if total > TOTAL_LIMIT or count > MEMBER_COUNT_LIMIT:
                    raise InputError("the archive unpacks to more than sources do", _REMEDY, label)
                name = member.name.removeprefix("./").rstrip("/")
                if member.isdir():
                    continue
                if leaves_tree(name):
                    raise InputError(
                        f"the archive has a member outside its tree: {name!r}", _REMEDY, label
                    )
                head, _, rest = name.partition("/")
                top = top or head
                _copy(source, member, rest if head == top and rest else name, target, label)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise InputError(
            f"no readable archive: {error}", "fetch it again, or use another source", label
        ) from error
    return buffer.getvalue()


def _copy(
    source: tarfile.TarFile, member: tarfile.TarInfo, name: str, target: zipfile.ZipFile, label: str
) -> None:
    info = zipfile.ZipInfo(name)
    if not member.isfile():
        info.external_attr = _LINK
        target.writestr(info, b"")
        return
    if member.size > MEMBER_LIMIT:
        if is_source(name):
            raise InputError(f"member {name} is {member.size} bytes long", _REMEDY, label)
        return
    file = source.extractfile(member)
    if file is not None:
        info.compress_type = zipfile.ZIP_DEFLATED
        target.writestr(info, file.read())
