"""The JSON format: exactly the report's values, in the order of the schema, never wrapped."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.report.model import Json


def render(document: dict[str, Json]) -> str:
    """One JSON document, the same bytes for the same values, in ASCII whatever the locale."""
    return json.dumps(_finite(document), indent=2, allow_nan=False) + "\n"


def _finite(value: Json) -> Json:
    """JSON has no infinity and no NaN; they are spelled out instead."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
