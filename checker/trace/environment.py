"""An environment in which real code runs, made on demand in the user's cache.

    environments/<digest of what is in it>/

It is built under another name beside its place and renamed into it, whole or not at all: whoever
finds it may use it, and of two processes that build the same one the first wins.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from checker.errors import InputError
from checker.sources.store import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from checker.engines import Engine
    from checker.request import Access
    from checker.sources import Tree

FORMAT = "1"
"""Changed whenever environments are built otherwise: older ones are then left alone."""

_OTHERWISE = "give --python an interpreter that has what is needed"


@dataclass(frozen=True, slots=True)
class Needs:
    """What an environment has to hold, as requirements.

    `heavy` comes first, and from `cpu_index` too, where the usual index has larger builds; `alone`
    is installed without its dependencies.
    """

    heavy: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    cpu_index: str | None = None

    def __post_init__(self) -> None:
        """Refuses what is no requirement: nothing else may reach pip's command line."""
        from packaging.requirements import InvalidRequirement, Requirement

        for text in (*self.heavy, *self.others, *self.alone):
            try:
                found = Requirement(text)
            except InvalidRequirement as error:
                raise InputError(
                    f"{text!r} is no requirement", "correct the engine's description"
                ) from error
            if found.url is not None:
                raise InputError(f"{text!r} names a place", "name a release instead")

    def with_(self, other: Needs) -> Needs:
        """What holds both."""
        return Needs(
            tuple(dict.fromkeys((*self.heavy, *other.heavy))),
            tuple(dict.fromkeys((*self.others, *other.others))),
            tuple(dict.fromkeys((*self.alone, *other.alone))),
            self.cpu_index or other.cpu_index,
        )

    @property
    def digest(self) -> str:
        """Identifies an environment: what is in it, and what it was made with."""
        made_with = (FORMAT, platform.python_version(), sys.platform, platform.machine())
        parts = (made_with, sorted(self.heavy), sorted(self.others), sorted(self.alone))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]

    def __str__(self) -> str:
        return " ".join((*self.heavy, *self.others, *self.alone))


def needs_of(engine: Engine, trees: Sequence[Tree], *, package: bool = False) -> Needs:
    """What an engine's files need where they run; with `package`, what the engine itself needs.

    Raises:
        InputError: nobody has described it.
    """
    run_time = engine.run_time
    installed = run_time.package if package else ()
    if not run_time.cpu_builds or installed is None:
        what = f"{engine.distribution} itself" if package else engine.distribution
        remedy = f"leave --real out, or {_OTHERWISE}" if package else _OTHERWISE
        raise InputError(f"no environment is described for {what}", remedy, "--prepare")
    releases = {t.name: f"{t.name}=={t.version}" for t in trees if t.name and t.version}
    own: tuple[str, ...] = ()
    if package:
        name = engine.distribution
        if name not in releases:
            raise InputError("only releases are installed, and this is none", _OTHERWISE, name)
        own = (releases[name],)
    others = (*run_time.requirements, *installed)
    others = tuple(releases.get(text, text) for text in others)
    return Needs(run_time.cpu_builds, others, own, run_time.cpu_index)


def prepared(needs: Needs, access: Access) -> str:
    """The interpreter of an environment that holds what is needed, made if there is none yet.

    Raises:
        InputError: it cannot be made, and why in one line.
    """
    place = cache_folder().absolute() / "environments" / needs.digest
    if _usable(place):
        return str(_python(place))
    if access.offline:
        raise InputError(
            "no environment is prepared yet, and --offline fetches nothing",
            f"run once without --offline, or {_OTHERWISE}",
            str(needs),
        )
    with _beside(place) as folder:
        for told, command in _steps(needs, folder):
            if access.progress is not None:
                access.progress(f"preparing an environment: {told}")
            _run(told, command)
        _into(folder, place)
    return str(_python(place))


@contextlib.contextmanager
def _beside(place: Path) -> Iterator[Path]:
    """A new folder on the same disk, gone at the end unless it was renamed."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    except OSError as error:
        raise InputError(
            f"no environment can be made here: {error.strerror}",
            f"set EAGLE3_CHECK_CACHE to a folder that can be written, or {_OTHERWISE}",
            str(place.parent),
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _into(folder: Path, place: Path) -> None:
    """Puts a finished environment in its place, unless another process was quicker."""
    try:
        folder.rename(place)
    except OSError:
        if _usable(place):
            return
        shutil.rmtree(place, ignore_errors=True)  # what was there has lost its interpreter
        folder.rename(place)


def _usable(place: Path) -> bool:
    return os.access(_python(place), os.X_OK)


def _python(place: Path) -> Path:
    if sys.platform == "win32":
        return place / "Scripts" / "python.exe"
    return place / "bin" / "python"


def _steps(needs: Needs, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What is run, in order: nothing by a shell, and no build code of any package."""
    yield "python -m venv", [sys.executable, "-m", "venv", str(folder)]
    pip = [str(_python(folder)), "-m", "pip", "--disable-pip-version-check", "--no-input"]
    install = [*pip, "install", "--progress-bar", "off", "--only-binary", ":all:"]
    index: list[str] = []
    if needs.cpu_index is not None and sys.platform.startswith("linux"):
        index = ["--retries", "1", "--extra-index-url", needs.cpu_index]
    for options, requirements in (
        (index, needs.heavy),
        ([], needs.others),
        (["--no-deps"], needs.alone),
    ):
        if requirements:
            yield f"pip install {' '.join(requirements)}", [*install, *options, *requirements]


def _run(told: str, command: Sequence[str]) -> None:
    done = subprocess.run(  # noqa: S603 - a list of words, each of them checked
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        errors="replace",
        env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")},
    )
    if done.returncode:
        raise InputError(
            f"no environment could be prepared: {told} failed: {_last(done.stdout.splitlines())}",
            f"mend that, or {_OTHERWISE}",
        )


def _last(lines: Iterable[str]) -> str:
    """The last line that says something, an error before anything else."""
    said = [line.strip() for line in lines if line.strip()]
    errors = [line for line in said if line.upper().startswith("ERROR")]
    return (errors or said or ["it said nothing"])[-1]
