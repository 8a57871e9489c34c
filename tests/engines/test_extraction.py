"""Extraction over conditions that nothing decides, and what a raise is attributed to."""

from pathlib import Path
from typing import Any

import pytest

from checker.engines import Inputs, Subject, extract_side
from checker.engines.description import Engine, Stage, load_operators
from checker.engines.extraction import Extraction
from checker.graph.terms import Pool, unknowns
from checker.interpreter.stubs import Stubs
from checker.sources import open_source
from checker.syntax import Workspace

STAGES = {
    "construct": "from small.model import Draft\n"
    "model = Draft(draft_config)\n"
    "op.name_parameters(model)",
    "run": "logits = [model(op.input('x', (TOKENS, 4)))]",
}
HEAD = "import torch\nfrom torch import nn\nimport somewhere\n\n\nclass Draft(nn.Module):\n"


@pytest.fixture(scope="module")
def stubs() -> Stubs:
    return load_operators()


def extract(stubs: Stubs, folder: Path, body: str, **config: Any) -> Extraction:
    package = folder / "small"
    package.mkdir()
    (package / "__init__.py").write_text("")
    indented = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())
    (package / "model.py").write_text(HEAD + indented)
    tree = open_source(str(folder), package="small")
    stages = tuple(Stage(name, text, "small.yaml") for name, text in STAGES.items())
    engine = Engine(
        "small", "server", "small", "small", (), False, (), None, stages, None, None, ()
    )
    return extract_side(
        Subject(engine, Workspace([tree]), stubs, tree.label), Pool(), Inputs(dict(config))
    )


FORWARD = "def forward(self, x):\n    if somewhere.fast():\n        {}\n    return self.w(x)"
INIT = "def __init__(self, config):\n    super().__init__()\n    self.w = nn.Linear(4, 4)\n"


def test_both_answers_of_an_undecided_condition_may_be_the_same(
    stubs: Stubs, tmp_path: Path
) -> None:
    body = INIT + FORWARD.format("return self.w(x)")
    found = extract(stubs, tmp_path, body)
    assert found.failure is None
    assert [t.op for t in found.logits] == ["linear"]


def test_different_answers_are_unknown_with_the_condition_as_reason(
    stubs: Stubs, tmp_path: Path
) -> None:
    body = INIT + FORWARD.format("return x")
    found = extract(stubs, tmp_path, body)
    assert "somewhere.fast" in str(unknowns(*found.logits)[0].attr("reason"))


def test_too_many_undecided_conditions_end_the_extraction(stubs: Stubs, tmp_path: Path) -> None:
    tests = "".join(f"    if somewhere.a{i}():\n        x = x + {i}\n" for i in range(30))
    found = extract(stubs, tmp_path, INIT + "def forward(self, x):\n" + tests + "    return x")
    assert found.failure is not None
    assert found.failure.type is None


@pytest.mark.parametrize(
    ("check", "key"),
    [
        ("if config['layers'] != 1:", "layers"),
        ("if self.kind(config['act']):", "act"),
    ],
)
def test_a_raise_is_attributed_to_what_its_condition_tested(
    stubs: Stubs, tmp_path: Path, check: str, key: str
) -> None:
    body = (
        "def kind(self, act):\n    if act != 'silu':\n        raise ValueError('no')\n"
        "    return False\n"
        "def __init__(self, config):\n    super().__init__()\n"
        f"    {check}\n        raise ValueError('no')\n"
        "    self.w = nn.Linear(4, 4)\n"
        "def forward(self, x):\n    return x"
    )
    values = {"layers": 2, "act": "silu"} if key == "layers" else {"layers": 1, "act": "relu"}
    found = extract(stubs, tmp_path, body, **values)
    assert found.failure is not None
    assert found.failure.type == "ValueError"
    assert found.failure.keys == (key,)


def test_a_parameter_of_another_width_names_itself(stubs: Stubs, tmp_path: Path) -> None:
    body = "def __init__(self, config):\n    super().__init__()\n    self.w = nn.Linear(5, 4)\n"
    found = extract(stubs, tmp_path, body + "def forward(self, x):\n    return self.w(x)")
    assert found.failure is not None
    assert found.failure.parameters[0] == "w.weight"
    assert found.failure.location is not None
    assert found.failure.location.path == "small/model.py"


def test_a_file_that_does_not_parse_is_named_with_its_line(stubs: Stubs, tmp_path: Path) -> None:
    found = extract(stubs, tmp_path, "def forward(self:\n    pass")
    assert found.failure is not None
    assert "cannot be parsed" in found.failure.message
    assert str(found.failure.location).startswith("small/model.py:")


@pytest.mark.parametrize(
    ("modules", "reason"),
    [
        ("[x for x in self.named_modules()]", "too deeply"),
        ("[1, 2]", "does not give names and modules"),
        ("[(1, self)]", "does not give names and modules"),
        ("[('', 1)]", "does not give names and modules"),
        ("1", "not iterable"),
    ],
)
def test_a_model_that_cannot_be_asked_for_its_modules_ends_the_extraction(
    stubs: Stubs, tmp_path: Path, modules: str, reason: str
) -> None:
    body = INIT + "def forward(self, x):\n    return self.w(x)\n"
    body += f"def named_modules(self):\n    return {modules}"
    found = extract(stubs, tmp_path, body)
    assert found.failure is not None
    assert reason in found.failure.message


def test_a_read_with_a_dictionary_as_default_is_told_apart_on_every_path(
    stubs: Stubs, tmp_path: Path
) -> None:
    init = INIT + "    config.get('nested', {})\n"
    found = extract(stubs, tmp_path, init + FORWARD.format("return self.w(x)"))
    assert found.failure is None
