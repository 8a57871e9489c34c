"""The cache on disk: whatever stands in an entry's place is not believed, and is rebuilt."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.sources import store as stores
from checker.sources.store import Store

PLACE = ("part", "entry")
CONTENT = b"what is kept" * 9


def shorten(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)


def make_folder(file: Path) -> None:
    file.unlink()
    (file / "inner").mkdir(parents=True)


def make_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def dangle(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.parent / "nothing")


def make_parent_a_file(file: Path) -> None:
    shutil.rmtree(file.parent)
    file.parent.write_text("no folder", "utf-8")


def give_away(file: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    os.chown(file, 54321, 54321)


def forbid(file: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is forbidden to root")
    file.chmod(0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="files here have neither owners nor pipes")
@pytest.mark.parametrize(
    "damage",
    [
        shorten, empty, flip, make_folder, make_pipe, dangle, make_parent_a_file, give_away, forbid,
    ],
)  # fmt: skip
def test_a_damaged_entry_is_not_believed_and_is_rebuilt(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    store = Store(tmp_path / "cache")
    store.write(CONTENT, *PLACE)
    assert store.read(*PLACE) == CONTENT
    damage(store.folder.joinpath(*PLACE))
    assert store.read(*PLACE) is None
    store.write(CONTENT, *PLACE)
    assert store.read(*PLACE) == CONTENT


def test_what_a_killed_process_began_is_removed_once_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "cache")

    def killed(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(stores.os, "replace", killed)
        patch.setattr(stores.os, "unlink", lambda _: None)
        with pytest.raises(SystemExit):
            store.write(CONTENT, *PLACE)
    (begun,) = (store.folder / "part").iterdir()
    assert store.names("part") == []
    Store(store.folder).write(CONTENT, *PLACE)
    assert begun.exists(), "it may still be written"
    old = time.time() - 7200
    os.utime(begun, (old, old))
    Store(store.folder).write(CONTENT, *PLACE)
    assert not begun.exists()
    assert store.read(*PLACE) == CONTENT


def test_what_is_not_ours_makes_no_room(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("somebody's", "utf-8")
    store = Store(tmp_path / "file" / "cache")
    store.write(CONTENT, *PLACE)
    assert store.read(*PLACE) is None
    assert (tmp_path / "file").read_text("utf-8") == "somebody's"
