"""What identifies this program: part of the name of everything that it keeps."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from checker.data import CONTRACTS, FIXTURES

if TYPE_CHECKING:
    from typing import Any

_PROGRAM = Path(__file__).resolve().parent


@cache
def program_digest() -> str:
    """Python, the program's own code, and every contract that comes with it, as they are now.

    One process runs one program: it is looked at once.
    """
    digest = hashlib.sha256(sys.version.encode())
    for folder in (_PROGRAM, CONTRACTS, FIXTURES):
        _digest_folder(digest, folder)
    return digest.hexdigest()


def _digest_folder(digest: Any, folder: str | Path) -> None:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", "_data"))
        for name in sorted(files):
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                digest.update(f"{path}\0{os.fstat(file.fileno()).st_size}\0".encode())
                digest.update(file.read())
