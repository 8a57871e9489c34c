from __future__ import annotations

from pathlib import Path

import pytest

from checker.configs import MAX_BYTES, read_config
from checker.errors import InputError


def test_a_folder_stands_for_the_config_in_it(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"a": 1}', "utf-8")
    assert read_config(str(tmp_path)) == read_config(str(tmp_path / "config.json"))
    assert read_config(str(tmp_path)).data == {"a": 1}


@pytest.mark.parametrize(
    ("content", "place", "said"),
    [
        (b'{"a": 1,\n "b" 2}', ":2:6", "not valid JSON"),
        (b"", ":1:1", "not valid JSON"),
        (b'\xef\xbb\xbf{"a": 1}', "", "begins with a byte order mark"),
        (b"[1]", "", "holds a list, not an object"),
        (b"3", "", "holds a number"),
        (b"true", "", "holds a boolean"),
        (b"null", "", "holds null"),
        (b'"x"', "", "holds a string"),
        (b'{"a": "\xff"}', "", "not UTF-8"),
        (b"[" * 200_000, "", "nested too deeply"),
        (b'{"a":' * 200_000, "", "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "", "cannot be read"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "", "'c' twice"),
        (b" " * (MAX_BYTES + 1), "", "larger than 16 MiB"),
    ],
)
def test_what_is_no_configuration_is_said_in_one_line(
    tmp_path: Path, content: bytes, place: str, said: str
) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_config(str(path))
    text = str(caught.value)
    assert text.startswith(f"{path}{place}: ")
    assert said in text
    assert "\n" not in text


@pytest.mark.parametrize("name", ["nothing.json", "no/such/folder", "nul\0.json", "x" * 5000, ""])
def test_what_is_not_there_is_said(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"no such file|cannot be read"):
        read_config(name)
