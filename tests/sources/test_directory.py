"""Folders: where the package is found, and that nothing outside is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from checker.errors import InputError
from checker.sources import MissingMember, open_source
from checker.sources.tree import MEMBER_LIMIT

if TYPE_CHECKING:
    from pathlib import Path


def make(root: Path, *paths: str, text: str = "a = 1\n") -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.parametrize("below", ["", "python/", "src/", "engines/one/", "a/b/src/"])
def test_the_package_is_found_where_projects_keep_it(tmp_path: Path, below: str) -> None:
    make(tmp_path / "fork", f"{below}engine/srt/model.py", "setup.py", "engine-kernel/a.py")
    tree = open_source(str(tmp_path / "fork"), package="engine")
    assert tree.roots == (below,)
    assert tree.read(f"{below}engine/srt/model.py") == b"a = 1\n"


def test_the_nearest_place_wins(tmp_path: Path) -> None:
    make(tmp_path / "fork", "python/engine/a.py", "benchmark/engine/b.py", "x/y/engine/c.py")
    assert open_source(str(tmp_path / "fork"), package="engine").roots == ("python/",)


def test_the_package_itself_may_be_named(tmp_path: Path) -> None:
    make(tmp_path / "site" / "engine", "srt/model.py")
    tree = open_source(str(tmp_path / "site" / "engine"), package="engine")
    assert tree.roots == ("",)
    assert tree.exists("engine/srt/model.py")


def test_a_checkout_named_like_its_package_is_a_checkout(tmp_path: Path) -> None:
    make(tmp_path / "engine", "python/engine/srt/model.py", "setup.py")
    tree = open_source(str(tmp_path / "engine"), package="engine")
    assert tree.roots == ("python/",)
    assert tree.exists("python/engine/srt/model.py")


def test_a_folder_without_the_package_names_what_was_looked_for(tmp_path: Path) -> None:
    make(tmp_path / "fork", "other/a.py", "engine/readme.md")
    with pytest.raises(InputError) as caught:
        open_source(str(tmp_path / "fork"), package="engine")
    assert "no Python package engine there" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_empty_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "fork").mkdir()
    with pytest.raises(InputError, match="the folder is empty"):
        open_source(str(tmp_path / "fork"), package="engine")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_said(tmp_path: Path) -> None:
    folder = make(tmp_path / "fork", "engine/a.py")
    folder.chmod(0)
    try:
        with pytest.raises(InputError, match="cannot be read"):
            open_source(str(folder), package="engine")
    finally:
        folder.chmod(0o755)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("text")
    with pytest.raises(InputError, match="neither a folder nor a wheel"):
        open_source(str(tmp_path / "notes.txt"))


def test_a_word_that_means_two_things_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "engine/engine/a.py")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"write \./engine for the folder"):
        open_source("engine", package="engine")
    assert open_source("./engine", package="engine").exists("engine/a.py")


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path / "out", "secret.py", "deep/more.py")
    fork = make(tmp_path / "fork", "engine/a.py")
    (fork / "engine" / "file.py").symlink_to(tmp_path / "out" / "secret.py")
    (fork / "engine" / "folder").symlink_to(tmp_path / "out")
    (fork / "engine" / "inside.py").symlink_to("a.py")
    (fork / "engine" / "loop").symlink_to("..")
    (fork / "engine" / "gone.py").symlink_to("nowhere.py")
    tree = open_source(str(fork), package="engine")
    assert tree.files("", ".py") == ["engine/a.py", "engine/inside.py"]
    assert tree.listdir("engine") == ["a.py", "inside.py", "loop/"]
    assert tree.read("engine/inside.py") == b"a = 1\n"
    assert not tree.exists("engine/file.py")
    for path in ("engine/file.py", "engine/folder/secret.py", "../out/secret.py"):
        with pytest.raises(InputError, match="leads out of the folder"):
            tree.read(path)


def test_special_and_huge_files_are_not_read(tmp_path: Path) -> None:
    fork = make(tmp_path / "fork", "engine/a.py")
    os.mkfifo(fork / "engine" / "pipe.py")
    with (fork / "engine" / "huge.py").open("wb") as file:
        file.truncate(MEMBER_LIMIT + 1)
    tree = open_source(str(fork), package="engine")
    assert "engine/pipe.py" not in tree.files()
    with pytest.raises(MissingMember):
        tree.read("engine/pipe.py")
    with pytest.raises(InputError, match="more than any source file"):
        tree.read("engine/huge.py")


def test_missing_and_odd_paths_are_missing(tmp_path: Path) -> None:
    tree = open_source(str(make(tmp_path / "fork", "engine/a.py")), package="engine")
    for path in ("engine/b.py", "engine", "engine/a.py/b.py", ""):
        with pytest.raises(MissingMember):
            tree.read(path)
    assert tree.listdir("nowhere") == []
    assert tree.files("nowhere/") == []
    assert tree.files("engine/a", ".py") == ["engine/a.py"]


def test_the_fingerprint_is_of_what_was_read(tmp_path: Path) -> None:
    def read(folder: str, text: str, *paths: str) -> str:
        fork = make(tmp_path / folder, "engine/a.py", "engine/b.py", text=text)
        tree = open_source(str(fork), package="engine")
        for path in paths:
            tree.read(path)
        return tree.fingerprint

    one = read("one", "a = 1\n", "engine/a.py", "engine/b.py")
    assert read("two", "a = 1\n", "engine/b.py", "engine/a.py", "engine/a.py") == one
    assert read("three", "a = 2\n", "engine/a.py", "engine/b.py") != one
    assert read("four", "a = 1\n", "engine/a.py") != one


def test_a_checkouts_metadata_is_the_static_part(tmp_path: Path) -> None:
    fork = make(tmp_path / "fork", "python/engine/a.py")
    (fork / "python" / "pyproject.toml").write_text(
        '[project]\nname = "Engine_X"\ndynamic = ["version"]\ndependencies = ["other==2.0"]\n'
        'requires-python = ">=3.10"\n'
    )
    tree = open_source(str(fork), package="engine")
    assert (tree.name, tree.version) == ("engine-x", None)
    assert [str(line) for line in tree.metadata.requires] == ["other==2.0"]
    assert tree.metadata.requires_python == ">=3.10"


def test_extras_of_a_checkout_are_requirements_with_markers(tmp_path: Path) -> None:
    fork = make(tmp_path / "fork", "engine/a.py")
    (fork / "pyproject.toml").write_text(
        '[project]\nname = "engine"\n[project.optional-dependencies]\n'
        'Srt_all = ["other==2.0", "more; python_version > \'3\'"]\n'
    )
    tree = open_source(str(fork), package="engine")
    assert [str(line) for line in tree.metadata.requires] == [
        'other==2.0; extra == "srt-all"',
        'more; python_version > "3" and extra == "srt-all"',
    ]


def test_a_broken_pyproject_is_no_obstacle(tmp_path: Path) -> None:
    fork = make(tmp_path / "fork", "engine/a.py")
    (fork / "pyproject.toml").write_text("[project\n")
    tree = open_source(str(fork), package="engine")
    assert tree.metadata.requires == ()


def test_installed_metadata_tells_the_version(tmp_path: Path) -> None:
    site = make(tmp_path / "site", "engine/a.py", "other/a.py")
    (site / "engine-1.5.dist-info").mkdir()
    (site / "engine-1.5.dist-info" / "METADATA").write_text(
        "Name: engine\nVersion: 1.5\nLicense: first\n        \n        more\n"
        "Requires-Dist: other\n\n"
    )
    tree = open_source(str(site), package="engine")
    assert (tree.name, tree.version) == ("engine", "1.5")
    assert [line.name for line in tree.metadata.requires] == ["other"]


def test_an_installed_distribution_is_found_without_importing_it() -> None:
    tree = open_source("installed:packaging")
    assert tree.name == "packaging"
    assert tree.exists("packaging/version.py")
    with pytest.raises(InputError, match="not installed beside this program"):
        open_source("installed:no-such-distribution")
