"""Imports and names of modules: evaluated by need, in the order the file gives them."""

from __future__ import annotations

import ast
import sys
from functools import partial

from checker.interpreter import statements, steady, stubs
from checker.interpreter.births import births
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import DTYPE_ALIASES, External, ModuleValue, Raised, Stuck, Value
from checker.syntax.nodes import walk

_MISSING = steady.MISSING


def module_name(
    m: Machine, module: ModuleValue, name: str, before: ast.stmt | None = None
) -> Value:
    """The value of a module's global `name`, or `_MISSING`.

    With `before`, as it is when that top-level statement runs: only statements above it have run.
    What a function sees that is called while the module is being run is no more than that.
    """
    if before is None and m.running and m.running[-1][0] is module:
        before = m.running[-1][1]
    if m.settled is None:
        return _evaluated(m, module, name, before)
    return m.settled.name(m, module, name, before, lambda: _evaluated(m, module, name, before))


def _evaluated(m: Machine, module: ModuleValue, name: str, before: ast.stmt | None) -> Value:
    scope = module.scope.names
    _touch(m, module)
    if module.file is None or name in module.done_names:
        return scope.get(name, _MISSING)
    if name not in module.file.touching:
        if name in _MODULE_FACTS and name not in scope:
            return m.unknown(f"{name} of {module.name}", harmless=True)
        return scope[name] if name in scope else _from_star_or_submodule(m, module, name)
    statements_of = module.file.touching[name]
    if module.file.is_package and all(
        isinstance(stmt, (ast.If, ast.Try)) for stmt in statements_of
    ):
        lazy = _lazy_package_member(m, module.name, name)
        if lazy is not _MISSING:
            return lazy
    for stmt in statements_of:
        if before is not None and stmt.lineno >= before.lineno:
            break
        if isinstance(stmt, ast.ImportFrom):
            _bind_one(m, module, stmt, name)
        else:
            run_top_level(m, module, stmt)
    else:
        if name in scope:
            module.done_names.add(name)
    if name not in scope and name in _MODULE_FACTS:
        return m.unknown(f"{name} of {module.name}", harmless=True)
    return scope.get(name, _MISSING)


_MODULE_FACTS = ("__file__", "__spec__", "__path__", "__loader__")


def _bind_one(m: Machine, module: ModuleValue, stmt: ast.ImportFrom, name: str) -> None:
    """The part of a `from … import` statement that binds `name`.

    Its other names stay unevaluated.
    """
    if (id(stmt), name) in module.done:
        return
    module.done.add((id(stmt), name))
    frame = Frame(module.scope, module, "<module>", stmt)
    for alias in stmt.names:
        if (alias.asname or alias.name) == name:
            base = absolute_name(module, stmt)
            try:
                value = m.run_in(frame, partial(import_from, m, base, alias.name))
            except (Raised, Stuck):
                module.done.discard((id(stmt), name))  # whoever needs it sees the error again
                raise
            module.scope.names[name] = value


def run_top_level(m: Machine, module: ModuleValue, stmt: ast.stmt) -> None:
    """Executes one top-level statement, once."""
    if (id(stmt), "") in module.done:
        return
    module.done.add((id(stmt), ""))
    frame = Frame(module.scope, module, "<module>", top_level=stmt)
    m.running.append((module, stmt))
    building = m.outline.apart() if m.outline is not None else []
    journal, m.journal = m.journal, None  # it is no deed of the call that asks for it
    asked, first = len(m.decisions), next(births)
    try:
        m.run_in(frame, lambda: statements.run_statement(m, frame, stmt))
    except (Raised, Stuck):
        module.done.discard((id(stmt), ""))  # whoever needs it sees the error again
        raise
    finally:
        m.running.pop()
        if m.outline is not None:
            m.outline.building = building
        m.journal = journal
        if journal is not None:
            journal.builds(first)
            journal.unsettled += len(m.decisions) > asked  # what a module holds is evaluated once


def _touch(m: Machine, module: ModuleValue) -> None:
    """The first touch of a module: what its top level does to other things happens now.

    Only the package being checked is walked transitively (its modules register classes and
    functions elsewhere); for anything larger the modules that are reached by name are enough, and
    an entry script can import the rest.
    """
    if module.touched:
        return
    module.touched = True
    if module.file is None or module.is_stub:
        return
    package = module.name.partition(".")[0]
    if package not in m.eager_packages:
        return  # what changes a module's own names runs when they are asked for
    for brought in module.file.imports:
        base = absolute_name(module, brought)
        if base.partition(".")[0] == package:
            for candidate in (base, *(f"{base}.{alias.name}" for alias in brought.names)):
                imported = m.module(candidate) if m.workspace.find(candidate) else None
                if imported is not None:
                    _touch(m, imported)
    for stmt in module.file.effects:
        try:
            run_top_level(m, module, stmt)
        except Raised as raised:
            if m.debug:
                sys.stderr.write(
                    f"import-time {raised.type_name}: {raised.message} {raised.trail}\n"
                )
            continue  # what needs what failed will see the error again


def absolute_name(module: ModuleValue, stmt: ast.ImportFrom) -> str:
    """The dotted name a `from … import` statement refers to."""
    if not stmt.level:
        return stmt.module or ""
    parts = module.name.split(".")
    is_package = module.file is not None and module.file.is_package
    keep = len(parts) - stmt.level + (1 if is_package else 0)
    base = ".".join(parts[: max(keep, 0)])
    return f"{base}.{stmt.module}" if stmt.module else base


def _from_star_or_submodule(m: Machine, module: ModuleValue, name: str) -> Value:
    assert module.file is not None
    for stmt in module.file.star_imports:
        if not _exports(m, absolute_name(module, stmt), name):
            continue
        value = import_from(m, absolute_name(module, stmt), name, quiet=True)
        if value is not _MISSING:
            return value
    return _MISSING


def _from_hook(m: Machine, module: ModuleValue, name: str) -> Value:
    """What a module's `__getattr__` gives for an attribute; `_MISSING` if it has none."""
    from checker.interpreter import calls

    if module.file is None or "__getattr__" not in module.file.touching or name.startswith("__"):
        return _MISSING
    hook = module_name(m, module, "__getattr__")
    return _MISSING if hook is _MISSING else calls.call(m, hook, [name], {})


def _exports(m: Machine, source: str, name: str) -> bool:
    """Whether `from source import *` brings `name`."""
    module = m.module(source)
    if module is None or module.file is None or "__all__" not in module.file.touching:
        return not name.startswith("_")
    listed = module_name(m, module, "__all__")
    if isinstance(listed, (list, tuple)) and all(isinstance(item, str) for item in listed):
        return name in listed
    return True


def import_module(m: Machine, name: str) -> Value:
    """`import name`: a module of the trees, a summarised or an external one."""
    module = m.module(name)
    if module is not None:
        _touch(m, module)
        return module
    if m.workspace.owns(name):
        raise m.exception("ModuleNotFoundError", f"No module named '{name}'")
    return External(name)


def import_from(m: Machine, base: str, name: str, quiet: bool = False) -> Value:
    """`from base import name`.

    With `quiet`, an absent name is `_MISSING` instead of an ImportError.
    """
    summary = stubs.find(m, f"{base}.{name}")
    if summary is not None:
        return summary
    module = m.module(base)
    if module is not None:
        value = module_name(m, module, name)
        if value is not _MISSING:
            return value
        sub = m.module(f"{base}.{name}")
        if sub is not None:
            return sub
        lazy = _lazy_package_member(m, base, name)
        if lazy is not _MISSING:
            return lazy
        hooked = _from_hook(m, module, name)
        if hooked is not _MISSING:
            return hooked
    elif not m.workspace.owns(base):
        return external(m, f"{base}.{name}")
    if quiet:
        return _MISSING
    raise m.exception("ImportError", f"cannot import name '{name}' from '{base}'")


def _lazy_package_member(m: Machine, base: str, name: str) -> Value:
    """A member of a package that fills itself lazily at run time.

    Such packages declare where their members live in imports that only type checkers see; those are
    followed here.
    """
    module = m.module(base)
    if module is None or module.file is None or not module.file.is_package:
        return _MISSING
    key = ("declared", base)
    if key not in m.shared:
        m.shared[key] = _declared(module)
    declared, stars = m.shared[key]
    if name in declared:
        source, original = declared[name]
        return _MISSING if source == base else import_from(m, source, original, quiet=True)
    return _through_stars(m, stars, name)


_FEW = 24


def _through_stars(m: Machine, stars: list[str], name: str) -> Value:
    """What star imports that only type checkers see bring under a name.

    Only modules whose own top level has the name count: nothing is evaluated to find out. Of very
    many packages those are opened whose own name is part of the one that is asked for; where none
    of them has it, the others might.
    """
    likely = [s for s in stars if s.rpartition(".")[2].replace("_", "") in name.lower()]
    opened = stars if len(stars) <= _FEW else sorted(likely, key=len, reverse=True)
    for source in opened:
        found = m.workspace.find(source)
        if found is None:
            continue
        if name in found.touching:
            return import_from(m, source, name, quiet=True)
        if found.is_package:
            deeper = _lazy_package_member(m, source, name)
            if deeper is not _MISSING:
                return deeper
    if len(opened) < len(stars) and name[:1].isupper():
        return m.unknown(f"whether one of the packages that {stars[0]} stands among has {name}")
    return _MISSING


def _declared(module: ModuleValue) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Names and star imports under conditions of a package's `__init__`."""
    declared: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    assert module.file is not None
    for stmt in module.file.body:
        if not isinstance(stmt, (ast.If, ast.Try)):
            continue
        for node in walk(stmt):
            if isinstance(node, ast.ImportFrom):
                source = absolute_name(module, node)
                for alias in node.names:
                    if alias.name == "*":
                        stars.append(source)
                    else:
                        declared[alias.asname or alias.name] = (source, alias.name)
    return declared, stars


def external(m: Machine, path: str) -> Value:
    """A name of a package that is in no tree.

    Its summary, or an `External` that is unknown when used.
    """
    summary = stubs.find(m, path)
    return summary if summary is not None else External(DTYPE_ALIASES.get(path, path))


def attribute_of_module(m: Machine, module: ModuleValue, name: str) -> Value:
    """`module.name`: a global, a submodule, what a lazy package declares, what its hook gives."""
    summary = stubs.find(m, f"{module.name}.{name}")
    if summary is not None:
        return summary
    value = module_name(m, module, name)
    if value is _MISSING:
        sub = m.module(f"{module.name}.{name}")
        if sub is not None:
            return sub
        value = _lazy_package_member(m, module.name, name)
        if value is _MISSING:
            value = _from_hook(m, module, name)
    return value


def is_missing(value: Value) -> bool:
    """Whether a look-up in a module found nothing."""
    return value is _MISSING
