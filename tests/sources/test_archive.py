"""Archives from outside: what is hostile or damaged is refused in one line, never followed."""

from __future__ import annotations

import io
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from checker.errors import InputError
from checker.sources import MissingMember, open_source
from checker.sources.archive import leaves_tree
from tests.sources.samples import sdist_bytes, wheel_bytes

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"toy/__init__.py": "a = 1\n"}


def write(path: Path, members: list[tuple[zipfile.ZipInfo | str, bytes]]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in members:
            archive.writestr(info, data)
    return str(path)


def linked(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = kind << 16
    return info


def test_a_local_wheel_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    path.write_bytes(wheel_bytes("toy", "1.0", GOOD, ("other",)))
    tree = open_source(str(path), package="toy")
    assert (tree.name, tree.version, tree.label) == ("toy", "1.0", str(path))
    assert tree.read("toy/__init__.py") == b"a = 1\n"
    assert [line.name for line in tree.metadata.requires] == ["other"]
    assert len(tree.fingerprint) == 64
    assert not (tmp_path / "cache").exists()


def test_a_local_sdist_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "toy-1.0.tar.gz"
    path.write_bytes(sdist_bytes("toy", "1.0", {"PKG-INFO": "Name: toy\nVersion: 1.0\n", **GOOD}))
    tree = open_source(str(path), package="toy")
    assert (tree.name, tree.version) == ("toy", "1.0")
    assert tree.read("toy/__init__.py") == b"a = 1\n"


@pytest.mark.parametrize(
    "name",
    ["/etc/x.py", "../x.py", "toy/../../x.py", "C:/x.py", "C:x.py", "toy\\..\\x.py", "toy//x.py"],
)
def test_a_member_outside_the_tree_condemns_the_archive(tmp_path: Path, name: str) -> None:
    info = zipfile.ZipInfo("placeholder")
    info.filename = name
    spec = write(tmp_path / "toy-1.0-py3-none-any.whl", [("toy/a.py", b""), (info, b"")])
    with pytest.raises(InputError, match="outside its tree"):
        open_source(spec)


@pytest.mark.parametrize("name", ["toy/a.py", "a.py", ".hidden", "toy/..a.py", "toy/a..py"])
def test_ordinary_names_stay(name: str) -> None:
    assert not leaves_tree(name)


@pytest.mark.parametrize(("kind", "words"), [(0o120777, "is a link"), (0o010644, "no regular")])
def test_links_and_special_members_are_not_read(tmp_path: Path, kind: int, words: str) -> None:
    spec = write(
        tmp_path / "toy-1.0-py3-none-any.whl",
        [("toy/a.py", b"a"), (linked("toy/b.py", kind), b"/etc/passwd")],
    )
    tree = open_source(spec)
    assert tree.files() == ["toy/a.py"]
    assert tree.listdir("toy") == ["a.py"]
    assert not tree.exists("toy/b.py")
    with pytest.raises(InputError, match=words):
        tree.read("toy/b.py")


def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    spec = write(
        tmp_path / "toy-1.0-py3-none-any.whl",
        [("toy/ratio.py", b"\0" * (8 << 20)), ("toy/long.py", b"\0" * (17 << 20))],
    )
    tree = open_source(spec)
    with pytest.raises(InputError, match="unpacks to"):
        tree.read("toy/ratio.py")
    with pytest.raises(InputError, match="more than any source file"):
        tree.read("toy/long.py")


def test_a_member_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    write(path, [("toy/a.py", b"\0" * (4 << 20))])
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match="damaged"):
        open_source(str(path)).read("toy/a.py")


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.sources.archive.MEMBER_COUNT_LIMIT", 3)
    spec = write(tmp_path / "toy-1.0-py3-none-any.whl", [(f"toy/{at}.py", b"") for at in range(4)])
    with pytest.raises(InputError, match="4 members"):
        open_source(spec)


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    write(path, [("toy/a.py", b"text")])
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match="is encrypted"):
        open_source(str(path)).read("toy/a.py")


def test_an_exotic_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("toy/a.py", "text")
    with pytest.raises(InputError, match="packed by method 14"):
        open_source(str(path)).read("toy/a.py")


@pytest.mark.parametrize("at", range(3, 60, 4))
def test_a_flipped_byte_never_passes(tmp_path: Path, at: int) -> None:
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    text = b"class Draft:\n    '''Something with a bit of text, to pack.'''\n"
    write(path, [("toy/a.py", text)])
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(bytes(data))
    try:  # a byte of the local header that nothing reads (a time, a size) changes nothing
        assert open_source(str(path)).read("toy/a.py") == text
    except InputError as error:
        assert "damaged" in str(error)  # noqa: PT017 - either outcome is right, no third


@pytest.mark.parametrize("content", [b"", b"PK", b"text", b"PK\x05\x06" + b"\xff" * 18])
@pytest.mark.parametrize("name", ["toy-1.0-py3-none-any.whl", "toy-1.0.tar.gz"])
def test_no_archive_is_said(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="no readable"):
        open_source(str(tmp_path / name))


def test_a_truncated_wheel_is_said(tmp_path: Path) -> None:
    whole = wheel_bytes("toy", "1.0", GOOD)
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="no readable zip archive"):
        open_source(str(path))


@pytest.mark.parametrize("name", ["../x.py", "toy-1.0/../../x.py", "/etc/x.py", "toy-1.0/C:/x"])
def test_a_tar_member_outside_the_tree_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "toy-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(InputError, match="outside its tree"):
        open_source(str(path))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_tar_links_are_not_followed(tmp_path: Path, kind: bytes) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        plain = tarfile.TarInfo("toy-1.0/toy/a.py")
        archive.addfile(plain, io.BytesIO())
        link = tarfile.TarInfo("toy-1.0/toy/b.py")
        link.type, link.linkname = kind, "/etc/passwd"
        archive.addfile(link)
    path = tmp_path / "toy-1.0.tar.gz"
    path.write_bytes(buffer.getvalue())
    tree = open_source(str(path))
    assert tree.files() == ["toy/a.py"]
    with pytest.raises(InputError, match="is a link"):
        tree.read("toy/b.py")
    with pytest.raises(MissingMember):
        tree.read("toy/c.py")


def test_a_tar_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.sources.sdist.TOTAL_LIMIT", 1000)
    path = tmp_path / "toy-1.0.tar.gz"
    path.write_bytes(sdist_bytes("toy", "1.0", {"toy/a.py": "x" * 600, "toy/b.py": "x" * 600}))
    with pytest.raises(InputError, match="more than sources do"):
        open_source(str(path))


def test_a_member_that_lies_before_the_archive_is_refused(tmp_path: Path) -> None:
    """Bytes missing at the beginning: what the directory says lies before the file."""
    whole = wheel_bytes("toy", "1.0", GOOD)
    path = tmp_path / "toy-1.0-py3-none-any.whl"
    path.write_bytes(whole[40:])
    with pytest.raises(InputError, match="does not lie in the archive"):
        open_source(str(path)).read("toy/__init__.py")


def test_a_member_without_a_name_is_outside_the_tree(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("placeholder")
    info.filename = ""
    spec = write(tmp_path / "toy-1.0-py3-none-any.whl", [("toy/a.py", b""), (info, b"")])
    with pytest.raises(InputError, match="outside its tree"):
        open_source(spec)


def test_of_two_members_of_one_name_in_a_tar_the_later_counts(tmp_path: Path) -> None:
    """As when it is unpacked; and nothing is said on standard error."""
    path = tmp_path / "toy-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for text in (b"a = 1\n", b"a = 2\n"):
            info = tarfile.TarInfo("toy-1.0/toy/__init__.py")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    assert open_source(str(path)).read("toy/__init__.py") == b"a = 2\n"
