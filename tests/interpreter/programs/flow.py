"""Control flow: loops, exceptions, generators, context managers, match."""

from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial, reduce, wraps
from itertools import chain, count, islice, product, repeat, zip_longest


def case_for_else():
    def find(items, wanted):
        for item in items:
            if item == wanted:
                found = item
                break
        else:
            found = None
        return found

    return find([1, 2], 2), find([1, 2], 3), find([], 1)


def case_name_rewritten_in_the_loop():
    mapping = [("qkv_proj", "q_proj", "q"), ("qkv_proj", "k_proj", "k")]
    out = []
    for name in ["layers.0.q_proj.weight", "norm.weight", "layers.0.k_proj.weight"]:
        for param_name, weight_name, shard in mapping:
            if weight_name not in name:
                continue
            name = name.replace(weight_name, param_name)
            out.append((name, shard))
            break
        else:
            out.append((name, None))
    return out


def case_while_else_continue():
    n, log = 0, []
    while n < 5:
        n += 1
        if n == 2:
            continue
        if n == 4:
            break
        log.append(n)
    else:
        log.append("else")
    while False:
        pass
    else:
        log.append("done")
    return log


def case_try_else_finally():
    log = []

    def run(kind):
        try:
            log.append("try")
            if kind == "raise":
                raise ValueError
            if kind == "return":
                return "returned"
        except ValueError:
            log.append("except")
            return "handled"
        else:
            log.append("else")
        finally:
            log.append("finally")
        return "fell through"

    return run("raise"), run("return"), run("none"), log


def case_finally_overrides_return():
    def f():
        try:
            return 1
        finally:
            return 2

    def g():
        for _ in range(2):
            try:
                raise KeyError
            finally:
                break
        return "broke"

    return f(), g()


def case_nested_exceptions():
    log = []
    try:
        try:
            raise KeyError("a")
        except KeyError:
            log.append("inner")
            raise ValueError("b")
        finally:
            log.append("cleanup")
    except (TypeError, ValueError) as error:
        log.append(error.args[0])
    return log


def case_reraise():
    def f():
        try:
            raise KeyError("a")
        except Exception:
            raise

    def helper():
        raise

    try:
        f()
    except KeyError as error:
        first = error.args
    try:
        try:
            {}["k"]
        except KeyError:
            helper()
    except LookupError as error:
        return first, error.args


def case_bare_except_default():
    class Config:
        pass

    try:
        ids = Config().eagle_config["ids"]
    except:  # noqa: E722
        ids = [2, 16, 29]
    return ids


def case_exception_hierarchy():
    class Mine(ValueError):
        def __init__(self, code):
            super().__init__(f"code {code}")
            self.code = code

    out = []
    for kind in (Mine(3), KeyError("k"), ZeroDivisionError()):
        try:
            raise kind
        except ValueError as error:
            out.append((str(error), error.code))
        except (LookupError, OSError) as error:
            out.append(type(error).__name__)
        except Exception as error:
            out.append(repr(type(error).__name__))
    return out


def case_exception_text():
    return (
        str(ValueError("a")),
        str(ValueError("a", 1)),
        str(ValueError()),
        str(KeyError("k")),
        repr(ValueError("x")),
    )


def case_raise_class_or_instance():
    for exception in (ValueError, ValueError("x")):
        try:
            raise exception
        except ValueError as error:
            last = error.args
    return last


def case_raise_from():
    try:
        try:
            raise KeyError("a")
        except KeyError as error:
            raise RuntimeError("b") from error
    except RuntimeError as error:
        return type(error.__cause__).__name__, error.args


def case_assert():
    try:
        assert 1 == 2, "message"
    except AssertionError as error:
        return str(error)


def case_errors_of_builtins():
    out = []
    for f in (
        lambda: [][0],
        lambda: {}["k"],
        lambda: 1 / 0,
        lambda: int("x"),
        lambda: None.x,
        lambda: None[0],
        lambda: "a" + 1,
        lambda: len(3),
        lambda: undefined_name,
        lambda: next(iter([])),
        lambda: [1].remove(2),
        lambda: "abc".index("z"),
        lambda: 3 in 5,
        lambda: {[]: 1},
        lambda: (1).foo,
        lambda: [] < 1,
        lambda: max([]),
        lambda: "%d" % "x",
        lambda: dict([1]),
        lambda: range(3)[7],
        lambda: {1, 2}[0],
        lambda: sorted([1, "a"]),
        lambda: {([],): 1},
        lambda: "x".join([1]),
        lambda: [1, 2].index(9),
        lambda: object().x,
        lambda: 5(),
        lambda: f(1, 2),
        lambda: chr(-1),
        lambda: float("abc"),
        lambda: list(zip([1], [1, 2], strict=True)),
    ):
        try:
            f()
            out.append("fine")
        except Exception as error:
            out.append(type(error).__name__)
    return out


def case_generator_is_lazy():
    log = []

    def gen():
        for i in range(5):
            log.append(i)
            yield i

    for x in gen():
        if x == 2:
            break
    return log


def case_generator_interleaves_with_consumer():
    state = {"n": 0}

    def gen():
        while state["n"] < 3:
            yield state["n"]

    seen = []
    for value in gen():
        seen.append(value)
        state["n"] += 1
    return seen


def case_infinite_generator():
    def naturals():
        n = 0
        while True:
            yield n
            n += 1

    made = naturals()
    first = [next(made), next(made)]
    return (
        first,
        [a for a, _ in zip(naturals(), "xyz")],
        next(made),
        list(islice(naturals(), 2, 5)),
        list(islice(count(3), 2)),
    )


def case_generator_shared_by_zip():
    it = iter(range(6))
    return list(zip(it, it)), list(it)


def case_generator_send_and_return():
    def gen():
        received = yield 1
        other = yield received * 2
        return other

    def outer():
        result = yield from gen()
        yield ("result", result)

    g = outer()
    return next(g), g.send(5), g.send("x")


def case_generator_close_runs_finally():
    log = []

    def gen():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    g = gen()
    next(g)
    g.close()
    return log, list(g)


def case_generator_stop_iteration():
    def gen():
        yield 1
        return 7

    g = gen()
    next(g)
    try:
        next(g)
    except StopIteration as stop:
        return stop.value


def case_generator_exception_passes_through():
    def gen():
        yield 1
        raise KeyError("inside")

    out = []
    try:
        for x in gen():
            out.append(x)
    except KeyError:
        out.append("caught")
    return out


def case_generator_method_and_yield_in_nested_blocks():
    class Loader:
        def __init__(self, items):
            self.items = items

        def __iter__(self):
            for name, value in self.items.items():
                try:
                    if value is None:
                        continue
                    with nullcontext(name) as n:
                        yield n, value
                finally:
                    self.last = name

    loader = Loader({"a": 1, "b": None, "c": 3})
    return list(loader), loader.last, dict(loader)


def case_list_grows_while_iterated():
    items, seen = [1], []
    for x in items:
        seen.append(x)
        if x < 4:
            items.append(x + 1)
    return seen


def case_dict_changed_while_iterated():
    d = {1: 1}
    try:
        for k in d:
            d[k + 1] = 1
    except RuntimeError:
        return "RuntimeError"


def case_context_manager_generator():
    log = []

    @contextmanager
    def managed(x):
        log.append("enter")
        try:
            yield x + 1
        finally:
            log.append("exit")

    with managed(1) as y:
        log.append(y)

    def f():
        with managed(10) as z:
            return z

    return f(), log


def case_context_manager_swallows():
    @contextmanager
    def ignore(kind):
        try:
            yield
        except kind:
            pass

    with ignore(KeyError):
        {}["x"]
    with suppress(ValueError, KeyError):
        raise KeyError
    try:
        with ignore(KeyError):
            raise ValueError("y")
    except ValueError:
        return "through"


def case_context_manager_break_and_continue():
    log = []

    @contextmanager
    def managed(i):
        yield
        log.append(i)

    for i in range(4):
        with managed(i):
            if i == 1:
                continue
            if i == 2:
                break
    return log


def case_context_manager_as_decorator():
    log = []

    @contextmanager
    def managed():
        log.append("in")
        yield
        log.append("out")

    @managed()
    def work(x):
        log.append(x)
        return x * 2

    return work(4), log


def case_exit_stack():
    log = []

    @contextmanager
    def managed(i):
        log.append(i)
        yield i
        log.append(-i)

    with ExitStack() as stack:
        values = [stack.enter_context(managed(i)) for i in (1, 2)]
        stack.callback(log.append, "callback")
    return values, log


def case_match_values():
    def kind(x):
        match x:
            case 0 | 1:
                return "small"
            case None:
                return "none"
            case True:
                return "never"
            case "text":
                return "text"
            case int(n) if n > 10:
                return ("big", n)
            case int() | float():
                return "number"
            case _:
                return "other"

    return [kind(x) for x in (0, 1, None, "text", 50, 5, 2.5, [])]


def case_match_structures():
    class Point:
        __match_args__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    def kind(x):
        match x:
            case []:
                return "empty"
            case [one]:
                return ("one", one)
            case [first, *rest] if len(rest) > 2:
                return ("many", first, rest)
            case (a, b, *_):
                return ("two", a, b)
            case {"type": "rope", "theta": theta, **rest}:
                return ("rope", theta, rest)
            case {"type": str(name)}:
                return ("type", name)
            case {}:
                return "mapping"
            case Point(0, y=y):
                return ("on axis", y)
            case Point(x, y) as p:
                return ("point", x, y, p is x)
            case str() as s:
                return s
        return "nothing"

    return [
        kind(x)
        for x in (
            [],
            [1],
            (1, 2),
            [1, 2, 3, 4],
            {"type": "rope", "theta": 5, "a": 1},
            {"type": "x"},
            {"z": 1},
            Point(0, 3),
            Point(1, 2),
            "s",
            7,
        )
    ]


def case_partial_and_reduce():
    def f(a, b, c=0):
        return a, b, c

    p = partial(f, 1, c=5)
    return (
        p(2),
        p(3, c=6),
        reduce(lambda x, y: x * y, [1, 2, 3, 4]),
        reduce(lambda x, y: x + y, [], 7),
        p.func is f,
        p.args,
    )


def case_wraps():
    def deco(f):
        @wraps(f)
        def inner(*args):
            return f(*args) + 1

        return inner

    @deco
    def base(x):
        return x

    return base(1), base.__name__


def case_itertools():
    return (
        list(chain([1], (2, 3), "a")),
        list(chain.from_iterable([[1], [2]])),
        list(product([1, 2], "ab")),
        list(repeat(0, 3)),
        list(zip_longest([1, 2], [3], fillvalue=0)),
    )


def case_builtin_iteration():
    return (
        list(enumerate("ab", 1)),
        list(zip([1, 2, 3], "ab")),
        list(map(lambda a, b: a + b, [1, 2], [10, 20])),
        list(filter(None, [0, 1, "", "x"])),
        list(reversed([1, 2, 3])),
        sorted([3, 1, 2], reverse=True),
        sorted(["bb", "a"], key=len),
        sum([1, 2], 10),
        min(3, 1, 2),
        max(["a", "bbb"], key=len),
        max([], default=None),
        any([]),
        all([]),
        list(range(5, 0, -2)),
        dict(zip("ab", [1, 2])),
        set("aab") == {"a", "b"},
        divmod(7, 2),
        abs(-3),
        round(2.5),
        pow(2, 5),
        next(iter([]), "default"),
        list(iter(lambda it=iter([1, 2, 0, 3]): next(it), 0)),
    )


def case_exhausted_iterators_stay_empty():
    it = map(str, [1, 2])
    first = list(it)
    z = zip([1], [2])
    return first, list(it), list(z), list(z), iter(z) is z


def case_try_in_loop_with_continue():
    out = []
    for item in ["1", "x", "3"]:
        try:
            value = int(item)
        except ValueError:
            continue
        else:
            out.append(value)
        finally:
            out.append("f")
    return out


def case_global_flag_toggle():
    log = []

    @contextmanager
    def layer_stack(name):
        log.append(("push", name))
        try:
            yield len(log)
        except ValueError:
            log.append("handled")
            raise
        finally:
            log.append(("pop", name))

    try:
        with layer_stack("a") as depth, layer_stack("b"):
            raise ValueError(depth)
    except ValueError as error:
        return error.args, log
