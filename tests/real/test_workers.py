"""Edits of the code that drives the draft, in the workers of three releases.

Where positions and tokens of a pass come from is spread over a worker, what prepares its batches
and a kernel; each of them is edited here.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.real.releases import TRAINER, check, renames, runs, said, server, violated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.editing import Edit, Source
    from tests.real.releases import Copies

pytestmark = pytest.mark.network

SPECULATIVE = "sglang/srt/speculative/"
FIRST, SECOND = SPECULATIVE + "eagle_worker.py", SPECULATIVE + "eagle_worker_v2.py"
KERNEL = "sglang/kernels/ops/speculative/topk1.py"
OLD, MIDDLE, NEW = "0.5.9", "0.5.14", "0.5.23"


@dataclass(frozen=True)
class Case:
    """An edit of one file of one release, and everything that it breaks.

    `unproven`: what cannot be decided any more.
    """

    edit: Edit
    file: str
    version: str
    violated: frozenset[str] = frozenset()
    unproven: frozenset[str] = frozenset()

    @property
    def versions(self) -> tuple[str, ...]:
        return (self.version,)


CASES: dict[str, Case] = {}


def case(
    version: str, file: str, *broken: str, unproven: frozenset[str] = frozenset()
) -> Callable[[Edit], Edit]:
    def register(edit: Edit) -> Edit:
        CASES[edit.__name__] = Case(edit, file, version, frozenset(broken), unproven)
        return edit

    return register


UNDECIDED = frozenset({"token-alignment", "config-read"})


def advance(s: Source) -> ast.Expr:
    """The statement that advances positions in the loop over draft steps."""
    return next(
        e
        for e in s.walk("draft_forward", ast.Expr)
        if ast.unparse(e.value) == "forward_batch.positions.add_(1)"
    )


def run_of_the_model(s: Source) -> ast.stmt:
    """The statement of the loop in which the draft runs."""
    loop = s.walk("draft_forward", ast.For)[0]
    return next(b for b in loop.body if "_runner.forward(" in ast.unparse(b))


# -- the first generation, which advances too early -----


@case(OLD, FIRST)
def advanced_after_the_pass(s: Source) -> None:
    s.after(run_of_the_model(s), "forward_batch.positions.add_(1)")
    s.drop(advance(s))


@case(OLD, FIRST)
def counted_from_one_less(s: Source) -> None:
    lengths = s.spelled("_draft_preprocess_decode", "batch.seq_lens")
    last = next(n for n in reversed(lengths) if "repeat" in line(s, n))
    s.put(last, "(batch.seq_lens - 1)")


@case(OLD, FIRST, "positions")
def advanced_twice(s: Source) -> None:
    s.put(advance(s), "forward_batch.positions.add_(2)")


@case(OLD, FIRST, "positions", "token-alignment")
def first_token_kept_aside(s: Source) -> None:
    """Which the worker's own data class moves; it is told to hand on the batch as it is."""
    call = s.call("forward_draft_extend", "batch.spec_info.prepare_for_extend")
    s.put(call, "None")


# -- the second generation -----


@case(MIDDLE, SECOND, "positions")
def advanced_before_the_pass(s: Source) -> None:
    s.before(run_of_the_model(s), "forward_batch.positions.add_(1)")
    s.drop(advance(s))


@case(MIDDLE, SECOND, "positions")
def advanced_by_two(s: Source) -> None:
    s.put(advance(s), "forward_batch.positions.add_(2)")


@case(MIDDLE, SECOND, "positions")
def never_advanced(s: Source) -> None:
    s.drop(advance(s))


@case(MIDDLE, SECOND)
def advanced_by_a_new_tensor(s: Source) -> None:
    s.put(advance(s), "forward_batch.positions = 1 + forward_batch.positions")


@case(MIDDLE, SECOND)
def advanced_by_a_method(s: Source) -> None:
    s.put(advance(s), "self._advance(forward_batch.positions)")
    function = s.at("draft_forward")
    assert isinstance(function, ast.FunctionDef)
    s.before(function, "def _advance(self, positions):\n    positions += 1\n")


@case(MIDDLE, SECOND, "token-alignment")
def tokens_not_moved(s: Source) -> None:
    s.put(s.call("_draft_extend_for_prefill", "torch.cat"), "input_ids")


@case(MIDDLE, SECOND, unproven=UNDECIDED)
def tokens_moved_twice(s: Source) -> None:
    joined = s.call("_draft_extend_for_prefill", "torch.cat")
    s.put(joined, "torch.cat((input_ids[2:], input_ids[:2]))")


@case(MIDDLE, SECOND, unproven=UNDECIDED)
def state_of_the_first_pass_kept(s: Source) -> None:
    s.drop(s.assign("draft_forward", "hidden_states"))


# -- a kernel -----


@case(NEW, KERNEL, "positions")
def kernel_advances_by_two(s: Source) -> None:
    s.put(s.spelled("_draft_topk1_finalize_kernel", "position + 1")[0], "position + 2")


@case(NEW, KERNEL, "positions")
def kernel_leaves_positions(s: Source) -> None:
    s.put(s.spelled("_draft_topk1_finalize_kernel", "position + 1")[0], "position")


@case(NEW, KERNEL)
def kernel_advances_the_other_way_round(s: Source) -> None:
    s.put(s.spelled("_draft_topk1_finalize_kernel", "position + 1")[0], "1 + position")


@case(NEW, SECOND, unproven=frozenset({"token-alignment", "config-read"}))
def target_hands_over_its_last_state_only(s: Source) -> None:
    s.put(
        s.spelled("_forward_prefill_batch", "CaptureHiddenMode.FULL")[0], "CaptureHiddenMode.LAST"
    )


@case(NEW, SECOND, unproven=frozenset({"positions", "token-alignment", "config-read"}))
def draft_hands_on_nothing(s: Source) -> None:
    mode = s.spelled("_draft_extend_for_prefill", "CaptureHiddenMode.LAST")[0]
    s.put(mode, "CaptureHiddenMode.NULL")


@case(NEW, SECOND)
def kernel_given_up(s: Source) -> None:
    """What other devices run: argmax, and positions advanced in place."""
    test = next(
        i
        for i in s.walk("draft_forward", ast.If)
        if "_is_cuda" in ast.unparse(i.test) and "postprocess" in ast.unparse(i.body[0])
    )
    s.put(test.test, "False")


def line(s: Source, node: ast.expr) -> str:
    return s.text.splitlines()[node.lineno - 1]


EVERY_DAY = frozenset(
    [
        "advanced_after_the_pass",
        "tokens_not_moved",
        "kernel_advances_by_two",
    ]
)


@pytest.mark.parametrize(("name", "version"), runs(CASES, EVERY_DAY, {}))
def test_what_a_worker_gives_the_draft_decides(
    copies: Copies, tmp_path: Path, name: str, version: str
) -> None:
    case = CASES[name]
    edited = copies.edited(server(version), tmp_path, {case.file: case.edit})
    report = check(copies.plain(TRAINER), edited, renames=renames(version))
    assert violated(report) == case.violated, said(report)
    undecided = {c.id for c in report.clauses if c.undecided}
    assert undecided == case.unproven, said(report)


def test_a_number_is_shown_where_it_is_used(copies: Copies) -> None:
    """A distance between positions: not where such a number came up first."""
    report = check(copies.plain(TRAINER), copies.plain(server(OLD)), renames=renames(OLD))
    (found,) = (clause for clause in report.clauses if clause.id == "positions")
    assert [place.path for place in found.serve.locations] == [FIRST], said(report)
    (place,) = found.train.locations
    text = (copies.folders[TRAINER] / place.path).read_text("utf-8")
    line = text.splitlines()[place.line - 1]
    assert "position_ids" in line, line
