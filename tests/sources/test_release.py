"""Releases: what is fetched, what is kept, and what is said when something is wrong."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest

from checker.errors import InputError
from checker.sources import MissingMember, open_source
from checker.sources.release import ArchiveTree
from tests.sources.samples import noise, sdist_bytes, wheel_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.sources.samples import Index

FILES = {
    "toy/__init__.py": "",
    "toy/models/draft.py": "class Draft: ...\n",
    "toy/models/target.py": "class Target: ...\n",
    "toy/lib.so": noise(200_000),
}
WHEEL = "toy-1.0-py3-none-any.whl"


def big_wheel() -> bytes:
    files = {f"toy/m{at:03}.py": noise(1500, at) for at in range(60)}
    return wheel_bytes("toy", "1.0", {**files, "toy/lib.so": noise(300_000)})


@pytest.fixture
def toy(index: Index) -> Index:
    index.add(WHEEL, wheel_bytes("toy", "1.0", FILES, ("other>=2",)), "2026-01-02T03:04:05Z")
    return index


def test_a_release_is_a_tree(toy: Index) -> None:
    tree = open_source("toy==1.0", package="toy")
    assert (tree.label, tree.name, tree.version, tree.roots) == ("toy==1.0", "toy", "1.0", ("",))
    assert tree.read("toy/models/draft.py") == b"class Draft: ...\n"
    assert tree.listdir("toy") == ["__init__.py", "lib.so", "models/"]
    assert tree.listdir("toy/models/") == ["draft.py", "target.py"]
    assert tree.listdir("toy/none") == []
    assert tree.files("toy/models/", ".py") == ["toy/models/draft.py", "toy/models/target.py"]
    assert tree.exists("toy/models/draft.py")
    assert tree.exists("toy/models")
    assert tree.exists("toy/models/")
    assert not tree.exists("toy/models/draft.py/")
    assert not tree.exists("toy/mod")
    assert [str(line) for line in tree.metadata.requires] == ["other>=2"]
    assert tree.released is not None
    assert tree.released.isoformat() == "2026-01-02T03:04:05+00:00"


def test_a_missing_member_is_a_key_error(toy: Index) -> None:
    tree = open_source("toy==1.0")
    with pytest.raises(MissingMember, match=r"toy==1\.0 holds no file toy/none\.py"):
        tree.read("toy/none.py")
    with pytest.raises(KeyError):
        tree.read("toy/models")


def test_a_second_run_makes_no_request(toy: Index) -> None:
    first = open_source("toy==1.0")
    first.read("toy/models/draft.py")
    toy.asked.clear()
    second = open_source("toy==1.0")
    assert second.read("toy/models/draft.py") == b"class Draft: ...\n"
    assert second.fingerprint == first.fingerprint
    assert second.released == first.released
    assert toy.asked == []


def test_a_large_wheel_is_read_in_ranges(index: Index, in_ranges: None) -> None:
    content = big_wheel()
    index.add(WHEEL, content)
    tree = open_source("toy==1.0")
    assert tree.read("toy/m030.py") == noise(1500, 30).encode()
    ranges = [asked for path, asked in index.asked if path.startswith("/files/")]
    assert ranges
    assert None not in ranges
    fetched = sum(
        int(last) - int(first) + 1
        for first, last in (str(asked).removeprefix("bytes=").split("-") for asked in ranges)
    )
    assert fetched < len(content) / 10


def test_neighbours_come_along_and_are_kept(index: Index, in_ranges: None) -> None:
    index.add(WHEEL, big_wheel())
    tree = open_source("toy==1.0")
    tree.read("toy/m030.py")
    before = len(index.asked)
    names = [name for name in tree.files("toy/m03") if name != "toy/m030.py"]
    for name in names:
        tree.read(name)
    assert len(index.asked) - before < len(names)
    index.asked.clear()
    again = open_source("toy==1.0")
    for name in ["toy/m030.py", *names]:
        again.read(name)
    assert index.asked == []


def test_prefetch_takes_few_requests(index: Index, in_ranges: None) -> None:
    index.add(WHEEL, big_wheel())
    tree = open_source("toy==1.0")
    names = tree.files("toy/", ".py")
    index.asked.clear()
    tree.prefetch(names)
    assert len(index.asked) == 1
    assert all(tree.read(name) for name in names)
    assert len(index.asked) == 1


@pytest.mark.parametrize("sized", [True, False])
def test_a_server_without_ranges_costs_one_download(
    start_index: Callable[..., Index],
    in_ranges: None,
    monkeypatch: pytest.MonkeyPatch,
    sized: bool,
) -> None:
    index = start_index(ranges=False, as_json=sized)
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    index.add(WHEEL, big_wheel())
    tree = open_source("toy==1.0")
    assert tree.read("toy/m030.py") == noise(1500, 30).encode()
    whole = [path for path, asked in index.asked if path.startswith("/files/") and asked is None]
    assert len(whole) == 1
    index.asked.clear()
    assert tree.read("toy/lib.so") == noise(300_000).encode()
    assert index.asked == []
    assert open_source("toy==1.0").read("toy/m059.py") == noise(1500, 59).encode()
    assert index.asked == []


def test_an_html_index_serves_as_well(
    start_index: Callable[..., Index], in_ranges: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = start_index(as_json=False)
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    index.add(WHEEL, big_wheel())
    tree = open_source("toy==1.0")
    assert tree.read("toy/m030.py") == noise(1500, 30).encode()
    assert tree.released is None
    assert all(asked for path, asked in index.asked if path.startswith("/files/"))


def test_without_a_hash_the_directory_identifies_the_content(
    start_index: Callable[..., Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    prints = set()
    for text in ("a = 1\n", "a = 2\n", "a = 1\n"):
        index = start_index(hashes=False)
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        index.add(WHEEL, wheel_bytes("toy", "1.0", {"toy/__init__.py": text}))
        prints.add(open_source("toy==1.0").fingerprint)
    assert len(prints) == 2


def test_what_differs_from_the_index_hash_is_refused(
    toy: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = toy.json_page("toy")
    monkeypatch.setattr(toy, "json_page", lambda name: page)
    toy.files[WHEEL] = wheel_bytes("toy", "1.0", {"toy/__init__.py": "evil()"})
    with pytest.raises(InputError, match="sha256 differs"):
        open_source("toy==1.0")


def test_the_widest_wheel_is_chosen_whatever_this_machine_is(index: Index) -> None:
    index.add("toy-1.0.tar.gz", sdist_bytes("toy", "1.0", {"toy/__init__.py": "kind = 's'"}))
    for kind in ("cp312-cp312-win_amd64", "cp39-cp39-manylinux_2_34_x86_64"):
        name = f"toy-1.0-{kind}.whl"
        index.add(name, wheel_bytes("toy", "1.0", {"toy/__init__.py": f"kind = {kind!r}"}))
    assert b"manylinux" in open_source("toy==1.0").read("toy/__init__.py")
    index.add("toy-1.1-py3-none-any.whl", wheel_bytes("toy", "1.1", {"toy/__init__.py": "any"}))
    index.add("toy-1.1-cp39-cp39-manylinux_2_34_x86_64.whl", b"never read")
    assert open_source("toy==1.1").read("toy/__init__.py") == b"any"


def test_an_sdist_is_read_where_there_is_no_wheel(index: Index) -> None:
    files = {
        "PKG-INFO": "Name: toy\nVersion: 1.0\n",
        "setup.py": "raise SystemExit('an sdist is never built')",
        "pyproject.toml": '[project]\nname = "toy"\ndependencies = ["other<3"]\n',
        "src/toy/__init__.py": "a = 1\n",
    }
    index.add("toy-1.0.tar.gz", sdist_bytes("toy", "1.0", files))
    tree = open_source("toy==1.0", package="toy")
    assert tree.roots == ("src/",)
    assert tree.read("src/toy/__init__.py") == b"a = 1\n"
    assert [str(line) for line in tree.metadata.requires] == ["other<3"]
    index.asked.clear()
    assert open_source("toy==1.0", package="toy").read("src/toy/__init__.py") == b"a = 1\n"
    assert index.asked == []


def test_a_name_is_the_newest_final_release_each_time(toy: Index) -> None:
    toy.add("toy-1.2-py3-none-any.whl", wheel_bytes("toy", "1.2", FILES))
    toy.add("toy-1.3-py3-none-any.whl", wheel_bytes("toy", "1.3", FILES))
    toy.add("toy-2.0rc1-py3-none-any.whl", wheel_bytes("toy", "2.0rc1", FILES))
    toy.yanked.add("toy-1.3-py3-none-any.whl")
    assert open_source("Toy").label == "toy==1.2"
    toy.add("toy-1.10-py3-none-any.whl", wheel_bytes("toy", "1.10", FILES))
    assert open_source("toy").label == "toy==1.10"
    assert open_source("toy==1.3").version == "1.3"  # withdrawn, but asked for by its number


def test_a_version_may_be_spelled_otherwise(toy: Index) -> None:
    assert open_source("toy==1").version == "1.0"
    toy.asked.clear()
    assert open_source("toy==1").version == "1.0"
    assert toy.asked == []


def test_an_unknown_version_names_near_ones(toy: Index) -> None:
    for version in ("0.8", "0.9", "1.1", "1.2", "1.3", "3.0"):
        toy.add(f"toy-{version}-py3-none-any.whl", wheel_bytes("toy", version, FILES))
    with pytest.raises(InputError) as caught:
        open_source("toy==1.0.5")
    line = str(caught.value)
    assert line == "toy==1.0.5: no release 1.0.5 of toy (there are 0.9, 1.0, 1.1, 1.2, 1.3, 3.0)"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nosuch==1.0", "no project nosuch in the package index"),
        ("toy==abc", "'abc' is no version"),
        ("toy>=1", "neither a release nor a folder"),
        ("toy==1.*", "neither a release nor a folder"),
        ("", "the source is empty"),
        ("./nowhere", "no such file or folder"),
        ("nowhere.whl", "no such file or folder"),
    ],
)
def test_bad_specs_are_one_clear_line(toy: Index, spec: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        open_source(spec)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_a_release_without_the_package_says_so(toy: Index) -> None:
    with pytest.raises(InputError, match="no Python package engine in the archive"):
        open_source("toy==1.0", package="engine")


def test_no_network_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{free.getsockname()[1]}/simple")
    with pytest.raises(InputError, match="no network"):
        open_source("toy==1.0")


def test_offline_uses_the_cache_and_nothing_else(toy: Index) -> None:
    with pytest.raises(InputError, match=r"toy==1\.0 is not cached"):
        open_source("toy==1.0", offline=True)
    with pytest.raises(InputError, match="toy is not cached"):
        open_source("toy", offline=True)
    assert toy.asked == []
    open_source("toy==1.0")
    toy.asked.clear()
    assert open_source("toy", offline=True).read("toy/models/draft.py")
    assert open_source("toy==1.0", offline=True, no_cache=True).version == "1.0"
    assert toy.asked == []


def test_offline_a_part_not_fetched_yet_is_an_error(index: Index, in_ranges: None) -> None:
    index.add(WHEEL, big_wheel())
    open_source("toy==1.0").read("toy/m030.py")
    tree = open_source("toy==1.0", offline=True)
    assert tree.read("toy/m030.py")
    with pytest.raises(InputError, match=r"a part of toy==1\.0 is not cached"):
        tree.read("toy/m001.py")


def test_any_damage_in_the_cache_is_mended(index: Index, cache: Path, in_ranges: None) -> None:
    index.add(WHEEL, big_wheel())
    open_source("toy==1.0").read("toy/m030.py")
    kept = sorted(path for path in cache.rglob("*") if path.is_file())
    assert len(kept) >= 3
    for path in kept:
        good = path.read_bytes()
        for bad in (b"", good[:10], good[:-1], good[:-5] + b"\x00" + good[-4:], b"x" * len(good)):
            path.write_bytes(bad)
            tree = open_source("toy==1.0")
            assert tree.read("toy/m030.py") == noise(1500, 30).encode()
            assert path.read_bytes() == good


def test_a_chunk_kept_wrong_is_fetched_again(index: Index, cache: Path, in_ranges: None) -> None:
    """As after a transfer that went wrong: sealed well, but not the archive's bytes."""
    from checker.sources.store import Store

    index.add(WHEEL, big_wheel())
    tree = open_source("toy==1.0")
    tree.read("toy/m030.py")
    for path in cache.rglob("artifacts/*/*"):
        if path.name != "directory":
            Store(path.parent).write(b"\x00" * (path.stat().st_size - 32), path.name)
    assert open_source("toy==1.0").read("toy/m030.py") == noise(1500, 30).encode()


def test_a_cache_that_cannot_be_written_is_no_failure(
    toy: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "file" / "cache"))
    assert open_source("toy==1.0").read("toy/models/draft.py") == b"class Draft: ...\n"


def test_many_at_once_agree(index: Index, in_ranges: None) -> None:
    index.add(WHEEL, big_wheel())
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            tree = open_source("toy==1.0")
            for at in range(seed, 60, 7):
                assert tree.read(f"toy/m{at:03}.py") == noise(1500, at).encode()
        except BaseException as error:  # noqa: BLE001 - reported by the test's thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_what_is_forgotten_is_read_again_from_the_cache(index: Index, in_ranges: None) -> None:
    index.add(WHEEL, big_wheel())
    fresh = open_source("toy==1.0")
    assert isinstance(fresh, ArchiveTree)
    fresh.read("toy/m030.py")
    held = dict(fresh.artifact.memory)
    fresh.forget()
    assert fresh.artifact.memory == held, "whether the cache could be written is not known"
    tree = open_source("toy==1.0")
    assert isinstance(tree, ArchiveTree)
    before = tree.read("toy/m030.py")
    index.asked.clear()
    tree.forget()
    assert tree.artifact.memory == {}
    assert tree.read("toy/m030.py") == before
    assert index.asked == []


def test_a_passing_hiccup_is_sat_out(toy: Index) -> None:
    toy.failing = 1
    assert open_source("toy==1.0").version == "1.0"


def test_a_file_that_went_is_said(toy: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    page = toy.json_page("toy")
    monkeypatch.setattr(toy, "json_page", lambda name: page)
    monkeypatch.setattr(toy, "project", lambda name: [WHEEL])
    toy.files.clear()
    with pytest.raises(InputError, match="it is not there"):
        open_source("toy==1.0")


def test_progress_is_told(toy: Index) -> None:
    said: list[str] = []
    open_source("toy==1.0", progress=said.append)
    assert said == ["asking the index for toy", "fetching toy==1.0"]
    said.clear()
    open_source("toy==1.0", progress=said.append)
    assert said == []


def test_no_index_can_put_its_bytes_under_anothers_hash(
    start_index: Callable[..., Index], in_ranges: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes in ranges cannot be checked against the hash; so it stays with its address."""
    good, evil = start_index(), start_index()
    for index, text in ((good, "good = 1"), (evil, "evil = 1")):
        index.add(WHEEL, wheel_bytes("toy", "1.0", {"toy/__init__.py": text}))
    hashes = good._hashes(WHEEL)
    monkeypatch.setattr(evil, "_hashes", lambda file: hashes)
    for index, expected in ((evil, b"evil = 1"), (good, b"good = 1"), (evil, b"evil = 1")):
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        assert open_source("toy==1.0").read("toy/__init__.py") == expected


def test_a_hash_that_is_none_names_no_file(
    toy: Index, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toy, "_hashes", lambda file: {"sha256": "../../../escaped"})
    tree = open_source("toy==1.0")
    assert len(tree.fingerprint) == 64
    assert not list(cache.parent.rglob("escaped*"))


def test_an_index_does_not_name_local_files(
    toy: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / WHEEL).write_bytes(toy.files[WHEEL])
    page = toy.json_page("toy").replace(b"../../files/", f"file://{tmp_path}/".encode())
    monkeypatch.setattr(toy, "json_page", lambda name: page)
    with pytest.raises(InputError, match="no project toy"):
        open_source("toy==1.0")


def test_an_answer_cut_short_is_said(index: Index, in_ranges: None) -> None:
    index.add(WHEEL, big_wheel())
    tree = open_source("toy==1.0")
    index.cut = True
    with pytest.raises(InputError, match=r"ended early|cannot be reached"):
        tree.read("toy/m001.py")
    index.cut = False
    assert tree.read("toy/m001.py") == noise(1500, 1).encode()
