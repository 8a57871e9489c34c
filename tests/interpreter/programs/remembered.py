"""What was looked up once and means something else later: names, hooks, methods, arguments."""

import sys


def count(items):
    return len(items)


def shadow_builtin():
    global len
    len = lambda items: 7  # noqa: E731 - a name of the module that hides Python's own


def unshadow_builtin():
    global len
    del len


def case_builtin_that_the_module_binds_later():
    before = count([1, 2])
    shadow_builtin()
    during = count([1, 2])
    unshadow_builtin()
    return before, during


class Plain:
    kind = "class"

    def __init__(self):
        self.set = []

    def told(self):
        return "method"


def noted(self, name, value):
    object.__setattr__(self, name, (name, value))


def answered(self, name):
    return f"asked for {name}"


def case_class_that_gets_a_hook_for_setting_later():
    class Late(Plain):
        pass

    one = Late()
    one.first = 1
    Late.__setattr__ = noted
    one.second = 2
    del Late.__setattr__
    one.third = 3
    return one.first, one.second, one.third


def case_base_that_gets_a_hook_for_reading_later():
    class Base:
        pass

    class Late(Base):
        value = 1

    one = Late()
    before = one.value
    Base.__getattribute__ = answered
    during = one.value
    del Base.__getattribute__
    return before, during, one.value


def case_method_that_an_object_hides():
    one = Plain()
    before = one.told()
    one.told = lambda: "own"
    during = one.told()
    del one.told
    return before, during, one.told(), one.kind


def case_method_that_its_class_gets_anew():
    class Late(Plain):
        pass

    one = Late()
    before = one.told()
    Late.told = lambda self: "late"
    during = one.told()
    Late.told = property(lambda self: "property")
    after = one.told
    del Late.told
    return before, during, after, one.told()


def case_value_that_a_class_gets_after_its_object():
    one = Plain()
    one.late = "own"
    before = one.late
    Plain.late = property(lambda self: "class")
    during = one.late
    del Plain.late
    return before, during, one.late


def everything(a, b=2, /, c=3, *rest, d, e=5, **more):
    return a, b, c, rest, d, e, sorted(more.items())


def some(a, b=2):
    return a, b


def named_only(*, a=1):
    return a


def more_only(a, **more):
    more["a"] = a
    return more


def rest_only(a, *rest):
    return a, rest


def refused(call):
    try:
        return call()
    except TypeError:
        return "refused"


def case_arguments():
    return (
        everything(1, d=4),
        everything(1, 20, 30, 40, 50, d=4, f=6, e=7),
        everything(1, c=30, d=4, a=10, b=20),
        some(1),
        some(1, 20),
        some(b=20, a=1),
        some(1, b=20),
        named_only(),
        named_only(a=2),
        more_only(1),
        more_only(1, b=2),
        more_only(1) is more_only(1),
        rest_only(1),
        rest_only(1, 2, 3),
    )


def case_arguments_that_do_not_fit():
    return (
        refused(lambda: everything()),
        refused(lambda: everything(1)),
        refused(lambda: everything(1, c=3, d=4, e=5, **{"d": 4})),
        refused(lambda: some()),
        refused(lambda: some(1, 2, 3)),
        refused(lambda: some(1, a=2)),
        refused(lambda: some(1, c=2)),
        refused(lambda: named_only(1)),
        refused(lambda: more_only()),
        refused(lambda: more_only(1, a=2)),
        refused(lambda: rest_only(a=1, b=2)),
    )


def case_comparisons_with_none():
    values = [None, 0, "", [], (), Plain, Plain(), ..., sys]
    return [
        (value is None, value is not None, None is value, value in (None,)) for value in values
    ]


def case_statements_of_a_generator_end():
    def endless():
        while True:
            yield 1

    return [one for one, _ in zip(endless(), range(3))]
