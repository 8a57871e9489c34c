"""Settings stand for words of the command line, and everything wrong with them is said at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from checker.data import FIXTURES, SCHEMAS
from checker.errors import InputError
from checker.settings import OWN_FILE, find_settings

EXAMPLE = FIXTURES / "example"
ENGINES = FIXTURES / "engines"


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path_factory.mktemp("cache")))


def write(folder: Path, text: str, name: str = OWN_FILE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def mistakes(folder: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        find_settings(folder)
    return [str(problem) for problem in caught.value.problems]


def test_the_tool_s_own_file_comes_before_the_shared_one(tmp_path: Path) -> None:
    assert find_settings(tmp_path).table == {}
    write(tmp_path, '[tool.eagle3-check]\nserve = "b==2"\n', "pyproject.toml")
    assert find_settings(tmp_path).table == {"serve": "b==2"}
    write(tmp_path, 'serve = "c==3"\n')
    assert find_settings(tmp_path).table == {"serve": "c==3"}


def test_settings_of_a_folder_above_count_up_to_the_repository(tmp_path: Path) -> None:
    write(tmp_path, 'serve = "a==1"\n')
    inner = tmp_path / "one" / "two"
    inner.mkdir(parents=True)
    assert find_settings(inner).table == {"serve": "a==1"}
    (tmp_path / "one" / ".git").mkdir()
    assert find_settings(inner).table == {}


def test_settings_are_words_with_paths_that_start_at_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        tmp_path,
        'train = "t==1"\nserve = "./fork"\ntrain-config = "a/config.json"\ntarget = "Some:3"\n'
        'launch = "run --x y"\nrename = ["a=b", "c=d"]\ntp = 2\nstrict = true\n'
        'output = ["sarif=out.sarif"]\nfail-on = "violated"\n',
    )
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert find_settings().words() == [
        "--train=t==1", "--serve=.././fork", "--train-config=../a/config.json", "--target=Some:3",
        "--launch=run --x y", "--tp=2", "--fail-on=violated", "--rename=a=b", "--rename=c=d",
        "--strict", "--output=sarif=../out.sarif",
    ]  # fmt: skip


def test_a_revision_of_the_folder_stays_a_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 'serve = "git:.@main"\n')
    (tmp_path / "x").mkdir()
    monkeypatch.chdir(tmp_path / "x")
    assert find_settings().words() == ["--serve=git:../.@main"]


def test_all_mistakes_are_told_with_their_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'trian = "x==1"\ntp = 0\n\n[[waivers]]\nclause = "mlp"\nfingerprint = "x"\nreason = "r"\n',
    )
    told = "\n".join(mistakes(tmp_path))
    assert f"{path}:1:1: trian: unknown key 'trian' (did you mean 'train'?)" in told
    assert f"{path}:2:1: tp: 0 is less than the minimum of 1" in told
    assert f"{path}:4:1: waivers.0: 'owner' is a required property" in told
    assert f"{path}:6:1: waivers.0.fingerprint: 'x' does not match" in told


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("[tool.eagle3-check]\ncontracts = 3\n", "pyproject.toml", ":2:1: contracts: 3 is not of"),
        ("[tool]\neagle3-check = 1\n", "pyproject.toml", "is no table"),
        ("[tool.eagle3-check\n", "pyproject.toml", "is no TOML"),
        ("a = 1\na = 2\n", OWN_FILE, "is no TOML"),
    ],
)
def test_settings_that_cannot_be_used_are_one_line(
    tmp_path: Path, text: str, name: str, said: str
) -> None:
    write(tmp_path, text, name)
    (line,) = mistakes(tmp_path)
    assert said in line


def test_a_project_without_a_table_has_no_settings(tmp_path: Path) -> None:
    write(tmp_path, "# eagle3-check is used here\n[project]\nname = 'x'\n", "pyproject.toml")
    assert find_settings(tmp_path).path is None


def test_a_waiver_needs_an_end(tmp_path: Path) -> None:
    waiver = (
        '[[waivers]]\nclause = "mlp"\nfingerprint = "0123456789abcdef"\nreason = "r"\nowner = "o"\n'
    )
    write(tmp_path, waiver)
    assert "is not valid under any of the given schemas" in mistakes(tmp_path)[0]
    write(tmp_path, waiver + "expires = 2027-01-31\n")
    assert find_settings(tmp_path).waivers[0].expires == "2027-01-31"


def test_every_setting_is_an_option_of_verify(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the two that are lists of tables or files of their own."""
    schema = json.loads((SCHEMAS / "settings.schema.json").read_text("utf-8"))
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    told = capsys.readouterr().out
    for name in set(schema["properties"]) - {"waivers", "contracts"}:
        assert f"--{name} " in told, name
    assert "--contract " in told


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("max-unproven = 10000000", "max-unproven: '10000000' is no number from 0 to 999999"),
        ("tp = 65537", "tp: 65537 is greater than the maximum of 65536"),
        ('target = "A:0"', "target: a target has at least one layer (say CLASS:32)"),
        ('target = "a/b"', "target: checks/a/b: no such file"),
        ('draft = "none.json"', "draft: checks/none.json: no such file"),
        ('contracts = ["none.yaml"]', "contracts: checks/none.yaml: cannot be read"),
        ('launch = "no.sh"', "launch: checks/no.sh: no such file, and no command line"),
        ('baseline = "none.json"', "baseline: checks/none.json: cannot be read"),
    ],
)
def test_what_the_settings_say_is_not_blamed_on_the_command_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checks").mkdir()
    path = write(tmp_path / "checks", f"train = 'a==1'\nserve = 'b==1'\n{line}\n")
    shown = path.relative_to(tmp_path)
    assert main(["verify", f"--settings={shown}"]) == 2
    assert capsys.readouterr().err.startswith(f"eagle3-check: {shown}:3:1: {said}")


def test_what_is_typed_is_not_blamed_on_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "train = 'a==1'\nserve = 'b==1'\ntarget = 'A:1'\n")
    assert main(["verify", "--target=A:0"]) == 2
    assert capsys.readouterr().err.startswith("eagle3-check: --target: a target has")
    assert main(["verify", "--max-unproven=x"]) == 2
    assert capsys.readouterr().err.startswith("eagle3-check: command line: argument --max-unproven")


# --- at the command line --------------------------------------------------------------------------

PAIR = f"""
train = "{ENGINES / "toy_trainer"}"
serve = "{ENGINES / "toy_server"}"
train-config = "{EXAMPLE / "train.json"}"
serve-config = "{EXAMPLE / "serve.json"}"
target = "{EXAMPLE / "target.json"}"
"""


def test_verify_without_words_checks_what_the_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, PAIR + 'output = ["json=report.json"]\n')
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert main(["verify", "--offline"]) == 1
    assert "toy_server" in capsys.readouterr().out.splitlines()[0]
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["verdict"] == "differ"


def test_the_command_line_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, PAIR + 'fail-on = "never"\n')
    monkeypatch.chdir(tmp_path)
    assert main(["verify"]) == 0
    assert main(["verify", "--fail-on=violated"]) == 1
    assert main(["verify", "--isolated", "--train=x"]) == 2
    other = write(tmp_path / "other", PAIR)
    assert main(["verify", f"--settings={other}"]) == 1
    assert main(["verify", "--settings=none.toml"]) == 2
    assert "none.toml: cannot be read" in capsys.readouterr().err


def test_outputs_that_cannot_be_written_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, PAIR)
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "--output=sarif=no/such/folder.sarif"]) == 2
    assert "no/such/folder.sarif: cannot be written" in capsys.readouterr().err
    assert main(["verify", "--output=pdf=x"]) == 2
    assert "is no FORMAT=PATH" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (OWN_FILE, "# nothing yet\n", "names neither a trainer nor a server"),
        ("pyproject.toml", '[tool.eagle3_check]\ntrain = "x"\n', "say [tool.eagle3-check]"),
        (f"{OWN_FILE}/x", "", f"{OWN_FILE}: cannot be read: Is a directory"),
    ],
)
def test_settings_that_say_nothing_do_not_pass_for_none(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    text: str,
    said: str,
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["verify"]) == 2
    assert said in capsys.readouterr().err


def test_a_whole_number_may_have_a_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "tp = 2.0\n")
    monkeypatch.chdir(tmp_path)
    assert find_settings().words() == ["--tp=2"]
