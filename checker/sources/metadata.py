"""What a distribution says of itself: METADATA, PKG-INFO, or the static part of pyproject.toml.

No build code is ever run: what a project computes at build time stays unknown.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from packaging.requirements import Requirement


@dataclass(frozen=True, slots=True)
class RawMetadata:
    """The fields this program uses, as strings."""

    name: str | None = None
    version: str | None = None
    requires: tuple[str, ...] = ()
    requires_python: str | None = None


def normal_name(name: str) -> str:
    """A project name as indexes compare it (PEP 503); here, to spare importing `packaging`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_headers(text: str) -> RawMetadata:
    """METADATA or PKG-INFO. Only the headers before the description matter."""
    fields: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in text.splitlines():
        if not line:  # a line of blanks belongs to a field, often to a licence's text
            break
        if line[0] in " \t":
            if last:
                last[-1] += " " + line.strip()
            continue
        key, _, value = line.partition(":")
        last = fields.setdefault(key.strip().lower(), [])
        last.append(value.strip())
    return RawMetadata(
        name=next(iter(fields.get("name", ())), None),
        version=next(iter(fields.get("version", ())), None),
        requires=tuple(fields.get("requires-dist", ())),
        requires_python=next(iter(fields.get("requires-python", ())), None),
    )


def parse_pyproject(text: str) -> RawMetadata:
    """The `[project]` table; empty when it cannot be read, as a checkout may be half edited."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return RawMetadata()
    project = document.get("project")
    if not isinstance(project, dict):
        return RawMetadata()
    requires = _texts(project.get("dependencies"))
    extras = project.get("optional-dependencies")
    for extra, lines in extras.items() if isinstance(extras, dict) else ():
        requires += [_under_extra(line, extra) for line in _texts(lines)]
    return RawMetadata(
        name=_text(project.get("name")),
        version=_text(project.get("version")),
        requires=tuple(requires),
        requires_python=_text(project.get("requires-python")),
    )


def _under_extra(line: str, extra: str) -> str:
    """A requirement of an extra, spelled as a build would write it into METADATA."""
    requirement, semicolon, marker = line.partition(";")
    condition = f'extra == "{normal_name(extra)}"'
    return f"{requirement.strip()} ; " + (
        f"({marker.strip()}) and {condition}" if semicolon else condition
    )


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def parse_requirements(lines: tuple[str, ...]) -> tuple[Requirement, ...]:
    """Requirements that parse; an old, malformed one says nothing and is left out."""
    from packaging.requirements import InvalidRequirement, Requirement

    parsed = []
    for line in lines:
        try:
            parsed.append(Requirement(line))
        except InvalidRequirement:
            continue
    return tuple(parsed)
