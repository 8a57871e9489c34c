"""A source that lies in a folder: a checkout, a `site-packages`, a package's own folder."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from checker.errors import InputError
from checker.sources.metadata import RawMetadata, normal_name, parse_headers, parse_pyproject
from checker.sources.tree import MEMBER_LIMIT, MissingMember, Tree, normal

if TYPE_CHECKING:
    from collections.abc import Iterator

USUAL_ROOTS = ("", "python/", "src/")
"""Where projects keep the folder that holds their import package."""

_SKIPPED = frozenset({"node_modules", "build", "dist", "__pycache__", "tests", "test", "docs"})
_SEARCH_DEPTH = 3


class DirectoryTree(Tree):
    """The regular files below one folder.

    Links are followed only while they stay inside the folder: a checkout may link within itself,
    but a path of a report must be a path of the source. Its fingerprint identifies *what was read
    so far* (paths and contents), because hashing a whole checkout costs more than checking it;
    ask for it after the check.
    """

    folder: str

    def __init__(self, folder: str, label: str, roots: tuple[str, ...], raw: RawMetadata) -> None:
        super().__init__()
        self.folder = os.path.realpath(folder)
        self.label = label
        self.name = normal_name(raw.name) if raw.name else ""
        self.version = raw.version
        self.roots = roots
        self.released = None
        self._raw = raw
        self._listings: dict[str, frozenset[str]] = {}
        self._folders: dict[str, str | None] = {}

    @property
    def fingerprint(self) -> str:
        lines = "".join(f"{digest}  {path}\n" for path, digest in self.read_digests.items())
        return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def folders_seen(self) -> list[str]:
        """The folders that were looked into: what is not in them matters as what is."""
        return sorted(self._listings)

    def exists(self, path: str) -> bool:
        plain = normal(path)
        if not plain:
            return True
        parent, _, name = plain.rpartition("/")
        names = self._listing(parent)
        return f"{name}/" in names or (not path.endswith("/") and name in names)

    def listdir(self, folder: str) -> list[str]:
        return sorted(self._listing(normal(folder)))

    def _listing(self, folder: str) -> frozenset[str]:
        """What is in a folder, read once: looking for modules asks thousands of times."""
        known = self._listings.get(folder)
        if known is None:
            known = self._listings[folder] = frozenset(self._scan(folder))
        return known

    def _scan(self, folder: str) -> Iterator[str]:
        place = self._place(folder)
        try:
            entries = list(os.scandir(place)) if place is not None else []
        except (OSError, ValueError):
            return
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink() and self._place(path) is None:
                continue
            if entry.is_dir():
                yield entry.name + "/"
            elif entry.is_file():
                yield entry.name

    def files(self, prefix: str = "", suffix: str = "") -> list[str]:
        start = prefix.rpartition("/")[0]
        return sorted(
            path
            for path in self._walk(normal(start), frozenset())
            if path.startswith(prefix) and path.endswith(suffix)
        )

    def _walk(self, folder: str, above: frozenset[str]) -> Iterator[str]:
        real = self._place(folder)
        if real is None or real in above:  # a link to a folder above would never end
            return
        for name in self.listdir(folder):
            path = f"{folder}/{name}" if folder else name
            if not name.endswith("/"):
                yield path
            elif name not in (".git/", "__pycache__/"):
                yield from self._walk(path[:-1], above | {real})

    def forget(self) -> None:
        """Keeps everything: what a file says now may not be what was read of it."""

    def _fetch(self, path: str) -> bytes:
        place = self._place(path)
        if place is None:
            raise self._outside(path)
        try:
            status = os.stat(place)
            if not stat.S_ISREG(status.st_mode):
                raise MissingMember(self.label, path)
            if status.st_size > MEMBER_LIMIT:
                raise InputError(
                    f"{path} is {status.st_size} bytes long, more than any source file",
                    "check a folder that holds the sources",
                    self.label,
                )
            with open(place, "rb") as file:
                return file.read(MEMBER_LIMIT)
        except (FileNotFoundError, NotADirectoryError):
            raise MissingMember(self.label, path) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"{path} cannot be read: {reason}", "make it readable", self.label
            ) from error

    def _place(self, path: str) -> str | None:
        """The real path of a path of the tree; None when it leads out of the folder.

        Folders are followed once: a file in one is there unless it is a link itself.
        """
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = self._followed(folder)
        above = self._folders[folder]
        if above is None or name in ("", ".", ".."):
            return self._followed(path)
        place = f"{above.rstrip(os.sep)}{os.sep}{name}"
        try:
            return self._followed(path) if os.path.islink(place) else place
        except (OSError, ValueError):
            return None

    def _followed(self, path: str) -> str | None:
        place = os.path.join(self.folder, path) if path else self.folder
        try:
            real = os.path.realpath(place)
        except (OSError, ValueError):
            return None
        inside = self.folder.rstrip(os.sep) + os.sep
        return real if real == self.folder or real.startswith(inside) else None

    def _outside(self, path: str) -> InputError:
        return InputError(
            f"{path} leads out of the folder",
            "replace the link by the file it means, or check the folder that holds both",
            self.label,
        )

    def _raw_metadata(self) -> RawMetadata:
        return self._raw


def open_directory(folder: str, package: str | None, label: str | None = None) -> DirectoryTree:
    """A folder as a tree whose roots are where `package` can be imported from.

    Raises:
        InputError: it cannot be listed, is empty, or holds no such package.
    """
    label = label or folder
    try:
        if not os.listdir(folder):
            raise InputError("the folder is empty", "name the folder of the sources", label)
    except OSError as error:
        raise InputError(
            f"the folder cannot be read: {error.strerror or error}",
            "make it readable, or name another",
            label,
        ) from error
    if package is None:
        roots = tuple(root for root in USUAL_ROOTS if _has_any_package(folder, root))
        return DirectoryTree(folder, label, roots or ("",), _find_metadata(folder, roots, None))
    root = _usual_root(folder, package)
    if root is None:
        real = os.path.realpath(folder)
        if os.path.basename(real) == package and _holds_python(real):
            folder, root = os.path.dirname(real), ""
        else:
            root = _deep_root(folder, package)
    if root is None:
        raise InputError(
            f"no Python package {package} there (looked in it, in python/, in src/ and "
            f"{_SEARCH_DEPTH} levels down)",
            f"name the checkout, the site-packages or the folder {package} itself",
            label,
        )
    return DirectoryTree(folder, label, (root,), _find_metadata(folder, (root,), package))


def beside(tree: DirectoryTree, package: str) -> DirectoryTree | None:
    """Another package in the same folder, as in a `site-packages`; None when it is not there."""
    for root in tree.roots:
        if _has(tree.folder, root, package):
            raw = _find_metadata(tree.folder, (root,), package)
            label = f"{raw.name}=={raw.version}" if raw.version else package
            return DirectoryTree(tree.folder, f"{label} in {tree.label}", (root,), raw)
    return None


def _usual_root(folder: str, package: str) -> str | None:
    return next((root for root in USUAL_ROOTS if _has(folder, root, package)), None)


def _deep_root(folder: str, package: str) -> str | None:
    """The nearest folder further down that holds the package, as in a repository of many."""
    level = [""]
    for _ in range(_SEARCH_DEPTH):
        level = [f"{above}{name}/" for above in level for name in _subfolders(folder, above)]
        for root in level:
            if _has(folder, root, package):
                return root
    return None


def _subfolders(folder: str, root: str) -> list[str]:
    try:
        with os.scandir(os.path.join(folder, root)) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and not entry.name.startswith(".")
                and entry.name not in _SKIPPED
            )
    except OSError:
        return []


def _has(folder: str, root: str, package: str) -> bool:
    place = os.path.join(folder, root, package)
    return os.path.isfile(f"{place}.py") or _holds_python(place)


def _holds_python(place: str) -> bool:
    """Whether a folder is a package: Python files in it, or one folder further down."""
    if not os.path.isdir(place):
        return False
    return _any_python(place) or any(
        _any_python(os.path.join(place, name)) for name in _subfolders(place, "")
    )


def _any_python(place: str) -> bool:
    try:
        return any(name.endswith(".py") for name in os.listdir(place))
    except OSError:
        return False


def _has_any_package(folder: str, root: str) -> bool:
    return os.path.isdir(os.path.join(folder, root)) and any(
        os.path.isfile(os.path.join(folder, root, name, "__init__.py"))
        for name in _subfolders(folder, root)
    )


def _find_metadata(folder: str, roots: tuple[str, ...], package: str | None) -> RawMetadata:
    """The description nearest to the package: installed metadata, else a static pyproject.toml."""
    for root in roots:
        places = [root]
        while places[-1]:
            above = places[-1].rstrip("/").rpartition("/")[0]
            places.append(f"{above}/" if above else "")
        for place in places:
            raw = _described(os.path.join(folder, place), package)
            if raw:
                return raw
    return RawMetadata(name=package)


def _described(place: str, package: str | None) -> RawMetadata | None:
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return None
    if "pyproject.toml" in names:
        raw = parse_pyproject(_text(os.path.join(place, "pyproject.toml")))
        if raw.name:
            return raw
    for name in names:
        stem, dot, kind = name.rpartition(".")
        file = {"dist-info": "METADATA", "egg-info": "PKG-INFO"}.get(kind if dot else "")
        if file and package and normal_name(stem.partition("-")[0]) == normal_name(package):
            return parse_headers(_text(os.path.join(place, name, file)))
    return None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MEMBER_LIMIT)
    except OSError:
        return ""
