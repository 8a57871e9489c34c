"""Numbers that tell which of two things of a run was made first."""

from __future__ import annotations

import itertools

births = itertools.count()
"""Each thing takes the next number when it is made."""

__all__ = ["births"]
