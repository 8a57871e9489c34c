"""Files that cannot define a class with a certain method are not read to list those that do."""

from __future__ import annotations

from textwrap import dedent

import pytest

from checker.engines.inheriting import related

BASE = "class Part:\n    pass\nclass Base:\n    def told(self):\n        pass\n"
COUNT = {
    "it defines the method": "class Other:\n    def told(self):\n        pass\n",
    "it inherits": "from p.base import Base\nclass Other(Base):\n    pass\n",
    "it inherits by the module": "from p import base\nclass Other(base.Base):\n    pass\n",
    "it inherits under another name": (
        "from p.base import Base as Mine\nclass Other(Mine):\n    pass\n"
    ),
    "it inherits under another name, given among several": (
        "from p.base import (\n    Part as Some,\n    Base as Mine,  # ours\n)\n"
        "class Other(Mine):\n    pass\n"
    ),
    "it inherits under another name, with more on the line": (
        "from p.base import Base as Mine; import os\nclass Other(Mine):\n    pass\n"
    ),
    "it inherits under another name, with a remark right after it": (
        "from p.base import Base as Mine#ours\nclass Other(Mine):\n    pass\n"
    ),
    "it inherits under another name, at the end of a line that goes on": (
        "from p.base import Base as Mine, \\\n    Part\nclass Other(Mine):\n    pass\n"
    ),
    "it inherits from an alias": (
        "from p.base import Base\nMine = Base\nclass Other(Mine):\n    pass\n"
    ),
    "it inherits from what a condition chooses": (
        "from p.base import Base\nif here():\n    Mine = Base\nelse:\n    Mine = object\n"
        "class Other(Mine):\n    pass\n"
    ),
    "it inherits from the second of what a condition binds": (
        "from p.base import Base\nif here():\n    first = 1\n    Mine = Base\n"
        "class Other(Mine):\n    pass\n"
    ),
    "it inherits from one of several": (
        "from p.base import *\nclass Other(object, Generic[T], Base):\n    pass\n"
    ),
    "its bases stand on lines of their own": (
        "from p.base import Base\nclass Other(\n    object,\n    Base,\n):\n    pass\n"
    ),
    "a remark stands among its bases": (
        "from p.base import Base\nclass Other(\n    object,  # note: the first\n    Base,\n):\n"
        "    pass\n"
    ),
    "it lists it after a call": (
        "from p.base import Base\nlisted = [\n    made(1),  # (old)\n    Base,\n]\n"
    ),
    "it lists it after an empty line": "from p.base import Base\nlisted = [\n\n    Base,\n]\n",
    "it inherits in a function": (
        "def made():\n    from p.base import Base\n    class Other(Base):\n        pass\n"
        "    return Other\n"
    ),
    "it lists it": "from p.base import Base\nlisted = [\n    Base,\n]\n",
    "it gets the method later": "class Other:\n    pass\nOther.told = print\n",
    "it gets the method by its name": "class Other:\n    pass\nsetattr(Other, 'told', print)\n",
    "it is made by a call": "from p.base import Base\nOther = type('Other', (Base,), {})\n",
    "it inherits from one that does": (
        "from p.middle import Middle\nclass Other(Middle):\n    pass\n"
    ),
}
MIDDLE = "from p.base import Base\nclass Middle(Base):\n    pass\n"
DO_NOT = {
    "it exports a list of another file": (
        "from p.other import listed\n__all__ = ['listed', 'Base']\n"
    ),
    "a remark says what the class is used as": (
        '"""With Base as the model."""\nnames = ["the", "model"]\nclass Other:\n    pass\n'
    ),
    "it uses another class of that file": (
        "from p.base import Part\nclass Other(Part):\n    pass\n"
    ),
    "it makes an object": (
        "from p.base import Base\nclass Other:\n    def build(self):\n        Base_ = Base()\n"
        "        self.inner = Base_\n"
    ),
    "it says the name only": '"""Like Base."""\nclass Other:\n    pass\n',
    "it is another word": "class Basement:\n    pass\nclass Other(Basement):\n    pass\n",
}


@pytest.mark.parametrize("case", COUNT)
def test_files_that_may_define_one(case: str) -> None:
    """However a class comes by the method."""
    texts = {"base": BASE, "middle": MIDDLE, "other": dedent(COUNT[case]), "rest": "x = 1\n"}
    found = related({name: text.encode() for name, text in texts.items()}, "told")
    assert found == ["base", "middle", "other"]


@pytest.mark.parametrize("case", DO_NOT)
def test_files_that_cannot(case: str) -> None:
    """To import something else of such a file is not enough."""
    texts = {"base": BASE, "other": DO_NOT[case]}
    assert related({name: text.encode() for name, text in texts.items()}, "told") == ["base"]


def test_a_class_that_inherits_later_in_the_alphabet() -> None:
    """Any number of steps, in any order of the files."""
    texts = {
        "a": b"class A(B):\n    pass\n",
        "b": b"class B(C):\n    pass\n",
        "c": b"class C:\n    def told(self):\n        pass\n",
        "d": b"class D:\n    pass\n",
    }
    assert related(texts, "told") == ["a", "b", "c"]
