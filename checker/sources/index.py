"""The package index: which files exist of a project, and which of them to read.

Simple indexes are read in both spellings (PEP 691 JSON, PEP 503 HTML), from the net and from
folders; `--find-links` pages and folders too. The choice of a wheel has nothing to do with this
machine: only Python sources are read, so the widest wheel is best.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from checker.errors import InputError
from checker.sources.client import Client, NotFound, Page, local_path

_NEAR = 5
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class File:
    """One file of a release, as an index lists it."""

    filename: str
    url: str
    version: Version
    sha256: str | None = None
    size: int | None = None
    released: datetime | None = None
    yanked: bool = False

    @property
    def is_wheel(self) -> bool:
        return self.filename.endswith(".whl")

    @property
    def preference(self) -> int:
        """Smaller is better: any platform, then the commonest, then any other, then an sdist."""
        if not self.is_wheel:
            return 9
        stem = self.filename[: -len(".whl")]
        if stem.endswith("-none-any"):
            return 0
        if "linux" in stem and stem.endswith("x86_64"):
            return 1
        return 2


@dataclass(frozen=True, slots=True)
class Release:
    """All files of one version."""

    version: Version
    files: tuple[File, ...]

    @property
    def released(self) -> datetime | None:
        """When the release appeared: its first file's time."""
        return min((file.released for file in self.files if file.released), default=None)

    @property
    def yanked(self) -> bool:
        return all(file.yanked for file in self.files)

    @property
    def best(self) -> File:
        """The file to read; the order of sources and then of names breaks ties."""
        return min(self.files, key=lambda file: file.preference)


def list_releases(client: Client, name: str) -> list[Release]:
    """All releases of a project in all configured places, newest first.

    A place that cannot be reached counts only when no other knows the project; pip goes on as well.

    Raises:
        InputError: no place can be asked, or none knows the project.
    """
    name = canonicalize_name(name)
    files: list[File] = []
    failure: InputError | None = None
    for place in client.settings.find_links:
        files += _linked(client, place, name)
    for index in client.settings.indexes:
        try:
            files += _indexed(client, index, name)
        except InputError as error:
            failure = failure or error
    if not files:
        if failure:
            raise failure
        raise InputError(
            f"no project {name} in the package index",
            "check the name and the index settings of pip, or name a directory",
            name,
        )
    by_version: dict[Version, list[File]] = {}
    for file in files:
        by_version.setdefault(file.version, []).append(file)
    return [
        Release(version, tuple(by_version[version])) for version in sorted(by_version, reverse=True)
    ]


def find_release(releases: list[Release], name: str, version: str) -> Release:
    """The release of this version, however it is spelled.

    Raises:
        InputError: there is none; near versions are named.
    """
    try:
        wanted = Version(version)
    except InvalidVersion:
        raise InputError(
            f"{version!r} is no version", f"write it as in {name}=={releases[0].version}", name
        ) from None
    for release in releases:
        if release.version == wanted:
            return release
    near = ", ".join(str(version) for version in _near(releases, wanted))
    raise InputError(f"no release {version} of {name}", f"there are {near}", f"{name}=={version}")


def newest(releases: list[Release], name: str) -> Release:
    """The newest final release that was not withdrawn; pre-releases only where there is no other.

    Raises:
        InputError: all were withdrawn.
    """
    kept = [release for release in releases if not release.yanked]
    final = [release for release in kept if not release.version.is_prerelease]
    for release in final or kept:
        return release
    raise InputError(
        f"all releases of {name} were withdrawn", "name a version: NAME==VERSION", name
    )


def _near(releases: list[Release], wanted: Version) -> list[Version]:
    """The versions around one that does not exist, and the newest."""
    versions = sorted(release.version for release in releases)
    at = sum(version < wanted for version in versions)
    low = max(0, min(at - _NEAR // 2, len(versions) - _NEAR))
    near = versions[low : low + _NEAR]
    return near if versions[-1] in near else [*near, versions[-1]]


def _indexed(client: Client, index: str, name: str) -> list[File]:
    """The files a simple index lists; none when it does not know the project."""
    url = f"{index}/{name}/"
    folder = local_path(url)
    if folder is None:
        try:
            return _parse(client.page(url), name)
        except NotFound:
            return []
    page = Path(folder, "index.html")
    try:
        text = page.read_text(encoding="utf-8", errors="replace")
    except OSError:  # a configured folder that is not there is no news, as with pip
        return []
    return _parse(Page(page.as_uri(), "text/html", text), name)


def _linked(client: Client, place: str, name: str) -> list[File]:
    """The files of a find-links place: a folder, an archive or a page of links."""
    path = local_path(place)
    if path is None:
        try:
            return _parse(client.page(place), name)
        except (NotFound, InputError):
            return []
    if os.path.isdir(path):
        return [
            file
            for entry in sorted(os.listdir(path))
            if (file := _file(name, Path(path, entry).absolute().as_uri()))
        ]
    if not os.path.isfile(path):
        return []
    file = _file(name, Path(path).absolute().as_uri())
    if file:
        return [file]
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    return _parse(Page(Path(path).absolute().as_uri(), "text/html", text), name)


def _parse(page: Page, name: str) -> list[File]:
    if "json" in page.media_type:
        found = _parse_json(page, name)
    else:
        parser = _Links(page.url)
        parser.feed(page.text)
        found = [_file(name, url, sha256, yanked=yanked) for url, sha256, yanked in parser.links]
    # A page from the net that links to files of this machine is none that an index would send.
    remote = local_path(page.url) is None
    return [file for file in found if file and not (remote and local_path(file.url) is not None)]


def _parse_json(page: Page, name: str) -> list[File | None]:
    try:
        entries = json.loads(page.text)["files"]
        return [
            _file(
                name,
                urljoin(page.url, entry["url"]),
                _text(entry.get("hashes", {}).get("sha256")),
                size=_size(entry.get("size")),
                released=_time(entry.get("upload-time")),
                yanked=bool(entry.get("yanked")),
            )
            for entry in entries
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"the index answers with no list of files ({type(error).__name__})",
            "check the index address in pip's configuration",
            page.url,
        ) from error


def _file(
    name: str,
    url: str,
    sha256: str | None = None,
    *,
    size: int | None = None,
    released: datetime | None = None,
    yanked: bool = False,
) -> File | None:
    """A file of this project; None for what is neither a wheel nor an sdist of it."""
    url = url.partition("#")[0]
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        sha256 = None
    filename = unquote(urlsplit(url).path).rpartition("/")[2]
    try:
        if filename.endswith(".whl"):
            project, version, _, _ = parse_wheel_filename(filename)
        elif filename.endswith(".tar.gz"):
            project, version = parse_sdist_filename(filename)
        else:
            return None
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    if project != name:
        return None
    return File(filename, url, version, sha256, size, released, yanked)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _time(text: Any) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


class _Links(HTMLParser):
    """The anchors of an index page: address, sha256 where given, whether withdrawn."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.base = url
        self.links: list[tuple[str, str | None, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        href = values.get("href")
        if tag == "base" and href:
            self.base = urljoin(self.base, href)
        if tag != "a" or not href:
            return
        url, _, fragment = href.partition("#")
        sha256 = fragment[len("sha256=") :] if fragment.startswith("sha256=") else None
        self.links.append((urljoin(self.base, url), sha256, "data-yanked" in values))
