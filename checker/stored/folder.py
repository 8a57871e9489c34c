"""A draft checkpoint's folder: which files hold its tensors, and what their headers say."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from checker.configs import read_config
from checker.errors import InputError
from checker.stored.header import StoredTensor, read_header

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checker.configs import ConfigFile

CONFIG = "config.json"
_INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_ENDING = ".safetensors"
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_FOREIGN = (".gguf", ".npz", ".npy", ".h5", ".msgpack", ".onnx", ".tensors")
_CONVERT = "save it as safetensors: pickled files can run code when they are opened"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The tensors in a folder.

    `path` is the folder as it was given; `pickled` are files beside the others that are not opened;
    `seal` changes whenever one of the files does.
    """

    path: str
    tensors: Mapping[str, StoredTensor]
    pickled: tuple[str, ...] = ()
    seal: str = ""


def is_folder(given: str) -> bool:
    """Whether this is a folder; a name that no file can have is none."""
    return os.path.isdir(given)  # noqa: PTH112 - pathlib raises for such names


def folder_config(given: str) -> ConfigFile | None:
    """The configuration in a folder, or in a file that is given in its place, if there is one."""
    if is_folder(given) and not os.path.lexists(Path(given) / CONFIG):
        return None
    return read_config(given)


def untensored(given: str | None, found: Checkpoint | None) -> tuple[str, ...]:
    """What is taken for granted of a draft's folder that holds a configuration alone."""
    if given is None or found is not None or not is_folder(given):
        return ()
    return (f"{given} holds no tensors: what the trainer saves stands for them",)


def read_checkpoint(given: str, *, needed: bool = False) -> Checkpoint | None:
    """The tensors in a folder, None where it holds no files of tensors at all.

    Raises:
        InputError: files are pickled, broken, missing or contradict each other; or there are none
            where they are `needed`.
    """
    folder = Path(given)
    if not is_folder(given):
        _refuse_file(given)
        if needed:
            raise InputError("is no folder", "give the folder of the served copy", given)
        return None
    # loaders look for *.safetensors, which leaves out what begins with a dot
    names = sorted(name for name in _listed(folder) if not name.startswith("."))
    files = _files(folder, names)
    pickled = tuple(name for name in names if name.endswith(_PICKLED))
    if not files:
        if pickled:
            shown = ", ".join(pickled[:3]) + (", …" if len(pickled) > 3 else "")
            raise InputError(f"holds pickled tensors only ({shown})", _CONVERT, given)
        _elsewhere(folder, names)
        if needed:
            raise InputError("holds no safetensors file", "give the draft's folder", given)
        return None
    tensors: dict[str, StoredTensor] = {}
    seal = hashlib.sha256()
    for path in files:
        for name, tensor in read_header(path).items():
            if name in tensors:
                others = f"{Path(tensors[name].path).name} and {path.name}"
                raise InputError(f"{name!r} stands in {others}", "remove one of the two", given)
            tensors[name] = tensor
        status = path.stat()
        marks = (path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        seal.update(repr(marks).encode())
    _check_index(folder, tensors)
    return Checkpoint(given, dict(sorted(tensors.items())), pickled, seal.hexdigest())


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all that is needed
    except OSError as error:
        message = f"cannot be looked into: {error.strerror}"
        raise InputError(message, "give a readable folder", str(folder)) from None


def _elsewhere(folder: Path, names: Sequence[str]) -> None:
    """Tensors that no loader finds: in another format, or in a folder below."""
    foreign = next((name for name in names if name.endswith(_FOREIGN)), None)
    if foreign is not None:
        raise InputError(
            f"holds tensors in {foreign} only", "save them as safetensors", str(folder)
        )
    for name in names:
        inner = folder / name
        if inner.is_dir() and any(inside.endswith(_ENDING) for inside in _listed(inner)):
            message = f"holds no tensors but those in {name}, where no loader looks"
            raise InputError(message, f"give {inner}", str(folder))


def _refuse_file(given: str) -> None:
    if given.endswith(_PICKLED):
        raise InputError("is a pickled file", _CONVERT, given)
    if given.endswith(_ENDING):
        raise InputError("is a file of tensors", "give the folder it lies in", given)


def _files(folder: Path, names: Sequence[str]) -> list[Path]:
    """The files whose tensors make up the checkpoint: those of the index where there is one."""
    listed = sorted(set(_index(folder).values()))
    for name in listed:
        if name != os.path.basename(name) or not name.endswith(_ENDING):  # noqa: PTH119
            message = f"names {name!r}, which is no safetensors file beside it"
            raise InputError(message, "mend the index", str(folder / _INDEX))
        if name not in names:
            message = f"names {name}, which is not there"
            raise InputError(message, "fetch the missing shard", str(folder / _INDEX))
    if listed:
        if _SINGLE in names and _SINGLE not in listed:
            message = f"holds {_SINGLE} and an index of other files"
            raise InputError(message, "remove the one that is not meant", str(folder))
        return [folder / name for name in listed]
    return [folder / name for name in names if name.endswith(_ENDING)]


def _index(folder: Path) -> dict[str, str]:
    path = folder / _INDEX
    if not path.is_file():
        return {}
    found = read_config(str(path)).data.get("weight_map")
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        message = "says under no weight_map which tensor stands in which file"
        raise InputError(message, "save or fetch it again", str(path))
    if not found:
        raise InputError("lists no tensors", "save or fetch it again", str(path))
    return found


def _check_index(folder: Path, tensors: Mapping[str, StoredTensor]) -> None:
    """The index and the shards' own headers have to say the same."""
    listed = _index(folder)
    place = str(folder / _INDEX)
    for name, file in sorted(listed.items()):
        if name not in tensors or Path(tensors[name].path).name != file:
            message = f"says that {name!r} stands in {file}, where it does not"
            raise InputError(message, "save or fetch the shards again", place)
    unlisted = sorted(set(tensors) - set(listed)) if listed else []
    if unlisted:
        message = f"does not list {unlisted[0]!r}, which stands in a shard"
        raise InputError(message, "save or fetch the index again", place)
