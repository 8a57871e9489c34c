"""Every complaint about a contract file names the file, the line, the key and what was expected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.contract import files
from checker.contract.loading import load_contract, load_plain, load_yaml
from checker.contract.model import Contract, Selector
from checker.contract.validation import validate
from checker.data import CONTRACTS
from checker.errors import InputError

DESIGN = """
aux-boundaries aux-stream aux-reduced aux-count fc-shape fc-condition fc-input-norm concat-order
embeds-norm hidden-norm residual-source attention-projections attention-qk-norm attention-rope
attention-mask positions mlp layers final-norm feedback norm-kind embedding-source lm-head-source
vocabulary token-alignment weights-loaded config-read architecture-registered launch
training-target metrics
""".split()  # noqa: SIM905 - as the design has them


@pytest.fixture(scope="module")
def contract() -> Contract:
    return load_contract()


@pytest.mark.parametrize("path", files.own_files(), ids=lambda p: str(p.relative_to(CONTRACTS)))
def test_every_file_that_comes_with_the_program_follows_its_schema(path: Path) -> None:
    files.check(path)
    assert load_yaml(path).data == load_plain(path)


def test_the_contract_has_exactly_the_clauses_of_the_design(contract: Contract) -> None:
    assert sorted(contract.clauses) == sorted(DESIGN)
    assert list(contract.clauses) == sorted(contract.clauses)


def test_every_text_of_a_clause_says_something(contract: Contract) -> None:
    for clause in contract.clauses.values():
        for text in (clause.statement, clause.why, clause.effect, clause.remedy):
            assert re.search(r"\w+ \w+ \w+", text), clause.id
            assert text.endswith("."), clause.id


def test_every_clause_that_is_checked_is_decided_by_something(contract: Contract) -> None:
    for clause in contract.clauses.values():
        assert clause.owns or clause.facts, clause.id


def test_switches_are_owned_by_clauses_there_are(contract: Contract) -> None:
    for switch in contract.switches.values():
        assert set(switch.clauses) <= set(contract.clauses), switch.name


def test_defaults_have_the_type_of_their_switch(contract: Contract) -> None:
    types = {
        "boolean": bool, "integer": int, "number": (int, float), "string": str, "list": list,
        "mapping": dict,
    }  # fmt: skip
    for switch in contract.switches.values():
        assert switch.default is None or isinstance(switch.default, types[switch.type]), switch.name


def test_no_difference_has_two_owners(contract: Contract) -> None:
    """Equally specific selectors of different clauses must not match the same difference."""
    pairs = [(clause, item) for clause in contract.clauses.values() for item in clause.owns]
    clashes = [
        (left.id, right.id, one, two)
        for index, (left, one) in enumerate(pairs)
        for right, two in pairs[index + 1 :]
        if left.id != right.id and one.rank == two.rank and overlap(one, two)
    ]
    shadowed = [
        clash
        for clash in clashes
        if not all(
            any(item.rank > clash[2].rank and item.matches(*case) for _, item in pairs)
            for case in both(clash[2], clash[3])
        )
    ]
    assert shadowed == []


def overlap(one: Selector, two: Selector) -> bool:
    return bool(both(one, two))


def both(one: Selector, two: Selector) -> list[tuple[str, str, str]]:
    fields = [
        sorted(set(mine) & set(theirs)) if mine and theirs else list(mine or theirs or ("*",))
        for mine, theirs in zip(
            (one.wires, one.aspects, one.operators),
            (two.wires, two.aspects, two.operators),
            strict=True,
        )
    ]
    return [(w, a, o) for w in fields[0] for a in fields[1] for o in fields[2]]


def test_the_most_specific_selector_decides(contract: Contract) -> None:
    for difference, owner in {
        ("residual", "source", "rms_norm"): "residual-source",
        ("embeds-normed", "operator", "rms_norm"): "embeds-norm",
        ("embeds-normed", "eps", "rms_norm"): "norm-kind",
        ("q", "eps", "rms_norm"): "norm-kind",
        ("q", "operator", "rms_norm"): "attention-qk-norm",
        ("k", "base", "rope"): "attention-rope",
        ("attention", "visible", "attention"): "attention-mask",
        ("features", "shape", "input"): "aux-count",
        ("fused", "bias", "linear"): "fc-shape",
        ("fused", "operator", "linear"): "fc-condition",
    }.items():
        found = contract.owner(*difference)
        assert found is not None
        assert found.id == owner, difference
    assert contract.owner("no-such-wire", "operator", "add") is None


def test_facts_have_one_owner(contract: Contract) -> None:
    facts = [fact for clause in contract.clauses.values() for fact in clause.facts]
    assert len(facts) == len(set(facts))
    weights = contract.fact_owner("weights")
    assert weights is not None
    assert weights.id == "weights-loaded"
    assert contract.fact_owner("no-such-fact") is None


GOOD = """\
# yaml-language-server: $schema=../schema/clauses.schema.json
clauses:
  - id: some-clause
    title: a title
    statement: a statement
    why: a reason
    effect: an effect
    remedy: a remedy
    severity: error
    implemented: true
    owns:
      - {wire: logits}
    fixtures: {holds: as they are, violated: epsilon}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("severity: error", "severity: fatal", 9, "severity: 'fatal' is not one of"),
        ("    why: a reason\n", "", 3, "'why' is a required property"),
        ("why:", "wy:", 3, "clauses.0"),
        ("implemented: true", "implemented: maybe", 10, "implemented: 'maybe' is not of type"),
        ("{wire: logits}", "{wires: logits}", 12, "clauses.0.owns.0.wires"),
        ("{wire: logits}", "{}", 12, "clauses.0.owns.0"),
        ("{wire: logits}", "{wire: [logits, logits]}", 12, "non-unique"),
        ("id: some-clause", "id: Some Clause", 3, "does not match"),
        ("title: a title", "title: a: title", 4, "not valid YAML"),
        ("title: a title", "title: a\n    title: b", 5, "'title' is given twice"),
        ("clauses:", "- clauses:", 2, "is not of type 'object'"),
        (GOOD, "", 1, "is not of type 'object'"),
    ],
)
def test_a_mistake_is_said_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    path = tmp_path / "clauses.yaml"
    path.write_text(GOOD, "utf-8")
    load_yaml(path, "clauses")
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError) as caught:
        load_yaml(path, "clauses")
    assert str(caught.value).startswith(f"{path}:{line}"), str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_contract_that_was_edited_badly_is_explained_by_its_schema(tmp_path: Path) -> None:
    folder = tmp_path / "eagle3"
    folder.mkdir()
    (folder / "clauses.yaml").write_text(GOOD.replace("    why: a reason\n", ""), "utf-8")
    with pytest.raises(InputError, match="'why' is a required property"):
        load_contract(root=tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: &a [1]\n" + b"".join(
            b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9)) for n in b"bcdefghij"
        ), "too many values"),
        (b"a: &a [*a]\n", "nests too deeply"),
        (b"[" * 5000, "YAML"),
        (b"a: \xff\n", "UTF-8"),
        (b"a: !!python/object:os.system x\n", "not valid YAML"),
    ],
)  # fmt: skip
def test_hostile_files_end_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        validate(load_yaml(path), "clauses")
    assert said in str(caught.value) or "deeply" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"title: x\n", "is none of ours: clauses, engine"),
        (b"clauses: []\nengine: x\n", "is none of ours"),
        (b"# yaml-language-server: $schema=x/other.schema.json\n", "unknown schema 'other'"),
    ],
)
def test_a_file_has_to_name_its_schema_or_have_a_key_of_its_kind(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "file.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        files.check(path)


WIRES = """
features fc-input fused embeds embeds-normed hidden-normed attention-input residual q-projected
k-projected v-projected q k v attention attention-output post-attention-normed mlp stream output
logits feedback
""".split()  # noqa: SIM905 - a list to read


def test_every_wire_has_an_owner_whatever_differs(contract: Contract) -> None:
    for wire in {*WIRES, *contract.wires.get("wires", ())}:
        assert contract.owner(wire, "operator", "add") is not None, wire


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2001-02-30", "'2001-02-30' is no timestamp: day is out of range"),
        ("2024-01-01T00:00:00+99:99", "is no timestamp: offset must be"),
        ("!!int x", "'x' is no int"),
        ("!!int ''", "'' is no int"),
        ("!!float nope", "'nope' is no float"),
        ("!!bool x", "'x' is no bool"),
        ("9" * 5000, "is no int"),
    ],
)
def test_a_value_that_cannot_be_converted_is_said_with_its_place(
    tmp_path: Path, value: str, said: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(f"a: 1\nb:\n  - c: {value}\n", "utf-8")
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        load_yaml(path)
    assert caught.value.place == f"{path}:3:8"
