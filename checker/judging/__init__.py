"""From two extractions to a status for every clause.

Takes what the engines stage extracted and the contract; gives clause results. No engine's name
occurs here, and no clause is decided by anything but the contract's own declarations of what it
owns.
"""

from checker.judging.graphs import Comparison, compare, compare_as_contracted
from checker.judging.judge import differing, judge
from checker.judging.taken import shared

__all__ = ["Comparison", "compare", "compare_as_contracted", "differing", "judge", "shared"]
