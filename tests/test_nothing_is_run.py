"""Checked code is never imported, evaluated or executed: the promise everything else rests on."""

from __future__ import annotations

import ast
import contextlib
import sys
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "checker"
# The witness runs checked code when the user asks for it, in a process of its own: `process` starts
# it, and only what runs inside may run anything.
INSIDE = {
    PACKAGE / "trace" / f"{name}.py"
    for name in ("lazy", "native", "originals", "parsed", "real", "running", "worker")
}
MODULES = sorted(set(PACKAGE.rglob("*.py")) - INSIDE)
RUNNERS = {"eval", "exec", "compile", "__import__"}
LOADERS = {"importlib", "runpy", "imp", "pkgutil", "marshal", "pickle", "shelve", "dill"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_module_of_the_program_has_a_way_to_run_what_it_reads(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in RUNNERS:
                found.append(f"line {node.lineno}: {name}()")
            case ast.Import(names=names):
                found += [
                    f"line {node.lineno}: import {alias.name}"
                    for alias in names
                    if alias.name.partition(".")[0] in LOADERS
                    and alias.name != "importlib.metadata"
                ]
            case ast.ImportFrom(module=str(module)):
                if module.partition(".")[0] in LOADERS and module != "importlib.metadata":
                    found.append(f"line {node.lineno}: from {module} import")
    assert found == []


def test_nothing_imports_what_runs_inside_the_witness_process() -> None:
    names = {f"checker.trace.{path.stem}" for path in INSIDE}
    found = [
        f"{path.relative_to(PACKAGE)} imports {module}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for module in _imported(node)
        if module in names
    ]
    assert found == []
    inside = PACKAGE / "trace" / "worker.py"
    assert any(
        module in names
        for node in ast.walk(ast.parse(inside.read_text("utf-8")))
        for module in _imported(node)
    )


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), names=names):
            return [module, *(f"{module}.{alias.name}" for alias in names)]
    return []


def test_the_guard_remembers_an_import_that_was_swallowed() -> None:
    noted = violations()
    before = len(noted)
    with contextlib.suppress(ImportError):
        import_module("sglang")
    seen, noted[before:] = noted[before:], []
    assert seen == ["import of sglang"]


def test_the_guard_sees_the_program_running_code() -> None:
    noted = violations()
    before = len(noted)
    exec("ast.parse('x = 1')", {"__name__": "checker.innocent", "ast": ast})
    innocent, noted[before:] = noted[before:], []
    exec("eval('1')", {"__name__": "checker.guilty"})
    guilty, noted[before:] = noted[before:], []
    assert innocent == []
    assert guilty == ["compile in checker.guilty, line 1", "exec in checker.guilty, line 1"]


def violations() -> list[str]:
    """What the installed guard has noted."""
    guard = next(item for item in sys.meta_path if type(item).__name__ == "ImportGuard")
    noted: list[str] = sys.modules[type(guard).__module__].VIOLATIONS
    return noted
