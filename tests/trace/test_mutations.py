"""The operators that make mutants."""

from __future__ import annotations

import ast

import pytest

from benchmarks.mutations import mutants

TEXT = '''
class Layer:
    def __init__(self, config, depth=1):
        """Left alone."""
        self.first = Norm(config.size, eps=1e-5)
        self.second = Norm(config.size, eps=config.eps)

    def forward(self, embeds: Tensor, hidden):
        residual = hidden
        if self.first is not None and not self.flag:
            hidden = cat([self.first(embeds), self.second(hidden)], dim=-1)
        for layer in self.layers:
            hidden = layer(hidden) - residual
        return hidden, residual

    def load(self, hidden):
        if self.first is None:
            hidden = hidden
        if self.second is None:
            residual = hidden
        return {"name": hidden}, "key"
'''


def edits(operator: str) -> set[str]:
    """What one operator makes of the text, as the lines that changed."""
    before = TEXT.splitlines()
    return {
        line.strip()
        for mutant in mutants(TEXT, ("Layer",))
        if mutant.operator == operator
        for line in mutant.apply(TEXT).splitlines()
        if line not in before
    }


@pytest.mark.parametrize(
    ("operator", "line"),
    [
        ("swap-elements", "hidden = cat([self.second(hidden), self.first(embeds)], dim=-1)"),
        ("swap-elements", "return residual, hidden"),
        ("drop-call", "hidden = cat([embeds, self.second(hidden)], dim=-1)"),
        ("drop-keyword", "hidden = cat([self.first(embeds), self.second(hidden)])"),
        ("call-twice", "hidden = layer(layer(hidden)) - residual"),
        ("re-source", "residual = embeds"),
        ("other-attribute", "hidden = cat([self.flag(embeds), self.second(hidden)], dim=-1)"),
        ("off-by-one", "def __init__(self, config, depth=(2)):"),
        ("other-constant", "self.first = Norm(config.size, eps=1.00002)"),
        ("swap-operands", "hidden = residual - layer(hidden)"),
        ("drop-condition", "if self.first is not None:"),
        ("drop-not", "if self.first is not None and self.flag:"),
        ("force-branch", "if False:"),
        ("loop-shortened", "for layer in list(self.layers)[:-1]:"),
        ("drop-statement", "pass"),
        ("duplicate-element", "hidden = cat([self.first(embeds), self.first(embeds)], dim=-1)"),
        ("re-guard", "if (self.second is None):"),
        ("add-guard", "residual = hidden"),
        ("exchange-key", """return {'key': hidden}, "key\""""),
    ],
)
def test_an_operator_makes_the_edit_it_is_named_after(operator: str, line: str) -> None:
    assert line in edits(operator)


def test_every_mutant_parses_and_differs_from_every_other() -> None:
    texts = [mutant.apply(TEXT) for mutant in mutants(TEXT, ("Layer",))]
    assert len(set(texts)) == len(texts) > 60
    assert TEXT not in texts
    for text in texts:
        ast.parse(text)
        assert '"""Left alone."""' in text
        assert "embeds: Tensor" in text


def test_only_what_is_named_is_edited() -> None:
    assert mutants(TEXT, ("Layer.nothing",)) == []
    assert {m.place for m in mutants(TEXT, ("Layer.forward",))} == {"Layer.forward"}
