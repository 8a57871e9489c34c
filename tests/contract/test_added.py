"""A wrong contract file is told all at once: each mistake with its place and what was expected."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main
from checker.contract import files
from checker.contract.added import ADDABLE, added, check_references
from checker.contract.documents import read_document
from checker.contract.loading import load_contract
from checker.data import CONTRACTS, SCHEMAS
from checker.data import FIXTURES as PACKAGED
from checker.errors import InputError
from checker.report.explain import render_clause, render_pages
from checker.settings import find_settings

from . import documented

PAGES = Path(__file__).parents[2] / "docs" / "clauses"
CLAUSE = """\
version: 1
clauses:
  - id: my-clause
    title: a clause of mine
    statement: Something is the same on both sides.
    why: It matters for some reason.
    effect: It shows in some way.
    remedy: Do something about it.
    severity: warning
    implemented: true
    fixtures: {holds: as they are, violated: embedding not normed}
    owns:
      - {wire: embeds}
"""

SWITCH = """\
switches:
  mine: {type: boolean, default: false, summary: A text., clause: mlp, spellings: {x: mine}}
"""


def write(folder: Path, text: str, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def mistakes(*paths: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_contract(added(paths))
    return [str(problem) for problem in caught.value.problems]


def test_all_mistakes_of_a_file_are_told_with_their_places(tmp_path: Path) -> None:
    text = CLAUSE.replace("severity: warning", "severity: fatal").replace(
        "    why: It matters for some reason.\n", ""
    )
    text = text.replace("implemented: true", "implemented: 1").replace("titel", "title")
    text = text.replace("title: a clause", "titel: a clause")
    path = write(tmp_path, text)
    found = mistakes(path)
    assert [re.match(rf"{re.escape(str(path))}:(\d+):(\d+): ", line)[0] for line in found]  # type: ignore[index]
    told = [line.partition(": ")[2] for line in found]
    assert told == [" ".join(text.split()) for text in TOLD.strip().split("\n\n")]


TOLD = """
clauses.0: 'title' is a required property (expected: a few words, as a heading of a finding)

clauses.0: 'why' is a required property (expected: why the architecture depends on it)

clauses.0.titel: unknown key 'titel' (did you mean 'title'?)

clauses.0.severity: 'fatal' is not one of ['error', 'warning', 'info']
(expected: how much a violation matters to serving)

clauses.0.implemented: 1 is not of type 'boolean'
(expected: whether this version can decide it)
"""


def test_words_that_old_yaml_takes_for_something_else_are_refused_together(tmp_path: Path) -> None:
    path = write(tmp_path, "clauses: no\non: 1\nx: 010\ny: 1:30\nz: 1_000\nok: 'yes'\nok: true\n")
    found = [line.removeprefix(f"{path}:") for line in mistakes(path)]
    assert [line.partition(" is ")[0] for line in sorted(found)] == [
        "1:10: no",
        "2:1: on",
        "3:4: 010",
        "4:4: 1:30",
        "5:4: 1_000",
        "7:1: key 'ok'",
    ]
    assert "write true or false, or put it in quotes" in min(found)


def test_mistakes_of_several_files_are_told_in_one_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write(tmp_path, CLAUSE.replace("severity: warning", "severity: fatal"), "one.yaml")
    other = write(tmp_path, "engine: x\nversion: 1\nrole: both\n", "other.yaml")
    fine = write(tmp_path, CLAUSE, "fine.yaml")
    assert main(["contracts", "validate", str(one), str(other), str(fine)]) == 2
    out, err = capsys.readouterr()
    assert out == f"{fine}: valid (clauses)\n"
    lines = err.splitlines()
    assert all(line.startswith("eagle3-check: ") for line in lines)
    assert len([line for line in lines if str(one) in line]) == 1
    assert len([line for line in lines if str(other) in line]) > 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CLAUSE.replace("wire: embeds", "wire: embed"), "there is no wire 'embed'"),
        (SWITCH.replace("clause: mlp", "clause: mlpp"), "there is no clause 'mlpp' (see contracts"),
        ("roles: {layers: num_layers}\n", "there is no switch 'num_layers'"),
        ("wires: {embeds: 'embedding(('}\n", "wires.embeds: the expression cannot be read"),
        (CLAUSE.replace("version: 1", "version: 9"), "version 9 of the contracts' grammar"),
        ("formats: {x: {title: one, about: one}}\n", "which cannot be added"),
        ("title: x\n", "is none of ours: clauses, engine, "),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in mistakes(write(tmp_path, text))[0]


def test_a_stage_that_is_no_python_is_told_with_its_own_line(tmp_path: Path) -> None:
    text = (CONTRACTS / "engines" / "toy-trainer.yaml").read_text()
    number = 1 + text[: text.index("      layer_config = ")].count("\n")
    path = write(tmp_path, text.replace("      layer_config = ", "      layer_config == = "))
    assert f"stages.construct.python: is no Python in line {number}: " in mistakes(path)[0]


def test_what_is_added_takes_the_place_of_what_has_its_name(tmp_path: Path) -> None:
    replaced = CLAUSE.replace("id: my-clause", "id: embedding-source")
    contract = load_contract(added([write(tmp_path, CLAUSE, "a.yaml")]))
    assert contract.clauses["my-clause"].title == "a clause of mine"
    contract = load_contract(added([write(tmp_path, replaced, "b.yaml")]))
    assert contract.clauses["embedding-source"].title == "a clause of mine"
    assert set(contract.clauses) == set(load_contract().clauses)


def test_commands_take_added_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--contract", str(write(tmp_path, CLAUSE))]
    assert main(["explain", "my-clause", *given]) == 0
    assert main(["contracts", "list", *given]) == 0
    assert main(["contracts", "show", "my-clause", *given]) == 0
    assert capsys.readouterr().out.count("a clause of mine") == 3
    assert main(["explain", "my-clause"]) == 2


def test_settings_name_files_beside_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "checks").mkdir()
    write(tmp_path / "checks", CLAUSE)
    write(tmp_path, '[tool.eagle3-check]\ncontracts = ["checks/mine.yaml"]\n', "pyproject.toml")
    assert find_settings(tmp_path).contracts == [tmp_path / "checks" / "mine.yaml"]
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "my-clause"]) == 0
    assert "a clause of mine" in capsys.readouterr().out


# -- the program's own -----------------------------------------------------------------------------


def test_own_files_name_their_schema_and_version() -> None:
    for path in files.own_files():
        first, *rest = path.read_text("utf-8").splitlines()
        assert re.fullmatch(
            r"# yaml-language-server: \$schema=\.\./schema/\w+\.schema\.json", first
        ), path
        assert "version: 1" in rest, path
        assert (path.parent / first.partition("$schema=")[2]).exists(), path


def test_own_files_name_only_what_there_is() -> None:
    contract = load_contract()
    own = [path for path in files.own_files() if files.check(path) in ADDABLE]
    check_references(contract, added(own))
    described = read_document(CONTRACTS / "eagle3" / "wires.yaml").data
    assert set(described) >= {"roles", "target", "outputs", "layer-output", "parameters", "wires"}


@pytest.mark.parametrize("name", [n for n in files.schemas() if n not in files.REPORTS])
def test_every_key_of_a_contract_file_is_described(name: str) -> None:
    rules = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))

    def walk(node: Any, place: str) -> None:
        if isinstance(node, dict):
            for key, item in node.get("properties", {}).items():
                assert _describes(item, rules), f"{name}: {place}.{key}"
            for key, item in node.items():
                walk(item, f"{place}.{key}")
        elif isinstance(node, list):
            for item in node:
                walk(item, place)

    walk(rules, "")


def _describes(node: dict[str, Any], rules: dict[str, Any]) -> bool:
    if "description" in node or "const" in node:
        return True
    reference = node.get("$ref", "").rpartition("/")[2]
    return "description" in rules.get("$defs", {}).get(reference, {})


def test_schemas_are_listed_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contracts", "schema"]) == 0
    assert capsys.readouterr().out.split() == sorted(files.schemas())
    assert main(["contracts", "schema", "engine"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Engine description"
    assert main(["contracts", "schema", "motor"]) == 2


def test_the_pages_of_clauses_are_what_the_contract_says() -> None:
    """Written by ``eagle3-check contracts pages docs/clauses``."""
    there = {path.name: path.read_text("utf-8") for path in PAGES.iterdir()}
    assert there == render_pages(load_contract())


def test_explain_and_pages_say_the_same() -> None:
    contract = load_contract()
    for clause in contract.clauses.values():
        printed = set(re.findall(r"\w+", render_clause(clause, contract)))
        page = set(re.findall(r"\w+", render_pages(contract)[f"{clause.id}.md"]))
        assert printed == page, clause.id


FIXTURES = """\
fixtures:
  mine:
    serve: servers/mine
    edits:
      - {side: serve, file: toy_server/eagle3.py, old: self.input_layernorm(embeds), new: embeds}
"""


def test_a_clause_without_fixtures_does_not_load(tmp_path: Path) -> None:
    line = "    fixtures: {holds: as they are, violated: embedding not normed}\n"
    path = write(tmp_path, CLAUSE.replace(line, ""))
    (found,) = mistakes(path)
    assert found.startswith(f"{path}:3:5: clauses.0: 'fixtures' is a required property")
    assert "one fixture for which the clause holds and one that violates it" in found
    half = write(tmp_path, CLAUSE.replace(", violated: embedding not normed", ""))
    (found,) = mistakes(half)
    assert found.startswith(f"{half}:11:5: clauses.0.fixtures: 'violated' is a required property")
    # one that cannot be decided yet has nothing to show
    later = CLAUSE.replace(line, "").replace("implemented: true", "implemented: false")
    assert "my-clause" in load_contract(added([write(tmp_path, later)])).clauses


def test_a_fixture_that_there_is_not_is_told_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path, CLAUSE.replace("holds: as they are", "holds: as they were"))
    (found,) = mistakes(path)
    place = f"{path}:11:16: clauses.0.fixtures.holds"
    assert found.startswith(f"{place}: there is no fixture 'as they were'")
    assert "did you mean 'as they are'?" in found


def test_fixtures_of_a_file_start_at_the_file(tmp_path: Path) -> None:
    text = CLAUSE.replace("violated: embedding not normed", "violated: mine") + FIXTURES
    path = write(tmp_path, text)
    (found,) = mistakes(path)
    assert "fixtures.mine.serve: there is no 'servers/mine' beside this file" in found
    shutil.copytree(PACKAGED / "engines" / "toy_server", tmp_path / "servers" / "mine")
    assert load_contract(added([path])).clauses["my-clause"].fixtures == ("as they are", "mine")


def test_fixtures_are_run_when_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clause = CLAUSE.replace("{wire: embeds}", "{wire: embeds-normed}")
    clause = clause.replace("my-clause", "embeds-norm")
    path = write(tmp_path, clause)
    assert main(["contracts", "validate", "--fixtures", str(path)]) == 0
    assert capsys.readouterr().out.endswith("every fixture shows what its clause says\n")
    other = write(tmp_path, clause.replace("embedding not normed", "rotary base"))
    assert main(["contracts", "validate", "--fixtures", str(other)]) == 1
    assert "embeds-norm: holds for 'rotary base', not violated" in capsys.readouterr().out


def test_the_documented_clause_loads_and_its_fixtures_show_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = (b for b in documented.blocks() if "fixtures:" in b)
    path = write(tmp_path, block)
    assert main(["contracts", "validate", "--fixtures", str(path)]) == 0
    assert "every fixture shows" in capsys.readouterr().out
