"""An engine's installed package, imported as a user would: nothing of it is replaced.

What its package imports and its draft does not use (readers of data sets, clients of servers) may
be missing: something that is logged stands in, and a run in which it took part gives no verdict.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.trace.lazy import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator


class CannotImport(Exception):
    """The package cannot be used here, and why."""


class Installed:
    """The engine's package where it is installed, as `op` sees it."""

    def __init__(self, stand_ins: list[str]) -> None:
        self.used: dict[str, None] = {}
        self.touched: dict[str, None] = {}
        self._stand_ins = frozenset(n for n in stand_ins if not _there(n))

    def install(self) -> None:
        """Lets stand-ins be imported, after everything that is there."""
        sys.meta_path.append(_StandIns(self._stand_ins, self.touched))

    def owns(self, name: str) -> bool:
        """Whether a module is a stand-in, and must not outlive the run."""
        return name.partition(".")[0] in self._stand_ins

    def naming(self, package: str, name: str) -> Iterator[str]:
        """The modules of a package in whose files a name occurs."""
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for file in sorted(Path(folder).glob("*.py")):
                if name.encode() in file.read_bytes():
                    yield f"{package}.{file.stem}"

    def resolve(self, base: str, name: str) -> Any:
        """`from base import name`, or the sign that there is none."""
        module = importlib.import_module(base)
        return getattr(module, name, MISSING)


def versions(names: list[str]) -> dict[str, str | None]:
    """The versions of installed distributions, None for those that are not there."""
    found: dict[str, str | None] = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def places(trees: list[dict[str, Any]]) -> dict[str, str]:
    """The installed files that were read: their own paths, and the trees' for them.

    Raises:
        CannotImport: an installed file is another than the one that was read.
    """
    found: dict[str, str] = {}
    for tree in trees:
        for path, text in tree["files"].items():
            root = max((r for r in tree["roots"] if path.startswith(r)), key=len, default="")
            file = _installed(path[len(root) :])
            if file is None:
                continue
            if file.read_bytes().decode("utf-8", "replace") != text:
                raise CannotImport(f"the installed {path[len(root) :]} is not what was read")
            found[str(file)] = path
    return found


def _installed(path: str) -> Path | None:
    package, _, rest = path.partition("/")
    spec = importlib.util.find_spec(package.removesuffix(".py"))
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        file = Path(folder, rest)
        if file.is_file():
            return file
    return None


def importing(error: BaseException) -> bool:
    """Whether an exception came out of a module that was being imported."""
    if isinstance(error, ImportError):
        return True
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        step = step.tb_next
    return False


def _there(name: str) -> bool:
    return importlib.machinery.PathFinder.find_spec(name) is not None


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of packages that are not there."""

    def __init__(self, names: frozenset[str], touched: dict[str, None]) -> None:
        self.names, self.touched = names, touched

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        del path, target
        if fullname.partition(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        return _Module(spec.name, self.touched)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


class _Module(types.ModuleType):
    def __init__(self, name: str, touched: dict[str, None]) -> None:
        super().__init__(name)
        self.__dict__["__touched__"] = touched

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Name(f"{self.__name__}.{name}", self.__dict__["__touched__"])


class _Name:
    """A name of a package that is not there: it may be named, and whoever uses it is noted.

    Naming is all that annotations do.
    """

    def __init__(self, path: str, touched: dict[str, None]) -> None:
        self.__path, self.__touched = path, touched

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Name(f"{self.__path}.{name}", self.__touched)

    def __getitem__(self, key: Any) -> Any:
        return self

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __or__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        self.__use("called")
        return self

    def __bool__(self) -> bool:
        self.__use("tested")
        return True

    def __iter__(self) -> Iterator[Any]:
        self.__use("iterated")
        return iter(())

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        self.__use("inherited from")
        return (object,)

    def __use(self, how: str) -> None:
        self.__touched[f"{self.__path} was {how}"] = None
