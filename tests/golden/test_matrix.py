"""Every clause over every variant of the packaged engines: the whole set of violations is compared.

A variant changes one line of one engine (our own source, so plain text will do) or one key of one
configuration. Each clause that the small engines can break has one here, and variants that change
nothing must leave everything holding.
"""

import copy
import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from checker.configs import ConfigFile
from checker.contract.loading import load_contract
from checker.data import FIXTURES
from checker.report.model import Report, Status
from checker.request import Access, Rename, Target, VerifyRequest
from checker.verify import verify


@dataclass(frozen=True)
class Variant:
    name: str
    violated: set[str]
    edits: tuple[tuple[str, str, str], ...] = ()
    train: dict[str, Any] = field(default_factory=dict)
    serve: dict[str, Any] = field(default_factory=dict)
    renames: tuple[Rename, ...] = ()
    launch: str | None = None
    ranks: int = 1


def lines(*statements: str) -> str:
    """Statements of a method's body, one below the other."""
    return ("\n" + 8 * " ").join(statements)


DRAFT, PARTS = "toy_trainer/toy_trainer/draft.py", "toy_trainer/toy_trainer/parts.py"
SERVED, LAYERS = "toy_server/toy_server/eagle3.py", "toy_server/toy_server/layers.py"
PAIRS, WORKER = "toy_trainer/toy_trainer/data.py", "toy_server/toy_server/worker.py"
SCORES = "toy_trainer/toy_trainer/scores.py"
GOAL, TARGET = "toy_trainer/toy_trainer/goal.py", "toy_server/toy_server/target.py"
RUN = "logits, hidden = self.model(tokens, positions, hidden)\n"

VIOLATING = [
    Variant(
        "residual switch", {"residual-source", "config-read"}, train={"norm_before_residual": True}
    ),
    Variant("normed feedback", {"feedback", "config-read"}, train={"norm_output": True}),
    Variant(
        "served feedback normed",
        {"feedback"},
        ((SERVED, "return self.lm_head(normed), kept", "return self.lm_head(normed), normed"),),
    ),
    Variant(
        "concat swapped",
        {"concat-order"},
        (
            (
                SERVED,
                "[self.input_layernorm(embeds), self.hidden_norm(hidden)]",
                "[self.hidden_norm(hidden), self.input_layernorm(embeds)]",
            ),
        ),
    ),
    Variant(
        "embedding not normed",
        {"embeds-norm"},
        ((SERVED, "self.input_layernorm(embeds)", "embeds"),),
    ),
    Variant(
        "hidden state not normed",
        {"hidden-norm"},
        ((SERVED, "self.hidden_norm(hidden)", "hidden"),),
    ),
    Variant(
        "residual after the norm",
        {"residual-source"},
        ((SERVED, "residual = hidden\n", "residual = self.hidden_norm(hidden)\n"),),
    ),
    Variant(
        "final norm left out",
        {"final-norm"},
        ((SERVED, "self.lm_head(normed)", "self.lm_head(kept)"),),
    ),
    Variant(
        "epsilon",
        {"norm-kind"},
        (
            (
                SERVED,
                'self.hidden_norm = FusedNorm(size, config["rms_norm_eps"])',
                "self.hidden_norm = FusedNorm(size)",
            ),
        ),
    ),
    Variant("unit offset", {"norm-kind"}, ((PARTS, "* self.weight", "* (1 + self.weight)"),)),
    Variant("rotary base", {"attention-rope"}, serve={"rope_theta": 10000.0}),
    Variant("rotary base by default", {"attention-rope"}, ((SERVED, '"rope_theta"', '"theta"'),)),
    Variant(
        "softmax scale",
        {"attention-rope"},
        ((SERVED, "Slots(index, head**-0.5)", "Slots(index, 1.0)"),),
    ),
    Variant(
        "query not rotated",
        {"attention-rope"},
        (
            (
                SERVED,
                "q = rotate(q.view(-1, self.heads, self.head), positions, self.base)",
                "q = q.view(-1, self.heads, self.head)",
            ),
        ),
    ),
    Variant(
        "mlp gate and up exchanged", {"mlp"}, ((SERVED, "silu(gate) * up", "silu(up) * gate"),)
    ),
    Variant(
        "mlp activation",
        {"mlp"},
        ((SERVED, "nn.functional.silu(gate)", "nn.functional.gelu(gate)"),),
    ),
    Variant(
        "mlp residual lost",
        {"mlp"},
        (
            (
                SERVED,
                "return self.down_proj(nn.functional.silu(gate) * up), residual",
                "return self.down_proj(nn.functional.silu(gate) * up), residual * 0",
            ),
        ),
    ),
    Variant(
        "fc always",
        {"fc-condition"},
        ((SERVED, "if hidden.shape[-1] != embeds.shape[-1]:", "if True:"),),
    ),
    Variant(
        "fc bias",
        {"fc-shape", "weights-loaded"},
        (
            (
                DRAFT,
                "self.aux_count * size, size, bias=False",
                "self.aux_count * size, size, bias=True",
            ),
        ),
    ),
    Variant(
        "fc for another count",
        {"fc-shape", "aux-boundaries"},
        serve={"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 2]}},
    ),
    Variant(
        "fc input normed",
        {"fc-input-norm", "weights-loaded"},
        (
            (SERVED, "hidden = self.fc(hidden)", "hidden = self.fc(self.extra(hidden))"),
            (
                SERVED,
                "        self.norm = Fused",
                "        self.extra = FusedNorm(3 * size)\n        self.norm = Fused",
            ),
        ),
    ),
    Variant("tensor renamed on the way", {"weights-loaded"}, renames=(Rename("norm", "final"),)),
    Variant(
        "loader key",
        {"weights-loaded"},
        ((SERVED, '"up_proj": ("gate_up_proj", "up")', '"up_projection": ("gate_up_proj", "up")'),),
    ),
    Variant(
        "head tied",
        {"lm-head-source", "weights-loaded", "vocabulary"},
        (
            (
                SERVED,
                'self.lm_head = nn.Linear(size, config["draft_vocab_size"], bias=False)',
                "self.lm_head = lambda x: nn.functional.linear(x, self.embed_tokens.weight)",
            ),
        ),
    ),
    Variant(
        "architecture", {"architecture-registered"}, serve={"architectures": ["SomethingElse"]}
    ),
    Variant(
        "value projection twice",
        {"attention-projections"},
        ((SERVED, "v = v.view(-1, self.kv_heads, self.head)", "v = k"),),
    ),
    Variant(
        "biases dropped",
        {"attention-projections", "weights-loaded"},
        (
            (
                SERVED,
                'bias=config.get("attention_bias", False))\n        self.o_proj',
                "bias=False)\n        self.o_proj",
            ),
        ),
        train={"transformer_layer_config": {"attention_bias": True}},
        serve={"attention_bias": True},
    ),
    Variant(
        "output projection left out",
        {"attention-projections"},
        (
            (
                SERVED,
                "self.post_attention_layernorm(self.o_proj(out), residual)",
                "self.post_attention_layernorm(out, residual)",
            ),
        ),
    ),
    Variant(
        "window",
        {"attention-mask"},
        ((SERVED, "Slots(index, head**-0.5)", "Slots(index, head**-0.5, 64)"),),
    ),
    Variant(
        "window trained",
        {"attention-mask", "config-read"},
        train={"transformer_layer_config": {"sliding_window": 64}},
        serve={"sliding_window": 64},
    ),
    Variant(
        "window off by one",
        {"attention-mask"},
        ((SERVED, "Slots(index, head**-0.5)", "Slots(index, head**-0.5, 65)"),),
        train={"transformer_layer_config": {"sliding_window": 64}},
    ),
    Variant("budget reset", {"launch"}, launch="serve --draft-depth 1 --draft-budget 16"),
    Variant("method without states", {"launch"}, launch="serve --draft-method tokens"),
    Variant("flag that there is not", {"launch"}, launch="serve --draft-trees 2"),
    Variant("target's quantisation", {"launch"}, launch="serve --bits 8"),
    Variant("flags that are refused", {"launch"}, launch="serve --draft-branches 9"),
    Variant(
        "positions advanced before the pass",
        {"positions"},
        (
            (WORKER, 12 * " " + "positions.add_(1)\n", ""),
            (WORKER, RUN, "positions.add_(1)\n" + 12 * " " + RUN),
        ),
    ),
    Variant(
        "positions advanced by two",
        {"positions"},
        ((WORKER, "positions.add_(1)", "positions.add_(2)"),),
    ),
    Variant(
        "positions not advanced",
        {"positions"},
        ((WORKER, "positions.add_(1)", "positions.add_(0)"),),
    ),
    Variant(
        "positions stand still in training",
        {"positions"},
        ((DRAFT, "angles(positions + step,", "angles(positions,"),),
    ),
    Variant(
        "served prompt not moved",
        {"token-alignment"},
        ((WORKER, "torch.cat([prompt[1:], following])", "prompt"),),
    ),
    Variant(
        "trained tokens not moved",
        {"token-alignment"},
        ((PAIRS, "return tokens[1:], states[:-1]", "return tokens[:-1], states[:-1]"),),
    ),
    Variant(
        "map of ids not undone",
        {"vocabulary"},
        ((SERVED, "tensor + torch.arange(tensor.shape[0])", "tensor"),),
    ),
    Variant(
        "map of ids dropped",
        {"vocabulary"},
        ((SERVED, "self.target_ids = tensor + torch.arange(tensor.shape[0])", "pass"),),
    ),
    Variant(
        "targets without a norm",
        {"training-target"},
        ((GOAL, "return self.norm(last)", "return last"),),
    ),
    Variant(
        "targets with another epsilon",
        {"training-target"},
        ((GOAL, 'config["rms_norm_eps"]', "1e-3"),),
    ),
    Variant(
        "hits counted against everything",
        {"metrics"},
        ((SCORES, "right_before.float().sum()", "torch.tensor(hits.numel(), dtype=torch.float)"),),
    ),
    Variant(
        "hits whatever was before",
        {"metrics"},
        (
            (SCORES, "torch.logical_and(right_before, guessed == aimed)", "guessed == aimed"),
            (SCORES, "right_before.float().sum()", "torch.tensor(hits.numel(), dtype=torch.float)"),
        ),
    ),
    Variant(
        "boundaries off by one",
        {"aux-boundaries"},
        ((TARGET, "[layer + 1 for layer in", "[layer for layer in"),),
    ),
    Variant(
        "one state kept back",
        {"aux-boundaries", "aux-count"},
        ((TARGET, "in layers or (1, 2, 3)]", "in layers[:-1]]"),),
    ),
    Variant(
        "half of the stream",
        {"aux-stream"},
        ((TARGET, "hidden if residual is None else hidden + residual", "hidden"),),
    ),
    Variant(
        "a sum over ranks left to the next layer",
        {"aux-reduced"},
        (
            (TARGET, "import FusedNorm", "import FusedNorm, every_rank"),
            (
                TARGET,
                "self.input_norm(hidden, residual)",
                "self.input_norm(every_rank(hidden), residual)",
            ),
        ),
        ranks=2,
    ),
    Variant(
        "embedding trained",
        {"embedding-source"},
        (
            (
                DRAFT,
                "with torch.no_grad():\n                embeds = self.embed_tokens(tokens[step])",
                "embeds = self.embed_tokens(tokens[step])",
            ),
        ),
    ),
    Variant(
        "queries normed",
        {"attention-qk-norm", "weights-loaded"},
        (
            (
                SERVED,
                "rotate(q.view(-1, self.heads, self.head),",
                "rotate(self.q_norm(q.view(-1, self.heads, self.head)),",
            ),
            (
                SERVED,
                "        self.slots = Slots",
                "        self.q_norm = FusedNorm(head)\n        self.slots = Slots",
            ),
        ),
    ),
    Variant(
        "second layer left out",
        {"layers"},
        ((SERVED, "for layer in self.layers[1:]:", "for layer in self.layers[2:]:"),),
        train={"transformer_layer_config": {"num_hidden_layers": 2}},
        serve={"num_hidden_layers": 2},
    ),
]

AGREEING = [
    Variant(
        "several ranks, summed by each layer",
        set(),
        (
            (TARGET, "import FusedNorm", "import FusedNorm, every_rank"),
            (
                TARGET,
                "return self.mix(hidden), residual",
                "return every_rank(self.mix(hidden)), residual",
            ),
        ),
        ranks=2,
    ),
    Variant("as they are", set()),
    Variant("flags that agree", set(), launch="serve --draft-depth 3 --draft-budget 4"),
    Variant("a tree keeps its budget", set(), launch="serve --draft-branches 4 --draft-budget 16"),
    Variant("quantisation of its own", set(), launch="serve --bits 8 --draft-bits 16"),
    Variant("flags about something else", set(), launch="serve --port 80"),
    Variant(
        "budget left alone",
        set(),
        (
            (
                "toy_server/toy_server/arguments.py",
                "self.draft_budget = self.draft_depth + 1",
                "pass",
            ),
        ),
        launch="serve --draft-depth 1 --draft-budget 16",
    ),
    Variant(
        "operands of a sum",
        set(),
        (
            (
                DRAFT,
                "kept = kept + self.self_attn(both, rotary, memory)",
                "kept = self.self_attn(both, rotary, memory) + kept",
            ),
        ),
    ),
    Variant(
        "concatenation by assignment",
        set(),
        (
            (
                SERVED,
                "joined = torch.hstack([self.input_layernorm(embeds), self.hidden_norm(hidden)])",
                lines(
                    "joined = torch.empty(embeds.shape[0], 2 * embeds.shape[1])",
                    "    joined[:, : embeds.shape[1]] = self.input_layernorm(embeds)",
                    "    joined[:, embeds.shape[1] :] = self.hidden_norm(hidden)",
                ),
            ),
        ),
    ),
    Variant(
        "norm unfused",
        set(),
        (
            (
                SERVED,
                "hidden, residual = self.post_attention_layernorm(self.o_proj(out), residual)",
                lines(
                    "residual = residual + self.o_proj(out)",
                    "hidden = self.post_attention_layernorm(residual)",
                ),
            ),
        ),
    ),
    Variant(
        "projection as a product",
        set(),
        ((SERVED, "hidden = self.fc(hidden)", "hidden = hidden @ self.fc.weight.t()"),),
    ),
    Variant(
        "activation written out",
        set(),
        ((SERVED, "nn.functional.silu(gate) * up", "gate * torch.sigmoid(gate) * up"),),
    ),
    Variant(
        "window of the same size",
        set(),
        ((SERVED, "Slots(index, head**-0.5)", "Slots(index, head**-0.5, 64)"),),
        train={"transformer_layer_config": {"sliding_window": 64}},
    ),
    Variant(
        "two layers",
        set(),
        train={"transformer_layer_config": {"num_hidden_layers": 2}},
        serve={"num_hidden_layers": 2},
    ),
    Variant(
        "biases on both sides",
        set(),
        train={"transformer_layer_config": {"attention_bias": True}},
        serve={"attention_bias": True},
    ),
    Variant(
        "all positions moved",
        set(),
        ((DRAFT, "angles(positions + step,", "angles(positions + step + 1,"),),
    ),
    Variant(
        "all served positions moved",
        set(),
        (
            (WORKER, "torch.arange(0, prompt.shape[0])", "torch.arange(3, prompt.shape[0] + 3)"),
            (WORKER, "torch.full((1,), length)", "torch.full((1,), length + 3)"),
        ),
    ),
    Variant(
        "positions advanced before the pass, from one less",
        set(),
        (
            (WORKER, "torch.full((1,), length)", "torch.full((1,), length - 1)"),
            (WORKER, 12 * " " + "positions.add_(1)\n", ""),
            (WORKER, RUN, "positions += 1\n" + 12 * " " + RUN),
        ),
    ),
    Variant(
        "positions of every step made anew",
        set(),
        (
            (WORKER, "for _ in range(steps):", "for step in range(steps):"),
            (WORKER, "positions.add_(1)", "positions = torch.full((1,), length + step + 1)"),
        ),
    ),
]

UNKNOWN = [
    Variant(
        "positions from elsewhere",
        {"positions"},
        (
            (WORKER, "import torch", "import torch\nfrom kernels import advance"),
            (WORKER, "positions.add_(1)", "advance(positions)"),
        ),
    ),
    Variant(
        "tokens by another rule",
        {"token-alignment"},
        ((WORKER, "torch.argmax(logits, dim=-1)", "torch.argmax(-logits, dim=-1)"),),
    ),
]
"""Variants that cannot be followed: these clauses are unproven, and what rests on them."""


def _config(name: str, changes: dict[str, Any]) -> ConfigFile:
    data = json.loads((FIXTURES / "example" / name).read_text())
    data["norm_before_residual"] = False
    for key, value in changes.items():
        if isinstance(value, dict):
            data[key] = {**data.get(key, {}), **value}
        else:
            data[key] = value
    return ConfigFile(name, json.dumps(data).encode(), data)


def report(variant: Variant, folder: Path) -> Report:
    """Verifies one variant of the packaged engines."""
    for engine in ("toy_trainer", "toy_server"):
        shutil.copytree(FIXTURES / "engines" / engine, folder / engine)
    for path, old, new in variant.edits:
        text = (folder / path).read_text()
        assert text.count(old) == 1, f"{path}: {old!r} stands there {text.count(old)} times"
        (folder / path).write_text(text.replace(old, new))
    return verify(
        VerifyRequest(
            train=str(folder / "toy_trainer"),
            serve=str(folder / "toy_server"),
            train_config=_config("train.json", copy.deepcopy(variant.train)),
            serve_config=_config("serve.json", copy.deepcopy(variant.serve)),
            target=Target(config=_config("target.json", {})),
            launch=variant.launch,
            renames=variant.renames,
            tensor_parallel=variant.ranks,
            access=Access(offline=True),
        )
    )


@pytest.mark.parametrize("variant", [*VIOLATING, *AGREEING], ids=lambda v: v.name.replace(" ", "-"))
def test_exactly_the_clauses_that_own_the_change_are_violated(
    variant: Variant, tmp_path: Path
) -> None:
    found = report(variant, tmp_path)
    violated = {c.id for c in found.clauses if c.status is Status.VIOLATED}
    assert violated == variant.violated, [(c.id, c.message) for c in found.clauses if c.message]
    assert found.exit_status == (1 if variant.violated else 0)
    if not variant.violated:
        undecided = [(c.id, c.reason) for c in found.clauses if c.undecided]
        assert not undecided


@pytest.mark.parametrize("variant", UNKNOWN, ids=lambda v: v.name.replace(" ", "-"))
def test_what_cannot_be_followed_leaves_its_own_clauses_unproven(
    variant: Variant, tmp_path: Path
) -> None:
    found = report(variant, tmp_path)
    assert not [c.id for c in found.clauses if c.status is Status.VIOLATED]
    unproven = {c.id for c in found.clauses if c.undecided}
    assert unproven == variant.violated | {"config-read"}
    assert found.exit_status == 3


def test_every_implemented_clause_is_broken_by_some_variant() -> None:
    broken = {clause for variant in VIOLATING for clause in variant.violated}
    implemented = {c.id for c in load_contract().clauses.values() if c.implemented}
    assert implemented == broken


def test_a_read_that_an_except_swallows_is_told_with_what_it_leaves(tmp_path: Path) -> None:
    swallowed = lines(
        "try:",
        '    self.base = config["eagle_config"]["rotary"]["rope_theta"]',
        "except (KeyError, TypeError):",
        "    self.base = 10000.0",
    )
    old = 'self.base = config.get("rope_theta", 10000.0)'
    variant = Variant("swallowed", set(), ((SERVED, old, swallowed),))
    found = report(variant, tmp_path)
    (tmp_path / "again").mkdir()
    again = report(variant, tmp_path / "again")  # from what was kept
    assert again.facts.serve.config_reads == tuple(
        replace(read, location=replace(read.location, source=again.serve.source))
        for read in found.facts.serve.config_reads
    )
    clauses = {c.id: c for c in found.clauses if c.status is Status.VIOLATED}
    assert set(clauses) == {"attention-rope"}
    reads = {read.key: read for read in found.facts.serve.config_reads}
    read = reads["eagle_config.rotary"]
    assert read.default is not None
    number = next(
        n
        for n, text in enumerate((tmp_path / SERVED).read_text().splitlines(), 1)
        if "except (KeyError" in text
    )
    path = "toy_server/eagle3.py"
    assert read.default == f"10000.0 (by the except at {path}:{number})"
    assert (read.location.path, read.location.line) == (path, number - 1)
