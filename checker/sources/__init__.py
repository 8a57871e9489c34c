"""Takes a source spec, gives a tree of bytes: the first stage of the pipeline.

A spec is a release (`name==version`, or `name` for the newest), a folder (a checkout, a
`site-packages`, a package's own folder), a wheel or sdist file, `installed:name`, or
`git:FOLDER@REVISION`. Nothing is checked out, unpacked, installed, imported or run.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from checker.errors import InputError
from checker.sources.tree import Metadata, MissingMember, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from checker.sources.release import Access

__all__ = [
    "Metadata",
    "MissingMember",
    "Tree",
    "is_project",
    "library_trees",
    "open_source",
    "resolve_requirement",
]

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_PROJECT = re.compile(_NAME)
_RELEASE = re.compile(
    rf"(?P<name>{_NAME})(?:\[[^\]]*\])?"
    r"(?:\s*==\s*(?P<version>[A-Za-z0-9.+!_-]+))?"
)
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_ARCHIVES = (".whl", ".tar.gz")


def open_source(
    spec: str,
    *,
    package: str | None = None,
    offline: bool = False,
    no_cache: bool = False,  # noqa: ARG001
    progress: Callable[[str], None] | None = None,
) -> Tree:
    """The tree of a source spec.

    Args:
        spec: what the user wrote.
        package: the import package that must be in it; decides the tree's roots.
        offline: fetch nothing; what is not cached is an error.
        no_cache: accepted for symmetry; it concerns cached graphs, and sources are kept.
        progress: told in a few words what is being waited for.

    Raises:
        InputError: the spec is none, or what it names is not there or not to be read.
    """
    spec = spec.strip()
    if not spec:
        raise InputError("the source is empty", "write NAME==VERSION or a folder")
    if spec.startswith("installed:"):
        from checker.sources.installed import open_installed

        return open_installed(spec[len("installed:") :], package)
    if spec.startswith("git:"):
        from checker.sources.git import open_git

        return open_git(spec[len("git:") :], package)
    path = os.path.expanduser(spec)
    if _WORD.fullmatch(spec) and os.path.isdir(path):
        raise InputError(
            "a folder of this name is here, and it may name a project",
            f"write ./{spec} for the folder, or {spec}==VERSION for a release",
            spec,
        )
    if os.path.isdir(path):
        from checker.sources.directory import open_directory

        return open_directory(path, package, spec)
    if os.path.lexists(path):
        return _open_file(path, spec, package)
    if "/" in spec or os.sep in spec or spec.startswith((".", "~")) or spec.endswith(_ARCHIVES):
        raise InputError("no such file or folder", "name a folder, a wheel, or NAME==VERSION", spec)
    found = _RELEASE.fullmatch(spec)
    if not found:
        raise InputError(
            "neither a release nor a folder", "write NAME, NAME==VERSION or a folder", spec
        )
    from checker.sources.release import open_release

    return open_release(found["name"], found["version"], package, _access(offline, progress))


def is_project(name: str) -> bool:
    """Whether this is what a project may be called, and no folder, file or revision."""
    return _PROJECT.fullmatch(name) is not None and not name.endswith(_ARCHIVES)


def resolve_requirement(
    tree: Tree,
    name: str,
    *,
    explicit: str | None = None,
    package: str | None = None,
    offline: bool = False,
    no_cache: bool = False,  # noqa: ARG001
    progress: Callable[[str], None] | None = None,
) -> Tree | None:
    """The tree of a project that `tree` requires; None when it requires no such project.

    An explicit spec overrides everything. A folder that holds the package itself (a
    `site-packages`) is its own answer. Else it is the newest final release that the requirement
    allows and that appeared no later than the release checked.

    Args:
        tree: the source whose requirement it is.
        name: the distribution's name.
        explicit: a spec that the user named instead.
        package: its import package, where that is another name.
        offline: as in `open_source`.
        no_cache: as in `open_source`.
        progress: as in `open_source`.

    Raises:
        InputError: nothing satisfies the requirement, or it cannot be had.
    """
    package = package or name.replace("-", "_")
    if explicit:
        return open_source(explicit, package=package, offline=offline, progress=progress)
    from checker.sources.directory import DirectoryTree, beside
    from checker.sources.resolve import resolve

    if isinstance(tree, DirectoryTree):
        found = beside(tree, package)
        if found:
            return found
    return resolve(tree, name, package, _access(offline, progress))


def library_trees(
    tree: Tree,
    libraries: Iterable[tuple[str, str | None]],
    *,
    offline: bool = False,
    progress: Callable[[str], None] | None = None,
) -> list[Tree]:
    """The trees of the libraries that a source stands on, where it asks for them.

    Args:
        tree: the source.
        libraries: names, each with a spec to use instead of what the source asks for, or None.
        offline: as in `open_source`.
        progress: as in `open_source`.
    """
    found = [
        resolve_requirement(
            tree, name, explicit=explicit, package=name, offline=offline, progress=progress
        )
        for name, explicit in libraries
    ]
    return [library for library in found if library is not None]


def _access(offline: bool, progress: Callable[[str], None] | None) -> Access:
    from checker.sources.release import Access
    from checker.sources.settings import load_settings
    from checker.sources.store import Store, default_folder

    return Access(load_settings(), Store(default_folder()), offline, progress)


def _open_file(path: str, spec: str, package: str | None) -> Tree:
    if not os.path.isfile(path) or not path.endswith(_ARCHIVES):
        raise InputError(
            "neither a folder nor a wheel or sdist", "name a folder, a wheel or NAME==VERSION", spec
        )
    from checker.sources.artifact import local_artifact
    from checker.sources.release import local_tree

    return local_tree(local_artifact(Path(path), spec), package)
