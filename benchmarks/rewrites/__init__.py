"""Rewrites of real draft files that change the text and not what is computed, by topic.

Importing a topic enters its rewrites into `REWRITES`. They are said in terms of syntax
(`benchmarks.editing`): nothing of the edited files is kept here.
"""

from benchmarks.rewrites import (
    fusion,
    joins,
    loading,
    modules,
    norms,
    parts,
    statements,
    training,
)
from benchmarks.rewrites.table import REWRITES, Rewrite

__all__ = [
    "REWRITES",
    "Rewrite",
    "fusion",
    "joins",
    "loading",
    "modules",
    "norms",
    "parts",
    "statements",
    "training",
]
