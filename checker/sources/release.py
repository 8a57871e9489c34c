"""A release: from a name and a version to a tree, through the cache where possible."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.sources.artifact import Artifact, load_directory
from checker.sources.directory import USUAL_ROOTS
from checker.sources.metadata import RawMetadata, normal_name, parse_headers, parse_pyproject
from checker.sources.settings import without_credentials
from checker.sources.tree import Tree, has_folder, list_folder, normal, select

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packaging.version import Version

    from checker.sources.client import Client
    from checker.sources.index import Release
    from checker.sources.settings import Settings
    from checker.sources.store import Store
    from checker.sources.transfer import Remote

Progress = Callable[[str], None]


@dataclass
class Access:
    """How releases are reached in this run: settings, cache, and a client made on first use."""

    settings: Settings
    store: Store
    offline: bool = False
    progress: Progress | None = None

    @cached_property
    def client(self) -> Client:
        from checker.sources.client import Client

        return Client(self.settings)

    def say(self, text: str) -> None:
        """Tell the user, if anyone listens, what is being waited for."""
        if self.progress:
            self.progress(text)


class ArchiveTree(Tree):
    """The members of a wheel or sdist.

    Its fingerprint is the archive's sha256 where the index tells it, else the sha256 of its
    directory with all CRCs.
    """

    def __init__(
        self,
        artifact: Artifact,
        name: str,
        version: str | None,
        released: datetime | None,
        package: str | None,
    ) -> None:
        super().__init__()
        self.artifact = artifact
        self.label = artifact.label
        self.name = name
        self.version = version
        self.released = released
        self.roots = self._find_roots(package)

    @property
    def fingerprint(self) -> str:
        return self.artifact.fingerprint

    @property
    def _paths(self) -> list[str]:
        return self.artifact.directory.paths

    def exists(self, path: str) -> bool:
        plain = normal(path)
        if not path.endswith("/") and self.artifact.directory.row(plain) is not None:
            return plain not in self.artifact.directory.refused
        return not plain or has_folder(self._paths, plain)

    def listdir(self, folder: str) -> list[str]:
        refused = self.artifact.directory.refused
        prefix = f"{normal(folder)}/" if normal(folder) else ""
        names = list_folder(self._paths, folder)
        return [name for name in names if prefix + name not in refused] if refused else names

    def files(self, prefix: str = "", suffix: str = "") -> list[str]:
        refused = self.artifact.directory.refused
        return [path for path in select(self._paths, prefix, suffix) if path not in refused]

    def prefetch(self, paths: Iterable[str]) -> None:
        self.artifact.prefetch(normal(path) for path in paths)

    def forget(self) -> None:
        super().forget()
        self.artifact.forget()

    def _fetch(self, path: str) -> bytes:
        return self.artifact.read(path)

    def _find_roots(self, package: str | None) -> tuple[str, ...]:
        top = self.listdir("")
        usual = [
            *USUAL_ROOTS,
            *(f"{name}{kind}/" for name in top if name.endswith(".data/")
              for kind in ("purelib", "platlib")),
        ]  # fmt: skip
        if package is None:
            return ("",)
        for root in usual:
            if self.exists(f"{root}{package}/") or self.exists(f"{root}{package}.py"):
                return (root,)
        raise InputError(
            f"no Python package {package} in the archive",
            f"name a release of {package}",
            self.label,
        )

    def describe(self) -> RawMetadata:
        """The archive's own metadata: a wheel has one METADATA, an sdist a PKG-INFO."""
        names = self.listdir("")
        for name in names:
            stem = name.removesuffix(".dist-info/")
            named = normal_name(stem.partition("-")[0])
            if stem != name and self.name in ("", named):
                return parse_headers(self._text(f"{name}METADATA"))
        raw = parse_headers(self._text("PKG-INFO")) if "PKG-INFO" in names else RawMetadata()
        if not raw.requires and "pyproject.toml" in names:
            static = parse_pyproject(self._text("pyproject.toml"))
            raw = replace(static, name=raw.name, version=raw.version) if raw.name else static
        return raw

    def _raw_metadata(self) -> RawMetadata:
        return self.describe()

    def _text(self, path: str) -> str:
        try:
            return self._fetch(path).decode("utf-8", "replace")
        except KeyError:
            return ""


def open_release(name: str, version: str | None, package: str | None, access: Access) -> Tree:
    """A release of a project; the newest when no version is given.

    A version that was opened before costs no request. The newest is asked for each time.

    Raises:
        InputError: there is none, it cannot be had, or it is not to be read.
    """
    name = normal_name(name)
    if access.offline and version is None:
        version = _newest_cached(access, name)
    if version is not None and _PLACE.fullmatch(version):
        tree = _cached(access, name, version, package)
        if tree:
            return tree
    if access.offline:
        raise _not_cached(f"{name}=={version}")
    from checker.sources.index import find_release, list_releases, newest

    access.say(f"asking the index for {name}")
    releases = list_releases(access.client, name)
    release = find_release(releases, name, version) if version else newest(releases, name)
    return open_found(release, name, version, package, access)


_PLACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+!_-]*")


def open_found(
    release: Release,
    name: str,
    spelled: str | None,
    package: str | None,
    access: Access,
) -> Tree:
    """A release that an index has just listed; kept under its version as the user spelled it."""
    file = release.best
    label = f"{name}=={release.version}"
    tree = _cached(access, name, str(release.version), package)
    if tree and (file.sha256 is None or tree.fingerprint == file.sha256):
        return tree
    access.say(f"fetching {label}")
    record: dict[str, Any] = {
        "version": str(release.version),
        "url": without_credentials(file.url),
        "size": file.size,
        "sha256": file.sha256,
        "is_sdist": not file.is_wheel,
        "released": release.released.isoformat() if release.released else None,
    }
    artifact = _remote(access, record, label).open()
    record["fingerprint"] = artifact.fingerprint
    record["place"] = artifact.place
    for version in {str(release.version), spelled or str(release.version)}:
        access.store.write_json(record, "releases", access.settings.digest, name, version)
    return ArchiveTree(artifact, name, str(release.version), release.released, package)


def _cached(access: Access, name: str, version: str, package: str | None) -> Tree | None:
    """The tree of a release whose archive's directory is kept; None when it is not."""
    record = access.store.read_json("releases", access.settings.digest, name, version)
    if record is None:
        return None
    directory = load_directory(access.store, record["place"])
    if directory is None:
        return None
    label = f"{name}=={record['version']}"

    def fetch(start: int, end: int) -> bytes:
        if access.offline:
            raise _not_cached(f"a part of {label}")
        access.say(f"fetching from {label}")
        return remote().span(start, end)

    @cache
    def remote() -> Remote:
        return _remote(access, record, label)

    artifact = Artifact(
        label, record["fingerprint"], directory, fetch, access.store, record["place"]
    )
    released = datetime.fromisoformat(record["released"]) if record["released"] else None
    return ArchiveTree(artifact, name, record["version"], released, package)


def _remote(access: Access, record: dict[str, Any], label: str) -> Remote:
    from checker.sources.transfer import Origin, Remote

    origin = Origin(record["url"], record["size"], record["sha256"], record["is_sdist"])
    return Remote(access.client, access.store, label, origin)


def cached_versions(access: Access, name: str) -> list[Version]:
    """The versions of a project that the cache knows."""
    from packaging.version import InvalidVersion, Version

    versions = []
    for text in access.store.names("releases", access.settings.digest, name):
        with suppress(InvalidVersion):
            versions.append(Version(text))
    return versions


def _newest_cached(access: Access, name: str) -> str:
    versions = cached_versions(access, name)
    if not versions:
        raise _not_cached(name)
    final = [version for version in versions if not version.is_prerelease]
    return str(max(final or versions))


def local_tree(artifact: Artifact, package: str | None) -> Tree:
    """An archive that is a file of the user's, described by its own metadata."""
    tree = ArchiveTree(artifact, "", None, None, package)
    raw = tree.describe()
    tree.name = normal_name(raw.name) if raw.name else ""
    tree.version = raw.version
    return tree


def _not_cached(what: str) -> InputError:
    return InputError(f"{what} is not cached", "run once without --offline", what)
