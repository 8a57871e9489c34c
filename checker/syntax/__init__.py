"""From a tree of bytes to parsed modules, lazily.

Takes: trees (`checker.sources`). Gives: `Workspace.find`, which maps a dotted module name to its
parsed file by path alone (packages without `__init__.py` are common in the checked code) and an
index of what each top-level statement binds or changes.

The standard `ast` is used, not libcst: interpretation needs neither comments nor spacing, `ast`
carries positions for free, and it parses these files ten times faster.
"""

from checker.syntax.ledger import Ledger
from checker.syntax.modules import ModuleFile, UnparsableModule, Workspace

__all__ = ["Ledger", "ModuleFile", "UnparsableModule", "Workspace"]
