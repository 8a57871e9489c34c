"""Small targets, written here, run in outline: what each way of capturing really hands over."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from checker.engines import Captured, Question, Subject, capture, targets
from checker.engines.description import load_engines
from checker.pairing import allow_deep_recursion, open_side
from checker.request import Access

LAYERS = 8
FILES = {
    "model_executor/forward_batch_info.py": """
        class ForwardMode:
            EXTEND = "extend"
        class CaptureHiddenMode:
            LAST, FULL = 1, 2
        class ForwardBatch:
            pass
        """,
    "layers/layernorm.py": "class RMSNorm:\n    pass\nclass GemmaRMSNorm:\n    pass\n",
    "layers/logits_processor.py": """
        import torch
        from torch import nn
        from sglang.srt.model_executor.forward_batch_info import CaptureHiddenMode, ForwardBatch
        class LogitsMetadata:
            @classmethod
            def from_forward_batch(cls, batch):
                return cls(batch.forward_mode, batch.capture_hidden_mode)
        class Output:
            def __init__(self, logits, hidden_states):
                self.logits = logits
                self.hidden_states = hidden_states
        class LogitsProcessor(nn.Module):
            def forward(self, tokens, hidden, head, batch, aux=None):
                if isinstance(batch, ForwardBatch):
                    batch = LogitsMetadata.from_forward_batch(batch)
                last = hidden[batch.extend_seq_lens]
                if batch.capture_hidden_mode == CaptureHiddenMode.FULL:
                    hidden = hidden if aux is None else torch.cat(aux, dim=-1)
                return Output(self._get_logits(last, head), hidden)
        """,
    "layers/vocab_parallel_embedding.py": "class VocabParallelEmbedding:\n    pass\n",
}
MODEL = """
    import torch
    from torch import nn
    from sglang.srt.layers.layernorm import RMSNorm
    from sglang.srt.layers.logits_processor import LogitsProcessor
    from sglang.srt.layers.vocab_parallel_embedding import VocabParallelEmbedding

    class Mixer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.inner = unheard_of(width)
        def forward(self, x):
            return self.inner(x)

    class Layer(nn.Module):
        def __init__(self, config, index):
            super().__init__()
            self.first_norm = RMSNorm(config.hidden_size)
            self.second_norm = RMSNorm(config.hidden_size)
            self.attention = Mixer(config.hidden_size)
            self.experts = Mixer(config.hidden_size) if index % 2 else Mixer(config.wide)
        def forward(self, hidden, residual):
            if residual is None:
                residual = hidden
                hidden = self.first_norm(hidden)
            else:
                hidden, residual = self.first_norm(hidden, residual)
            hidden = self.attention(hidden)
            hidden, residual = self.second_norm(hidden, residual)
            return self.experts(hidden), residual

    class Stack(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.embed = VocabParallelEmbedding(config.vocab_size, config.hidden_size)
            self.layers = nn.ModuleList([Layer(config, i) for i in range(config.num_hidden_layers)])
            self.norm = RMSNorm(config.hidden_size)
            self.wanted = []
        def forward(self, tokens):
            hidden, residual = self.embed(tokens), None
            kept = []
            for i, layer in enumerate(self.layers):
                if i in self.wanted:
                    kept.append(CAPTURED)
                hidden, residual = layer(hidden, residual)
            hidden, _ = self.norm(hidden, residual)
            return hidden, kept

    class Target(nn.Module):
        def __init__(self, config, quant_config=None):
            super().__init__()
            self.model = Stack(config)
            self.head = None
            self.logits = LogitsProcessor(config)
        def set_eagle3_layers_to_capture(self, layer_ids=None):
            self.model.wanted = [2, 4, 5] if layer_ids is None else [i + 1 for i in layer_ids]
        def forward(self, tokens, positions, batch):
            hidden, kept = self.model(tokens)
            return self.logits(tokens, hidden, self.head, batch, kept)

    class Wrapper(nn.Module):
        def __init__(self, config, quant_config=None):
            super().__init__()
            self.language = Target(config.text_config)
        def set_eagle3_layers_to_capture(self, layer_ids=None):
            self.language.set_eagle3_layers_to_capture(layer_ids)
        def forward(self, tokens, positions, batch):
            return self.language(tokens, positions, batch)

    class Deaf(nn.Module):
        pass

    EntryClass = [Target, Wrapper, Deaf]
    """
SUM = "hidden if residual is None else hidden + residual"


def ask(
    folder: Path,
    ids: tuple[int, ...] | None,
    *edits: tuple[str, str],
    target: str = "Target",
    captured: str = SUM,
    layers: int = LAYERS,
) -> Captured:
    """What a target of a small server, edited, hands over."""
    text = dedent(MODEL).replace("CAPTURED", captured)
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    subject = laid_out(folder, text)
    assert targets(subject) == ["Target", "Wrapper"]
    return capture(subject, Question(target, layers, ids))


def laid_out(folder: Path, text: str) -> Subject:
    """A small server whose models stand in a text."""
    for path, content in {**FILES, "models/small.py": text}.items():
        file = folder / "sglang" / "srt" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(content))
    (folder / "sglang" / "__init__.py").write_text("")
    allow_deep_recursion()
    return open_side(load_engines(), "server", str(folder), [], Access(offline=True)).outline()


@pytest.mark.parametrize("target", ["Target", "Wrapper"])
def test_ids_become_boundaries_as_the_setter_says(tmp_path: Path, target: str) -> None:
    """Also through a wrapper."""
    assert ask(tmp_path, None, target=target).boundaries == (2, 4, 5)
    found = ask(tmp_path, (1, 3, 6), target=target)
    assert (found.boundaries, found.aliased) == ((2, 4, 7), ())


def test_an_order_is_lost_in_the_loop(tmp_path: Path) -> None:
    """The loop runs upwards, whatever the order of the ids."""
    assert ask(tmp_path, (6, 3, 1)).boundaries == (2, 4, 7)


def test_the_embedding_is_overwritten_later(tmp_path: Path) -> None:
    """Stored as it is, the first norm with a residual writes into it; a copy stays."""
    found = ask(tmp_path, (-1, 3))
    assert (found.boundaries, found.aliased) == ((0, 4), (-1,))
    copied = ask(
        tmp_path, (-1, 3), captured="(hidden.clone() if residual is None else hidden + residual)"
    )
    assert (copied.boundaries, copied.aliased) == ((0, 4), ())


def test_a_sum_without_a_residual_raises(tmp_path: Path) -> None:
    """Before the first layer there is no residual."""
    found = ask(tmp_path, (-1, 3), captured="hidden + residual")
    assert found.boundaries is None
    assert found.error is not None
    assert found.error.type == "TypeError"
    assert found.error.location is not None
    assert found.error.location.path.endswith("small.py")


def test_a_forgotten_residual_is_no_boundary(tmp_path: Path) -> None:
    """The layer hands over two halves; one of them is not the stream."""
    found = ask(tmp_path, (1, 3), captured="hidden")
    assert found.boundaries == ("not-a-boundary", "not-a-boundary")


def test_the_last_boundary_is_dropped_by_the_loop(tmp_path: Path) -> None:
    """A loop over layers does not reach the boundary after the last one."""
    assert ask(tmp_path, (1, LAYERS - 1)).boundaries == (2,)


def test_a_target_that_expects_states_which_the_loop_dropped(tmp_path: Path) -> None:
    """Without any state the model gives the hidden states alone, which are no two values."""
    edit = ("return hidden, kept", "return (hidden, kept) if kept else hidden")
    found = ask(tmp_path, (LAYERS - 1,), edit)
    assert found.error is not None
    assert found.error.type == "ValueError"
    assert ask(tmp_path, (1,), edit).boundaries == (2,)


def test_a_reversed_list_comes_reversed(tmp_path: Path) -> None:
    """What is concatenated is the list as it is handed over."""
    found = ask(tmp_path, (1, 3), ("return hidden, kept", "return hidden, kept[::-1]"))
    assert found.boundaries == (4, 2)


def test_a_setter_that_fills_another_list(tmp_path: Path) -> None:
    """A list that the loop never reads captures nothing: there is nothing to concatenate."""
    edit = ("self.model.wanted = [2", "self.model.wnted = [2")
    found = ask(tmp_path, (1, 3), edit)
    assert found.error is not None
    assert "non-empty" in found.error.message
    none = ("return hidden, kept", "return hidden, kept or None")
    assert ask(tmp_path, (1, 3), edit, none).boundaries == ()


def test_what_cannot_be_followed_is_not_guessed(tmp_path: Path) -> None:
    """A captured value that an unknown function gives may be anything."""
    found = ask(tmp_path, (1, 3), captured="unheard_of(hidden, residual)")
    assert not found.is_decided


def test_a_target_without_the_method_raises(tmp_path: Path) -> None:
    """The server calls it whatever the target is."""
    found = ask(tmp_path, (1, 3), target="Deaf")
    assert found.is_decided
    assert found.error is not None
    assert found.error.type == "AttributeError"
    assert found.error.location is not None
    assert found.error.location.path.endswith("small.py")


def test_a_target_without_the_method_but_with_an_unknown_base_is_not_decided(
    tmp_path: Path,
) -> None:
    """The base may have it."""
    edit = ("class Deaf(nn.Module)", "class Deaf(nowhere.Base)")
    found = ask(
        tmp_path, (1, 3), ("import torch\n", "import torch, nowhere\n"), edit, target="Deaf"
    )
    assert not found.is_decided


def test_a_target_that_nobody_registers_raises(tmp_path: Path) -> None:
    """No file of the registry's package holds its name."""
    found = ask(tmp_path, (1, 3), target="Nobody")
    assert found.is_decided
    assert found.error is not None


def test_a_target_that_a_file_names_may_be_registered(tmp_path: Path) -> None:
    """In a way that was not followed."""
    found = ask(tmp_path, (1, 3), ("import torch\n", "import torch  # Nobody\n"), target="Nobody")
    assert not found.is_decided


def test_nothing_follows_from_what_could_not_be_built(tmp_path: Path) -> None:
    """Whether an attribute that was not followed is true: neither way is the server's refusal."""
    edits = (
        ("self.wanted = []", "self.wanted = []\n        self.gate = {}['key']"),
        ("hidden, _ =", "if self.gate:\n            raise RuntimeError('no')\n        hidden, _ ="),
    )
    found = ask(tmp_path, (1, 3), *edits)
    assert not found.is_decided


PACKED = {
    "at once": "[torch.cat(kept, dim=-1)]",
    "partly": "[torch.cat(kept[:2], dim=-1), *kept[2:]]",
    "twice": "[kept[0], torch.cat([torch.cat(kept[1:2], dim=-1), kept[2]], dim=-1)]",
}


@pytest.mark.parametrize("way", PACKED)
def test_states_that_a_target_concatenates_itself(way: str, tmp_path: Path) -> None:
    """In parts or at once: what is handed over is the same."""
    result = ("return hidden, kept", f"return hidden, {PACKED[way]}")
    assert ask(tmp_path, (1, 3, 5), result).boundaries == (2, 4, 6)
    first = ("hidden, _ = self.norm", "kept[1].add_(1)\n        hidden, _ = self.norm")
    changed = ask(tmp_path, (1, 3, 5), result, first)
    assert changed.boundaries == (2, 4, 6)
    assert changed.aliased == (3,)


@pytest.mark.parametrize(
    "way",
    [
        "torch.cat([k[:1], k[1:]])",
        "k[torch.arange(k.shape[0])]",
        "torch.maximum(k, k)",
        "k.reshape(k.shape[1], -1).reshape(-1, k.shape[1])",
    ],
)
def test_what_may_be_put_together_again_is_not_said_to_be_something_else(
    way: str, tmp_path: Path
) -> None:
    found = ask(tmp_path, (1, 3), ("return hidden, kept", f"return hidden, [{way} for k in kept]"))
    assert not found.is_decided
    assert "put together again" in found.reason


@pytest.mark.parametrize("way", ["k * 2", "k + kept[0]", "torch.relu(k)", "k - hidden"])
def test_what_is_computed_with_a_boundary_is_none(way: str, tmp_path: Path) -> None:
    found = ask(tmp_path, (1, 3), ("return hidden, kept", f"return hidden, [{way} for k in kept]"))
    assert found.boundaries is not None
    assert "not-a-boundary" in found.boundaries


def test_layers_that_are_run_by_their_method(tmp_path: Path) -> None:
    call = ("layer(hidden, residual)", "layer.forward(hidden, residual)")
    assert ask(tmp_path, (1, 3, 6), call).boundaries == (2, 4, 7)
    assert ask(tmp_path, (1, 3), call, captured="hidden").boundaries == ("not-a-boundary",) * 2


@pytest.mark.parametrize("name", ["clone", "detach"])
def test_copies_by_functions_of_torch(name: str, tmp_path: Path) -> None:
    whole = "hidden if residual is None else hidden + residual"
    assert ask(tmp_path, (1, 3), captured=f"torch.{name}({whole})").boundaries == (2, 4)
