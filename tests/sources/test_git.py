"""Revisions read from an object store: nothing is checked out, nothing reaches git as an option."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from checker.cli import main
from checker.data import FIXTURES
from checker.errors import InputError
from checker.sources import MissingMember, open_source


def git(folder: Path, *words: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}  # fmt: skip
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **who},
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two revisions of a package under `python/`, with a link and an odd name beside it."""
    folder = tmp_path / "fork"
    package = folder / "python" / "engine"
    package.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (package / "__init__.py").write_text("", "utf-8")
    (package / "draft.py").write_text("x = 1\n", "utf-8")
    (package / "ünd so.py").write_text("", "utf-8")
    (package / "link.py").symlink_to("/etc/passwd")
    (folder / "python" / "pyproject.toml").write_text(
        '[project]\nname = "Engine"\nversion = "1.5"\ndependencies = ["lib>=2"]\n', "utf-8"
    )
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "tag", "v1")
    (package / "draft.py").write_text("x = 2\n", "utf-8")
    git(folder, "commit", "-q", "-a", "-m", "two")
    (package / "draft.py").write_text("x = 3\n", "utf-8")
    return folder


@pytest.mark.parametrize(
    ("revision", "content"),
    [("@v1", b"x = 1\n"), ("@HEAD~1", b"x = 1\n"), ("@main", b"x = 2\n"), ("", b"x = 2\n")],
)
def test_a_revision_is_read(repository: Path, revision: str, content: bytes) -> None:
    tree = open_source(f"git:{repository}{revision}", package="engine")
    assert tree.read("python/engine/draft.py") == content
    assert tree.roots == ("python/",)
    assert (tree.name, tree.version) == ("engine", "1.5")
    assert tree.released is not None


def test_links_are_left_out_and_names_are_kept(repository: Path) -> None:
    tree = open_source(f"git:{repository}@v1", package="engine")
    assert tree.listdir("python/engine") == ["__init__.py", "draft.py", "ünd so.py"]
    assert tree.exists("python/engine/")
    assert not tree.exists("python/engine/link.py")
    assert tree.files("python/engine", ".py")[-1] == "python/engine/ünd so.py"
    with pytest.raises(MissingMember):
        tree.read("python/engine/link.py")


def test_the_commit_is_the_fingerprint(repository: Path) -> None:
    tree = open_source(f"git:{repository}@v1", package="engine")
    assert tree.fingerprint == git(repository, "rev-parse", "v1")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("@nothing", "no revision nothing"),
        ("@--output=stolen", "no revision"),
        ("@-v1", "no revision"),
        ("@", "no revision"),
        ("@v1 --all", "no revision"),
        ("@v1:python", "no revision"),
    ],
)
def test_what_is_no_revision_is_said(repository: Path, spec: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        open_source(f"git:{repository}{spec}", package="engine")
    assert "git:" in str(caught.value)
    assert not (repository / "stolen").exists()


def test_what_is_no_repository_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        open_source(f"git:{tmp_path}/nowhere@v1", package="engine")
    with pytest.raises(InputError):
        open_source(f"git:{tmp_path}@v1", package="engine")


def test_another_package_is_said(repository: Path) -> None:
    with pytest.raises(InputError, match="no Python package other"):
        open_source(f"git:{repository}@v1", package="other")


def test_nothing_the_repository_configures_is_run(repository: Path, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    for name in ("core.fsmonitor", "core.sshCommand", "diff.external", "filter.x.smudge"):
        git(repository, "config", name, f"touch {proof}")
    (repository / ".gitattributes").write_text("*.py filter=x diff=x\n", "utf-8")
    git(repository, "config", "diff.x.textconv", f"touch {proof}")
    proof.unlink(missing_ok=True)
    tree = open_source(f"git:{repository}@v1", package="engine")
    assert tree.read("python/engine/draft.py") == b"x = 1\n"
    assert not proof.exists()


def test_folders_and_revisions_may_have_an_at_sign(repository: Path, tmp_path: Path) -> None:
    git(repository, "tag", "v@1", "v1")
    odd = repository.rename(tmp_path / "fork@home")
    for revision, content in (("@v@1", b"1"), ("@HEAD@{0}", b"2"), ("@HEAD@{1}", b"1"), ("", b"2")):
        tree = open_source(f"git:{odd}{revision}", package="engine")
        assert tree.read("python/engine/draft.py") == b"x = " + content + b"\n"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("git:{0}@nope", "no revision nope there"),
        ("git:{0}@-h", "'-h' is no revision"),
        ("git:{0}-not@HEAD", "no such folder"),
        ("installed:nope", "nope is not installed"),
        ("server>=0.5", "neither a release nor a folder"),
        ("unheard-of==1.0", "is no server that is described"),
    ],
)
def test_what_is_wrong_with_a_source_is_said_whatever_engines_there_are(
    repository: Path, spec: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ["--train", str(FIXTURES / "engines" / "toy_trainer")]
    for side in ("train", "serve"):
        example += [f"--{side}-config", str(FIXTURES / "example" / f"{side}.json")]
    example += ["--target", str(FIXTURES / "example" / "target.json")]
    assert main(["verify", *example, "--serve", spec.format(repository)]) == 2
    assert said in capsys.readouterr().err


def test_what_git_advises_is_the_remedy(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a repository belongs to somebody else."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(InputError) as caught:
        open_source(f"git:{repository}@HEAD")
    assert "dubious ownership" in caught.value.message
    assert caught.value.remedy.startswith("run git config --global --add safe.directory")
