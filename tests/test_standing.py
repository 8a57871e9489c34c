"""An answer stands as long as nothing changes that it depends on, and is then today's answer."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.cli import main
from checker.data import FIXTURES

EXAMPLE = FIXTURES / "example"
SERVED = Path("server/toy_server/eagle3.py")
LAYERS = Path("server/toy_server/layers.py")
FORMATS = ("text", "json", "sarif", "html", "markdown", "github", "junit")


def lay_out(root: Path, *, right: bool = True) -> None:
    """A fork of the toy server with settings; served as it was trained, or not."""
    for name in ("server", "trainer"):
        shutil.copytree(FIXTURES / "engines" / f"toy_{name}", root / name)
    for name in ("train", "serve", "target"):
        config = json.loads((EXAMPLE / f"{name}.json").read_text("utf-8"))
        config |= {"norm_before_residual": False} if name == "train" and right else {}
        (root / f"{name}.json").write_text(json.dumps(config), "utf-8")
    outputs = ", ".join(f'"{form}=out.{form}"' for form in FORMATS[1:])
    (root / "eagle3-check.toml").write_text(
        'train = "./trainer"\nserve = "./server"\ntrain-config = "train.json"\n'
        f'serve-config = "serve.json"\ntarget = "target.json"\noutput = [{outputs}]\n'
    )


@pytest.fixture(params=[True, False], ids=["agree", "differ"])
def fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EAGLE3_CHECK_DEBUG", raising=False)
    lay_out(tmp_path / "fork", right=request.param)
    monkeypatch.chdir(tmp_path / "fork")
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, list[str]]:
    """Exit status, what was printed, what was written."""
    status = main(["verify", *more])
    files = [Path(f"out.{form}").read_text("utf-8") for form in FORMATS[1:]]
    told = capsys.readouterr()
    assert "bug" not in told.err
    return status, told.out, files


def quiet(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """The same for the text alone, which names no line where both sides agree."""
    text = Path("eagle3-check.toml").read_text()
    Path("eagle3-check.toml").write_text(re.sub(r"(?m)^output.*\n", "", text))
    return main(["verify", *more]), capsys.readouterr().out


# --- what is beside what it depends on ------------------------------------------------------------


def below(root: Path) -> None:
    SERVED.write_text(SERVED.read_text() + "\n\ndef beside(x):\n    return -x\n")


def remark(root: Path) -> None:
    SERVED.write_text(SERVED.read_text() + "# seen\n")


def another_file(root: Path) -> None:
    (SERVED.parent / "beside.py").write_text("def beside(x):\n    return -x\n")


def another_folder(root: Path) -> None:
    (SERVED.parent / "kernels").mkdir()
    (SERVED.parent / "kernels" / "__init__.py").write_text("")


def above(root: Path) -> None:
    LAYERS.write_text("# one line more\n" + LAYERS.read_text())


def in_the_trainer(root: Path) -> None:
    path = Path("trainer/toy_trainer/draft.py")
    path.write_text(path.read_text() + "\n\ndef beside(x):\n    return -x\n")


@pytest.mark.parametrize(
    "edit", [below, remark, another_file, another_folder, above, in_the_trainer]
)
def test_an_edit_beside_the_draft_is_answered_from_before(
    fork: Path, runs: list[int], capsys: pytest.CaptureFixture[str], edit: object
) -> None:
    first = quiet(capsys)
    edit(fork)  # type: ignore[operator]
    assert quiet(capsys) == first
    assert quiet(capsys) == first
    assert len(runs) == 1
    assert quiet(capsys, "--no-cache") == first


def test_a_fingerprint_is_todays(
    fork: Path, runs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    first = ask(capsys)
    remark(fork)
    again = ask(capsys)
    assert len(runs) == 1
    assert again != first
    assert again == ask(capsys, "--no-cache")


def test_lines_that_are_shown_are_todays(
    fork: Path, runs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    ask(capsys)
    SERVED.write_text("# one line more\n" + SERVED.read_text())
    again = ask(capsys)
    assert len(runs) == 2
    assert again == ask(capsys, "--no-cache")


# --- what it depends on ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (SERVED, "self.lm_head(normed), kept", "self.lm_head(normed), normed"),
        (SERVED, "residual = hidden\n", "residual = hidden * 2\n"),
        (SERVED, "models = [", "LlamaForCausalLMEagle3.load = None\nmodels = ["),
        (SERVED, "import torch\n", "import torch\nfrom toy_server.worker import *\n"),
        (LAYERS, "total = x + residual", "total = x - residual"),
        (LAYERS, "def rotate(", "def FusedNorm(*a):\n    pass\n\n\ndef rotate("),
        (Path("trainer/toy_trainer/parts.py"), "import", "import os\nimport"),
        (Path("trainer/toy_trainer/draft.py"), "import", "from toy_trainer.x import y\nimport"),
        (Path("trainer/toy_trainer/draft.py"), "\n\n\n", "\n\nnn.silu = nn.relu\n\n"),
        (Path("serve.json"), "{", '{"more": 1,'),
        (Path("eagle3-check.toml"), "output", "fail-on = \"never\"\noutput"),
    ],
)  # fmt: skip
def test_an_edit_of_what_it_depends_on_is_judged_anew(
    fork: Path, runs: list[int], capsys: pytest.CaptureFixture[str], path: Path, old: str, new: str
) -> None:
    ask(capsys)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    again = ask(capsys)
    assert len(runs) == 2
    assert again == ask(capsys, "--no-cache")


def test_a_module_that_can_be_read_again_is(
    fork: Path, runs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = SERVED.read_text()
    SERVED.write_text("def broken(:\n" + whole)
    assert ask(capsys)[0] == 3
    SERVED.write_text(whole)
    again = ask(capsys)
    assert again[0] != 3
    assert again == ask(capsys, "--no-cache")


def test_a_module_that_shadows_another_one_is_seen(
    fork: Path, runs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    ask(capsys)
    package = LAYERS.parent / "torch"  # not this one
    package.mkdir()
    ask(capsys)
    (Path("server") / "torch.py").write_text("def hstack(parts):\n    return parts[0]\n")
    again = ask(capsys)
    assert again == ask(capsys, "--no-cache")


def test_a_damaged_account_is_no_account(
    fork: Path, runs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    first = quiet(capsys)
    for file in (fork / "cache" / "answers").rglob("*-owed"):
        file.write_bytes(file.read_bytes()[:-5] + b"12345")
    remark(fork)
    assert quiet(capsys) == first
    assert len(runs) == 2


def test_an_account_of_another_answer_is_no_account(
    fork: Path, runs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    quiet(capsys)
    (account,) = (fork / "cache" / "answers").rglob("*-owed")
    old = account.read_bytes()
    SERVED.write_text(SERVED.read_text().replace("self.lm_head(normed), kept", "x = 1, normed"))
    broken = quiet(capsys)
    account.write_bytes(old)
    remark(fork)
    assert quiet(capsys) == broken
    assert len(runs) == 3


# --- any edit -------------------------------------------------------------------------------------

LINES = ("# a remark", "", "_beside = 1", "import os", "from toy_server.layers import *",
         "class Beside:\n    pass", "def rotate(x, positions, base):\n    return x",
         "LlamaForCausalLMEagle3.forward = None", "FusedNorm = None", "models = []",
         "raise ValueError", "    residual = None", "        hidden = hidden + 1",
         "if True:\n    import toy_server.worker", "def broken(:")  # fmt: skip
SWAPS = ((" + ", " - "), ("True", "False"), ("hidden", "embeds"), ("0", "1"), ("residual", "x"),
         ("norm", "form"), ("config", "options"), ("self.", "this."))  # fmt: skip


def edit_anywhere(chance: random.Random) -> str:
    """One edit in one place of the fork; what it was."""
    files = sorted(Path().glob("*/toy_*/*.py"))
    path = chance.choice(files)
    text = path.read_text()
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    match chance.randrange(8):
        case 0 | 1 | 2:
            lines.insert(at, chance.choice(LINES))
        case 3:
            del lines[at]
        case 4:
            lines[at] += "  # seen"
        case 5:
            old, new = chance.choice(SWAPS)
            lines[at] = lines[at].replace(old, new)
        case 6:
            beside = path.parent / f"beside{chance.randrange(3)}.py"
            beside.write_text(text)
        case _:
            lines.insert(at, lines[chance.randrange(len(lines))])
    path.write_text("\n".join(lines))
    return f"{path}:{at + 1}"


def edit_after_edit(root: Path, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Three random edits of a fork, some taken back: with and without the cache it is the same."""
    chance = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAGLE3_CHECK_CACHE", str(root / "cache"))
        lay_out(root / "fork", right=seed % 2 == 0)
        patch.chdir(root / "fork")
        ask(capsys)
        places = []
        for _ in range(3):
            before = {p: p.read_bytes() for p in Path().glob("*/toy_*/*.py")}
            places.append(edit_anywhere(chance))
            assert ask(capsys) == ask(capsys, "--no-cache"), places
            if chance.random() < 0.5:  # it is taken back
                for path in Path().glob("*/toy_*/*.py"):
                    path.unlink()
                for path, data in before.items():
                    path.write_bytes(data)
                assert ask(capsys) == ask(capsys, "--no-cache"), (*places, "undone")
    shutil.rmtree(root)


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(seed=st.integers(0, 2**32))
def test_whatever_is_edited_the_answer_is_todays(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    edit_after_edit(tmp_path_factory.mktemp("fork"), seed, capsys)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100))
def test_many_edits(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    edit_after_edit(tmp_path, seed, capsys)
