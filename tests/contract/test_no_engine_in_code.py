"""What is particular to an engine is YAML: none of its names stands in the program's code.

The names are taken from the contracts themselves: engines, distributions, packages, modules,
classes and methods that stages use, tensors, and keys of configurations. Text is looked at
everywhere for names that are unmistakable (also in comments and docstrings), and in string
constants for those that are words as well.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from checker.data import CONTRACTS

PROGRAM = Path(__file__).parents[2] / "checker"

PLAIN = re.compile("[a-z]+|[*]")
"""A class, function or parameter that is called by one plain word may be anyone's."""

OURS = {
    "as_config": "an operator of stages (op.as_config)",
    "bias": "an aspect of linear operators, and a key of the wires' own grammar",
    "is_cpu": "an attribute of tensors, which engines have functions of the same name for",
    "is_cuda": "the same",
    "load": "a stage of engine descriptions, and a mode of Python's syntax trees",
    "targets": "a function of the engines stage; the list of a packaged engine",
    "RMSNorm": "how messages call the operator rms_norm, as everyone does",
}
"""Words that are this project's own too, with what they are to it."""


def several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def files(folder: str) -> Iterator[Any]:
    for path in sorted((CONTRACTS / folder).glob("*.yaml")):
        yield yaml.safe_load(path.read_text("utf-8"))


@cache
def unmistakable() -> frozenset[str]:
    """Names of engines, of packages that they and their libraries are in, and of tensors."""
    names: set[str] = set()
    for engine in files("engines"):
        names |= {engine["engine"], engine["distribution"], engine["package"]}
        names |= set(engine["libraries"]) | set(engine.get("from-target", {}).get("parameters", ()))
        vocabulary = engine.get("vocabulary", {})
        names |= {vocabulary[key] for key in ("map", "mask") if key in vocabulary}
    for parameter in wires()["parameters"].values():
        if "." in parameter["tensor"]:
            names.add(parameter["tensor"])
    return frozenset(names)


@cache
def words() -> frozenset[str]:
    """Keys of configurations, classes, methods, parameters: names that may be words as well."""
    names = {name for name in wires()["parameters"] if not PLAIN.fullmatch(name)}
    packages = {engine["package"] for engine in files("engines")}
    packages |= {name for engine in files("engines") for name in engine["libraries"]}
    for folder in ("operators", "outlines"):
        for library in files(folder):
            matches = [m for item in library["operators"] for m in several(item["match"])]
            last = {m.rpartition(".")[2] for m in matches if m.partition(".")[0] in packages}
            names |= {name for name in last if not PLAIN.fullmatch(name)}
    for engine in files("engines"):
        names |= set(engine["config-requires"]) | {engine.get("loader", engine["engine"])}
        for stage in engine["stages"].values():
            for node in ast.walk(ast.parse(stage["python"])):
                if isinstance(node, ast.ImportFrom) and node.module != "torch":
                    named = {str(node.module), *(alias.name for alias in node.names)}
                    names |= {name for name in named if not PLAIN.fullmatch(name)}
        capture = engine["stages"].get("capture")
        if capture is not None:
            names |= {capture["setter"], capture["registry"]["list"]}
    switches = yaml.safe_load((CONTRACTS / "eagle3" / "switches.yaml").read_text("utf-8"))
    for name, switch in switches["switches"].items():
        names.add(name)
        for spelling in switch["spellings"].values():
            names |= {part for key in several(spelling) for part in key.split(".")}
    return frozenset(names | set(wires()["target"].values()))


@cache
def wires() -> Any:
    return yaml.safe_load((CONTRACTS / "eagle3" / "wires.yaml").read_text("utf-8"))


def constants(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """String constants with their lines, docstrings left out."""
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in documentation:
                yield node.lineno, text


def pattern(names: frozenset[str]) -> re.Pattern[str]:
    longest = sorted(names - set(OURS), key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, longest))})(?![\w-])")


def offences(text: str) -> list[tuple[int, str]]:
    anywhere, spelled = pattern(unmistakable()), pattern(words())
    found = [
        (number, match[1])
        for number, line in enumerate(text.splitlines(), 1)
        for match in anywhere.finditer(line)
    ]
    for number, constant in constants(ast.parse(text)):
        found += [(number, match[1]) for match in spelled.finditer(constant)]
    return found


def test_no_name_of_an_engine_stands_in_the_code() -> None:
    found = [
        f"{path.relative_to(PROGRAM.parent)}:{number}: {name}"
        for path in sorted(PROGRAM.rglob("*.py"))
        for number, name in offences(path.read_text("utf-8"))
    ]
    assert not found, "\n".join(found)


def test_the_search_finds_names_of_every_kind() -> None:
    text = '''"""About sglang."""
from x import y  # as speculators has it
y("embed_tokens.weight", config["hidden_size"], f"a {y} norm_before_residual")
'''
    assert offences(text) == [
        (1, "sglang"),
        (2, "speculators"),
        (3, "embed_tokens.weight"),
        (3, "embed_tokens"),
        (3, "hidden_size"),
        (3, "norm_before_residual"),
    ]


def test_words_of_our_own_are_names_in_the_contracts_too() -> None:
    assert set(OURS) <= unmistakable() | words()
