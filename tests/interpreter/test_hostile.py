"""Hostile programs end soon, in a dead end with a place, in an exception of their own, or as unparsable text."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support import call, machine, outcome, run

from checker.interpreter.machine import Limits
from checker.interpreter.values import Stuck

LIMITS = Limits(seconds=0.5)

ENDLESS = {
    "while": "while True: pass",
    "while with body": "x = 0\n    while True: x += 1",
    "for over iter": "for x in iter(lambda: 1, 2): pass",
    "generator": "def g():\n        while True: yield 1\n    for x in g(): pass",
    "list of generator": "def g():\n        while True: yield 1\n    return list(g())",
    "sum of a generator": "def g():\n        while True: yield 1\n    return sum(g())",
    "star of a generator": "def g():\n        while True: yield 1\n    return [*g()]",
    "unpacking": "def g():\n        while True: yield 1\n    a, *b = g()",
    "in a generator": "def g():\n        while True: yield 1\n    return 2 in g()",
    "count": "from itertools import count\n    for x in count(): pass",
    "cycle": "from itertools import cycle\n    return list(cycle([1]))",
    "growing list": "a = [1]\n    for x in a: a.append(x)",
    "doubling list": "a = [1]\n    while True: a = a + a",
    "doubling list in place": "a = [1]\n    while True: a += a",
    "doubling list by extend": "a = [1]\n    while True: a.extend(a)",
    "doubling text": "a = 'x'\n    while True: a = a + a",
    "doubling text by join": "a = 'xx'\n    while True: a = a.join([a, a])",
    "doubling text by replace": "a = 'xx'\n    while True: a = a.replace('x', 'xxxx')",
    "doubling text by format": "a = 'xx'\n    while True: a = f'{a}{a}'",
    "squaring": "x = 10\n    while True: x = x * x",
    "power": "return 10 ** 10 ** 10",
    "builtin power": "return pow(2, 10 ** 9)",
    "shift": "return 1 << 10 ** 12",
    "huge range": "return list(range(10 ** 12))",
    "huge loop": "for i in range(10 ** 12): pass",
    "huge multiplication": "return [0] * 10 ** 12",
    "huge text": "return 'x' * 10 ** 12",
    "huge width": "return f'{1:999999999}'",
    "huge percent width": "return '%999999999d' % 1",
    "huge format width": "return '{:>999999999}'.format('x')",
    "huge justification": "return 'x'.ljust(10 ** 12)",
    "huge bytes": "return bytes(10 ** 12)",
    "huge product": "from itertools import product\n    return list(product(range(100), repeat=6))",
    "recursion": "def f(): return f()\n    return f()",
    "mutual recursion": "def f(): return g()\n    def g(): return f()\n    return f()",
    "recursive lambda": "f = lambda: f()\n    return f()",
    "__getattr__": "class A:\n        def __getattr__(self, n): return getattr(self, n + 'x')\n    return A().y",
    "__getattribute__": "class A:\n        def __getattribute__(self, n): return self.n\n    return A().y",
    "__setattr__": "class A:\n        def __setattr__(self, n, v): self.x = v\n    A().y = 1",
    "__eq__": "class A:\n        def __eq__(self, o): return self == o\n    return A() == A()",
    "__call__": "class A:\n        def __call__(self): return self()\n    return A()()",
    "__iter__": "class A:\n        def __iter__(self): return iter(self)\n    return list(A())",
    "__next__": "class A:\n        def __iter__(self): return self\n        def __next__(self): return 1\n    return list(A())",
    "__getitem__": "class A:\n        def __getitem__(self, i): return i\n    return list(A())",
    "__len__": "class A:\n        def __len__(self): return len(self)\n    return len(A())",
    "__bool__": "class A:\n        def __bool__(self): return bool(self)\n    return not A()",
    "__repr__": "class A:\n        def __repr__(self): return repr(self)\n    return repr(A())",
    "__hash__": "class A:\n        def __hash__(self): return hash(self)\n        def __eq__(self, o): return self == o\n    return {A(): 1, A(): 2}",
    "property": "class A:\n        @property\n        def x(self): return self.x\n    return A().x",
    "__new__": "class A:\n        def __new__(cls): return cls()\n    return A()",
    "__init__": "class A:\n        def __init__(self): A()\n    return A()",
    "__init_subclass__": "class A:\n        def __init_subclass__(cls):\n            class B(cls): pass\n    class C(A): pass",
    "__missing__": "class D(dict):\n        def __missing__(self, k): return self[k]\n    return D()[1]",
    "generator of itself": "def g(): yield from g()\n    return list(g())",
    "try in a loop": "while True:\n        try: raise ValueError\n        except ValueError: continue",
    "finally in a loop": "while True:\n        try: return 1\n        finally: continue",
    "nested comprehension": "return [0 for a in range(999) for b in range(999) for c in range(999)]",
    "sorting": "class A:\n        def __lt__(self, o): return self < o\n    return sorted([A(), A()])",
    "exponential": "def f(n): return f(n - 1) + f(n - 1) if n else 1\n    return f(80)",
    "deepcopy": "import copy\n    class A:\n        def __deepcopy__(self, memo): return copy.deepcopy(self)\n    return copy.deepcopy(A())",
    "long list of lists": "a = []\n    for i in range(10 ** 9): a = [a]\n    return a",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_programs_end(name: str) -> None:
    before = time.process_time()
    found = run(f"def main():\n    {ENDLESS[name]}", limits=LIMITS)
    assert isinstance(found, str)
    assert found.startswith(("stuck: ", "raises RecursionError", "unknown: ")), found
    assert "internal" not in found
    assert time.process_time() - before < 5


NESTED = {
    "parentheses": "(" * 10_000 + "1" + ")" * 10_000,
    "minus": "-" * 10_000 + "1",
    "not": "not " * 10_000 + "1",
    "sum": "1" + "+1" * 10_000,
    "attributes": "main" + ".x" * 10_000,
    "calls": "main" + "()" * 10_000,
    "subscripts": "main" + "[0]" * 10_000,
    "lambdas": "lambda: " * 10_000 + "1",
    "conditionals": "1 if main else " * 10_000 + "2",
    "lists": "[" * 5_000 + "]" * 5_000,
    "and": " and ".join(["1"] * 10_000),
    "comparisons": "1" + " < 2" * 10_000,
    "power": "1" + " ** 1" * 10_000,
    "f-strings": "f'" + "{1}" * 10_000 + "'",
    "dict": "{1: " * 5_000 + "1" + "}" * 5_000,
}


@pytest.mark.parametrize("name", NESTED)
def test_deeply_nested_expressions_end(name: str) -> None:
    found = run(f"def main():\n    return {NESTED[name]}", limits=LIMITS)
    assert "internal" not in str(found)


@pytest.mark.parametrize(
    "source",
    [
        "def main():\n"
        + "".join(" " * (i + 1) + "if 1:\n" for i in range(95))
        + " " * 96
        + "return 1",
        "def main():\n    if 0: pass\n" + "    elif 0: pass\n" * 10_000 + "    return 1",
        "def main():\n" + "    x = 1\n" * 50_000 + "    return x",
        "def f0(): return 1\n"
        + "".join(f"def f{i + 1}(): return f{i}()\n" for i in range(1000))
        + "def main(): return f1000()",
        "class A0: pass\n"
        + "".join(f"class A{i + 1}(A{i}): pass\n" for i in range(1000))
        + "def main(): return A1000.__name__",
        "x0 = 1\n"
        + "".join(f"x{i + 1} = x{i}\n" for i in range(2000))
        + "def main(): return x2000",
        "class Big:\n"
        + "".join(f"    def m{i}(self): return {i}\n" for i in range(20_000))
        + "def main(): return Big().m19999()",
        "D = {\n"
        + "".join(f"    'k{i}': {i},\n" for i in range(50_000))
        + "}\ndef main(): return D['k7']",
        "def main():\n    a = []\n    for i in range(20_000): a = [a]\n    return a == [a]",
        "def main():\n    a = []\n    for i in range(20_000): a = [a]\n    return repr(a)[:3]",
        "def main():\n    import copy\n    a = []\n    for i in range(20_000): a = [a]\n    return len(copy.deepcopy(a))",
        "def main():\n    a, b = [], []\n    a.append(a)\n    b.append(b)\n    return a == b",
        "def main():\n    d = {}\n    d['d'] = d\n    return str(d), f'{d}', d == d",
    ],
    ids=range(13),
)
def test_large_programs_end(source: str) -> None:
    before = time.process_time()
    found = run(source, limits=LIMITS)
    assert "internal" not in str(found)
    assert time.process_time() - before < 12


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def main(:", "invalid syntax"),
        (b"def main():\n    return '\xff'", "unparsable"),
        (b"x = 1\0\ndef main(): return x", "null bytes"),
        (b"# -*- coding: nonsense -*-\ndef main(): return 1", "unknown encoding"),
        ("def main():\n\treturn 1\n        return 2", "inconsistent use of tabs"),
        ("print 'old'\ndef main(): return 1", "Missing parentheses"),
        ("def main():\n    return 1 +", "invalid syntax"),
        ("def main(): return 0777", "leading zeros"),
        ("\u00a0def main(): return 1", "invalid non-printable character"),
        (b"\xff\xfed\x00e\x00f\x00", "unparsable"),
    ],
)
def test_what_is_no_python_says_so(source: str | bytes, reason: str) -> None:
    found = run(source)
    assert found.startswith("unparsable: ")
    assert reason in found


ODD: dict[str, Any] = {
    "a decorator that returns itself": (
        "def d(f): return d\n    @d\n    def g(): pass\n    return g is d",
        True,
    ),
    "a class that is its own attribute": (
        "class A: pass\n    A.A = A\n    return A.A.A.A is A",
        True,
    ),
    "a property of a class that is called": (
        "class A:\n        x = property(lambda self: 1)\n    return A.x is A.x",
        True,
    ),
    "an object in its own attributes": (
        "class A: pass\n    a = A()\n    a.a = a\n    return a.a.a is a",
        True,
    ),
    "deleting while iterating": (
        "a = [1, 2, 3, 4]\n    for x in a: a.remove(x)\n    return a",
        [2, 4],
    ),
    "an empty class body": ("class A: ...\n    return A().__class__.__name__", "A"),
    "a base that is no class": (
        "try:\n        class A(5): pass\n    except TypeError:\n        return 'refused'",
        "refused",
    ),
    "super without a class": (
        "try:\n        return super()\n    except RuntimeError:\n        return 'refused'",
        "refused",
    ),
    "an exception that is no exception": (
        "try:\n        raise 5\n    except TypeError:\n        return 'refused'",
        "refused",
    ),
    "names of builtins": ("list = 5\n    len = 6\n    return list + len", 11),
    "keyword twice": (
        "def f(**k): return k\n    try:\n        return f(a=1, **{'a': 2})\n    except TypeError:\n        return 'refused'",
        "refused",
    ),
    "keywords that are no text": (
        "def f(**k): return k\n    try:\n        return f(**{1: 2})\n    except TypeError:\n        return 'refused'",
        "refused",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_programs(name: str) -> None:
    body, expected = ODD[name]
    assert run(f"def main():\n    {body}") == expected


@pytest.mark.parametrize(
    "body",
    [
        "eval('1')",
        "exec('x = 1')",
        "compile('1', '', 'eval')",
        "__import__('os')",
        "open('/etc/passwd')",
        "input()",
        "breakpoint()",
    ],
)
def test_nothing_is_run_or_read(body: str) -> None:
    assert run(f"def main():\n    return {body}").startswith("unknown: ")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 40 + "b"),
        ("(a|a)*b", "a" * 40),
        ("(.*)(.*)(.*)(.*)(.*)(.*)(.*)x", "a" * 300),
        ("a" * 5000, "a"),
        ("(" * 300 + ")" * 300, ""),
        ("([a-z]+)*=", "a" * 60),
    ],
)
def test_expressions_that_may_take_for_ever_are_not_tried(pattern: str, text: str) -> None:
    before = time.process_time()
    run(f"import re\ndef main():\n    return bool(re.search({pattern!r}, {text!r}))")
    assert time.process_time() - before < 2


def test_a_dead_end_has_a_place() -> None:
    m = machine(
        {"main.py": "def main():\n    x = 1\n    while True:\n        x += 1"}, limits=LIMITS
    )
    with pytest.raises(Stuck) as caught:
        call(m, "main", "main")
    assert caught.value.location is not None
    assert caught.value.location.line in (3, 4)


def test_the_budget_is_shared_by_everything_a_machine_does() -> None:
    m = machine({"main.py": "def main():\n    while True: pass"}, limits=LIMITS)
    assert outcome(m, "main", "main").startswith("stuck")
    before = time.process_time()
    assert outcome(m, "main", "main").startswith("stuck")
    assert time.process_time() - before < 0.5
