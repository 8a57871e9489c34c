"""Hostile Python in the files that a draft is read from.

Half of it is damaged as text; the other half still parses, because only what parses reaches the
interpreter: parts of the file exchanged, hostile statements among its own.
"""

from __future__ import annotations

import ast
import copy
import warnings
from typing import TYPE_CHECKING, Any

from benchmarks.fuzz.cases import mangle
from benchmarks.fuzz.snippets import EXPRESSIONS, STATEMENTS

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_HEADS = ("if self:", "while self:", "for x in self:", "with self:", "try:", "def f():", "class A:",
          "match self:", "else:", "async def g():", "elif 1:", "except* E:", "case 1:")  # fmt: skip
_WORDS = (
    *["self", "x", "y", "torch", "nn", "lambda", "yield", "await", "return", "pass", "def",
      "class", "if", "else", "for", "in", "while", "not", "and", "or", "is", "None", "True",
      "import", "from", "as", "with", "try", "except", "finally", "raise", "del", "global",
      "nonlocal", "assert", "match", "case", "async", "print", "(", ")", "[", "]", "{", "}", ":",
      ",", ";", ".", "=", "==", "!=", "+=", ":=", "->", "*", "**", "//", "%", "@", "&", "|", "^",
      "~", "<", ">", "<<", ">>", "...", "0", "1", "1.5", "1e9", "0x", "0b2", "1_000", "'a'",
      "f'{x}'", "f'{'", "b''", "'''", '"""', "\\", "#", "$", "?", "!", "é", "ª", "ﬁ"],
    "\n", "\n    ", "\n\t", "\N{FULLWIDTH DIGIT ZERO}",
)  # fmt: skip


def damaged(rng: random.Random, source: bytes) -> tuple[str, bytes]:
    """How a file was damaged, and what came of it."""
    name = rng.choice(sorted(DAMAGES))
    how, result = DAMAGES[name](rng, source)
    return f"{name}: {how}", result


def _as_bytes(rng: random.Random, source: bytes) -> tuple[str, bytes]:
    return mangle(rng, source)


def _words(rng: random.Random, _: bytes) -> tuple[str, bytes]:
    words = [rng.choice(_WORDS) for _ in range(rng.choice((3, 30, 300)))]
    return f"{len(words)} words", " ".join(words).encode()


def _blocks(rng: random.Random, _: bytes) -> tuple[str, bytes]:
    lines, depth = [], 0
    for _line in range(rng.randrange(2, 130)):
        lines.append(" " * depth + rng.choice(_HEADS))
        depth += rng.choice((1, 1, 1, 0, -1)) if depth else 1
    return "nested blocks", "\n".join([*lines, " " * depth + "pass\n"]).encode()


def _deep(rng: random.Random, source: bytes) -> tuple[str, bytes]:
    depth = rng.choice((50, 99, 150, 1000, 30_000))
    text = rng.choice((
        "x = " + "(" * depth + ")" * depth,
        "x = " + "[" * depth,
        "x = " + "-" * depth + "1",
        "x = " + "not " * depth + "1",
        "x = a" + ".b" * depth,
        "x = a" + "[0]" * depth,
        "x = a" + "()" * depth,
        "x = 1" + " + 1" * depth,
        "x = 1" + " < 1" * depth,
        "x = " + "1 if x else " * depth + "1",
        "x = " + "lambda: " * depth + "1",
        "x = f'" + "{f'" * (depth // 50),
        "@a\n" * depth + "def f(): pass",
        "\n".join(" " * n + "if 1:" for n in range(min(depth, 300))) + "\n" + " " * 300 + "pass",
        "if 1: pass\n" + "elif 1: pass\n" * depth,
        "x = " + "a = " * depth + "1",
        "def f(" + ", ".join(f"a{n}" for n in range(depth)) + "): pass\nf(" + "1," * depth + ")",
        "class A(" + ", ".join(f"a{n}" for n in range(depth)) + "): pass",
        "x = '" + "é" * depth,
        "x: " + "a[" * depth + "]" * depth,
        "from " + "." * depth + " import x",
        "import " + ".".join("a" * depth),
    ))  # fmt: skip
    return f"nested {depth}: {text[:12]!r}", _joined(rng, source, text.encode())


def _joined(rng: random.Random, source: bytes, text: bytes) -> bytes:
    return source + b"\n" + text + b"\n" if rng.random() < 0.5 else text + b"\n" + source


def _tokens(rng: random.Random, source: bytes) -> tuple[str, bytes]:
    import re

    tokens = re.findall(r"\w+|[ \t]+|\n|[^\w\s]", source.decode("utf-8", "replace"))
    for _ in range(rng.choice((1, 2, 10))):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(4):
            case 0:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 1:
                tokens[at] = ""
            case 2:
                tokens[at] = tokens[other]
            case _:
                tokens[at] = rng.choice(_WORDS)
    return "tokens shuffled", "".join(tokens).encode("utf-8", "replace")


def _tree(source: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def _text(tree: ast.Module, how: str, source: bytes) -> tuple[str, bytes]:
    try:
        return how, ast.unparse(ast.fix_missing_locations(tree)).encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError, TypeError, AttributeError):
        return f"{how} (which cannot be written)", source


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    """Bodies of functions, which the interpreter enters."""
    functions = (
        n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    return [function.body for function in functions] or [tree.body]  # type: ignore[attr-defined]


def _hostile_statement(rng: random.Random, source: bytes) -> tuple[str, bytes]:
    tree = _tree(source)
    snippet = rng.choice(STATEMENTS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(snippet)
    except SyntaxError:
        return f"text {snippet[:60]!r}", _joined(rng, source, snippet.encode())
    body = tree.body if rng.random() < 0.1 else rng.choice(_bodies(tree))
    at = rng.randrange(len(body) + 1)
    body[at:at] = parsed.body
    return _text(tree, snippet[:90], source)


def _hostile_expression(rng: random.Random, source: bytes) -> tuple[str, bytes]:
    text = rng.choice(EXPRESSIONS)
    tree = _tree(source)
    _replace(rng, tree, ast.Name(f"__hole_{rng.randrange(9)}__", ast.Load()))
    how, result = _text(tree, text[:60], source)
    import re

    return how, re.sub(rb"__hole_\d__", lambda _: text.encode(), result)


def _exchanged(rng: random.Random, source: bytes) -> tuple[str, bytes]:
    tree = _tree(source)
    for _ in range(rng.choice((1, 1, 3))):
        _replace(rng, tree, copy.deepcopy(rng.choice(_expressions(tree))))
    return _text(tree, "expressions exchanged", source)


def _expressions(tree: ast.AST) -> list[ast.expr]:
    return [
        n for n in ast.walk(tree)
        if isinstance(n, ast.expr) and isinstance(getattr(n, "ctx", None), (ast.Load, type(None)))
    ]  # fmt: skip


def _replace(rng: random.Random, tree: ast.AST, new: ast.expr) -> None:
    slots: list[tuple[Any, Any, Any]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not isinstance(value, ast.Starred):
                slots.append((node, name, None))
            elif isinstance(value, list):
                slots += [(node, name, i) for i, v in enumerate(value) if isinstance(v, ast.expr)]
    loads = [
        (n, f, i) for n, f, i in slots
        if not isinstance(_get(n, f, i), ast.Name) or isinstance(_get(n, f, i).ctx, ast.Load)
    ]  # fmt: skip
    node, name, index = rng.choice(loads)
    if index is None:
        setattr(node, name, new)
    else:
        getattr(node, name)[index] = new


def _get(node: Any, name: str, index: int | None) -> Any:
    return getattr(node, name) if index is None else getattr(node, name)[index]


def _statements(rng: random.Random, source: bytes) -> tuple[str, bytes]:
    tree = _tree(source)
    bodies = _bodies(tree)
    for _ in range(rng.choice((1, 1, 4))):
        body, other = rng.choice(bodies), rng.choice(bodies)
        at = rng.randrange(len(body))
        match rng.randrange(4):
            case 0:
                rng.shuffle(body)
            case 1 if len(body) > 1:
                del body[at]
            case 2:
                body.insert(at, copy.deepcopy(rng.choice(other)))
            case _:
                body[at] = _wrapped(rng, body[at])
    return _text(tree, "statements moved", source)


def _wrapped(rng: random.Random, statement: ast.stmt) -> ast.stmt:
    heads = ("while True:", "for i in range(10 ** 9):", "if torch.ones(1).sum():", "with self:",
             "try:", "def f(self=self):", "class A:", "if self:",
             "for self in [self]:")  # fmt: skip
    head = rng.choice(heads)
    tail = "\nfinally: pass" if head == "try:" else ""
    wrapper: Any = ast.parse(f"{head}\n pass{tail}").body[0]
    wrapper.body = [statement]
    return wrapper  # type: ignore[no-any-return]


DAMAGES: dict[str, Callable[[random.Random, bytes], tuple[str, bytes]]] = {
    "bytes": _as_bytes, "words": _words, "blocks": _blocks, "deep": _deep, "tokens": _tokens,
    "statement": _hostile_statement, "statement again": _hostile_statement,
    "expression": _hostile_expression, "exchanged": _exchanged, "statements": _statements,
}  # fmt: skip
