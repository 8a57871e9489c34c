"""Where the files that come with the program lie: in a checkout beside it, in a wheel inside it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "_data"
ROOT = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""Holds ``contracts/`` and ``fixtures/``, whichever way the program was installed."""

CONTRACTS = ROOT / "contracts"
SCHEMAS = CONTRACTS / "schema"
FIXTURES = ROOT / "fixtures"
