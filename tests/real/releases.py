"""Real releases as folders that can be edited, and the answers for them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from unittest import mock

import pytest

from benchmarks.editing import Edit, Source
from checker import verification
from checker.contract.loading import load_contract
from checker.report.model import Report, Status
from checker.request import Access, Rename, Target, VerifyRequest
from checker.sources import Tree, open_source, resolve_requirement
from tests.real import configs
from tests.real.configs import Config

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

TRAINER = "speculators==0.9.0"
NOT_CHECKED = frozenset(c.id for c in load_contract().clauses.values() if not c.implemented)


def server(version: str) -> str:
    return f"sglang=={version}"


def renames(version: str) -> tuple[Rename, ...]:
    """What a conversion script has to do for this release, which only one of ours needs."""
    return (Rename("layers.0", "midlayer"),) if version == "0.5.9" else ()


def flaws(version: str) -> set[str]:
    """What this release does otherwise than any trainer: it advances positions too early."""
    return {"positions"} if version == "0.5.9" else set()


def check(
    train_source: str,
    serve_source: str,
    train: Config | None = None,
    serve: Config | None = None,
    target: Config | None = None,
    **options: Any,
) -> Report:
    """Verifies two sources under configurations; the small draft's where none are given."""
    return verification.verify(
        VerifyRequest(
            train_source,
            serve_source,
            configs.file("train.json", train or configs.train()),
            configs.file("serve.json", serve or configs.serve()),
            Target(configs.file("target.json", {**configs.TARGET, **(target or {})})),
            **options,
        )
    )


def violated(report: Report) -> set[str]:
    return {c.id for c in report.clauses if c.status is Status.VIOLATED}


def unproven(report: Report) -> dict[str, str]:
    """The clauses that could be checked and were not decided, with the reason."""
    return {
        c.id: c.reason or ""
        for c in report.clauses
        if c.status is Status.UNPROVEN and c.id not in NOT_CHECKED
    }


def said(report: Report) -> str:
    """What a failing test shows of a report."""
    lines = [f"{report.verdict} ({report.exit_status})"]
    lines += [
        f"{c.id} {c.status}: {c.message or c.reason}"
        for c in report.clauses
        if c.id not in NOT_CHECKED and c.status not in (Status.HOLDS, Status.NOT_APPLICABLE)
    ]
    return "\n".join(lines)


def runs(
    cases: Mapping[str, Versioned], everyday: Collection[str], known: Mapping[str, str]
) -> list[ParameterSet]:
    """(name, version) of each case: `long` unless for every day, expected to fail if `known`."""
    found = []
    for name, case in cases.items():
        marks = [] if name in everyday else [pytest.mark.long]
        if name in known:
            marks.append(pytest.mark.xfail(reason=known[name], strict=False))
        found += [
            pytest.param(name, version, marks=marks, id=f"{name}-{version}")
            for version in case.versions
        ]
    assert set(everyday) <= set(cases)
    assert set(known) <= set(cases)
    return found


class Versioned(Protocol):
    """What the tests parametrize over."""

    @property
    def versions(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Copies:
    """Folders with the files that a check of these releases reads; never edited themselves."""

    folders: dict[str, Path]

    def edited(self, spec: str, place: Path, edits: dict[str, Edit]) -> str:
        """A copy of a release with files edited; the path to give as a source.

        Files are linked, not copied: an edited one is written anew under its name.
        """
        folder = place / spec.replace("==", "-")
        shutil.copytree(self.folders[spec], folder, copy_function=os.link)
        for path, edit in edits.items():
            source = Source((folder / path).read_text("utf-8"))
            edit(source)
            (folder / path).unlink()
            (folder / path).write_text(source.result(), "utf-8")
        return str(folder)

    def plain(self, spec: str) -> str:
        return str(self.folders[spec])


def copy_releases(place: Path, versions: tuple[str, ...]) -> Copies:
    """Copies what checks of the small draft read, dependencies beside the release."""
    read: dict[str, dict[str, bytes]] = {}
    with _noted(read):
        for version in versions:
            # what is kept of earlier runs would be given again without a file being read
            access = Access(use_cache=False)
            check(TRAINER, server(version), renames=renames(version), access=access)
    folders: dict[str, Path] = {}
    for spec in (TRAINER, *map(server, versions)):
        own = open_source(spec)
        library = resolve_requirement(own, "transformers")
        folders[spec] = place / spec.replace("==", "-")
        for tree in (own, library) if library else (own,):
            marks = tree.files(suffix=".dist-info/METADATA")
            marks += [p for p in tree.files(suffix="/__init__.py") if p.count("/") == 1]
            files = {path: tree.read(path) for path in marks} | read.get(tree.label, {})
            for path, content in files.items():
                file = folders[spec] / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
    return Copies(folders)


@contextmanager
def _noted(read: dict[str, dict[str, bytes]]) -> Iterator[None]:
    """Notes what is read, by the label of the source and the path in it."""
    original = Tree.read

    def noting(tree: Tree, path: str) -> bytes:
        content = original(tree, path)
        read.setdefault(tree.label, {})[path] = content
        return content

    with mock.patch.object(Tree, "read", noting):
        yield
