"""Plain data: strings, containers, equality, copying, formatting, enums, dataclasses."""

import copy
import dataclasses
import enum
import math
import re
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto


class Color(Enum):
    RED = 1
    GREEN = "g"
    CRIMSON = 1

    @property
    def loud(self):
        return self.name + "!"

    def is_red(self):
        return self == Color.RED

    @classmethod
    def parse(cls, text):
        return cls[text.upper()]


class Mode(str, Enum):
    FAST = "fast"
    SLOW = "slow"


class Level(IntEnum):
    LOW = auto()
    HIGH = auto()


class Algo(Enum):
    EAGLE = auto()
    EAGLE3 = auto()
    NONE = auto()

    def is_eagle(self):
        return self in (Algo.EAGLE, Algo.EAGLE3)

    def is_none(self):
        return self is Algo.NONE

    @staticmethod
    def from_string(name):
        table = {"EAGLE": Algo.EAGLE, "EAGLE3": Algo.EAGLE3, None: Algo.NONE}
        return table[name.upper() if name is not None else None]


def case_enum_members():
    return (
        Color.RED.value,
        Color.RED.name,
        Color(1) is Color.RED,
        Color("g") is Color.GREEN,
        Color["RED"].loud,
        Color.CRIMSON is Color.RED,
        [c.name for c in Color],
        len(Color),
        Color.parse("green").value,
        Color.RED.is_red(),
        Color.RED == 1,
        Color.RED in (Color.GREEN, Color.CRIMSON),
        {Color.RED: 1}[Color(1)],
        isinstance(Color.RED, Color),
        Color.RED != Color.GREEN,
        str(Color.RED),
        list(Color.__members__),
        Color.RED in Color,
    )


def case_enum_errors():
    out = []
    for f in (lambda: Color(5), lambda: Color["X"], lambda: Color.MISSING):
        try:
            f()
        except (ValueError, KeyError, AttributeError) as error:
            out.append(type(error).__name__)
    return out


def case_text_enum():
    return (
        Mode.FAST == "fast",
        Mode("slow") is Mode.SLOW,
        Mode.FAST.upper(),
        {"fast": 1}[Mode.FAST],
        {Mode.SLOW: 2}["slow"],
        Mode.FAST in ["fast"],
        "fast" in {Mode.FAST},
        Mode.FAST.value + "x",
        isinstance(Mode.FAST, str),
        f"{Mode.FAST.value}",
        Mode.FAST + "!",
        Mode.FAST.startswith("f"),
    )


def case_int_enum():
    return (
        Level.LOW == 1,
        Level.HIGH > Level.LOW,
        Level.HIGH + 1,
        Level(2) is Level.HIGH,
        [10, 20, 30][Level.LOW],
        Level.HIGH.value,
        sorted([Level.HIGH, Level.LOW])[0] is Level.LOW,
    )


def case_enum_helpers():
    return (
        Algo.from_string("eagle3").is_eagle(),
        Algo.from_string(None).is_none(),
        Algo.EAGLE.value,
        Algo.EAGLE3.value,
        Algo.NONE.is_eagle(),
    )


def case_functional_enum():
    E = Enum("E", "A B")
    F = Enum("F", {"X": 10, "Y": 20})
    G = Enum("G", [("P", 1), ("Q", 2)])
    return E.A.value, E["B"].value, F(20).name, len(G), [m.name for m in F]


def case_enum_with_tuple_values():
    class Planet(Enum):
        EARTH = (1, 2)
        MARS = (3, 4)

        def __init__(self, mass, radius):
            self.mass = mass
            self.radius = radius

    return Planet.EARTH.mass, Planet.MARS.radius, Planet((3, 4)) is Planet.MARS, Planet.EARTH.value


def case_enum_missing():
    class M(Enum):
        A = "a"

        @classmethod
        def _missing_(cls, value):
            return cls.A if value == "alias" else None

    try:
        M("zzz")
    except ValueError:
        return M("alias") is M.A


def case_flags():
    class P(enum.IntFlag):
        R = 1
        W = 2

    both = P.R | P.W
    return both.value, bool(both & P.W), bool(P.R & P.W), P.R in both


@dataclass
class Point:
    x: int
    y: int = 2
    tags: list = field(default_factory=list)
    hidden: int = field(default=7, repr=False)

    def total(self):
        return self.x + self.y


@dataclass
class Point3(Point):
    z: int = 3

    def __post_init__(self):
        self.sum = self.x + self.y + self.z


@dataclass(frozen=True)
class Frozen:
    a: int
    b: str = "b"


class Obliging:
    def __getattr__(self, name):
        return name


@dataclass(kw_only=True)
class Keyword:
    b: int = 1
    a: int


def case_dataclasses():
    p, q = Point(1), Point(1)
    p.tags.append("t")
    r = dataclasses.replace(q, x=9)
    return (
        p.total(),
        q.tags,
        r.x,
        r.y,
        p == q,
        Point(1) == q,
        Point3(1, z=5).sum,
        Point3(1, 2, [], 7, 4).z,
        [f.name for f in dataclasses.fields(Point3)],
        dataclasses.asdict(Frozen(1)),
        Frozen(1) == Frozen(1),
        {Frozen(1): "v"}[Frozen(1)],
        Keyword(a=5).a,
        dataclasses.is_dataclass(p),
        dataclasses.is_dataclass(Point),
        dataclasses.is_dataclass(Obliging()),
    )


def case_dataclass_errors():
    out = []
    for f in (
        lambda: Point(),
        lambda: Point(1, w=2),
        lambda: setattr(Frozen(1), "a", 2),
        lambda: Keyword(1),
        lambda: Point(1, 2, 3, 4, 5),
    ):
        try:
            f()
            out.append("fine")
        except (TypeError, AttributeError) as error:
            out.append(isinstance(error, TypeError))
    return out


def case_dataclass_repr():
    return repr(Frozen(1)), str(Point(1))


def case_dataclass_order():
    @dataclass(order=True)
    class V:
        major: int
        minor: int

    return V(1, 2) < V(1, 3), max(V(1, 0), V(2, 0)).major


def case_strings():
    s = "model.layers.12.self_attn.q_proj.weight"
    return (
        s.split("."),
        s.rsplit(".", 1),
        s.partition(".layers."),
        s.replace("q_proj", "qkv_proj", 1),
        s.startswith(("model.", "x")),
        s.endswith("bias"),
        s.removeprefix("model."),
        "layers" in s,
        s[:5],
        s[-6:],
        s[::2][:5],
        s.find("zz"),
        s.count("."),
        "-".join(["a", "b"]),
        " x ".strip(),
        "AbC".lower(),
        "a,b,,c".split(","),
        "12".isdigit(),
        int("12") + 1,
        "abc"[1],
        "x" * 3,
        "{}-{k}".format(1, k=2),
        "%s/%d" % ("a", 3),
        "%05.2f" % 3.14159,
        "b" > "a",
        ord("a"),
        chr(98),
        "a\tb".expandtabs(2),
        "title case".title(),
        "x".encode("utf-8") == b"x",
        "a" in "abc",
        "abc".zfill(5),
        "é".casefold(),
        "a-b_c".translate(str.maketrans("-_", "  ")),
    )


def case_f_strings():
    x, name, items = 3.14159, "w", [1, "a", None]
    d = {"k": 1}
    width = 6
    return (
        f"{x:.2f}",
        f"{name!r}",
        f"{name:>5}|",
        f"{name!r:>5}|",
        f"{width:04d}",
        f"{x:{width}.1f}",
        f"{items}",
        f"{d}",
        f"{d['k']}",
        f"{x=:.1f}",
        f"{{}}",
        f"{None} {True} {(1, 2)} {(1,)}",
        f"{'nested ' + f'{name}'}",
        f"{[1.5, 'b', (None,)]!r}",
    )


def case_lists():
    a = [3, 1, 2]
    b = a
    c = a[:]
    a.sort()
    a.insert(0, 9)
    a.extend(x for x in (7, 8))
    del a[0]
    a[1:2] = [5, 5]
    d = a.pop()
    a.reverse()
    return (
        a,
        b is a,
        c,
        d,
        a.index(5),
        a.count(5),
        a * 2,
        a + [1],
        [1, 2] == [1, 2],
        [1, [2]] == [1, (2,)],
        a[-1],
        a[::-1],
        5 in a,
        [[0] * 2 for _ in range(2)],
    )


def case_nested_list_aliasing():
    rows = [[0] * 2] * 2
    rows[0][0] = 1
    return rows


def case_dicts():
    d = {"a": 1, **{"b": 2}}
    d.setdefault("c", []).append(3)
    d.update(a=5, z=0)
    d.update({"y": 1})
    popped = d.pop("z"), d.pop("nope", None)
    e = dict(d)
    e["a"] = 9
    return (
        d,
        popped,
        list(d),
        list(d.items()),
        list(d.values()),
        d.get("q"),
        d.get("q", 4),
        "a" in d,
        len(d),
        d == {"a": 5, "b": 2, "c": [3], "y": 1},
        d | {"n": 1},
        e["c"] is d["c"],
        {v: k for k, v in {"x": 1}.items()},
        bool({}.keys()),
        bool({1: 1}.items()),
        d.keys() & {"a", "q"},
        sorted(d.keys() - {"a"}),
        dict.fromkeys("ab", 0),
        dict(a=1),
        dict([("k", "v")]),
        {1: "a", True: "b"},
        {1.0: "x"}[1],
        list(reversed({"a": 1, "b": 2})),
    )


def case_sets():
    s = {1, 2}
    s.add(3)
    s.discard(9)
    return (
        s & {2, 3},
        s | {4},
        s - {1},
        s ^ {3, 4},
        s <= {1, 2, 3},
        s.issubset({1}),
        len(s),
        2 in s,
        frozenset([1]) == {1},
        s.isdisjoint({7}),
        {1}.union([2], [3]),
        {1, 2}.intersection([2]),
    )


def case_tuples_and_ranges():
    t = (1, 2, 3)
    return (
        t + (4,),
        t[1:],
        t.index(2),
        t < (1, 3),
        (1, "a") == (1, "a"),
        range(3) == range(0, 3),
        2 in range(3),
        len(range(10)),
        range(10)[2:5] == range(2, 5),
        list(range(3))[-1],
        tuple("ab"),
        range(5)[-1],
    )


def case_numbers():
    return (
        7 // 2,
        -7 // 2,
        -7 % 3,
        2**10,
        2**-1,
        1 / 4,
        7 / 2,
        1e3,
        int(3.9),
        int(-3.9),
        float("1.5"),
        int("ff", 16),
        round(3.14159, 2),
        1 == 1.0,
        True + 1,
        0.1 + 0.2 == 0.3,
        5 & 3,
        5 | 3,
        5 ^ 3,
        ~5,
        1 << 4,
        16 >> 2,
        -(3),
        +3,
        not 0,
        math.sqrt(16.0),
        math.ceil(2.1),
        math.floor(-2.1),
        math.prod([2, 3]),
        math.inf > 1,
        math.isnan(float("nan")),
        float("nan") == float("nan"),
        math.log(1.0),
        math.log2(8),
        math.pi > 3,
        (5).bit_length(),
        1 if 0.0 else 2,
        (3).__add__(4),
        abs(-2.5),
        max(1, 2.5),
        complex(1, 2).real,
    )


def case_identity():
    a = [1]
    b = [1]
    n = None
    return (
        a is b,
        a is a,
        n is None,
        n is not None,
        a == b,
        () is (),
        "x" is not None,
        True is True,
        type(a) is list,
    )


def case_nan_is_found_by_identity():
    nan = float("nan")
    return nan in [nan], [nan] == [nan], nan == nan, (nan,).count(nan)


def case_copies():
    inner = {"k": [1]}
    original = {"a": inner, "b": inner}
    shallow = copy.copy(original)
    deep = copy.deepcopy(original)
    inner["k"].append(2)
    return shallow["a"]["k"], deep["a"]["k"], deep["a"] is deep["b"], shallow["a"] is inner


class Node:
    def __init__(self, value):
        self.value = value
        self.children = []
        self.parent = None

    def add(self, child):
        child.parent = self
        self.children.append(child)
        return self

    def bump(self):
        self.value += 1
        return self.value


def case_deepcopy_of_a_graph():
    root = Node(1).add(Node(2)).add(Node(3))
    other = copy.deepcopy(root)
    other.children[0].value = 9
    return (
        root.children[0].value,
        other.children[0].parent is other,
        other.children[0].parent is root,
        copy.copy(root).children is root.children,
    )


def case_deepcopy_of_self_reference():
    a = [1]
    a.append(a)
    b = copy.deepcopy(a)
    return b[1] is b, b is a


def case_deepcopy_of_bound_method():
    n = Node(1)
    n.act = n.bump
    m = copy.deepcopy(n)
    m.act()
    return n.value, m.value


def case_deepcopy_hooks():
    class A:
        def __init__(self):
            self.x = [1]

        def __deepcopy__(self, memo):
            made = A()
            made.x = "hook"
            return made

    return copy.deepcopy(A()).x, copy.deepcopy([A()])[0].x, copy.copy(A()).x


def case_copy_of_collections():
    a = [1, [2]]
    b = a.copy()
    c = {"x": a}.copy()
    s = {1}
    t = s.copy()
    t.add(2)
    b[1].append(3)
    return a, b is a, c["x"] is a, s


def case_config_mutation_after_deepcopy():
    class Config:
        def __init__(self):
            self.num_hidden_layers = 32
            self.rope = {"type": "llama3"}

    config = Config()
    draft = copy.deepcopy(config)
    draft.num_hidden_layers = 1
    draft.rope["type"] = "none"
    alias = config
    alias.num_hidden_layers = 7
    return config.num_hidden_layers, draft.num_hidden_layers, config.rope


def case_collections():
    d = defaultdict(list)
    d["a"].append(1)
    n = defaultdict(int)
    n["x"] += 1
    c = Counter("aab")
    q = deque([1, 2], maxlen=2)
    q.append(3)
    q.appendleft(0)
    o = OrderedDict(b=1, a=2)
    o.move_to_end("b")
    P = namedtuple("P", ["x", "y"])
    Q = namedtuple("Q", "a b", defaults=[5])
    return (
        dict(d),
        n["x"],
        "y" in n,
        c["a"],
        c["zzz"],
        list(q),
        list(o),
        P(1, 2).y,
        P(1, y=3)._replace(x=0),
        P(1, 2) == (1, 2),
        Q(1).b,
        P._fields,
        isinstance(d, dict),
        len(d),
    )


def case_regex():
    m = re.match(r"layers\.(\d+)\.(.*)", "layers.12.norm")
    return (
        m.group(1),
        m.groups(),
        re.match("x", "y"),
        re.sub(r"midlayer\.", "layers.0.", "midlayer.norm"),
        re.search(r"\d+", "ab12").group(),
        re.findall(r"\d", "a1b2"),
        bool(re.fullmatch("a+", "aaa")),
        re.compile(r"(?P<n>\d)").search("x7").group("n"),
        re.split(",", "a,b"),
        re.sub(r"(\d)", lambda m: str(int(m.group(1)) + 1), "a1"),
        m[1],
        re.escape("a.b"),
    )


def case_sorting():
    rows = [("b", 2), ("a", 2), ("c", 1)]
    rows.sort(key=lambda r: r[1])
    return (
        rows,
        sorted(rows, key=lambda r: (r[1], r[0]), reverse=True),
        sorted({"b": 1, "a": 2}),
        min(rows, key=lambda r: r[0]),
        sorted([[2], [1, 5]]),
        max({"x": 3, "y": 9}.items(), key=lambda kv: kv[1]),
    )


def case_string_comparison_of_versions():
    def parse(v):
        return tuple(int(p) for p in v.split(".")[:2])

    return parse("2.10.1") >= parse("2.9"), "2.10" >= "2.9"


def case_membership_uses_equality():
    class Always:
        def __eq__(self, other):
            return True

        __hash__ = None

    return 5 in [Always()], Always() in [], [Always()] == [3]


def case_slices():
    s = slice(1, 5, 2)
    return s.start, s.stop, s.step, [0, 1, 2, 3, 4, 5][s], s == slice(1, 5, 2)


def case_bytes():
    return b"abc"[0], b"abc".decode(), b"a" + b"b", len(b"xyz"), bytes(3) == b"\0\0\0"


def case_big_dict_of_tuples():
    table = {(i, j): i * j for i in range(3) for j in range(3)}
    return table[(2, 2)], (5, 5) in table, sorted(table)[:2]


def case_repr_of_recursive_list():
    a = [1]
    a.append(a)
    return repr(a), str({"x": [1, "q"]})
