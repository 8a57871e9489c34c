"""The kinds of hostile inputs: each puts files into a folder and gives the words to run."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from benchmarks.fuzz.archives import damaged_archive
from benchmarks.fuzz.cases import Case, mangle
from benchmarks.fuzz.documents import damaged_json, damaged_yaml
from benchmarks.fuzz.programs import damaged
from benchmarks.fuzz.running import ENGINES, EXAMPLE, ROOT

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping
    from pathlib import Path

_CONFIGS = ("train", "serve", "target")


def program(rng: random.Random, folder: Path, number: int) -> Case:
    """A file of one of the packaged engines is damaged."""
    for engine in ("toy_trainer", "toy_server"):
        shutil.copytree(ENGINES / engine, folder / engine)
    engine, inner = (("toy_server", "eagle3 eagle3 layers __init__"),
                     ("toy_trainer",
                     "draft draft parts attention __init__"))[number % 2]  # fmt: skip
    file = folder / engine / engine / f"{rng.choice(inner.split())}.py"
    how, data = damaged(rng, file.read_bytes())
    file.write_bytes(data)
    if rng.random() < 0.1:
        (folder / engine / "pyproject.toml").write_bytes(
            mangle(rng, b'[project]\nname = "x"\nversion = "1"\ndependencies = ["a", "b>=1"]\n')[1]
        )
    paths = {name: str(EXAMPLE / f"{name}.json") for name in _CONFIGS}
    if rng.random() < 0.7:  # a configuration under which the two agree
        paths["train"] = str(folder / "train.json")
        text = (EXAMPLE / "train.json").read_text("utf-8")
        agreeing = {**json.loads(text), "norm_before_residual": False}
        (folder / "train.json").write_text(json.dumps(agreeing), "utf-8")
    argv = _verify(rng, folder / "toy_trainer", folder / "toy_server", paths)
    return Case(f"{file.stem}, {how}", argv, (engine,))


def configuration(rng: random.Random, folder: Path, number: int) -> Case:
    """One of the configurations is damaged."""
    paths = {name: str(EXAMPLE / f"{name}.json") for name in _CONFIGS}
    name = _CONFIGS[number // 3 % 3] if number % 9 else rng.choice(_CONFIGS)
    how, data = damaged_json(rng, (EXAMPLE / f"{name}.json").read_bytes(), number // 9)
    file = folder / f"{name}.json"
    file.write_bytes(data)
    paths[name] = str(file)
    argv = _verify(rng, ENGINES / "toy_trainer", ENGINES / "toy_server", paths)
    return Case(f"{name}, {how}", argv, (str(file),))


def contract(rng: random.Random, folder: Path, _: int) -> Case:
    """A contract file is damaged and validated."""
    source = rng.choice(sorted((ROOT / "contracts").rglob("*.yaml")))
    how, data = damaged_yaml(rng, source.read_bytes())
    file = folder / source.name
    file.write_bytes(data)
    return Case(f"{source.name}, {how}", ("contracts", "validate", str(file)), (str(file),))


def checkpoint(rng: random.Random, folder: Path, number: int) -> Case:
    """One file of a draft's folder is damaged: its header, the index, or all its bytes."""
    made = folder / "draft"
    made.mkdir()
    shutil.copy(EXAMPLE / "train.json", made / "config.json")
    names = ["model-1.safetensors", "model-2.safetensors"]
    tensors = [("norm.weight", [4096], "BF16", 8192), ("d2t", [32000], "I64", 256_000)]
    for name, (tensor, shape, dtype, size) in zip(names, tensors, strict=True):
        entry = {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}
        raw = json.dumps({tensor: entry}).encode()
        if name == names[number % 2] and rng.random() < 0.4:
            raw = damaged_json(rng, raw, number)[1]
        (made / name).write_bytes(len(raw).to_bytes(8, "little") + raw + bytes(size))
    index = {"weight_map": {t[0]: name for t, name in zip(tensors, names, strict=True)}}
    (made / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    file = made / rng.choice([*names, "model.safetensors.index.json"])
    how, data = mangle(rng, file.read_bytes()[: 1 << 18])
    if rng.random() < 0.6:
        file.write_bytes(data)
    argv = (
        *_verify(rng, ENGINES / "toy_trainer", ENGINES / "toy_server"),
        "--draft", str(made),
    )  # fmt: skip
    return Case(f"{file.name}, {how}", argv, (str(made),))


def archive(rng: random.Random, folder: Path, number: int) -> Case:
    """The server is a damaged wheel or sdist."""
    root = ENGINES / "toy_server"
    files = {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*.py"))}
    files["toy_server-1.0.dist-info/METADATA"] = b"Name: toy-server\nVersion: 1.0\n\n"
    how, name, data = damaged_archive(rng, files, number)
    (folder / name).write_bytes(data)
    return Case(how, _verify(rng, ENGINES / "toy_trainer", folder / name), (name,))


def words(rng: random.Random, folder: Path, _: int) -> Case:
    """Odd words on the command line, and a launch file."""
    option = rng.choice((
        "--train", "--serve", "--target", "--rename", "--launch", "--train-with", "--serve-with",
        "--tp", "--pp", "--train-config", "--draft", "--python", "--format", "--nothing", "launch",
    ))  # fmt: skip
    base = rng.choice((
        "toy==1", "LlamaForCausalLM:32", "layers.0=midlayer",
        "python -m x --tp-size 2 --flag 'a b'",
        "transformers==4.57.1", "2", str(EXAMPLE), "/dev/null", "/dev/zero", "/proc/self/mem", "~",
        "~x",
        "installed:x", "git:.@HEAD", str(folder), "-", "", " ", "=", "a=b=c", "==", "a==", ":",
        "X:0",
        "X:99999999", "--", "é", "x" * 5000, "a\nb", "\ud800", "\0", "a\0b", "\x1b[31mred",
        "\u202e",
        "9" * 5000, "-1", "1e3", "٣", "'", "\\", "$(id)", "%s", "{}", "name[extra]==1",
        "http://x/y",
        "a/b", "../..", ".", "/", "//", "C:\\x", "x.whl", "x.tar.gz", "NUL", "*", "?",
    ))  # fmt: skip
    value = base
    if rng.random() < 0.4:
        value = mangle(rng, base.encode("utf-8", "surrogatepass"))[1][:3000].decode(
            "utf-8", "replace"
        )
    if option == "launch":
        file = folder / "launch.txt"
        file.write_bytes(mangle(rng, b"python -m server --speculative-num-steps 3 --x 'a b'\n")[1])
        option, value = "--launch", str(file)
    argv = _verify(rng, ENGINES / "toy_trainer", ENGINES / "toy_server")
    return Case(f"{option} {value[:60]!r}", (*argv, option, value), ("",))


class Real:
    """A draft file of a real release is damaged; the files that a check reads are copied once."""

    def __init__(self, copies: Mapping[str, Path], place: Path) -> None:
        self.copies = copies
        self.configs: dict[str, str] = {}
        from benchmarks.drafts import PLAIN, TARGET

        for name, data in zip(_CONFIGS, (PLAIN.train, PLAIN.serve, TARGET), strict=True):
            self.configs[name] = str(place / f"real-{name}.json")
            (place / f"real-{name}.json").write_text(json.dumps(data), "utf-8")

    def __call__(self, rng: random.Random, folder: Path, number: int) -> Case:
        side = ("serve", "train")[number % 2]
        shutil.copytree(self.copies[side], folder / side)
        name = rng.choice(("llama_eagle3.py", "llama_eagle3.py", "llama.py") if side == "serve"
                          else ("core.py", "model_definitions.py", "attention.py"))  # fmt: skip
        part = "srt/models" if side == "serve" else "eagle3"
        file = next(p for p in sorted((folder / side).rglob(name)) if part in p.as_posix())
        how, data = damaged(rng, file.read_bytes())
        file.write_bytes(data)
        sides = {**self.copies, side: folder / side}
        argv = _verify(rng, sides["train"], sides["serve"], self.configs)
        return Case(f"{name}, {how}", argv, (str(folder / side),))


def copy_releases(place: Path) -> dict[str, Path] | None:
    """The files that a check of two releases reads, by side; None where they cannot be had."""
    from unittest import mock

    from benchmarks.drafts import PLAIN, TARGET
    from checker.configs import ConfigFile
    from checker.errors import InputError
    from checker.request import Access, Target, VerifyRequest
    from checker.sources import Tree, open_source, resolve_requirement
    from checker.verification import verify

    specs = {"train": "speculators==0.9.0", "serve": "sglang==0.5.23"}
    read: dict[str, set[str]] = {}
    original = Tree.read

    def noting(tree: Tree, path: str) -> bytes:
        read.setdefault(tree.label, set()).add(path)
        return original(tree, path)

    def file(name: str, data: dict[str, object]) -> ConfigFile:
        return ConfigFile(name, b"", data)

    try:
        with mock.patch.object(Tree, "read", noting):
            verify(
                VerifyRequest(
                    specs["train"], specs["serve"], file("train", PLAIN.train),
                    file("serve", PLAIN.serve), Target(file("target", TARGET)),
                    access=Access(offline=True),
                )
            )  # fmt: skip
        for side, spec in specs.items():
            own = open_source(spec, offline=True)
            library = resolve_requirement(own, "transformers", offline=True)
            for tree in (own, library) if library else (own,):
                marks = tree.files(suffix=".dist-info/METADATA")
                marks += [p for p in tree.files(suffix="/__init__.py") if p.count("/") == 1]
                for path in {*marks, *read.get(tree.label, ())}:
                    copy = place / side / path
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(tree.read(path))
    except InputError:
        return None
    return {side: place / side for side in specs}


def _verify(
    rng: random.Random, train: Path, serve: Path, configs: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    given = configs or {name: str(EXAMPLE / f"{name}.json") for name in _CONFIGS}
    return (
        "verify", "--offline", "--no-cache", "--train", str(train), "--serve", str(serve),
        "--train-config", given["train"], "--serve-config", given["serve"],
        "--target", given["target"], "--format", rng.choice(("json", "json", "text")),
    )  # fmt: skip


KINDS: dict[str, Callable[[random.Random, Path, int], Case]] = {
    "archives": archive, "checkpoints": checkpoint, "configurations": configuration,
    "contracts": contract,
    "programs": program, "words": words,
}  # fmt: skip
