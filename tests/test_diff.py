"""What changed in meaning between two copies of an engine: edits are told apart from rewrites."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checker.cli import main
from checker.contract.loading import load_exploration
from checker.data import FIXTURES, SCHEMAS

SERVED = "toy_server/eagle3.py"
ARGUMENTS, TARGET = "toy_server/arguments.py", "toy_server/target.py"
KEPT = "self.lm_head(normed), kept"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packaged engines, and a copy of the server to be edited."""
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # one process is enough for small engines
    monkeypatch.chdir(tmp_path)
    engines = FIXTURES / "engines"
    for name, source in (("trainer", "toy_trainer"), ("old", "toy_server"), ("new", "toy_server")):
        shutil.copytree(engines / source, tmp_path / name)
    return tmp_path


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few settings of the contract's, for what need not see all of them."""
    whole = load_exploration()
    wanted = ("norm_output", "norm_before_residual")
    settings = tuple(s for s in whole.settings if {*wanted} & {*s})
    shorter = replace(whole, settings=settings, other_boundaries=())
    monkeypatch.setattr("checker.exploring.load_exploration", lambda: shorter)


def edit(path: str, *pairs: tuple[str, str]) -> None:
    text = Path(path).read_text("utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    Path(path).write_text(text, "utf-8")


def configs(**train: Any) -> list[str]:
    """A draft of the user's: words that name its files."""
    words: list[str] = []
    for name in ("train", "serve", "target"):
        config = json.loads((FIXTURES / "example" / f"{name}.json").read_text("utf-8"))
        config |= {"norm_before_residual": False, **train} if name == "train" else {}
        Path(f"{name}.json").write_text(json.dumps(config), "utf-8")
        words += ["--target" if name == "target" else f"--{name}-config", f"{name}.json"]
    return words


def diff(
    capsys: pytest.CaptureFixture[str], *more: str, old: str = "./old", new: str = "./new"
) -> tuple[int, dict[str, Any]]:
    other = [] if "--serve" in more else ["--train", "./trainer"]
    status = main(["diff", old, new, *other, *more, "--format", "json"])
    out = capsys.readouterr()
    assert out.err == ""
    found: dict[str, Any] = json.loads(out.out)
    schema = json.loads((SCHEMAS / "changes.schema.json").read_text("utf-8"))
    jsonschema.validate(found, schema)
    return status, found


def told(found: dict[str, Any]) -> set[tuple[str, ...]]:
    return {(change["kind"], *change["clauses"]) for change in found["changes"]}


@pytest.mark.long
def test_rewriting_formatting_and_renaming_change_nothing(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything is looked at, for every setting, class and line, and nothing is found."""
    again = "name = name.replace('post_attention_layernorm', 'before_mlp')"
    renaming = again + "\n                if name in parameters"
    edit(
        f"new/{SERVED}",
        ("self.post_attention_layernorm", "self.before_mlp"),
        ("embeds = self.embed_tokens(tokens)", "\n        looked_up = self.embed_tokens(tokens)"),
        ("hidden.shape[-1] != embeds.shape[-1]", "looked_up.shape[-1] != hidden.shape[-1]"),
        ("positions, embeds, ", "positions, looked_up, "),
        ("def forward(self, positions, looked_up, ", "def forward(self, positions, embeds, "),
        ("if name in parameters", renaming),
    )
    status, found = diff(capsys)
    assert told(found) == set()
    assert status == 0
    assert found["compared"] == {"launch lines": 9, "settings of a draft": 24, "targets": 1}


def test_each_change_is_classified_with_the_lines_of_both(
    place: Path, few: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A switch of the contract, one that it does not know, other ids, other launch flags."""
    scale = 'self.scale = 2.0 if config.get("doubled", False) else 1.0'
    edit(
        f"new/{SERVED}",
        (KEPT, 'self.lm_head(normed), normed if self.config.get("norm_output") else kept'),
        ("residual = hidden\n", "residual = hidden\n        hidden = hidden * self.scale\n"),
        ("self.first = index == 0", f"self.first = index == 0\n        {scale}"),
    )
    edit(f"new/{ARGUMENTS}", ("self.draft_depth + 1", "self.draft_depth + 2"))
    edit(f"new/{TARGET}", ("layer + 1", "layer + 2"))
    status, found = diff(capsys)
    switches = {c["message"]: c for c in found["changes"] if c["kind"] == "new switch"}
    known = next(c for text, c in switches.items() if "norm_output takes effect" in text)
    assert "feedback" in known["clauses"]
    assert known["old"] == []
    assert known["new"][0]["path"] == SERVED
    assert any(text.startswith("doubled is read and takes effect") for text in switches)
    assert {("breaking", "aux-boundaries"), ("breaking", "launch")} <= told(found)
    texts = {c["message"] for c in found["changes"]}
    handed = "ids [2, 16, 29]: [4, 18, 31] (it was: [3, 17, 30])"
    assert f"without ids: [3, 4, 5] (it was: [2, 3, 4]); {handed}" in texts
    assert status == 1


def test_what_breaks_ends_with_status_one_and_what_is_mended_does_not(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(f"new/{SERVED}", (KEPT, "self.lm_head(kept), kept"))
    draft = configs()
    status, found = diff(capsys, *draft)
    assert (status, told(found)) == (1, {("breaking", "final-norm")})
    assert found["draft"] == {"old": "agree", "new": "differ"}
    assert found["compared"] == {"draft": 1}
    status, found = diff(capsys, *draft, old="./new", new="./old")
    assert (status, told(found)) == (0, {("fixed", "final-norm")})


def test_what_cannot_be_followed_is_unknown(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(f"new/{SERVED}", (KEPT, "self.lm_head(torch.mystery(normed)), kept"))
    status, found = diff(capsys, *configs())
    assert status == 3
    assert {kind for kind, *_ in told(found)} == {"unknown"}


def test_what_can_be_followed_in_neither_is_not_said_to_be_the_same(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One part is not known in both, another one was edited beside it or not."""
    for name in ("old", "new"):
        edit(f"{name}/{SERVED}", (KEPT, "self.lm_head(torch.mystery(normed)), kept"))
    draft = configs()
    status, found = diff(capsys, *draft)
    assert status == 3
    assert {kind for kind, *_ in told(found)} == {"unknown"}
    assert all("not proven with either" in change["message"] for change in found["changes"])
    edit(f"new/{SERVED}", ("torch.mystery(normed)", "torch.mystery(kept)"))
    assert diff(capsys, *draft)[0] == 3


def test_a_change_that_breaks_nothing_more_is_behaviour(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Feedback that was wrong before is wrong in another way."""
    edit(f"old/{SERVED}", (KEPT, "self.lm_head(normed), kept * 2.0"))
    edit(f"new/{SERVED}", (KEPT, "self.lm_head(normed), kept * 3.0"))
    status, found = diff(capsys, *configs())
    assert status == 0
    assert {kind for kind, *_ in told(found)} == {"behaviour"}


def test_trainers_are_compared_beside_a_server(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree("trainer", "later")
    norm = "self.post_attention_layernorm(kept)"
    edit("later/toy_trainer/draft.py", (f"self.mlp({norm})", "self.mlp(kept)"))
    status, found = diff(capsys, "--serve", "./old", *configs(), old="./trainer", new="./later")
    assert status == 1
    assert told(found) == {("breaking", "mlp")}


def rewrite() -> None:
    """The same server otherwise: formatted anew, with other names, in other files."""
    again = "name = name.replace('post_attention_layernorm', 'before_mlp')"
    edit(
        SERVED,
        ("self.post_attention_layernorm", "self.before_mlp"),
        ("embeds = self.embed_tokens(tokens)", "\n        looked_up = self.embed_tokens(tokens)"),
        ("positions, embeds, ", "positions, looked_up, "),
        ("def forward(self, positions, looked_up, ", "def forward(self, positions, embeds, "),
        ("hidden.shape[-1] != embeds.shape[-1]", "looked_up.shape[-1] != hidden.shape[-1]"),
        ("if name in parameters", again + "\n                if name in parameters"),
        (KEPT, "self._scored(normed), kept"),
    )
    text = Path(SERVED).read_text("utf-8")
    head, _, rest = text.rpartition("    def forward(")
    body = "        return (\n            self.lm_head(state)\n        )"
    scored = f"    def _scored(self, state):\n{body}"
    Path(SERVED).write_text(f"{head}{scored}\n\n    def forward({rest}", "utf-8")


def test_a_fork_is_compared_with_where_it_comes_from(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A branch of another repository in the object store, and the working tree as it is."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-qb", "main"], ["add", "."], ["commit", "-qm", "as it was"]):
        subprocess.run([*git, *words], check=True, cwd="new")
    subprocess.run([*git, "clone", "-q", "new", "fork"], check=True)
    monkeypatch.chdir("fork")
    draft = configs()
    asked = ["--train", "../trainer", *draft, "--format", "json"]
    rewrite()
    assert main(["diff", "git:.@origin/main", ".", *asked]) == 0
    assert json.loads(capsys.readouterr().out)["changes"] == []
    edit(SERVED, ("self._scored(normed), kept", "self._scored(kept), kept"))
    assert main(["diff", "git:.@origin/main", ".", *asked]) == 1
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert (change["kind"], change["clauses"]) == ("breaking", ["final-norm"])
    for side in ("old", "new"):
        assert change[side]
        assert all(where["path"].startswith("toy_server/") for where in change[side])


def test_what_cannot_be_compared_is_said_in_one_line(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "./old", "./new"]) == 2
    assert "name the other side" in capsys.readouterr().err
    assert main(["diff", "./old", "./new", "--train", "./trainer", "--serve", "./old"]) == 2
    assert "name only the other side" in capsys.readouterr().err
    assert main(["diff", "sglang==0.5.9", "sglang==0.5.14", "--serve", "./old"]) == 2
    assert "name only the other side" in capsys.readouterr().err
    assert main(["diff", "./old", "./nowhere", "--train", "./trainer"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
