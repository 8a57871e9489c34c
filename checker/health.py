"""What the program stands on: versions, its cache, and what a check would fetch."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from checker._version import __version__
from checker.errors import InputError
from checker.sources.store import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from checker.contract.added import Added
    from checker.settings import Settings


def kept() -> dict[str, tuple[int, int]]:
    """How many files of each kind are kept, and how many bytes."""
    found: dict[str, tuple[int, int]] = {}
    for name in sorted(_kinds()):
        sizes = [*_sizes(cache_folder() / name)]
        found[name] = len(sizes), sum(sizes)
    return found


def cleared() -> tuple[int, int]:
    """Removes what is kept; how much it was.

    Raises:
        InputError: it cannot be removed.
    """
    found = kept()
    for name in found:
        try:
            shutil.rmtree(cache_folder() / name)
        except OSError as error:
            place = str(cache_folder())
            raise InputError(
                f"cannot be removed: {error.strerror or error}", "remove it by hand", place
            ) from None
    return sum(count for count, _ in found.values()), sum(size for _, size in found.values())


def _kinds() -> list[str]:
    """The folders in the cache; links are not followed, what is not a folder is not ours."""
    try:
        with os.scandir(cache_folder()) as entries:
            return [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _sizes(folder: Path) -> Iterator[int]:
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                yield Path(place, name).lstat().st_size
            except OSError:
                continue


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:.1f} MB"


def checkup(settings: Settings, contracts: Iterable[Added]) -> Iterator[str]:
    """A line for each thing that may be wrong."""
    from importlib.metadata import PackageNotFoundError, version

    from checker.engines import load_engines

    yield f"eagle3-check {__version__} on Python {platform.python_version()} ({platform.system()})"
    try:
        said = f"{version('torch')} is here"
    except PackageNotFoundError:
        said = "is not here (pip install 'eagle3-check[trace]')"
    yield f"torch, for trace and --witness: {said}"
    git = shutil.which("git")
    yield f"git, for git: sources and gate: {git or 'is not here'}"
    yield f"cache: {cache_folder()} ({_cache()})"
    yield f"settings: {settings.path or 'none (eagle3-check init writes some)'}"
    engines = load_engines(contracts)
    for role, key in (("trainer", "train"), ("server", "serve")):
        spec = settings.source(key)
        if spec is not None:
            packages = [engine.package for engine in engines if engine.role == role]
            yield f"{role}: {_source(spec, packages)}"


def _cache() -> str:
    """How large the cache is, and what comes of it where nothing can be added."""
    folder, size = cache_folder(), sum(size for _, size in kept().values())
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if os.access(there, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return megabytes(size)
    rest = "what is there is used, and nothing is added" if size else "every run begins anew"
    return f"{megabytes(size)}, cannot be written: {rest}"


def _source(spec: str, packages: Iterable[str]) -> str:
    """Whether a source of one of these packages can be had without fetching anything."""
    from checker.sources import open_source

    problem = "no engine is known that it could be"
    for package in packages:
        try:
            tree = open_source(spec, package=package, offline=True)
        except InputError as error:
            problem = str(error)
            continue
        return f"{tree.label} is here"
    return problem
