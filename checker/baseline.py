"""The baseline: a file with the findings that were there when somebody began to check."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.configs import parse_object
from checker.errors import InputError
from checker.request import Baseline, Waiver

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = 1
DEFAULT = "eagle3-check-baseline.json"
_KEYS = ("clause", "fingerprint", "reason", "message")
_MOST = 4 * 1024 * 1024


def read_baseline(path: str) -> Baseline:
    """A baseline, as `written` writes it.

    Raises:
        InputError: it is not there, or is not one.
    """
    remedy = "make it with eagle3-check baseline"
    try:
        raw = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", remedy, path) from None
    if len(raw) > _MOST:
        raise InputError(f"is larger than {_MOST >> 20} MiB", remedy, path)
    try:
        data = parse_object(raw, path)
    except InputError as error:  # what mends a configuration mends no baseline
        raise InputError(error.message, "mend it, or make it anew", error.place) from None
    if data.get("schema") != SCHEMA or not isinstance(data.get("findings"), list):
        raise InputError("is no baseline of this version", remedy, path)
    known = tuple(_waiver(item, path, i) for i, item in enumerate(data["findings"]))
    return Baseline(path, known, hashlib.sha256(raw).hexdigest())


def _waiver(item: Any, path: str, number: int) -> Waiver:
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in _KEYS):
        place = f"{path}: findings.{number}"
        raise InputError("is no finding", f"it has the texts {', '.join(_KEYS)}", place)
    return Waiver(
        item["clause"], item["fingerprint"], item["reason"], place=f"{path}: {item['message']}"
    )


def written(known: Iterable[tuple[Waiver, str]]) -> str:
    """The text of a baseline: findings with what was said of them, sorted, one key a line."""
    findings = sorted(
        (
            {
                "clause": waiver.clause,
                "fingerprint": waiver.fingerprint,
                "reason": waiver.reason,
                "message": message,
            }
            for waiver, message in known
        ),
        key=lambda item: (item["clause"], item["fingerprint"]),
    )
    return json.dumps({"schema": SCHEMA, "findings": findings}, indent=2) + "\n"


def message_of(baseline: Baseline, waiver: Waiver) -> str:
    """What was said of a finding when it was taken in."""
    return waiver.place.removeprefix(f"{baseline.path}: ")
