"""Headers are read, and whatever is wrong with a folder is one line that names the file."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from checker.errors import InputError
from checker.stored.folder import read_checkpoint, untensored
from checker.stored.header import read_header
from checker.stored.values import digest, integers

from .samples import index, safetensors

TWO: dict[str, tuple[str, tuple[int, ...], object]] = {
    "a": ("F32", (2, 3), None),
    "map": ("I64", (3,), [5, -1, 7]),
}


def refused(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_checkpoint(str(folder))
    text = str(caught.value)
    assert "\n" not in text
    assert str(folder) in text
    return text


def test_names_shapes_and_small_values_come_from_the_file(tmp_path: Path) -> None:
    safetensors(tmp_path / "model.safetensors", TWO)
    found = read_checkpoint(str(tmp_path))
    assert found is not None
    assert [(t.name, t.dtype, t.shape) for t in found.tensors.values()] == [
        ("a", "F32", (2, 3)),
        ("map", "I64", (3,)),
    ]
    values = integers(found.tensors["map"])
    assert values is not None
    assert values.tolist() == [5, -1, 7]
    assert integers(found.tensors["a"]) is None


def test_two_tensors_have_one_digest_exactly_if_they_hold_the_same(tmp_path: Path) -> None:
    flat = {"a": ("F32", (1, 2), b"12345678"), "b": ("F32", (1, 2), b"12345678")}
    other = {"c": ("F32", (2, 1), b"12345678"), "d": ("F32", (1, 2), b"12345679")}
    safetensors(tmp_path / "model.safetensors", {**flat, **other})
    found = read_header(tmp_path / "model.safetensors")
    assert digest(found["a"]) == digest(found["b"])
    assert len({digest(found[name]) for name in "bcd"}) == 3


def test_shards_are_put_together_as_the_index_says(tmp_path: Path) -> None:
    safetensors(tmp_path / "model-1.safetensors", {"a": TWO["a"]})
    safetensors(tmp_path / "model-2.safetensors", {"map": TWO["map"]})
    safetensors(tmp_path / "optimizer.safetensors", {"a": TWO["a"]})  # not in the index
    index(tmp_path, {"model-1.safetensors": ["a"], "model-2.safetensors": ["map"]})
    found = read_checkpoint(str(tmp_path))
    assert found is not None
    assert list(found.tensors) == ["a", "map"]


def test_a_folder_without_tensors_holds_none(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert read_checkpoint(str(tmp_path)) is None


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    safetensors(tmp_path / "model-1.safetensors", {"a": TWO["a"]})
    index(tmp_path, {"model-1.safetensors": ["a"], "model-2.safetensors": ["map"]})
    assert "names model-2.safetensors, which is not there" in refused(tmp_path)


def test_an_index_may_not_leave_its_folder(tmp_path: Path) -> None:
    index(tmp_path, {"../model.safetensors": ["a"]})
    assert "no safetensors file beside it" in refused(tmp_path)


def test_a_name_in_two_shards_is_refused(tmp_path: Path) -> None:
    safetensors(tmp_path / "model-1.safetensors", TWO)
    safetensors(tmp_path / "model-2.safetensors", {"a": TWO["a"]})
    assert "'a' stands in model-1.safetensors and model-2.safetensors" in refused(tmp_path)


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ({"model-1.safetensors": ["a", "map", "b"]}, "'b' stands in model-1.safetensors, where"),
        ({"model-1.safetensors": ["a"]}, "does not list 'map'"),
        ({}, "lists no tensors"),
    ],
)
def test_an_index_that_contradicts_its_shards_is_refused(
    tmp_path: Path, listed: dict[str, list[str]], said: str
) -> None:
    safetensors(tmp_path / "model-1.safetensors", TWO)
    index(tmp_path, listed)
    assert said in refused(tmp_path)


def test_a_single_file_beside_an_index_of_others_is_refused(tmp_path: Path) -> None:
    safetensors(tmp_path / "model.safetensors", TWO)
    safetensors(tmp_path / "model-1.safetensors", {"a": TWO["a"]})
    index(tmp_path, {"model-1.safetensors": ["a"]})
    assert "an index of other files" in refused(tmp_path)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "draft.pt"])
def test_pickled_files_are_named_and_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x04")
    said = refused(tmp_path)
    assert name in said
    assert "save it as safetensors" in said


def test_pickled_files_beside_safetensors_are_left_alone(tmp_path: Path) -> None:
    safetensors(tmp_path / "model.safetensors", TWO)
    (tmp_path / "training_args.bin").write_bytes(b"\x80\x04")
    found = read_checkpoint(str(tmp_path))
    assert found is not None
    assert found.pickled == ("training_args.bin",)


def header(entries: Any, data: bytes = b"") -> bytes:
    raw = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(raw)) + raw + data


GOOD = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is 0 bytes long"),
        (b"\x01\x02", "is 2 bytes long"),
        (struct.pack("<Q", 1 << 62), f"says that its header is {1 << 62} bytes long"),
        (struct.pack("<Q", 99) + b"{}", "ends before its header does"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
        (header(b"\xff\xfe"), "no JSON"),
        (header(b"[" * 5000), "no JSON"),
        (header([1]), "no JSON object"),
        (header(b'{"a": 1, "a": 2}'), "the name 'a' twice"),
        (header({"a": 1}), "does not say dtype, shape and place of 'a'"),
        (header({"a": {**GOOD, "shape": [-1]}}), "does not say dtype, shape and place"),
        (header({"a": {**GOOD, "shape": [True]}}), "does not say dtype, shape and place"),
        (header({"a": {**GOOD, "data_offsets": [0, 8]}}), "gives 'a' 8 bytes where F32 [1] has 4"),
        (header({"a": {**GOOD, "data_offsets": [-4, 0]}}), "gives 'a'"),
        (header({"a": GOOD}), "ends before the values of 'a' do"),
        (header({"a": GOOD, "b": GOOD}, b"1234"), "'a' and 'b' the same bytes"),
    ],
)
def test_a_broken_file_is_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    assert said in refused(tmp_path)


@pytest.mark.parametrize("text", ["{}", '{"weight_map": 3}', '{"weight_map": {"a": 1}}', "[", "[]"])
def test_a_broken_index_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(text)
    assert "index.json" in refused(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (header({"a": {**GOOD, "dtype": "F13"}}, b"1234"), "as 'F13', which is no kind of numbers"),
        (header({"a": {**GOOD, "dtype": "F4"}}, b"1234"), "gives 'a' 4 bytes where F4 [1] has 0"),
        (header({"a": GOOD}, b"12345"), "has 1 bytes at its end that belong to no tensor"),
        (
            header({"a": {**GOOD, "data_offsets": [2, 6]}}, b"123456"),
            "has 2 bytes before 'a' of no tensor",
        ),
        (header(b' {"a": 1}'), "does not begin with its JSON object"),
        (header('{"a": 1}'.encode("utf-16")), "no JSON"),
        (header({"__metadata__": {"step": 3}}), "whose __metadata__ are no texts"),
    ],
)
def test_what_the_formats_own_library_refuses_is_refused(
    tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    assert said in refused(tmp_path)


def test_numbers_of_half_a_byte_are_a_kind(tmp_path: Path) -> None:
    entries = {"a": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}
    (tmp_path / "model.safetensors").write_bytes(header(entries, b"12"))
    found = read_checkpoint(str(tmp_path))
    assert found is not None
    assert not found.tensors["a"].is_plain


def test_files_that_no_loader_looks_for_are_left_alone(tmp_path: Path) -> None:
    safetensors(tmp_path / "model.safetensors", {"a": ("F32", (1,), None)})
    (tmp_path / "._model.safetensors").write_bytes(b"\0\5\x16\7")
    (tmp_path / "model.safetensors.index.json").mkdir()
    found = read_checkpoint(str(tmp_path))
    assert found is not None
    assert list(found.tensors) == ["a"]


def test_links_are_followed_and_broken_ones_named(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    safetensors(tmp_path / "blobs" / "0f", {"a": ("F32", (1,), None)})
    (tmp_path / "model.safetensors").symlink_to("blobs/0f")
    found = read_checkpoint(str(tmp_path))
    assert found is not None
    assert list(found.tensors) == ["a"]
    (tmp_path / "blobs" / "0f").unlink()
    assert "model.safetensors: cannot be read: No such file" in refused(tmp_path)


@pytest.mark.parametrize("name", ["model.gguf", "weights.npz", "flax_model.msgpack"])
def test_tensors_of_other_formats_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"GGUF")
    assert f"holds tensors in {name} only" in refused(tmp_path)


def test_tensors_in_a_folder_below_are_not_those_that_are_served(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    safetensors(tmp_path / "original" / "model.safetensors", {"a": ("F32", (1,), None)})
    assert "no tensors but those in original" in refused(tmp_path)
    safetensors(tmp_path / "model.safetensors", {"b": ("F32", (1,), None)})
    found = read_checkpoint(str(tmp_path))
    assert found is not None
    assert list(found.tensors) == ["b"]


def test_a_folder_of_a_configuration_alone_says_so(tmp_path: Path) -> None:
    given = str(tmp_path)
    (note,) = untensored(given, read_checkpoint(given))
    assert note == f"{given} holds no tensors: what the trainer saves stands for them"
    safetensors(tmp_path / "model.safetensors", {"a": ("F32", (1,), None)})
    assert not untensored(given, read_checkpoint(given))
    assert not untensored(None, None)
