"""The release of a dependency that a source is meant to run with.

The checked classes inherit from classes of other packages, and those differ between releases. Each
side has its own: the newest release that its requirement allows and that had appeared when the
checked release did.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from typing import TYPE_CHECKING

from checker.errors import InputError
from checker.sources.directory import DirectoryTree
from checker.sources.metadata import normal_name
from checker.sources.release import ArchiveTree, open_found, open_release
from checker.sources.settings import without_credentials

if TYPE_CHECKING:
    from datetime import datetime

    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    from checker.sources.index import Release
    from checker.sources.release import Access
    from checker.sources.tree import Tree

_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def resolve(tree: Tree, name: str, package: str | None, access: Access) -> Tree | None:
    """The tree of a requirement of `tree`; None when it requires no such project.

    For a dated release the answer is fixed, so it is kept and costs no request the next time.

    Raises:
        InputError: no release satisfies the requirement, or it cannot be had.
    """
    name = normal_name(name)
    place = ("resolutions", access.settings.digest, _key(tree, name))
    if isinstance(tree, ArchiveTree) and (tree.released or access.offline):
        kept = access.store.read_json(*place)
        if kept:
            return open_release(name, kept["version"], package, access)
    one = ("pins", _pin_key(tree, name))
    known = access.store.read_json(*one)
    if known is not None:
        pinned = known["version"]
        return None if pinned is None else open_release(name, pinned, package, access)
    specifier = _specifier(tree, name)
    pinned = None if specifier is None else _pinned(specifier)
    if specifier is None or pinned is not None:  # nothing but the text of requirements says so
        access.store.write_json({"version": pinned}, *one)
    if specifier is None:
        return None
    if pinned:
        found = open_release(name, pinned, package, access)
    elif access.offline:
        found = _from_cache(tree, name, specifier, package, access)
    else:
        found = _from_index(tree, name, specifier, package, access)
    if isinstance(tree, ArchiveTree):
        access.store.write_json({"version": found.version}, *place)
    return found


def _key(tree: Tree, name: str) -> str:
    if isinstance(tree, DirectoryTree):
        return ""
    parts = (tree.fingerprint, str(tree.released), name)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _pin_key(tree: Tree, name: str) -> str:
    """What decides which one release is asked for: requirements, and what their markers ask.

    Reading requirements takes a third of the time of a run that is answered from the cache.
    """
    machine = os.uname() if hasattr(os, "uname") else (sys.platform,)
    parts = (name, sys.version, os.name, *machine, *tree.requires)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


def _specifier(tree: Tree, name: str) -> SpecifierSet | None:
    """All that the tree asks of a project here; None when it asks nothing.

    What only extras ask for counts where nothing else does: some engines keep the dependencies of
    the server itself in an extra.
    """
    from packaging.specifiers import SpecifierSet

    plain: list[Requirement] = []
    optional: list[Requirement] = []
    for requirement in tree.metadata.requires:
        if normal_name(requirement.name) != name:
            continue
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            plain.append(requirement)
        elif any(marker.evaluate({"extra": extra}) for extra in _EXTRA.findall(str(marker))):
            optional.append(requirement)
    found: SpecifierSet | None = None
    for requirement in plain or optional:
        if requirement.url:
            raise InputError(
                f"it requires {name} from {without_credentials(requirement.url)}, "
                "which is no release",
                "name the release or folder to use instead (--train-with, --serve-with)",
                tree.label,
            )
        found = requirement.specifier & (found or SpecifierSet())
    return found


def _pinned(specifier: SpecifierSet) -> str | None:
    exact = {item.version for item in specifier if item.operator in ("==", "===")}
    if len(exact) != 1:
        return None
    version = exact.pop()
    return version if "*" not in version and specifier.contains(version, True) else None


def _from_index(
    tree: Tree, name: str, specifier: SpecifierSet, package: str | None, access: Access
) -> Tree:
    from checker.sources.index import list_releases

    access.say(f"asking the index for {name}")
    releases = list_releases(access.client, name)
    release = choose(releases, specifier, tree.released)
    if release is None:
        raise _unsatisfied(tree, name, specifier)
    return open_found(release, name, None, package, access)


def choose(
    releases: list[Release], specifier: SpecifierSet, before: datetime | None
) -> Release | None:
    """The newest release that satisfies; no withdrawn one and no later one.

    A pre-release is taken only where nothing else satisfies and the requirement itself names one.
    A release without a date is taken as early enough: not every index tells.
    """
    there = [
        release
        for release in releases
        if not release.yanked
        and not (before and release.released and release.released > before)
        and specifier.contains(release.version, prereleases=True)
    ]
    final = [release for release in there if not release.version.is_prerelease]
    return next(iter(final or (there if specifier.prereleases else [])), None)


def _from_cache(
    tree: Tree, name: str, specifier: SpecifierSet, package: str | None, access: Access
) -> Tree:
    from checker.sources.release import cached_versions

    for version in sorted(cached_versions(access, name), reverse=True):
        if specifier.contains(version, prereleases=False):
            return open_release(name, str(version), package, access)
    raise InputError(
        f"no cached release of {name} satisfies {name}{specifier}",
        "run once without --offline",
        tree.label,
    )


def _unsatisfied(tree: Tree, name: str, specifier: SpecifierSet) -> InputError:
    when = f" and appeared by {tree.released:%Y-%m-%d}" if tree.released else ""
    return InputError(
        f"no release of {name} satisfies its requirement {name}{specifier}{when}",
        "name the release to use (--train-with, --serve-with)",
        tree.label,
    )
