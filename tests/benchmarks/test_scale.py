"""What `verify` works out grows as its input does: counted, not timed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks import scale
from checker import capture
from checker.cli import main
from checker.graph.terms import Pool
from checker.interpreter import expressions


@dataclass
class Counted:
    """Expressions that were interpreted, and terms that were made of them."""

    expressions: int = 0
    terms: int = 0
    operands: int = 0


@pytest.fixture
def count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Callable[[Path, int], None], int], Counted]:
    """Checks the packaged engines, made larger, and counts."""

    def counting(make: Callable[[Path, int], None], size: int) -> Counted:
        folder = tmp_path / f"{make.__name__}-{size}"
        folder.mkdir()
        scale.engines(folder)
        make(folder, size)
        found = Counted()
        evaluate, term = expressions.evaluate, Pool.make

        def evaluating(*args: object) -> object:
            found.expressions += 1
            return evaluate(*args)  # type: ignore[arg-type]

        def making(*args: object) -> object:
            found.terms += 1
            found.operands += len(args[2])  # type: ignore[arg-type]
            return term(*args)  # type: ignore[arg-type]

        with monkeypatch.context() as patch:
            patch.setattr(expressions, "evaluate", evaluating)
            patch.setattr(Pool, "make", making)
            assert main(scale.words(folder)) == 0, capsys.readouterr().out
        return found

    return counting


@pytest.mark.parametrize("make", [scale.longer_draft, scale.longer_neighbour])
def test_other_code_is_not_interpreted(
    count: Callable[[Callable[[Path, int], None], int], Counted],
    make: Callable[[Path, int], None],
) -> None:
    """Whatever else stands in a file, or beside it, is parsed at most."""
    short, long = count(make, 100), count(make, 4000)
    assert long == short
    assert short.expressions > 1000
    assert short.terms > 300


@pytest.mark.parametrize(
    ("first", "what", "most"),
    [(2, ("expressions", "terms"), 2.4), (10, ("expressions", "terms", "operands"), 2.1)],
)
def test_each_layer_costs_what_the_one_before_did(
    count: Callable[[Callable[[Path, int], None], int], Counted],
    first: int,
    what: tuple[str, ...],
    most: float,
) -> None:
    """Twice as many layers more cost twice as much, few layers or many."""
    some, twice, four_times = (count(scale.with_layers, n * first) for n in (1, 2, 4))
    for name in what:
        less = getattr(twice, name) - getattr(some, name)
        more = getattr(four_times, name) - getattr(twice, name)
        assert 1.9 < more / less < most, name


def test_what_is_measured_is_as_large_as_it_says(tmp_path: Path) -> None:
    """So many target classes are found, and so many servers; those apart are no two alike."""
    scale.engines(tmp_path)
    scale.many_targets(tmp_path, 5)
    table = capture(str(tmp_path / "toy_server"), layers=61, ids=[2, 30, 58], use_cache=False)
    assert len({row.target for row in table.rows}) == 5
    assert {row.boundaries for row in table.rows} == {(3, 31, 59)}
    for make, count in ((scale.servers_alike, 3), (scale.servers_apart, 3)):
        make(tmp_path, count * 8)
        servers = sorted(tmp_path.glob("server_*"))
        assert len(servers) == count
        assert len(scale.of_cells(tmp_path)) == count + 4
        texts = {(server / "toy_server" / "eagle3.py").read_text("utf-8") for server in servers}
        assert len(texts) == count
        for server in servers:
            shutil.rmtree(server)
