"""Classes: MRO, super chains, properties, descriptors, class methods, special methods."""

import abc
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Base:
    kind = "base"

    def __init__(self, size, scale=1, **kwargs):
        self.size = size
        self.scale = scale
        self.extra = kwargs

    def who(self):
        return "Base"

    def chain(self):
        return ["Base"]


class Left(Base):
    def chain(self):
        return ["Left", *super().chain()]


class Right(Base):
    def chain(self):
        return ["Right"] + super().chain()


class Bottom(Left, Right):
    def chain(self):
        return ["Bottom"] + super().chain()


def case_c3():
    return Bottom(1).chain(), [c.__name__ for c in Bottom.__mro__][:4]


def case_inconsistent_mro():
    try:

        class Bad(Base, Left):
            pass
    except TypeError:
        return "TypeError"


def case_mixin_supplies_method():
    class Mixin:
        def who(self):
            return "Mixin " + super().who()

    class Both(Mixin, Base):
        pass

    return Both(1).who()


def case_keyword_drift_along_super():
    class A:
        def __init__(self, x, y=0):
            self.got = (x, y)

    class B(A):
        def __init__(self, x, *args, flag=False, **kwargs):
            super().__init__(x, *args, **kwargs)
            self.flag = flag

    return B(1, 2).got, B(1, y=3, flag=True).got, B(x=5).got


def case_skipping_a_base_init():
    class A:
        def __init__(self):
            self.log = ["A"]

    class B(A):
        def __init__(self):
            super().__init__()
            self.log.append("B")

    class C(B):
        def __init__(self):
            A.__init__(self)
            self.log.append("C")

    class D(B):
        def __init__(self):
            super(B, self).__init__()
            self.log.append("D")

    return C().log, D().log


def case_subclass_with_the_name_of_its_base():
    Original = Base

    class Base_(Original):
        def who(self):
            return "new " + super().who()

    return Base_(1).who()


class Base2(Base):
    def who(self):
        return "Base2"


Outer = Base2


class Base2(Outer):
    def who(self):
        return "shadow of " + super().who()


def case_shadowed_class():
    return Base2(1).who(), Outer(1).who()


def case_borrowed_method_keeps_its_class():
    class A(Base):
        def who(self):
            return "A>" + super().who()

    class B(Base):
        who = A.who

    try:
        return B(1).who()
    except TypeError:
        return A(1).who()


def case_borrowed_method_in_subclass():
    class A(Base):
        def who(self):
            return "A>" + super().who()

    class B(A):
        def who(self):
            return "B>" + super().who()

        other = A.who

    return B(1).who(), B(1).other()


def case_super_in_nested_function_and_comprehension():
    class A:
        def value(self, n):
            return n

    class B(A):
        def value(self, n):
            def inner(self):
                return super().value(n) + 1

            return inner(self)

    return B().value(3)


def case_super_of_wrapped_method():
    def loud(f):
        def inner(self):
            return f(self) + "!"

        return inner

    class A(Base):
        @loud
        def who(self):
            return "A " + super().who()

    return A(1).who()


def case_property_with_setter():
    class Box:
        def __init__(self):
            self._x = 1

        @property
        def x(self):
            return self._x * 10

        @x.setter
        def x(self, value):
            self._x = value

    box = Box()
    first = box.x
    box.x = 5
    box.x += 1
    return first, box.x, box._x


def case_property_without_setter():
    class Box:
        @property
        def x(self):
            return 1

    try:
        Box().x = 2
    except AttributeError:
        return "AttributeError", Box().x


def case_property_overridden_by_attribute_and_back():
    class A:
        @property
        def x(self):
            return "property"

    class B(A):
        x = "plain"

    class C(B):
        @property
        def x(self):
            return "again " + super().x

    return A().x, B().x, C().x


def case_property_raising_attribute_error_goes_to_getattr():
    class Box:
        @property
        def x(self):
            return self.missing

        def __getattr__(self, name):
            return "fallback " + name

    return Box().missing, Box().x


def case_hasattr_on_failing_property():
    class Box:
        @property
        def x(self):
            raise AttributeError("no")

        @property
        def y(self):
            raise ValueError("other")

    try:
        hasattr(Box(), "y")
    except ValueError:
        return hasattr(Box(), "x"), getattr(Box(), "x", "default")


def case_classmethod_and_staticmethod():
    class A:
        made = 0

        @classmethod
        def make(cls, *args, **kwargs):
            cls.made += 1
            return cls(*args, **kwargs)

        @staticmethod
        def add(a, b):
            return a + b

        def __init__(self, x=0):
            self.x = x

    class B(A):
        pass

    b = B.make(4)
    return (
        type(b).__name__,
        b.x,
        A.made,
        B.made,
        b.add(1, 2),
        A.add(3, 4),
        type(A().make()).__name__,
    )


def case_class_attribute_versus_instance():
    class A:
        items = []
        n = 0

    a, b = A(), A()
    a.items.append(1)
    a.n += 1
    return b.items, A.n, a.n, "n" in a.__dict__, "n" in b.__dict__


def case_getattr_and_setattr_with_computed_names():
    class A:
        pass

    a = A()
    for i in range(3):
        setattr(a, f"w{i}", i * i)
    delattr(a, "w1")
    return [getattr(a, f"w{i}", None) for i in range(4)], hasattr(a, "w1"), sorted(vars(a))


def case_getattr_chain_with_default():
    class A:
        rope = None

    a = A()
    return getattr(getattr(a, "rope", None), "theta", 10000), (
        getattr(a, "missing", None) or {}
    ).get("k", 7)


def case_missing_attribute():
    class A:
        pass

    try:
        A().nothing
    except AttributeError as error:
        return str(error)


def case_dunder_getattr_only_for_missing():
    class A:
        x = 1

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return name.upper()

    return A().x, A().foo, hasattr(A(), "_private")


def case_setattr_hook():
    class A:
        def __setattr__(self, name, value):
            super().__setattr__(name, value + 1)

    a = A()
    a.x = 1
    object.__setattr__(a, "y", 10)
    return a.x, a.y


def case_new_and_init():
    class A:
        def __new__(cls, *args):
            made = super().__new__(cls)
            made.tag = "new"
            return made

        def __init__(self, x):
            self.x = x

    class Never:
        def __new__(cls):
            return 5

    return A(3).tag, A(3).x, Never()


def case_singleton():
    class One:
        _instance = None

        def __new__(cls):
            if cls._instance is None:
                cls._instance = super().__new__(cls)
            return cls._instance

    return One() is One()


def case_init_subclass():
    registry = {}

    class Plugin:
        def __init_subclass__(cls, key=None, **kwargs):
            super().__init_subclass__(**kwargs)
            registry[key or cls.__name__] = cls

    class A(Plugin, key="a"):
        pass

    class B(A):
        pass

    return sorted(registry), registry["a"] is A


def case_set_name():
    class Field:
        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner):
            return (self.name, instance is not None)

    class A:
        width = Field()

    return A().width, A.width


def case_data_descriptor_wins_over_instance():
    class Positive:
        def __get__(self, instance, owner):
            return instance.__dict__["v"]

        def __set__(self, instance, value):
            instance.__dict__["v"] = abs(value)

    class A:
        v = Positive()

    a = A()
    a.v = -3
    return a.v


def case_call_and_getitem():
    class A:
        def __call__(self, x):
            return x + 1

        def __getitem__(self, key):
            return key

        def __contains__(self, x):
            return x == 1

        def __len__(self):
            return 0

    a = A()
    return a(1), a["k"], a[1:2], 1 in a, 2 in a, bool(a)


def case_iteration_protocols():
    class Counter:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return iter(range(self.n))

    class Down:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    class Old:
        def __getitem__(self, i):
            if i > 2:
                raise IndexError
            return i * i

    return (
        list(Counter(3)),
        list(Down(3)),
        [x for x in Old()],
        sum(Counter(4)),
        max(Down(2)),
        4 in Old(),
    )


def case_operators():
    class V:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            if not isinstance(other, (V, int)):
                return NotImplemented
            return V(self.x + (other.x if isinstance(other, V) else other))

        __radd__ = __add__

        def __iadd__(self, other):
            self.x += 100
            return self

        def __eq__(self, other):
            return isinstance(other, V) and self.x == other.x

        def __lt__(self, other):
            return self.x < other.x

        def __neg__(self):
            return V(-self.x)

        def __repr__(self):
            return f"V({self.x})"

    v = V(1)
    w = v
    w += 5
    try:
        V(1) + "x"
    except TypeError:
        error = "TypeError"
    return (
        (V(1) + 2).x,
        (3 + V(4)).x,
        sum([V(1), V(2)]).x,
        v.x,
        V(1) == V(1),
        V(1) != V(1),
        V(1) == 1,
        V(1) < V(2),
        V(2) > V(1),
        (-V(3)).x,
        repr(V(1)),
        f"{V(2)}",
        error,
        sorted([V(2), V(1)])[0].x,
    )


def case_reflected_comparison():
    class A:
        def __eq__(self, other):
            return NotImplemented

    class B:
        def __eq__(self, other):
            return "B"

    return A() == B(), A() == 1, (A() != 1)


def case_isinstance():
    class A(Base):
        pass

    return (
        isinstance(A(1), Base),
        isinstance(A(1), (int, Left)),
        isinstance(True, int),
        isinstance(1, bool),
        isinstance([], (tuple, list)),
        isinstance(None, type(None)),
        isinstance("x", object),
        isinstance(A, type),
        issubclass(A, Base),
        issubclass(bool, int),
        issubclass(A, (int, Base)),
        type(1) is int,
        type(A(1)) is A,
        type(A(1)) is Base,
    )


def case_abstract_methods():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

        @property
        @abc.abstractmethod
        def name(self): ...

        def double(self):
            return 2 * self.area()

    class Square(Shape):
        name = "square"

        def area(self):
            return 4

    return Square().double(), Square().name


def case_generic():
    class Holder(Generic[T]):
        def __init__(self, item: T):
            self.item = item

    class Ints(Holder[int]):
        pass

    return Ints(3).item, Holder[str]("x").item


class Entry(NamedTuple):
    name: str
    size: int = 8

    def double(self):
        return self.size * 2


def case_named_tuple():
    e = Entry("a")
    f = e._replace(size=16)
    name, size = f
    return (
        e.size,
        f.size,
        f.double(),
        name,
        size,
        f[0],
        len(f),
        f == Entry("a", 16),
        list(f),
        f._asdict(),
        e != f,
        isinstance(f, tuple),
        {f: 1}[Entry("a", 16)],
    )


def case_named_tuple_errors():
    try:
        Entry()
    except TypeError:
        return "TypeError"


def case_metaclass_call():
    class Meta(type):
        def __call__(cls, *args):
            made = super().__call__(*args)
            made.meta = True
            return made

    class A(metaclass=Meta):
        def __init__(self, x):
            self.x = x

    return A(1).meta, A(2).x


def case_builtin_subclasses():
    class Names(list):
        def first(self):
            return self[0]

    class Conf(dict):
        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

        def __setitem__(self, key, value):
            super().__setitem__(key, value)

    class Level(int):
        pass

    class Tag(str):
        def loud(self):
            return self.upper()

    n = Names([3, 4])
    n.append(5)
    c = Conf(a=1)
    c["b"] = 2
    return (
        n.first(),
        len(n),
        n + [1],
        c.a,
        c.b,
        hasattr(c, "z"),
        dict(c),
        Level(3) + 1,
        Tag("x").loud(),
        Tag("a") + "b",
        {Tag("k"): 1}["k"],
        isinstance(n, list),
    )


def case_dict_missing_hook():
    class Default(dict):
        def __missing__(self, key):
            return key * 2

    return Default()[4], Default({1: 1})[1]


def case_slots_and_dir():
    class A:
        __slots__ = ("x",)

        def __init__(self):
            self.x = 1

    return A().x


def case_methods_as_values():
    class A:
        def __init__(self):
            self.pick = self.one if True else self.two

        def one(self, x):
            return x + 1

        def two(self, x):
            return x + 2

    a = A()
    f = a.two
    a.one = lambda x: "replaced"
    return a.pick(1), f(1), a.one(1), a.two == a.two, a.two is a.two, f.__self__ is a, A.one(a, 5)


def case_method_on_instance_is_not_bound():
    class A:
        pass

    a = A()
    a.f = lambda *args: len(args)
    A.g = lambda *args: len(args)
    return a.f(1), a.g(1)


def case_class_decorator():
    def tag(cls):
        cls.tag = cls.__name__.lower()
        return cls

    @tag
    class Thing:
        pass

    return Thing.tag, Thing().tag


def case_context_manager_object():
    log = []

    class Manager:
        def __init__(self, swallow):
            self.swallow = swallow

        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, kind, value, trace):
            log.append(kind.__name__ if kind else None)
            return self.swallow

    with Manager(False) as m:
        log.append(m.swallow)
    with Manager(True):
        raise ValueError("x")
    try:
        with Manager(False), Manager(False):
            raise KeyError("y")
    except KeyError:
        log.append("caught")
    return log


def case_return_inside_with():
    log = []

    class Manager:
        def __enter__(self):
            return 5

        def __exit__(self, *exc):
            log.append(exc == (None, None, None))

    def f():
        with Manager() as m:
            return m

    for i in range(3):
        with Manager():
            if i == 1:
                break
    return f(), log, i


def case_type_name_and_qualified():
    return (
        Base.__name__,
        type(Base(1)).__name__,
        Base(1).__class__ is Base,
        type("x").__name__,
        Base.__module__ == __name__,
    )


def case_type_with_three_arguments():
    made = type("Made", (Base,), {"kind": "made", "get": lambda self: self.size})
    return made(3).get(), made.kind, made.__name__, issubclass(made, Base)


def case_deleted_attribute():
    class A:
        x = 1

    a = A()
    a.x = 2
    del a.x
    try:
        del a.x
    except AttributeError:
        return a.x


def case_truth():
    class A:
        def __init__(self, n):
            self.n = n

        def __bool__(self):
            return self.n > 1

    return bool(A(1)), bool(A(2)), not A(2), [A(0) or 1], "yes" if A(5) else "no"


def case_private_name_mangling():
    class A:
        def __init__(self):
            self.__x = 1

        def get(self):
            return self.__x

    class B(A):
        def __init__(self):
            super().__init__()
            self.__x = 2

    b = B()
    return b.get(), sorted(vars(b))


def case_hash_and_equality_in_sets():
    class P:
        def __init__(self, x):
            self.x = x

        def __eq__(self, other):
            return self.x == other.x

        def __hash__(self):
            return hash(self.x)

    return len({P(1), P(1), P(2)}), P(1) in [P(1)], {P(1): "a"}.get(P(1))
