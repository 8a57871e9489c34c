"""Answers as they are kept: what was printed, and what of checked sources is in that."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Answer:
    """What was printed, the exit status, and what was written to files: paths and texts.

    `marks` is what of the sources is in those texts, None where that is not known.
    """

    output: str
    status: int
    files: tuple[tuple[str, str], ...] = ()
    marks: Marks | None = None


@dataclass(frozen=True, slots=True)
class Marks:
    """What of checked sources a report shows.

    `fingerprints` are those of the two sides; `lines` are the lines of source, as (the source's
    label, path, line, text without its margins).
    """

    fingerprints: tuple[str, ...]
    lines: tuple[tuple[str, str, int, str], ...]


def digest_of(kept: Mapping[str, Any]) -> str:
    """What ties what an answer depends on to the answer."""
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
