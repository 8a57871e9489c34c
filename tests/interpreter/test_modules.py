"""Modules: imports, order of evaluation, packages, names that come and go."""

from __future__ import annotations

from typing import Any

import pytest
from support import machine, outcome, run

CASES: dict[str, tuple[dict[str, str], Any]] = {
    "relative import": (
        {
            "p/__init__.py": "",
            "p/a.py": "x = 1",
            "p/b.py": "from .a import x as y",
            "main.py": "from p.b import y\ndef main(): return y",
        },
        1,
    ),
    "package without __init__": (
        {"p/q/a.py": "x = 1", "main.py": "import p.q.a\ndef main(): return p.q.a.x"},
        1,
    ),
    "import inside a function": (
        {
            "a.py": "x = 4",
            "main.py": "def main():\n    import a as b\n    from a import x\n    return b.x + x",
        },
        8,
    ),
    "star import": (
        {"a.py": "x = 1\n_y = 2", "main.py": "from a import *\n_y = 9\ndef main(): return x, _y"},
        (1, 9),
    ),
    "star import leaves private names": (
        {
            "a.py": "_y = 2",
            "main.py": "from a import *\ndef main():\n    try:\n        return _y\n    except NameError:\n        return 'none'",
        },
        "none",
    ),
    "star import keeps to __all__": (
        {
            "a.py": "__all__ = ['x']\nx = 1\ny = 2",
            "main.py": "from a import *\ndef main():\n    try:\n        return x, y\n    except NameError:\n        return x",
        },
        1,
    ),
    "a function called while the module runs sees what is above": (
        {
            "a.py": "class F:\n    on = True\ndef made():\n    return F.on\nx = made()\nF.on = False",
            "main.py": "import a\ndef main(): return a.x, a.F.on, a.made()",
        },
        (True, False, False),
    ),
    "circular": (
        {
            "a.py": "import b\nx = 1\ndef f(): return b.y + x",
            "b.py": "import a\ny = 2\ndef g(): return a.x",
            "main.py": "import a, b\ndef main(): return a.f(), b.g()",
        },
        (3, 1),
    ),
    "circular from-import": (
        {
            "a.py": "from b import y\nx = 1",
            "b.py": "y = 2\ndef g():\n    from a import x\n    return x",
            "main.py": "import a, b\ndef main(): return a.y, b.g()",
        },
        (2, 1),
    ),
    "missing module": (
        {
            "p/__init__.py": "",
            "main.py": "def main():\n    try:\n        import p.nothing\n    except ImportError as e:\n        return type(e).__name__",
        },
        "ModuleNotFoundError",
    ),
    "missing name": (
        {
            "a.py": "",
            "main.py": "def main():\n    try:\n        from a import nothing\n    except ImportError:\n        return 'ImportError'",
        },
        "ImportError",
    ),
    "a name sees what stood above it": (
        {"main.py": "x = 1\ny = x\nx = 2\ndef main(): return y, x"},
        (1, 2),
    ),
    "names are rebound by what follows": (
        {"main.py": "x = [1]\nx.append(2)\nx += [3]\nx = x + [4]\ndef main(): return x"},
        [1, 2, 3, 4],
    ),
    "class that shadows its imported base": (
        {
            "a.py": "class X:\n    def f(self): return 'base'",
            "main.py": "from a import X\nclass X(X):\n    def f(self): return 'new ' + super().f()\ndef main(): return X().f()",
        },
        "new base",
    ),
    "alias under TYPE_CHECKING": (
        {
            "main.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from nowhere import X\nelse:\n    X = 5\ndef main(): return X"
        },
        5,
    ),
    "conditional definition": (
        {
            "main.py": "FLAG = True\nif FLAG:\n    def f(): return 'yes'\nelse:\n    def f(): return 'no'\ndef main(): return f()"
        },
        "yes",
    ),
    "definition in try": (
        {
            "p/__init__.py": "",
            "main.py": "try:\n    from p.gone import f\nexcept ImportError:\n    def f(): return 'fallback'\ndef main(): return f()",
        },
        "fallback",
    ),
    "registry filled by decorators": (
        {
            "main.py": "R = {}\ndef reg(name):\n    def deco(cls):\n        R[name] = cls\n        return cls\n    return deco\n@reg('a')\nclass A: pass\n@reg('b')\nclass B: pass\ndef main(): return sorted(R)"
        },
        ["a", "b"],
    ),
    "registry filled by a loop": (
        {"main.py": "R = {}\nfor i in range(3):\n    R[i] = i * i\ndef main(): return R"},
        {0: 0, 1: 1, 2: 4},
    ),
    "registry filled by a call": (
        {
            "main.py": "R = []\ndef add(r, x): r.append(x)\nadd(R, 1)\nadd(R, 2)\ndef main(): return R"
        },
        [1, 2],
    ),
    "registry updated under try": (
        {
            "main.py": "R = {'a': 1}\ntry:\n    R.update(b=2)\nexcept Exception:\n    pass\ndef main(): return R"
        },
        {"a": 1, "b": 2},
    ),
    "global assigned in a function called at import": (
        {"main.py": "X = 1\ndef init():\n    global X\n    X = 2\ninit()\ndef main(): return X"},
        2,
    ),
    "module attribute set from outside": (
        {
            "a.py": "flag = False\ndef get(): return flag",
            "main.py": "import a\ndef main():\n    before = a.get()\n    a.flag = True\n    return before, a.get()",
        },
        (False, True),
    ),
    "module __getattr__": (
        {
            "a.py": "def __getattr__(name):\n    if name == 'lazy': return 7\n    raise AttributeError(name)",
            "main.py": "import a\nfrom a import lazy\ndef main(): return lazy, a.lazy, hasattr(a, 'other')",
        },
        (7, 7, False),
    ),
    "lazy package": (
        {
            "p/__init__.py": "from typing import TYPE_CHECKING\nimport sys\nif TYPE_CHECKING:\n    from .a import X\nelse:\n    sys.modules[__name__] = make_lazy()",
            "p/a.py": "X = 3",
            "main.py": "from p import X\ndef main(): return X",
        },
        3,
    ),
    "__name__ and friends": (
        {
            "p/__init__.py": "n = __name__",
            "p/a.py": "n = (__name__, __package__)",
            "main.py": "import p, p.a\ndef main(): return p.n, p.a.n",
        },
        ("p", ("p.a", "p")),
    ),
    "submodule as attribute": (
        {
            "p/__init__.py": "from . import a",
            "p/a.py": "x = 2",
            "main.py": "import p\ndef main(): return p.a.x",
        },
        2,
    ),
    "package attribute before submodule": (
        {
            "p/__init__.py": "a = 'attribute'",
            "p/a.py": "x = 2",
            "main.py": "from p import a\ndef main(): return a",
        },
        "attribute",
    ),
    "MRO across modules": (
        {
            "a.py": "class A:\n    def f(self): return ['A']",
            "b.py": "from a import A\nclass B(A):\n    def f(self): return ['B'] + super().f()",
            "c.py": "import a\nclass C(a.A):\n    def f(self): return ['C'] + super().f()",
            "main.py": "from b import B\nfrom c import C\nclass D(B, C):\n    def f(self): return ['D'] + super().f()\ndef main(): return D().f()",
        },
        ["D", "B", "C", "A"],
    ),
    "walrus at the top": (
        {"main.py": "if (n := 5) > 3:\n    pass\ndef main(): return n"},
        5,
    ),
    "with at the top": (
        {
            "main.py": "from contextlib import nullcontext\nwith nullcontext(3) as n:\n    m = n + 1\ndef main(): return m"
        },
        4,
    ),
    "while and match at the top": (
        {
            "main.py": "i = 0\nwhile i < 3:\n    i += 1\nmatch i:\n    case 3:\n        r = 'three'\n    case _:\n        r = 'other'\ndef main(): return i, r"
        },
        (3, "three"),
    ),
    "deleted at the top": (
        {
            "main.py": "x = 1\ndel x\ndef main():\n    try:\n        return x\n    except NameError:\n        return 'gone'"
        },
        "gone",
    ),
    "tuple assignment at the top": (
        {"main.py": "a, (b, *c) = 1, (2, 3, 4)\ndef main(): return a, b, c"},
        (1, 2, [3, 4]),
    ),
    "names used before they are defined, in functions": (
        {"main.py": "def main(): return helper()\ndef helper(): return LATER\nLATER = 1"},
        1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_modules(name: str) -> None:
    files, expected = CASES[name]
    m = machine(dict(files))
    assert outcome(m, "main", "main") == expected
    assert m.decisions == []


def test_effects_of_imported_modules_of_the_checked_package() -> None:
    files = {
        "p/__init__.py": "from . import registry, plugins",
        "p/registry.py": "R = {}\ndef register(cls):\n    R[cls.__name__] = cls\n    return cls",
        "p/plugins.py": "from .registry import register\n@register\nclass A: pass\ntry:\n    @register\n    class B: pass\nexcept Exception:\n    pass",
        "main.py": "import p\nfrom p.registry import R\ndef main(): return p.__name__ and sorted(R)",
    }
    m = machine(dict(files))
    m.eager_packages.add("p")
    assert outcome(m, "main", "main") == ["A", "B"]


def test_an_external_name_is_unknown_not_absent() -> None:
    assert run("import somewhere\ndef main(): return somewhere.f(1)").startswith(
        "unknown: somewhere.f"
    )


def test_an_error_while_importing_is_seen_by_everyone_who_needs_it() -> None:
    files = {
        "a.py": "x = 1 / 0",
        "main.py": "def main():\n    out = []\n    for _ in range(2):\n        try:\n            import a\n            a.x\n        except ZeroDivisionError:\n            out.append('error')\n    return out",
    }
    assert outcome(machine(dict(files)), "main", "main") == ["error", "error"]
