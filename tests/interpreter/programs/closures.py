"""Scopes: closures, comprehensions, walrus, defaults, nonlocal and global names."""

COUNTER = 0
FLAG = "module"


def case_closure_sees_later_binding():
    def inner():
        return value

    value = 1
    first = inner()
    value = 2
    return first, inner()


def case_loop_closures_share_the_variable():
    made = [lambda: i for i in range(3)]
    return [f() for f in made]


def case_lambda_default_freezes():
    made = [lambda i=i: i for i in range(3)]
    return [f() for f in made]


def case_nonlocal_counter():
    count = 0

    def bump():
        nonlocal count
        count += 1
        return count

    return bump(), bump(), count


def case_nonlocal_through_two_levels():
    x = "outer"

    def middle():
        def inner():
            nonlocal x
            x = "changed"

        inner()
        return x

    return middle(), x


def _bump():
    global COUNTER
    COUNTER += 1
    return COUNTER


def case_global_counter():
    before = COUNTER
    _bump()
    return COUNTER - before


def case_local_shadows_global():
    FLAG = "local"
    return FLAG


def case_unbound_local_is_an_error():
    try:
        print(FLAG)
        FLAG = 1
    except UnboundLocalError:
        return "unbound"
    return FLAG


def case_unbound_local_after_branch():
    def f(flag):
        if flag:
            COUNTER = 5
        return COUNTER

    try:
        f(False)
    except UnboundLocalError:
        return f(True)


def case_deleted_local_is_unbound():
    FLAG = 1
    del FLAG
    try:
        return FLAG
    except NameError as error:
        return type(error).__name__


def case_comprehension_variable_stays_inside():
    x = "kept"
    y = [x for x in range(3)]
    return x, y


def case_walrus_in_comprehension_binds_outside():
    values = [last := i * 2 for i in range(4)]
    return last, values


def case_walrus_in_condition():
    data = {"a": 1}
    if (found := data.get("a")) is not None and (missing := data.get("b")) is None:
        return found, missing
    return None


def case_walrus_in_while():
    items = [3, 2, 1]
    seen = []
    while items and (item := items.pop()):
        seen.append(item)
    return seen, item


def case_class_body_names_are_not_seen_by_methods():
    size = "outer"

    class Box:
        size = "inner"

        def method(self):
            return size

    return Box().method(), Box.size


def case_class_body_reads_enclosing_and_own():
    a = 1

    class Box:
        b = a + 1
        c = b + 1

    return Box.b, Box.c


def case_comprehension_in_class_body():
    class Box:
        sizes = [1, 2, 3]
        doubled = [s * 2 for s in sizes]

    return Box.doubled


def case_nested_comprehension():
    return [[i * j for j in range(i)] for i in range(4)], [
        i + j for i in range(2) for j in (10, 20) if i or j > 10
    ]


def case_generator_expression_first_iterable_is_evaluated_now():
    source = [1, 2, 3]
    made = (x for x in source)
    source = [9]
    return list(made)


def case_generator_expression_is_lazy():
    log = []

    def note(x):
        log.append(x)
        return x > 1

    found = next(x for x in [1, 2, 3] if note(x))
    return found, log


def case_any_stops_early():
    log = []

    def note(x):
        log.append(x)
        return x == 2

    return any(note(x) for x in [1, 2, 3, 4]), all(note(x) for x in [2, 3, 4]), log


def case_default_is_shared():
    def f(x, acc=[]):
        acc.append(x)
        return list(acc)

    return f(1), f(2)


def case_argument_binding():
    def f(a, b=2, *args, c, d=4, **kwargs):
        return a, b, args, c, d, kwargs

    return f(1, c=3), f(1, 5, 6, 7, c=8, e=9), f(*[1, 2], **{"c": 3, "d": 5})


def case_positional_only_name_goes_to_kwargs():
    def f(a, /, **kwargs):
        return a, kwargs

    return f(1, a=2)


def case_argument_errors():
    def f(a, *, b):
        return a, b

    seen = []
    for args, kwargs in (
        ((), {"b": 1}),
        ((1, 2), {"b": 1}),
        ((1,), {}),
        ((1,), {"b": 1, "c": 2}),
        ((1,), {"a": 1, "b": 2}),
    ):
        try:
            f(*args, **kwargs)
        except TypeError:
            seen.append("TypeError")
    return seen


def case_pass_through():
    def inner(x, scale=1, *, shift=0):
        return x * scale + shift

    def outer(*args, **kwargs):
        kwargs.setdefault("shift", 100)
        return inner(*args, **kwargs)

    return outer(2), outer(2, 3), outer(2, scale=5, shift=1)


def case_recursion():
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    return fact(10)


def case_decorator_stack():
    def add(n):
        def wrap(f):
            def inner(*args):
                return f(*args) + n

            return inner

        return wrap

    @add(1)
    @add(10)
    def base(x):
        return x

    return base(5)


def case_conditional_expression_chain():
    def pick(x):
        return "a" if x == 1 else "b" if x == 2 else "c"

    return pick(1), pick(2), pick(3)


def case_short_circuit_returns_operand():
    return [] or "x", 0 or None, 1 and 2, "" and 1, None or {} or 3


def case_chained_comparison_evaluates_once():
    log = []

    def value(x):
        log.append(x)
        return x

    return value(1) < value(2) < value(3), value(3) < value(2) < value(1), log


def case_star_unpacking():
    a, *b = range(4)
    *c, d = "xyz"
    e, (f, *g), h = 1, [2, 3, 4], 5
    return a, b, c, d, e, f, g, h, [*b, *c], {**{"a": 1}, "a": 2}, (*b,)


def case_unpack_error():
    try:
        a, b = [1, 2, 3]
    except ValueError:
        return "ValueError"


def case_multiple_targets():
    a = b = []
    a.append(1)
    x, y = y, x = 1, 2
    return b, a is b, x, y


def case_swap():
    a, b = 1, 2
    a, b = b, a
    i, xs = 0, [5, 6]
    i, xs[i] = 1, 9
    return a, b, i, xs


def case_augmented_assignment_on_items():
    d = {"a": [1]}
    d["a"] += [2]
    alias = d["a"]
    d["a"] += (3,)
    n = {"k": 1}
    n["k"] *= 5
    return d, alias is d["a"], n


def case_augmented_list_aliases_tuple_does_not():
    a = [1]
    b = a
    b += [2]
    t = (1,)
    u = t
    u += (2,)
    s = {1}
    r = s
    r |= {2}
    r -= {1}
    return a, t, u, s


def case_function_attributes():
    def f():
        return f.count

    f.count = 3
    return f(), hasattr(f, "count"), getattr(f, "other", None), f.__name__


def case_exception_variable_is_removed():
    try:
        raise ValueError("x")
    except ValueError as error:
        text = str(error)
    try:
        error
    except NameError:
        return text, "gone"
