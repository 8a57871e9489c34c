"""Two releases of one engine, read beside the same counterpart: what changed in meaning.

Takes two opened pairs; gives changes. Graphs are compared as terms of one pool (`readings`), what
targets hand over and what becomes of launch flags as values (`beside`).
"""

from checker.diffing.releases import Releases

__all__ = ["Releases"]
