"""How often a property is tried: a few fixed examples every day, many with `-m long`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

EVERYDAY = settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
MANY = settings(EVERYDAY, max_examples=2000)
