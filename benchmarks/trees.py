"""Trees with some files replaced, and what of their parsed files can be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.syntax import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping


class Edited:
    """A tree with some files replaced."""

    def __init__(self, tree: Any, files: Mapping[str, str]) -> None:
        self._tree, self._files = tree, {p: t.encode() for p, t in files.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    def read(self, path: str) -> bytes:
        """A file's bytes, edited or not."""
        return self._files[path] if path in self._files else bytes(self._tree.read(path))


class Kept(Workspace):
    """A workspace that takes over the parsed files of another, except the edited ones."""

    def __init__(self, base: Workspace, files: Mapping[str, str]) -> None:
        super().__init__([Edited(tree, files) for tree in base.trees])
        self._packages = base._packages  # noqa: SLF001 - what an edit leaves alone is not parsed again
        self._modules = {
            name: module
            for name, module in base._modules.items()  # noqa: SLF001
            if module is None or module.path not in files
        }
