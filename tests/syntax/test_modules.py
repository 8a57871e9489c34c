"""Finding modules by path, and what parsing says of text that is no Python."""

from __future__ import annotations

import pytest

from checker.syntax import UnparsableModule, Workspace


class Tree:
    """A source tree held in memory."""

    label = "tree"

    def __init__(self, files: dict[str, bytes], roots: tuple[str, ...] = ("",)) -> None:
        self.files = files
        self.roots = roots
        self.parsed: list[str] = []

    def read(self, path: str) -> bytes:
        self.parsed.append(path)
        return self.files[path]

    def exists(self, path: str) -> bool:
        return path in self.files

    def listdir(self, folder: str) -> list[str]:
        rest = [p[len(folder) :] for p in self.files if p.startswith(folder)]
        return sorted({p.partition("/")[0] + ("/" if "/" in p else "") for p in rest})


def test_modules_are_found_by_path_with_and_without_init() -> None:
    workspace = Workspace([Tree({"p/__init__.py": b"", "p/q/a.py": b"x = 1"})])
    package, module = workspace.find("p"), workspace.find("p.q.a")
    assert package is not None
    assert package.is_package
    assert module is not None
    assert not module.is_package
    assert workspace.find("p.q") is None
    assert workspace.is_package("p.q")
    assert workspace.owns("p.q.nothing")
    assert not workspace.owns("elsewhere")


def test_roots_are_where_import_paths_start() -> None:
    workspace = Workspace([Tree({"python/p/a.py": b"x = 1"}, ("", "python/"))])
    found = workspace.find("p.a")
    assert found is not None
    assert found.path == "python/p/a.py"


def test_earlier_trees_come_first() -> None:
    first, second = Tree({"a.py": b"x = 1"}), Tree({"a.py": b"x = 2", "b.py": b""})
    workspace = Workspace([first, second])
    found = workspace.find("a")
    assert found is not None
    assert found.tree is first
    assert workspace.find("b") is not None


def test_a_file_is_parsed_once() -> None:
    tree = Tree({"a.py": b"x = 1"})
    workspace = Workspace([tree])
    assert workspace.find("a") is workspace.find("a")
    assert tree.parsed == ["a.py"]


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        (b"x = 1\ndef f(:\n", 2, "invalid syntax"),
        (b"x = 1\0", 1, "null bytes"),
        (b"# coding: nonsense\n", 1, "unknown encoding"),
        (b"x = " + b"-" * 100_000 + b"1", 1, "nests too deeply"),
        (b"x = " + b"(" * 1_000 + b")" * 1_000, 1, "parentheses"),
    ],
)
def test_what_cannot_be_parsed_says_where_and_why(source: bytes, line: int, reason: str) -> None:
    with pytest.raises(UnparsableModule) as caught:
        Workspace([Tree({"a.py": source})]).find("a")
    assert caught.value.path == "a.py"
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_warnings_of_checked_code_are_not_ours() -> None:
    assert Workspace([Tree({"a.py": b"x = '\\d'\ny = () is ()"})]).find("a") is not None


def test_a_package_comes_before_a_module_of_its_name() -> None:
    workspace = Workspace([Tree({"a.py": b"x = 1", "a/__init__.py": b"x = 2", "b.py": b""})])
    found = workspace.find("a")
    assert found is not None
    assert found.is_package
    assert workspace.place("b") == (0, "b.py", False)


def test_a_word_is_looked_for_in_the_files_of_a_package() -> None:
    """As in their whole text, wherever in it a name stands."""
    texts = {
        "a": b"class SmallTarget:\n    pass\n",
        "b": b"import a\nEntry = [a.SmallTarget]\n",
        "c": b"class VerySmallTargetOne(aSmallTargetOfAll):\n    pass\n",
        "d": b"names = 'x\\nSmallTarget'\n",
        "e": b"# SMALLtarget smallTarget SmallTarge t\n",
        "f": "größeSmallTarget = 1\n".encode(),
        "g": b"class ABSmallTarget9_: x = SmallTarget_",
    }
    package = {f"p/{name}.py": text for name, text in texts.items()}
    words = (*("SmallTarget", "SmallTargetO", "SmallTarget9_", "SMALLtarget", "a", "pass", ""),)
    for word in (*words, "GrößeTarget", "Entry", "SmallTarget ", "class S", "VerySmallTargetOnes"):
        workspace = Workspace([Tree(package)])
        holding = {name for name, text in texts.items() if word.encode() in text}
        found = workspace.naming("p", word)
        assert set(found) == holding, word
        defining = [b"class " + word.encode() in texts[name] for name in found]
        assert defining == sorted(defining, reverse=True), word
