"""Engines with their own class names, helper layers and configuration keys, added by YAML alone."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from checker.configs import ConfigFile
from checker.contract.added import added
from checker.data import CONTRACTS, FIXTURES
from checker.errors import InputError
from checker.report.model import Report, Status
from checker.request import Access, Target, VerifyRequest
from checker.sources import open_source
from checker.verification import verify

from . import documented

EXAMPLE = FIXTURES / "example"


def data(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLE / name).read_text())
    return {**found, "norm_before_residual": False}


def file(name: str, config: dict[str, Any]) -> ConfigFile:
    return ConfigFile(name, json.dumps(config).encode(), config)


def check(
    contracts: list[Path], sides: tuple[str, str], train: dict[str, Any], serve: dict[str, Any]
) -> Report:
    return verify(
        VerifyRequest(
            *sides,
            train_config=file("train.json", train),
            serve_config=file("serve.json", serve),
            target=Target(config=file("target.json", data("target.json"))),
            contracts=added(contracts),
            access=Access(offline=True),
        )
    )


def release(spec: str, package: str) -> str:
    """A release that is at hand; skips, and says so, where there is none and no network."""
    try:
        open_source(spec, package=package)
    except InputError as error:
        pytest.skip(f"{spec} cannot be had: {error}")
    return spec


def tutor(folder: Path) -> tuple[str, list[Path]]:
    """A trainer of its own, and its description and summaries."""
    source = documented.engine(folder, "toy_trainer")
    description = (CONTRACTS / "engines" / "toy-trainer.yaml").read_text()
    summaries = (
        (CONTRACTS / "operators" / "toy.yaml").read_text().partition("  - match: toy_server")
    )
    paths = [folder / "tutor.yaml", folder / "tutor-operators.yaml"]
    text = documented.spelled(description, keys=True)
    switches, rest = text.split("      switches = {")
    inside, after = rest.split("      }\n", 1)
    for own, theirs in documented.KEYS.items():  # the names of switches are the contract's
        inside = inside.replace(f'          "{theirs}":', f'          "{own}":')
    text = f"{switches}      switches = {{{inside}      }}\n{after}"
    paths[0].write_text(
        text.replace("config-requires: [transformer_layer_config]", "config-requires: [floor]")
    )
    paths[1].write_text(documented.spelled(summaries[0], keys=False))
    return str(source), paths


def wrong(report: Report) -> list[tuple[str, str, str | None]]:
    return [
        (c.id, c.message, c.reason)
        for c in report.clauses
        if c.status is Status.VIOLATED or c.undecided
    ]


def test_a_server_added_by_yaml_agrees_with_a_real_trainer(tmp_path: Path) -> None:
    trainer = release("speculators==0.9.0", "speculators")
    source = documented.engine(tmp_path, "toy_server")
    contracts = documented.written(tmp_path)[2:5]
    serve = documented.config(data("serve.json"), "CornerDraft")
    report = check(contracts, (trainer, str(source)), data("train.json"), serve)
    assert report.serve.engine == "corner"
    assert not wrong(report)
    held = {c.id for c in report.clauses if c.status is Status.HOLDS}
    assert held >= {
        "positions",
        "token-alignment",
        "aux-boundaries",
        "vocabulary",
        "attention-rope",
    }


def test_what_such_a_server_does_otherwise_is_found_and_said_in_its_own_keys(
    tmp_path: Path,
) -> None:
    trainer = release("speculators==0.9.0", "speculators")
    source = documented.engine(tmp_path, "toy_server")
    contracts = documented.written(tmp_path)[2:5]
    serve = documented.config(data("serve.json"), "CornerDraft")
    serve["turn_base"] = 10000.0
    report = check(contracts, (trainer, str(source)), data("train.json"), serve)
    found = {c.id: c for c in report.clauses if c.status is Status.VIOLATED}
    assert set(found) == {"attention-rope"}
    assert "served turn_base == 10000.0" in found["attention-rope"].when


def test_a_trainer_added_by_yaml_agrees_with_a_real_server(tmp_path: Path) -> None:
    server = release("sglang==0.5.23", "sglang")
    source, contracts = tutor(tmp_path)
    train = documented.config(data("train.json"), "")
    report = check(contracts, (source, server), train, data("serve.json"))
    assert report.train.engine == "tutor"
    assert not wrong(report)


# -- a new switch ----------------------------------------------------------------------------------


def test_a_switch_added_by_yaml_is_owned_and_read(tmp_path: Path) -> None:
    for engine in ("toy_trainer", "toy_server"):
        documented.shutil.copytree(documented.ENGINES / engine, tmp_path / engine)
    draft = tmp_path / "toy_trainer" / "toy_trainer" / "draft.py"
    text = draft.read_text()
    old = "torch.cat([self.input_layernorm(embeds), normed], dim=-1)"
    new = "torch.cat([embeds if self.plain else self.input_layernorm(embeds), normed], dim=-1)"
    assert text.count(old) == 1
    text = text.replace(old, new).replace(
        "        self.normed_residual = normed_residual\n",
        "        self.normed_residual = normed_residual\n        self.plain = False\n",
    )
    text = text.replace(
        "        self.norm = Norm(size, layer",
        '        self.layers[0].plain = config.get("plain_embeds", False)\n'
        "        self.norm = Norm(size, layer",
    )
    draft.write_text(text)
    sides = (str(tmp_path / "toy_trainer"), str(tmp_path / "toy_server"))
    contracts = documented.written(tmp_path)[:2]
    train = copy.deepcopy(data("train.json"))
    assert not wrong(check(contracts, sides, train, data("serve.json")))
    report = check(contracts, sides, {**train, "plain_embeds": True}, data("serve.json"))
    assert {name for name, _, _ in wrong(report)} == {"embeds-norm", "config-read"}
    assert any("the server applies rms_norm" in message for _, message, _ in wrong(report))


def test_every_block_of_the_page_is_a_valid_file(tmp_path: Path) -> None:
    paths = documented.written(tmp_path)
    kinds = [found.kind for found in added(paths)]
    assert kinds == ["switches", "wires", "engine", "operators", "operators", "clauses"]
