"""The commands for daily use, on the packaged engines."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import checker.pairing
import checker.verification
from checker import gating, initial
from checker.cli import main
from checker.data import CONTRACTS, FIXTURES, SCHEMAS
from checker.engines import load_engines
from checker.locks import Pinned
from checker.request import VerifyRequest
from checker.settings import OWN_FILE
from checker.sources.directory import open_directory

ENGINES, EXAMPLE = FIXTURES / "engines", FIXTURES / "example"
SERVED = Path("server/toy_server/eagle3.py")


@pytest.fixture
def fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a copy of the toy server, and settings for a draft that it serves right."""
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "fork"
    shutil.copytree(ENGINES / "toy_server", root / "server")
    shutil.copytree(ENGINES / "toy_trainer", root / "trainer")
    for name in ("train", "serve", "target"):
        config = json.loads((EXAMPLE / f"{name}.json").read_text("utf-8"))
        config |= {"norm_before_residual": False} if name == "train" else {}
        (root / f"{name}.json").write_text(json.dumps(config), "utf-8")
    (root / OWN_FILE).write_text(
        'train = "./trainer"\nserve = "./server"\ntrain-config = "train.json"\n'
        'serve-config = "serve.json"\ntarget = "target.json"\n'
    )
    monkeypatch.chdir(root)
    git("init", "-q", "-b", "main")
    commit()
    return root


def git(*words: str) -> None:
    plain = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        "-c",
        "core.hooksPath=/dev/null",
    ]
    subprocess.run(["git", *plain, *words], check=True, capture_output=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "x")


def edit(old: str, new: str, path: Path = SERVED) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def break_it() -> None:
    edit("self.lm_head(normed), kept", "self.lm_head(normed), normed")


# --- hook -----------------------------------------------------------------------------------------


def test_the_hook_is_silent_until_something_breaks(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hook"]) == 0
    assert capsys.readouterr().out == ""
    break_it()
    assert main(["hook", "-q"]) == 1
    assert capsys.readouterr().out == "DIFFER: 1 violated: feedback\n"


def test_the_hook_wants_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["hook"]) == 2
    assert (
        "no settings name a trainer and a server (run eagle3-check init)" in capsys.readouterr().err
    )


# --- baseline -------------------------------------------------------------------------------------


def test_a_baseline_is_made_and_only_new_findings_count(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_it()
    assert main(["baseline"]) == 0
    assert "1 finding recorded" in capsys.readouterr().out
    with Path(OWN_FILE).open("a") as file:
        file.write('baseline = "eagle3-check-baseline.json"\n')
    assert main(["verify"]) == 0
    told = capsys.readouterr().out
    assert "waived    in the baseline: was there when the baseline was made" in told
    assert told.endswith("DIFFER: 1 violated: feedback (1 waived)\n")


def test_a_baseline_shrinks_by_itself_and_grows_by_hand(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_it()
    assert main(["baseline"]) == 0
    with Path(OWN_FILE).open("a") as file:
        file.write('baseline = "eagle3-check-baseline.json"\n')
    git("checkout", "-q", str(SERVED))
    assert main(["verify"]) == 0
    assert json.loads(Path("eagle3-check-baseline.json").read_text())["findings"] == []
    break_it()
    assert main(["verify"]) == 1
    assert main(["baseline"]) == 1
    assert "not in eagle3-check-baseline.json: feedback" in capsys.readouterr().out
    assert main(["baseline", "--accept", "feedback"]) == 2
    assert main(["baseline", "--accept", "mlp", "--reason", "x"]) == 2
    assert "no new finding is called mlp (there are: feedback)" in capsys.readouterr().err
    assert main(["baseline", "--accept", "feedback", "--reason", "until the next draft"]) == 0
    assert main(["verify"]) == 0
    assert "in the baseline: until the next draft" in capsys.readouterr().out


def test_another_check_takes_nothing_out_of_the_settings_baseline(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_it()
    assert main(["baseline"]) == 0
    assert 'write baseline = "eagle3-check-baseline.json"' in capsys.readouterr().err
    with Path(OWN_FILE).open("a") as file:
        file.write('baseline = "eagle3-check-baseline.json"\n')
    before = Path("eagle3-check-baseline.json").read_bytes()
    right = str(ENGINES / "toy_server")
    assert main(["verify", f"--serve={right}"]) == 0
    assert Path("eagle3-check-baseline.json").read_bytes() == before
    git("checkout", "-q", str(SERVED))
    capsys.readouterr()
    assert main(["verify", "-q"]) == 0
    assert "what is mended was taken out" in capsys.readouterr().err
    assert Path("eagle3-check-baseline.json").read_bytes() != before


def test_a_baseline_lies_beside_the_settings(
    fork: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_it()
    monkeypatch.chdir(fork / "server")
    assert main(["baseline"]) == 0
    assert (fork / "eagle3-check-baseline.json").exists()


# --- outputs --------------------------------------------------------------------------------------


def test_a_report_that_cannot_be_written_loses_no_other(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--output=html=no/x.html", "--output=json=x.json"]) == 2
    told = capsys.readouterr()
    assert told.out.splitlines()[-1].startswith("AGREE: ")
    assert "no/x.html: cannot be written" in told.err
    assert "make the folder no first" in told.err
    assert json.loads(Path("x.json").read_text("utf-8"))["verdict"] == "agree"


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (["json=serve.json"], "serve.json: is read by this check"),
        (["json=./eagle3-check.toml"], "is read by this check"),
        (["json=x", "html=./x"], "./x: is to hold two formats, json and html"),
    ],
)
def test_a_report_replaces_nothing_else(
    fork: Path, outputs: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Path("serve.json").read_bytes()
    assert main(["verify", *(f"--output={output}" for output in outputs)]) == 2
    assert said in capsys.readouterr().err
    assert Path("serve.json").read_bytes() == before
    assert main(["verify", "-q", "--output=json=x", "--output=json=x"]) == 0


# --- waivers --------------------------------------------------------------------------------------


def test_a_waiver_of_the_settings_covers_one_finding(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_it()
    assert main(["verify", "--format=json"]) == 1
    clauses = {c["id"]: c for c in json.loads(capsys.readouterr().out)["clauses"]}
    name = clauses["feedback"]["fingerprint"]
    with Path(OWN_FILE).open("a") as file:
        file.write(f'[[waivers]]\nclause = "feedback"\nfingerprint = "{name}"\nreason = "known"\n'
                   'owner = "me"\nexpires = 2999-01-01\n')  # fmt: skip
    assert main(["verify"]) == 0
    assert "waived    known (me, until 2999-01-01)" in capsys.readouterr().out
    git("checkout", "-q", str(SERVED))
    assert main(["verify"]) == 2
    told = capsys.readouterr().out
    assert f"{OWN_FILE}: waivers.0 (feedback): covers nothing: the clause holds" in told
    assert main(["verify", "-q"]) == 2
    assert "; 1 waiver has to go: " in capsys.readouterr().out
    assert main(["verify", "-q", "--fail-on=never"]) == 2


# --- gate -----------------------------------------------------------------------------------------


def test_the_gate_has_nothing_to_do_where_no_pin_moved(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("requirements.txt").write_text("toy-server==1.0\n")
    commit()
    break_it()  # no pin
    assert main(["gate", "--base", "main"]) == 0
    assert capsys.readouterr().out == "no pin moved since main: nothing to check\n"
    assert main(["gate", "--base", "none"]) == 2
    assert "--base: no revision none there" in capsys.readouterr().err


def pinned(**versions: str) -> dict[str, tuple[Pinned, ...]]:
    """What a lock file of each folder pins."""
    return {"s": tuple(Pinned("s", v, f"{path}/uv.lock", 3) for path, v in versions.items())}


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        (pinned(a="1"), pinned(a="2"), [("1", "2", "a/uv.lock")]),
        (pinned(a="1", b="1"), pinned(a="1", b="2"), [("1", "2", "b/uv.lock")]),
        (pinned(a="1", b="1"), pinned(a="2", b="2"), [("1", "2", "a/uv.lock")]),
        (pinned(a="1"), {}, [("1", None, "a/uv.lock")]),
        ({}, pinned(a="1"), [(None, "1", "a/uv.lock")]),
        (pinned(a="1"), pinned(b="1"), []),
    ],
)
def test_every_pin_that_moved_is_seen(
    old: dict[str, tuple[Pinned, ...]],
    new: dict[str, tuple[Pinned, ...]],
    moved: list[tuple[str | None, str | None, str]],
) -> None:
    moves = gating._moves(old, new)
    assert [(m.old, m.new, m.path) for m in moves] == moved


def test_two_releases_in_one_lock_file_are_no_move() -> None:
    both = {"s": (Pinned("s", "1", "uv.lock", 3), Pinned("s", "2", "uv.lock", 7))}
    assert [*gating._moves(both, both)] == []


SERVER = "toy-server"
TRAINER = "toy-trainer"


def checked(
    old: dict[str, list[tuple[str, str]]], new: dict[str, list[tuple[str, str]]], **sides: str
) -> list[tuple[str, str]]:
    """The pairs that are checked where files pin (name, version) one after the other."""

    def pins(files: dict[str, list[tuple[str, str]]]) -> dict[str, tuple[Pinned, ...]]:
        found: dict[str, tuple[Pinned, ...]] = {}
        for path, listed in files.items():
            for line, (name, version) in enumerate(listed, start=1):
                found[name] = (*found.get(name, ()), Pinned(name, version, path, line))
        return found

    engines = [e for e in load_engines(()) if e.distribution in (SERVER, TRAINER)]
    request = VerifyRequest(sides.get("train", ""), sides.get("serve", ""))
    moves = tuple(gating._moves(pins(old), pins(new)))
    return [(p.train, p.serve) for p in gating._pairs(request, engines, moves, pins(new))]


def test_the_pin_that_moved_is_the_one_that_is_checked() -> None:
    old = {"a/uv.lock": [(SERVER, "1")], "b/uv.lock": [(SERVER, "1")]}
    new = {"a/uv.lock": [(SERVER, "1")], "b/uv.lock": [(SERVER, "2")]}
    assert checked(old, new, train="./t") == [("./t", f"{SERVER}==2")]
    assert checked(old, new, train="./t", serve="./s") == [("./t", "./s")]


@pytest.mark.parametrize(
    ("new", "pairs"),
    [
        (  # two files, each with a pair of its own
            {"a/uv.lock": [(TRAINER, "5"), (SERVER, "2")], "b/uv.lock": [(TRAINER, "6"),
                                                                      (SERVER, "3")]},
            [("5", "2"), ("6", "3")],
        ),
        (  # two releases in one file, as for two kinds of machines
            {"a/uv.lock": [(TRAINER, "4"), (SERVER, "2"), (SERVER, "3")],
             "b/uv.lock": [(TRAINER, "4"), (SERVER, "1")]},
            [("4", "2"), ("4", "3")],
        ),
        (  # the trainer is pinned in the folder, or somewhere
            {"a/requirements.txt": [(SERVER, "2")], "a/constraints.txt": [(TRAINER, "4")],
             "b/uv.lock": [(SERVER, "3"), (TRAINER, "9")]},
            [("4", "2"), ("9", "3")],
        ),
    ],
)  # fmt: skip
def test_pins_that_move_apart_are_judged_each(
    new: dict[str, list[tuple[str, str]]], pairs: list[tuple[str, str]]
) -> None:
    old = {"a/uv.lock": [(TRAINER, "4"), (SERVER, "1")], "b/uv.lock": [(TRAINER, "4"),
                                                                      (SERVER, "1")]}  # fmt: skip
    assert checked(old, new) == [(f"{TRAINER}=={t}", f"{SERVER}=={s}") for t, s in pairs]


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases of the toy server: all are the one that is there, and 2.0 has a fault."""
    opened = checker.pairing.open_source

    def release(spec: str, **how: object) -> object:
        if not spec.startswith(SERVER):
            return opened(spec, **how)  # type: ignore[arg-type]
        bad = spec.endswith("2.0")
        folder = Path("bad" if bad else "server").resolve()
        if bad and not folder.exists():
            shutil.copytree("server", folder)
            edit("self.lm_head(normed), kept", "self.lm_head(normed), normed",
                 folder / "toy_server" / "eagle3.py")  # fmt: skip
        return open_directory(str(folder), "toy_server", spec)

    monkeypatch.setattr(checker.pairing, "open_source", release)


def test_the_gate_judges_each_pin_that_moved(
    fork: Path, released: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "requirements.txt").write_text(f"{SERVER}==1.0\n")
    commit()
    Path("a/requirements.txt").write_text(f"{SERVER}==1.1\n")
    Path("b/requirements.txt").write_text(f"{SERVER}==2.0\n")
    words = ["gate", "--base=main", f"--serve={SERVER}"]
    assert main([*words, "--format=markdown", "--output=sarif=gate.sarif"]) == 1
    told = capsys.readouterr()
    lines = told.out.split("\n")
    assert lines[0] == (
        f"### ❌ {SERVER} 1.0 → 1.1, {SERVER} 1.0 → 2.0: this draft is not served as it was trained"
    )
    assert lines[2] == (
        "- pinned in `a/requirements.txt:1`, pinned in `b/requirements.txt:1`; 2 pairs are checked"
    )
    assert lines[3:5] == [
        f"- `./trainer` with `{SERVER}==1.1`: agree",
        f"- `./trainer` with `{SERVER}==2.0`: differ (`feedback`)",
    ]
    assert told.out.count("<details><summary>The whole report on ./trainer with") == 2
    assert f"gate.sarif: of 2 pairs the worst, ./trainer with {SERVER}==2.0" in told.err
    assert "feedback" in Path("gate.sarif").read_text("utf-8")
    assert main([*words, "--format=json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [report["verdict"] for report in found["reports"]] == ["agree", "differ"]
    assert found["report"] == found["reports"][1]
    # A waiver that one of the pairs needs may stay.
    finding = next(c for c in found["report"]["clauses"] if c["id"] == "feedback")["fingerprint"]
    with Path(OWN_FILE).open("a") as file:
        file.write(f'[[waivers]]\nclause = "feedback"\nfingerprint = "{finding}"\n'
                   'reason = "known"\nowner = "me"\nexpires = 2999-01-01\n')  # fmt: skip
    assert main([*words, "-q"]) == 0
    Path("b/requirements.txt").write_text(f"{SERVER}==1.1\n")
    assert main([*words, "-q"]) == 2


def test_a_pin_that_is_dropped_is_said_to_be(
    fork: Path, released: None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("requirements.txt").write_text(f"{SERVER}==1.0\n")
    commit()
    Path("requirements.txt").write_text("other\n")
    assert main(["gate", "--base=main", f"--serve={SERVER}", "--format=markdown"]) == 0
    told = capsys.readouterr().out
    assert f"### ✅ {SERVER} 1.0 → (no longer pinned): " in told
    assert f"- {SERVER} is pinned nowhere: its newest release is checked\n" in told
    assert main(["gate", "--base=main", "--serve=./server"]) == 0
    assert "pinned nowhere" not in capsys.readouterr().out


@pytest.mark.network
def test_the_gate_says_in_five_lines_what_an_upgrade_changes(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = '[[package]]\nname = "sglang"\nversion = "%s"\n'
    Path("uv.lock").write_text(lock % "0.5.16")
    Path(OWN_FILE).write_text(
        Path(OWN_FILE).read_text().replace('"./trainer"', '"speculators==0.9.0"')
        .replace('"./server"', '"sglang"')
    )  # fmt: skip
    commit()
    Path("uv.lock").write_text(lock % "0.5.18")
    assert main(["gate", "--base=main", "--format=markdown", "--output=json=gate.json",
                 "--output=sarif=gate.sarif"]) == 0  # fmt: skip
    told = capsys.readouterr().out.partition("<details>")[0].split("\n")
    assert told[0] == "### ✅ sglang 0.5.16 → 0.5.18: this draft is served as it was trained"
    assert told[2].startswith("- pinned in `uv.lock:3`; trained by `speculators==0.9.0`")
    assert told[3] == "- before: agree, after: agree"
    assert told[4] == "- changed in meaning: nothing that this draft meets"
    found = json.loads(Path("gate.json").read_text("utf-8"))
    parts = {p.name: Resource.from_contents(json.loads(p.read_text())) for p in SCHEMAS.iterdir()}
    schema = parts["gate.schema.json"].contents
    registry = Registry().with_resources([*parts.items()])
    assert [*Draft202012Validator(schema, registry=registry).iter_errors(found)] == []
    assert [(m["old"], m["new"]) for m in found["moves"]] == [("0.5.16", "0.5.18")]
    assert json.loads(Path("gate.sarif").read_text("utf-8"))["version"] == "2.1.0"


# --- init, doctor, cache, completion --------------------------------------------------------------


def test_init_writes_what_it_saw(fork: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 2
    assert "is there already" in capsys.readouterr().err
    Path("drafts").mkdir()
    shutil.move("train.json", "drafts/config.json")
    Path("uv.lock").write_text('[[package]]\nname = "sglang"\nversion = "0.5.18"\n')
    Path("poetry.lock").write_text("[[")  # what cannot be read tells nothing
    shutil.rmtree("server")
    Path("serve.json").unlink()
    assert main(["init", "--force"]) == 0
    told = capsys.readouterr()
    assert "saw a pin: sglang==0.5.18 (uv.lock:3)" in told.err
    assert "saw a draft: drafts/config.json (speculators' own format)" in told.err
    text = Path(OWN_FILE).read_text("utf-8")
    assert 'serve = "sglang==0.5.18"  # uv.lock:3; gate follows it' in text
    assert 'draft = "drafts/config.json"' in text
    assert 'target = "target.json"' in text
    assert "# launch = " in text


def test_init_tells_drafts_by_what_is_in_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "drafts")
    (tmp_path / "drafts/train.json").rename(tmp_path / "drafts/trained.json")
    (tmp_path / "drafts/trained.safetensors").touch()
    (tmp_path / "package.json").write_text('{"name": "x", "hidden_size": 4}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "data.json").write_text(
        json.dumps({"architectures": ["Eagle"], "draft_vocab_size": 1, "x": "y" * 300_000})
    )
    for folder in ("node_modules/a", ".git/b", "a/b/c/d/e"):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(EXAMPLE / "serve.json", tmp_path / folder / "config.json")
    assert main(["init", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    seen = [line.partition(" saw ")[2] for line in told.splitlines() if " saw " in line]
    assert seen == [
        "a draft: drafts/serve.json (a flat format with eagle_config)",
        "a draft: drafts/trained.json (speculators' own format)",
        "another model: drafts/target.json",
    ]
    assert told.splitlines()[-1] == (
        "eagle3-check: looked at 9 files, 4 folders deep at most, not in hidden folders,"
        " node_modules"
    )
    text = (tmp_path / OWN_FILE).read_text("utf-8")
    assert 'train-config = "drafts/trained.json"' in text
    assert 'serve-config = "drafts/serve.json"' in text
    assert 'target = "drafts/target.json"' in text


def test_init_ends_in_a_huge_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(initial, "_MOST", 12)
    for number in range(20):
        shutil.copy(EXAMPLE / "serve.json", tmp_path / f"{number:02}.json")
    assert main(["init", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert told.count("saw a draft: ") == 9
    assert "saw a draft: and 4 more" in told
    assert "looked at 12 files" in told
    assert "that was not all" in told


def test_init_sees_a_checkout_of_an_engine(fork: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "server", "--dry-run"]) == 0
    told = capsys.readouterr()
    assert "saw a checkout of a server" in told.err
    assert 'serve = "."' in told.out
    assert main(["init", "server"]) == 0
    assert "written; fill in train, then run" in capsys.readouterr().out
    assert main(["verify", f"--settings=server/{OWN_FILE}"]) == 2
    assert f"server/{OWN_FILE}: train is missing (name train there" in capsys.readouterr().err


def test_init_of_an_empty_folder_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path), "--write", str(tmp_path / "x.toml")]) == 0
    assert "saw nothing that is known" in capsys.readouterr().err
    assert main(["verify", "--settings", str(tmp_path / "x.toml"), "--train=x"]) == 2
    assert main(["init", str(tmp_path / "none")]) == 2


def test_doctor_says_what_the_program_stands_on(
    fork: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert f"settings: {OWN_FILE}" in told
    assert "trainer: " in told
    assert "server: " in told
    assert "cache: " in told


def test_the_cache_is_told_and_cleared(fork: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 0
    capsys.readouterr()
    assert main(["cache", "info", "--format=json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kinds"]["answers"]["files"] == 2  # with what it depends on
    assert main(["cache", "clear"]) == 0
    assert "files removed" in capsys.readouterr().out
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out == f"{found['folder']}\n"


@pytest.fixture
def somebody() -> Iterator[Path]:
    """A folder in which the user that runs may read everything and write nothing."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    if os.geteuid() != os.getuid():
        os.seteuid(os.getuid())
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o755)
    shutil.rmtree(folder)


def become_somebody(folder: Path) -> None:
    for place in folder.rglob("*"):
        place.chmod(0o555 if place.is_dir() else 0o444)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)
        if not os.access(CONTRACTS, os.R_OK, effective_ids=True):
            pytest.skip("the checkout lies where nobody else may read")


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="users have no numbers here")
def test_a_cache_and_a_folder_that_cannot_be_written_do(
    fork: Path, somebody: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(fork, somebody / "fork", ignore=shutil.ignore_patterns(".git"))
    for words in (["doctor"], ["init", "--dry-run"], ["baseline"], ["cache", "info"],
                  ["verify", "-q", "--output=html=x.html", "--tp=2"]):  # fmt: skip
        assert main(words) == 0  # what is imported late may lie where nobody else may read
    monkeypatch.chdir(somebody / "fork")
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(somebody / "cache"))
    monkeypatch.delenv("HOME", raising=False)
    assert main(["verify"]) == 0
    first = capsys.readouterr().out
    become_somebody(somebody)
    with monkeypatch.context() as patch:
        patch.setattr(checker.verification, "verify", None)  # nothing is judged anew
        assert main(["verify"]) == 0
    assert capsys.readouterr().out in first
    assert main(["verify", "-q", "--max-unproven=1"]) == 0  # another question
    assert main(["doctor"]) == 0
    assert "cannot be written: what is there is used, and nothing is added" in (
        capsys.readouterr().out
    )
    for words in (["verify", "-q", "--output=html=x.html"], ["init", "--force"], ["baseline"]):
        assert main(words) == 2
        assert "cannot be written: Permission denied" in capsys.readouterr().err
    assert main(["cache", "clear"]) == 2
    assert "cannot be removed" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "baseline" in capsys.readouterr().out


# --- watch, timings -------------------------------------------------------------------------------


def test_watching_checks_again_when_a_file_changes(fork: Path) -> None:
    command = [sys.executable, "-u", "-m", "checker", "verify", "--watch", "-q"]
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables
    ) as run:
        assert run.stdout is not None
        late = threading.Timer(60, run.kill)  # a line that never comes fails, and hangs nothing
        late.start()
        assert run.stdout.readline().startswith("AGREE: ")
        break_it()  # at once: watching began before the first check
        assert run.stdout.readline() == "\n"
        assert run.stdout.readline() == "DIFFER: 1 violated: feedback\n"
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=20) in (0, 130)
        late.cancel()


def test_there_has_to_be_something_to_watch(fork: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--watch", "--isolated", "--train=a==1", "--serve=b==2"]) == 2
    assert "--watch: nothing that is checked can change" in capsys.readouterr().err


def test_timings_are_told(fork: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--timings", "--no-cache"]) == 0
    told = capsys.readouterr().err
    assert all(f"{stage} " in told for stage in ("sources", "trainer", "server", "judgement"))
