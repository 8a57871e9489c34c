"""The program's settings in a folder: ``[tool.eagle3-check]`` of its pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from checker.errors import InputError

TABLE = "eagle3-check"
_FILE = "pyproject.toml"
_KNOWN = ("contracts",)


def contract_files(folder: Path = Path()) -> list[Path]:
    """The contract files that the settings name: relative paths start at their folder.

    Raises:
        InputError: the settings cannot be used.
    """
    path = folder / _FILE
    try:
        raw = path.read_bytes()
    except OSError:
        return []
    if TABLE.encode() not in raw:
        return []
    table = _table(path, raw)
    unknown = sorted(set(table) - set(_KNOWN))
    if unknown:
        message = f"[tool.{TABLE}] has the unknown key {unknown[0]!r}"
        raise InputError(message, f"known: {', '.join(_KNOWN)}", str(path))
    listed = table.get("contracts", [])
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        message = f"[tool.{TABLE}] contracts is no list of paths"
        raise InputError(message, 'say contracts = ["my-engine.yaml"]', str(path))
    return [folder / name for name in listed]


def _table(path: Path, raw: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(raw.decode()).get("tool", {}).get(TABLE, {})
    except (ValueError, AttributeError, RecursionError) as error:
        message = f"is no TOML: {error}"
        raise InputError(message, "mend the file at this place", str(path)) from None
    if not isinstance(table, dict):
        raise InputError(f"tool.{TABLE} is no table", f"say [tool.{TABLE}]", str(path))
    return table
