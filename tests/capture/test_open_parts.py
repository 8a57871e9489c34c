"""Parts of a target of which the configuration says how many there are, or whether."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.test_small_targets import SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

WANTED = "self.wanted = []"
LAYER = "hidden, residual = layer(hidden, residual)"
EXPERTS = "return self.experts(hidden), residual"
CALL = "def forward(self, hidden, residual):"
BANKED = (
    (CALL, "def forward(self, hidden, residual, banks, index):"),
    (LAYER, "hidden, residual = layer(hidden, residual, self.banks, i)"),
)
MANY = "self.banks = nn.ModuleList([Mixer(config.hidden_size) for _ in range(config.banks)])"


@pytest.mark.parametrize("method", ["", ".forward"])
def test_a_list_of_an_unknown_number_of_parts(tmp_path: Path, method: str) -> None:
    """Each layer uses one of them: which is as open as what it computes."""
    one = f"return banks[index % len(banks)]{method}(hidden), residual"
    edits = (*BANKED, (WANTED, f"{WANTED}\n        {MANY}"), (EXPERTS, one))
    assert ask(tmp_path, (1, 3), *edits).boundaries == (2, 4)
    lost = ask(tmp_path, (1, 3), *edits, captured="hidden")
    assert lost.boundaries == ("not-a-boundary", "not-a-boundary")


def test_layers_of_an_unknown_number_stay_unproven(tmp_path: Path) -> None:
    """They are no parts: how many there are is what boundaries are counted by."""
    layers = "range(config.num_hidden_layers)"
    found = ask(tmp_path, (1, 3), (layers, "range(config.blocks)"))
    assert not found.is_decided
    assert found.error is None


@pytest.mark.parametrize(
    "use",
    [
        "hidden = hidden + self.extra(hidden)",
        "self.extra.start(hidden)",
        "residual = self.extra(residual)",
    ],
)
def test_a_part_that_may_not_be_there(tmp_path: Path, use: str) -> None:
    """Whatever it computes, it is of the layer, or of what lies between two of them."""
    made = "self.extra = Mixer(config.hidden_size) if config.extra else None"
    first = "self.attention = Mixer(config.hidden_size)"
    where = "hidden = self.attention(hidden)"
    start = "def start(self, x):\n        pass\n    def forward(self, x):"
    held = ((first, f"{first}\n        {made}"), ("def forward(self, x):", start))
    inside = (where, f"{where}\n        if self.extra is not None:\n            {use}")
    assert ask(tmp_path, (1, 3), *held, inside).boundaries == (2, 4)
    beside = f"{LAYER}\n            if layer.extra is not None:\n                {use}"
    outside = (LAYER, beside.replace("self", "layer"))
    assert ask(tmp_path, (1, 3), *held, outside).boundaries == (2, 4)
    wanted = ("if i in self.wanted:", "if i in self.wanted and layer.extra is not None:")
    found = ask(tmp_path, (1, 3), *held, wanted)
    assert not found.is_decided
    assert "[2, 4]" in found.reason


def test_a_method_that_sets_up_the_target(tmp_path: Path) -> None:
    """What it binds behind a condition that nothing decides is bound all the same."""
    method = """def set_up(self, config):
        if config.odd:
            self.scale = unheard_of(config)
        else:
            self.scale = config.scale ** 2
        self.wanted = []
    def forward(self, tokens):"""
    edits = (WANTED, "self.set_up(config)"), ("def forward(self, tokens):", method)
    assert ask(tmp_path, (1, 3), *edits).boundaries == (2, 4)
    deaf = method.replace("self.wanted = []", "self.other = []")
    found = ask(tmp_path, (1, 3), edits[0], (edits[1][0], deaf))
    assert found.boundaries == (2, 4)


def test_whether_any_of_several_is_there(tmp_path: Path) -> None:
    """Nothing decides it for the whole either; both ways are followed."""
    several = "self.some = any(config.extra[i] is not None for i in range(3))"
    set_up = (WANTED, f"{WANTED}\n        {several}")
    kept = f"kept.append({SUM})"
    one = f"if self.some:\n                    {kept}"
    both = f"{one}\n                else:\n                    {kept}"
    assert ask(tmp_path, (1, 3), set_up, (kept, both)).boundaries == (2, 4)
    found = ask(tmp_path, (1, 3), set_up, (kept, one))
    assert not found.is_decided
    assert "any of several" in found.reason


@pytest.mark.parametrize(
    ("condition", "decided"),
    [
        ("self.config.a is None and self.config.b", False),
        ("self.config.a is None or self.config.b", True),
        ("self.config.a is None or not self.config.b", True),
        ("not (self.config.a is None and self.config.b)", False),
        ("self.config.a is None or self.config.a is not None", True),
        ("self.config.a is None or True", True),
    ],
)
def test_each_of_several_open_values_is_asked(
    tmp_path: Path, condition: str, decided: bool
) -> None:
    """Where the first is so, the second decides: in what follows, too."""
    held = (WANTED, "self.wanted, self.config = [], config")
    kept = f"kept.append({SUM})"
    later = f"if {condition} or self.config.a is not None:\n                    {kept}"
    found = ask(tmp_path, (1, 3), held, (kept, later))
    assert found.is_decided is decided, found.boundaries


def test_a_stack_that_may_not_be_there_hands_over_nothing_that_is_known(tmp_path: Path) -> None:
    """What it does may be anything then; that it keeps no state is not said."""
    whole = "self.model = Stack(config)"
    returned = ("return hidden, kept", "return hidden")
    unpacked = ("hidden, kept = self.model(tokens)", "hidden, kept = self.model(tokens), None")
    open_stack = (whole, "self.model = Stack(config) if config.text else None")
    sets = (
        "self.model.wanted = [2, 4, 5] if layer_ids is None else [i + 1 for i in layer_ids]",
        "pass",
    )
    assert not ask(tmp_path, (1, 3), open_stack, returned, unpacked, sets).is_decided
    assert ask(tmp_path, (1, 3), returned, unpacked, sets).boundaries == ()


TAKEN = """hidden = self.attention(hidden)
        if isinstance(hidden, tuple):
            hidden, _ = hidden"""
CHOSEN = """mixed = self.attention(hidden)
        hidden = mixed[0] if isinstance(mixed, tuple) else mixed"""
PAIR = """class Pair(Mixer):
    def forward(self, x):
        return self.inner(x), x
"""


@pytest.mark.parametrize("use", [TAKEN, CHOSEN])
def test_a_part_that_gives_several_values_or_one(use: str, tmp_path: Path) -> None:
    """Which of its classes it is of, nothing says: one run does for both."""
    start = "class Layer(nn.Module):"
    part = "self.attention = (Pair if config.paired else Mixer)(config.hidden_size)"
    edits = (
        (start, PAIR + start),
        ("self.attention = Mixer(config.hidden_size)", part),
        ("hidden = self.attention(hidden)", use),
    )
    assert ask(tmp_path, (1, 3), *edits).boundaries == (2, 4)
    lost = ask(tmp_path, (1, 3), *edits, captured="hidden")
    assert lost.boundaries == ("not-a-boundary", "not-a-boundary")
