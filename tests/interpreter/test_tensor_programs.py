"""Tensor programs build terms that compute what torch computes (see `tensor_results.json`)."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import numpy as np
import pytest
import tensor_support
from support import S, call, machine, run

from checker.graph.terms import unknowns
from checker.interpreter.tensors import Tensor, fresh_input
from checker.interpreter.values import Unknown

RECORDED = json.loads(tensor_support.RESULTS.read_text("utf-8"))


@pytest.mark.parametrize("case", RECORDED)
def test_computes_what_torch_computes(case: str) -> None:
    stem, name = case.split(".")
    m = machine({f"{stem}.py": (tensor_support.PROGRAMS / f"{stem}.py").read_bytes()})
    found = call(m, stem, name, **tensor_support.inputs(m))
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(RECORDED[case])
    for index, (result, expected) in enumerate(zip(found, RECORDED[case], strict=False)):
        values = tensor_support.value(m, result)
        assert not isinstance(values, str), (index, values)
        assert list(values.shape) == expected["shape"], index
        assert tensor_support.kind(result) == expected["kind"], index
        wanted = np.array(expected["values"]).reshape(expected["shape"])
        assert np.allclose(values.astype(float), wanted, atol=1e-7, equal_nan=True), index


def test_every_program_is_recorded() -> None:
    names = [
        f"{path.stem}.{line.split('(')[0].removeprefix('def ')}"
        for path in sorted(tensor_support.PROGRAMS.glob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if line.startswith("def case_")
    ]
    assert names == list(RECORDED)


def outcome(body: str) -> tuple[Any, Any]:
    """What a body makes of `x` (S, 6) and `y` (S, 6): the machine and the result."""
    m = machine(
        {"main.py": f"import torch\nimport torch.nn.functional as F\ndef main(x, y, ids):\n{body}"}
    )
    return m, call(
        m,
        "main",
        "main",
        fresh_input(m, "x", (S, 6)),
        fresh_input(m, "y", (S, 6)),
        fresh_input(m, "ids", (S,), "int"),
    )


def is_unknown(m: Any, result: Any) -> bool:
    return isinstance(result, Unknown) or (
        isinstance(result, Tensor) and bool(unknowns(result.term(m)))
    )


MAYBE_COPIES = (
    "contiguous()",
    "to(torch.float32)",
    "float()",
    "to(y)",
    "type_as(y)",
    "cuda()",
    "transpose(0, 1).reshape(-1)",
    "view(-1, 2, 3).transpose(1, 2).reshape(-1, 6)",
    "transpose(0, 1).flatten()",
)


@pytest.mark.parametrize("method", MAYBE_COPIES)
def test_after_a_write_to_what_may_be_a_copy_the_other_side_is_unknown(method: str) -> None:
    m, results = outcome(f"    x = x * 1\n    c = x.{method}\n    c += 1\n    return x, c")
    assert is_unknown(m, results[0])
    assert not is_unknown(m, results[1])
    m, results = outcome(f"    x = x * 1\n    c = x.{method}\n    x += 1\n    return x, c")
    assert not is_unknown(m, results[0])
    assert is_unknown(m, results[1])


@pytest.mark.parametrize("method", MAYBE_COPIES)
def test_without_a_write_it_makes_no_difference(method: str) -> None:
    m, results = outcome(f"    c = x.{method}\n    return x + 1, c + 1")
    assert not any(is_unknown(m, r) for r in results)


@pytest.mark.parametrize(
    "write",
    [
        "x += x[:, :1]",
        "x.sub_(x[:, :1])",
        "x[:, 1:] = x[:, :-1]",
        "x[:, 1:].copy_(x[:, :-1])",
        "h = x.view(-1, 2, 3)\n    h += h[:, :1]",
    ],
)
def test_in_place_over_overlapping_parts_is_unknown(write: str) -> None:
    m, result = outcome(f"    x = x * 1\n    {write}\n    return x")
    assert is_unknown(m, result)


@pytest.mark.parametrize(
    "write",
    [
        "x += x",
        "x[:, :3] += x[:, 3:]",
        "x[:, 0] += x[:, 1]",
        "a, b = x.chunk(2, -1)\n    a.mul_(b)",
        "x[:, :2] *= x[:, :2]",
    ],
)
def test_in_place_over_other_or_the_same_parts_is_known(write: str) -> None:
    m, result = outcome(f"    x = x * 1\n    {write}\n    return x")
    assert not is_unknown(m, result)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("torch.einsum('...i,oi->...o', x, y)", "ellipsis"),
        ("torch.einsum('ii->i', x)", "diagonal"),
        ("torch.einsum(x, [0, 1], y, [2, 1])", "letters"),
        ("torch.einsum('ti,oi->to', x, ids[:, None])", "kinds"),
        ("torch.einsum('ti,oi->to', x, y[:, :1])", "size one"),
        ("x.repeat(1, 0)", "never"),
        ("F.pad(x, (1, 1), mode='reflect')", "numbers"),
        ("F.pad(ids, (1, 1), value=0.5)", "fraction"),
    ],
)
def test_what_is_not_interpreted_is_unknown_and_says_why(call: str, reason: str) -> None:
    _, result = outcome(f"    return {call}")
    assert isinstance(result, Unknown)
    assert reason in result.reason


@pytest.mark.parametrize(
    "call",
    [
        "torch.einsum('tio,oi->to', x, y)",
        "torch.einsum('ti,oi->tq', x, y)",
        "torch.einsum('ti->tt', x)",
        "torch.einsum('ti,oi->to', x)",
        "torch.einsum('ti,oi->to', x, y[:, :4])",
        "x.repeat(2)",
        "F.pad(x, (1, 2, 3))",
    ],
)
def test_what_torch_refuses_is_refused(call: str) -> None:
    _, result = outcome(
        f"    try:\n        return {call}\n    except RuntimeError:\n        return 'no'"
    )
    assert result == "no"


@pytest.mark.parametrize(
    "call",
    [
        "torch.arange(4, dtype=x.device, device=torch.long)",
        "torch.zeros(2, device=x.dtype)",
        "torch.full((2,), 1.0, dtype='float32')",
        "torch.tensor([1], dtype=x.device)",
        "torch.ones_like(x, device=torch.bool)",
        "x.new_zeros(2, dtype=x.device)",
        "x.to(device=torch.float32)",
    ],
)
def test_an_element_type_is_no_device(call: str) -> None:
    _, result = outcome(
        f"    try:\n        return {call}\n    except TypeError:\n        return 'no'"
    )
    assert result == "no"


FORGETTING = (
    "x.scatter_add_(0, ids, y)",
    "x.normal_()",
    "x.some_new_method_(y)",
    "x[ids] = y",
    "x[x > 0] = 1",
    "somewhere.op(x)",
    "somewhere.op([{'k': (x,)}])",
    "somewhere.op(out=x)",
    "somewhere.op(x.view(-1))",
    "somewhere.op(x[:, :2])",
    "somewhere.op(Box(x))",
    "somewhere.op(Box(x).get)",
    "somewhere.op(lambda: x)",
    "somewhere.op(*[x])",
    "somewhere.Thing(x)",
    "somewhere.op(*somewhere.more, x)",
    "somewhere.op(x, **somewhere.more)",
)


@pytest.mark.parametrize("call_", FORGETTING)
def test_what_an_undescribed_call_may_have_written_to_is_unknown(call_: str) -> None:
    source = (
        "import somewhere\nclass Box:\n    def __init__(self, x): self.x = x\n    def get(self): return self.x\n"
        f"def main(x, y, ids):\n    x = x * 1\n    {call_}\n    return x"
    )
    m = machine({"main.py": source})
    given = (
        fresh_input(m, "x", (S, 6)),
        fresh_input(m, "y", (S, 6)),
        fresh_input(m, "ids", (S,), "int"),
    )
    assert is_unknown(m, call(m, "main", "main", *given))


UNDECIDED = (
    "try:\n        somewhere.f()\n    except Exception:\n        return 1\n    return 2",
    "if x.sum() > 0: return 1\n    return 2",
    "return 1 if somewhere.flag else 2",
    "return 1 if somewhere.value is None else 2",
    "return 1 if somewhere.value == 'a' else 2",
    "return 1 if isinstance(x, somewhere.Special) else 2",
    "return 1 if x.is_contiguous() else 2",
    "return 1 if somewhere.f(3) else 2",
    "while somewhere.f(): return 1\n    return 2",
    "return 1 and somewhere.f() and 2",
    "return 1 if hasattr(somewhere.thing, 'x') else 2",
    "assert True\n    return 1 if not somewhere.f() else 2",
    "return [i for i in [1] if somewhere.f(i)]",
    "return any([somewhere.f(1)])",
    "return max([1, 2], key=lambda k: somewhere.f(k))",
    "return {1: 2}.get(somewhere.f(), 3)",
    "try:\n        raise somewhere.Error()\n    except ValueError:\n        return 1\n    except Exception:\n        return 2",
)


@pytest.mark.parametrize("body", UNDECIDED)
def test_nothing_undecided_is_decided_in_silence(body: str) -> None:
    m = machine({"main.py": f"import somewhere\ndef main(x):\n    {body}"})
    found = call(m, "main", "main", fresh_input(m, "x", (S, 6)))
    assert m.decisions or is_unknown(m, found)


def test_both_answers_are_given_by_the_script() -> None:
    source = "import somewhere\ndef main():\n    return 'yes' if somewhere.flag else 'no'"
    assert [run(source, script=(answer,)) for answer in (True, False)] == ["yes", "no"]


def test_an_undescribed_call_under_a_try_may_raise() -> None:
    source = "import somewhere\ndef main():\n    try:\n        somewhere.f()\n    except ImportError:\n        return 'import'\n    except Exception:\n        return 'other'\n    return 'fine'"
    answers = [run(source, script=script) for script in ((True,), (False, True), (False, False))]
    assert answers == ["fine", "import", "other"]


def test_an_object_an_undescribed_function_saw_is_not_trusted() -> None:
    source = (
        "import somewhere\nclass C:\n    kind = 'class'\n    def __init__(self): self.x = 1\n    def f(self): return 2\n"
        "def main():\n    c = C()\n    somewhere.op({'k': [c]})\n    return c.x, c.kind, c.f()"
    )
    found = run(source)
    assert found[0].startswith("unknown")
    assert found[1].startswith("unknown")
    assert found[2] == 2


@pytest.mark.parametrize(
    "use", ["len(a)", "a[0]", "[i for i in a]", "a.append(2)", "bool(a)", "2 in a", "a == [1]"]
)
def test_a_container_an_undescribed_function_saw_is_not_looked_into(use: str) -> None:
    found = run(
        f"import somewhere\ndef main():\n    a = [1]\n    somewhere.op(a)\n    return {use}"
    )
    assert found.startswith("stuck: a list may have been changed")


def test_checked_code_cannot_catch_what_is_ours() -> None:
    source = "import somewhere\ndef main():\n    try:\n        for i in somewhere.items: pass\n    except BaseException:\n        return 'caught'\n    finally:\n        pass"
    assert run(source).startswith("stuck: iteration over somewhere.items")


@pytest.mark.parametrize("name", ["abs", "max"])
def test_unknown_arguments_of_builtins_give_unknowns(name: str) -> None:
    assert run(f"import somewhere\ndef main():\n    return {name}(somewhere.f(), 1)").startswith(
        ("unknown", "raises TypeError")
    )


WRONG_SHAPES = (
    "x + y[:, :4]",
    "torch.cat([x, y[:, :4]], dim=0)",
    "x.view(x.shape[0], 7)",
    "x @ y.t()[:3]",
    "F.linear(x, y.t()[:, :3])",
    "x[:, 6]",
    "x[0, 0, 0]",
    "x.split([1, 2], dim=-1)",
    "x.transpose(0, 2)",
    "x.narrow(1, 4, 3)",
    "x.expand(x.shape[0], 7)",
    "torch.stack([x, y[:, :2]])",
    "torch.cat([x, y[0]])",
    "x.squeeze(3)",
    "x.copy_(y[:, :3])",
    "x.permute(0, 0)",
)


@pytest.mark.parametrize("expression", WRONG_SHAPES)
def test_what_torch_refuses_raises_in_the_checked_program(expression: str) -> None:
    source = f"import torch\nimport torch.nn.functional as F\ndef main(x, y):\n    x = x * 1\n    try:\n        return {expression}\n    except (RuntimeError, IndexError) as e:\n        return 'refused'"
    m = machine({"main.py": source})
    assert (
        call(m, "main", "main", fresh_input(m, "x", (S, 6)), fresh_input(m, "y", (S, 6)))
        == "refused"
    )


@pytest.mark.parametrize(
    "body",
    [
        "x.new_zeros(ids.max(), 6)",
        "torch.zeros(ids.sum(), 6)",
        "x.reshape(ids.max(), 6)",
        "x.view(ids.max(), 6)",
    ],
)
def test_a_size_in_a_tensor_is_not_known(body: str) -> None:
    m, result = outcome(f"    return {body}")
    assert is_unknown(m, result)


def test_a_size_that_is_a_text_is_refused_as_torch_does() -> None:
    _, result = outcome(
        "    try:\n        return x.new_zeros('6')\n    except TypeError:\n        return 'refused'"
    )
    assert result == "refused"


ELEMENT_TYPES = {
    "arange(0, 6, dtype=blocks.dtype)": "taken",
    "arange(0, 6, dtype=torch.int32)": "taken",
    "arange(0, 6)": "refused",
    "arange(0, 6).to(blocks.dtype)": "taken",
    "arange(0, 6).int()": "taken",
    "arange(0, 6, dtype=torch.int32) + 1": "taken",
    "arange(0, 6, dtype=torch.int32).long()": "refused",
    "zeros(6)": "refused",
    "zeros(6, dtype=torch.int32)": "taken",
    "cat([torch.arange(0, 3, dtype=torch.int32)] * 2)": "taken",
}


@pytest.mark.parametrize("source", ELEMENT_TYPES)
def test_scatter_refuses_another_element_type_as_torch_does(source: str) -> None:
    program = f"""
        import torch
        def main(ids):
            blocks = ids[:1].to(torch.int32).new_zeros(6)
            try:
                blocks.scatter_(0, torch.arange(0, 6), torch.{source})
            except RuntimeError:
                return "refused"
            return "taken"
    """
    m = machine({"main.py": textwrap.dedent(program)})
    assert call(m, "main", "main", fresh_input(m, "ids", (S,), "int")) == ELEMENT_TYPES[source]
    assert not m.doubts


def test_an_attribute_that_tensors_do_not_have_is_a_doubt() -> None:
    m = machine({"main.py": "def main(x):\n    return (x + 1).no_such_thing is not None"})
    call(m, "main", "main", fresh_input(m, "x", (S,)))
    assert any("no_such_thing" in reason for reason in m.doubts)


def test_an_element_type_that_is_not_followed_is_a_doubt() -> None:
    program = """
        import torch
        def main(ids):
            blocks = ids.to(torch.int32).new_zeros(6)
            return blocks.scatter_(0, torch.arange(0, 6), ids[:6] + blocks)
    """
    m = machine({"main.py": textwrap.dedent(program)})
    call(m, "main", "main", fresh_input(m, "ids", (6,), "int"))
    assert any("one element type" in reason for reason in m.doubts)


@pytest.mark.parametrize(
    "expression",
    ["7 % ids", "ids // ids", "torch.arange(4) % torch.arange(4)", "ids % 0", "x[7 // ids]"],
)
def test_integers_that_may_be_divided_by_zero_are_unknown(expression: str) -> None:
    """It raises on one device and gives any number on another."""
    assert is_unknown(*outcome(f"    return {expression}"))


@pytest.mark.parametrize("expression", ["ids % 7", "ids // ids.shape[0]", "x % y", "ids % 0.5"])
def test_other_divisions_are_known(expression: str) -> None:
    assert not is_unknown(*outcome(f"    return {expression}"))
