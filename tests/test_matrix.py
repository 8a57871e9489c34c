"""Trainers, servers and configurations: the cells, in parts and as a whole, and what is decided."""

from __future__ import annotations

import gc
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import checker.cells
from checker.cli import main
from checker.contract.loading import load_exploration
from checker.data import FIXTURES, SCHEMAS
from checker.syntax import Workspace, remembering
from checker.syntax.recent import Recent

SERVED = "other/toy_server/eagle3.py"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trainer, a server, and one that leaves out the final norm."""
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    engines = FIXTURES / "engines"
    for name, source in (("t", "toy_trainer"), ("one", "toy_server"), ("other", "toy_server")):
        shutil.copytree(engines / source, tmp_path / name)
    text = Path(SERVED).read_text("utf-8")
    Path(SERVED).write_text(text.replace("self.lm_head(normed)", "self.lm_head(kept)"), "utf-8")
    words = ["train", "serve", "target"]
    for name in words:
        config = json.loads((FIXTURES / "example" / f"{name}.json").read_text("utf-8"))
        config |= {"norm_before_residual": False} if name == "train" else {}
        Path(f"{name}.json").write_text(json.dumps(config), "utf-8")
    return tmp_path


SIDES = ("--train", "./t", "--serve", "./one", "./other")
GIVEN = ("--train-config", "train.json", "--serve-config", "serve.json", "--target", "target.json")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main([*words])
    out = capsys.readouterr()
    assert out.err == ""
    return status, out.out


def matrix(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Any]]:
    status, text = run(capsys, "matrix", *SIDES, *more, "--format", "json")
    found: dict[str, Any] = json.loads(text)
    jsonschema.validate(found, json.loads((SCHEMAS / "matrix.schema.json").read_text("utf-8")))
    return status, found


def cells(found: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    return {(c["serve"], c["configuration"]): [*c["violated"]] for c in found["cells"]}


def test_every_pair_is_asked_under_every_configuration(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of the contract's list: what a switch breaks on a server stands in its row."""
    whole = load_exploration()
    three = {name: whole.matrix[name] for name in ("plain", "residual-normed", "one-state")}
    monkeypatch.setattr("checker.cells.load_exploration", lambda: replace(whole, matrix=three))
    status, found = matrix(capsys, "--target", "target.json")
    assert status == 1
    table = cells(found)
    assert len(table) == 2 * 3
    assert table["./one", "plain"] == []
    assert table["./one", "residual-normed"] == ["config-read", "residual-source"]
    assert table["./one", "one-state"] == ["fc-condition"]
    assert "final-norm" in table["./other", "plain"]
    assert sum(found["cells"][0]["counts"].values()) == 31


def test_parts_make_the_whole_and_are_read_for_people(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = matrix(capsys, *GIVEN)
    names = []
    for part in ("1/2", "2/2"):
        _, found = matrix(capsys, *GIVEN, "--shard", part)
        assert len(found["cells"]) == 1
        names.append(f"part-{part[0]}.json")
        Path(names[-1]).write_text(json.dumps(found), "utf-8")
    status, text = run(capsys, "merge", *names, "--format", "json")
    assert (status, json.loads(text)) == whole
    status, text = run(capsys, "merge", *names)
    assert status == 1
    assert "  ./t  .a\n" in text
    assert "  a  final-norm\n" in text
    assert text.endswith("2 cells: 1 agree, 1 differ\n")
    agrees = next(n for n in names if '"differ"' not in Path(n).read_text("utf-8"))
    status, text = run(capsys, "merge", agrees)
    assert status == 3, "what a part that was not given says is not known"
    assert text.endswith("1 cells: 1 agree; 1 are missing: merge every shard\n")
    _, text = run(capsys, "merge", *names, "--format", "markdown")
    assert "| ./one | agree |\n| ./other | `final-norm` |\n" in text
    _, text = run(capsys, "merge", *names, "--format", "html")
    assert text.count("<summary") == 1, "the cell that differs opens"
    assert "toy_server/" in text
    status, text = run(capsys, "coverage", *names)
    assert status == 0
    assert "100.00%  of the clauses that apply are decided" in text
    Path("odd.json").write_text(Path(names[0]).read_text("utf-8").replace("agree", "differ"))
    assert main(["merge", names[0], "odd.json"]) == 2
    assert "differs between parts" in capsys.readouterr().err


@pytest.fixture
def concluded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The servers about which something was worked out, in order; there is one process."""
    done: list[str] = []
    case_of = checker.cells.case_of

    def noting(pair: Any, *args: Any, **more: Any) -> Any:
        done.append(pair.server.spec)
        return case_of(pair, *args, **more)

    monkeypatch.setattr(checker.cells, "case_of", noting)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    return done


def test_a_run_goes_on_where_another_was_stopped(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    concluded: list[str],
) -> None:
    """What was concluded is not concluded again; an edit of one server asks for it alone."""
    noting = checker.cells.case_of

    def stopping(pair: Any, *args: Any, **more: Any) -> Any:
        found = noting(pair, *args, **more)
        if concluded == ["./one", "./other"]:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(checker.cells, "case_of", stopping)
    assert main(["matrix", *SIDES, *GIVEN]) == 130
    assert "interrupted" in capsys.readouterr().err
    first = matrix(capsys, *GIVEN)
    assert first[0] == 1
    assert concluded == ["./one", "./other", "./other"]
    assert matrix(capsys, *GIVEN) == first
    assert len(concluded) == 3
    text = Path(SERVED).read_text("utf-8")
    Path(SERVED).write_text(text.replace("self.lm_head(kept)", "self.lm_head(kept * 2)"), "utf-8")
    again = matrix(capsys, *GIVEN)
    assert again != first
    assert again == matrix(capsys, *GIVEN, "--no-cache")
    assert concluded[3] == "./other"
    assert concluded[4:] == ["./one", "./other"], "without the cache"


def workspaces() -> list[Workspace]:
    gc.collect()
    return [found for found in gc.get_objects() if isinstance(found, Workspace)]


def test_of_a_server_that_is_done_no_syntax_is_held(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    concluded: list[str],
) -> None:
    """But what was parsed last, which the next server may share: here one file at most."""
    monkeypatch.setattr("checker.syntax.modules.recent", Recent(1))
    others = workspaces()
    held: list[int] = []
    answers, forget = remembering.held, remembering.forget
    forget()
    monkeypatch.setattr("checker.syntax.remembering.forget", lambda: held.append(answers()))
    matrix(capsys, *GIVEN)
    assert held[0] < held[1] < held[2], "a trainer and two servers, each with answers of its own"
    monkeypatch.setattr("checker.syntax.remembering.forget", forget)
    matrix(capsys, *GIVEN, "--no-cache")
    assert answers() == 0
    assert [found for found in workspaces() if found not in others] == []


def test_lines_that_have_moved_are_said_where_they_are_now(
    place: Path, capsys: pytest.CaptureFixture[str], concluded: list[str]
) -> None:
    """Comments move them in both sides: the same is concluded, of other lines."""
    before = matrix(capsys, *GIVEN)[1]
    count = len(concluded)
    for path in (SERVED, "other/toy_server/layers.py", "t/toy_trainer/draft.py"):
        text = Path(path).read_text("utf-8")
        Path(path).write_text(text.replace("\nclass ", "\n# one\n\nclass ", 1), "utf-8")
    after = matrix(capsys, *GIVEN)[1]
    assert len(concluded) == count
    assert before != after
    assert after == matrix(capsys, *GIVEN, "--no-cache")[1]


def test_two_servers_with_one_graph_are_concluded_once(
    place: Path, capsys: pytest.CaptureFixture[str], concluded: list[str]
) -> None:
    shutil.copytree("other", "third")
    words = ("matrix", "--train", "./t", "--serve", "./other", "./third", *GIVEN)
    _, text = run(capsys, *words, "--format", "json")
    assert concluded == ["./other"]
    one, other = json.loads(text)["cells"]
    assert one["violated"] == other["violated"]


def test_each_target_has_its_own_cells(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A target with another number of layers; one that the server does not know."""
    whole = load_exploration()
    monkeypatch.setattr(
        "checker.cells.load_exploration", lambda: replace(whole, matrix={"plain": {}})
    )
    words = ("--target", "LlamaForCausalLM:32", "--target", "UnheardOf:16")
    status, found = matrix(capsys, *words)
    assert found["targets"] == ["LlamaForCausalLM:32", "UnheardOf:16"]
    by = {(c["serve"], c["target"]): {*c["violated"]} for c in found["cells"]}
    assert len(by) == 4
    assert by["./one", "LlamaForCausalLM:32"] == set()
    assert "aux-boundaries" in by["./one", "UnheardOf:16"]
    assert "final-norm" in by["./other", "UnheardOf:16"]
    assert status == 1
    Path("m.json").write_text(json.dumps(found), "utf-8")
    for form in ("text", "markdown", "html"):
        _, text = run(capsys, "merge", "m.json", "--format", form)
        assert "UnheardOf:16, plain" in text
    alone = matrix(capsys, "--target", "UnheardOf:16")[1]
    assert alone["cells"] == [c for c in found["cells"] if c["target"] == "UnheardOf:16"]


def test_what_is_wrong_with_a_source_is_said_from_another_process_too(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    words = ["matrix", "--train", "./t", "--serve", "./one", "./nowhere", *GIVEN]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert err.startswith("eagle3-check: ./nowhere: no such file or folder")
    assert len(err.splitlines()) == 1


def test_unproven_cells_have_their_reasons(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(SERVED).read_text("utf-8")
    Path(SERVED).write_text(text.replace("(kept), kept", "(torch.mystery(kept)), kept"), "utf-8")
    status, text = run(capsys, "matrix", *SIDES, *GIVEN, "--format", "json")
    assert status == 3
    Path("m.json").write_text(text, "utf-8")
    _, text = run(capsys, "coverage", "m.json", "--format", "json")
    share = json.loads(text)
    assert 0 < share["decided"] < 1
    assert share["counts"]["unproven"] > 0
    assert any("mystery" in item["reason"] for item in share["reasons"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("matrix", *SIDES, "--shard", "3/2"), "is no part"),
        (("matrix", "--train", "./t", "--serve", "./nowhere"), "nowhere"),
        (("merge", "nowhere.json"), "cannot be read"),
        (("coverage", "train.json"), "is no matrix"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert main([*words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
