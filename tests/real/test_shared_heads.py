"""A head that is the target's own on both sides is one tensor, whatever each calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.real import configs
from tests.real.releases import TRAINER, check, said, server, unproven, violated

if TYPE_CHECKING:
    from tests.real.configs import Config

pytestmark = pytest.mark.network

WHOLE: Config = {"draft_vocab_size": configs.TARGET["vocab_size"]}
TIED: Config = {"tie_word_embeddings": True}


@pytest.mark.parametrize(
    ("trainer", "trained", "served", "target", "wrong"),
    [
        # the server takes the target's head where a draft has every token
        (TRAINER, WHOLE, {"draft_vocab_size": None}, {}, set()),
        # before, a head was trained: the target's is another one
        (
            "speculators==0.4.0",
            WHOLE,
            {"draft_vocab_size": None},
            {},
            {"lm-head-source", "weights-loaded"},
        ),
        # the head of a target that ties its own is what it looks tokens up in
        (TRAINER, WHOLE, {**WHOLE, **TIED}, TIED, set()),
        (TRAINER, WHOLE, WHOLE, TIED, set()),
        # of one that does not it is not
        (TRAINER, WHOLE, {**WHOLE, **TIED}, {}, {"lm-head-source", "weights-loaded"}),
        # nor where the draft's embedding was trained
        (
            TRAINER,
            {**WHOLE, "embed_requires_grad": True},
            {**WHOLE, **TIED},
            TIED,
            {"lm-head-source", "weights-loaded"},
        ),
    ],
)
def test_a_head_that_training_keeps_is_the_targets(
    trainer: str, trained: Config, served: Config, target: Config, wrong: set[str]
) -> None:
    found = check(
        trainer,
        server("0.5.23"),
        configs.train(**trained),
        configs.serve(**served),
        target,
    )
    about = {"lm-head-source", "weights-loaded", "vocabulary", "embedding-source"}
    assert violated(found) & about == wrong, said(found)
    assert not set(unproven(found)) & about
    assumed = any("target's own" in text for text in found.assumptions)
    assert assumed or wrong
