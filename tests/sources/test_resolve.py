"""Which release of a dependency a source is meant to run with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.errors import InputError
from checker.sources import open_source, resolve_requirement
from tests.sources.samples import wheel_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sources.samples import Index

VERSIONS = {
    "4.57.1": "2025-10-01T00:00:00Z",
    "5.0.0rc1": "2025-11-01T00:00:00Z",
    "5.0.0": "2025-12-01T00:00:00Z",
    "5.1.0": "2026-01-01T00:00:00Z",
    "5.2.0": "2026-02-01T00:00:00Z",
    "4.57.2": "2026-02-10T00:00:00Z",
    "5.9.0": "2026-06-01T00:00:00Z",
}


@pytest.fixture
def base(index: Index) -> Index:
    for version, time in VERSIONS.items():
        content = wheel_bytes("base", version, {"base/__init__.py": f"v = {version!r}"})
        index.add(f"base-{version}-py3-none-any.whl", content, time)
    index.yanked.add("base-5.2.0-py3-none-any.whl")
    return index


def trainer(index: Index, *requires: str, time: str | None = "2026-03-01T00:00:00Z") -> None:
    content = wheel_bytes("trainer", "1.0", {"trainer/__init__.py": ""}, requires)
    index.add("trainer-1.0-py3-none-any.whl", content, time)


@pytest.mark.parametrize(
    ("requires", "version"),
    [
        (("base",), "5.1.0"),
        (("base>=4",), "5.1.0"),
        (("base<5",), "4.57.2"),
        (("Base==4.57.1",), "4.57.1"),
        (("base==5.2.0",), "5.2.0"),
        (("base==4.*",), "4.57.2"),
        (("base<5.1; python_version >= '3'", "base>4"), "5.0.0"),
        (("base>4", "base<5.1; python_version >= '3'"), "5.0.0"),
        (("base>=5.0.0rc1,<5.1,!=5.0.0",), "5.0.0rc1"),
        (("base>=5.0.0rc1",), "5.1.0"),
        (("base<5; python_version < '3'", "base"), "5.1.0"),
        (("base<5; extra == 'old'", "base>=5"), "5.1.0"),
        (("base[torch]~=5.0",), "5.1.0"),
        (("base==4.57.1; extra == 'server'", "base; extra == 'all'"), "4.57.1"),
    ],
)
def test_the_newest_allowed_release_of_that_day(
    base: Index, requires: tuple[str, ...], version: str
) -> None:
    trainer(base, *requires)
    found = resolve_requirement(open_source("trainer==1.0"), "base")
    assert found is not None
    assert found.label == f"base=={version}"
    assert found.read("base/__init__.py") == f"v = {version!r}".encode()


def test_without_a_date_the_newest_allowed(base: Index) -> None:
    trainer(base, "base>=5", time=None)
    found = resolve_requirement(open_source("trainer==1.0"), "base")
    assert found is not None
    assert found.version == "5.9.0"


def test_what_is_not_required_is_none(base: Index) -> None:
    trainer(base, "base; python_version < '3'", "database", "other")
    assert resolve_requirement(open_source("trainer==1.0"), "base") is None


def test_an_answer_for_a_dated_release_is_kept(base: Index) -> None:
    trainer(base, "base>=4")
    resolve_requirement(open_source("trainer==1.0"), "base")
    base.asked.clear()
    for offline in (False, True):
        tree = open_source("trainer==1.0", offline=offline)
        found = resolve_requirement(tree, "base", offline=offline)
        assert found is not None
        assert found.read("base/__init__.py") == b"v = '5.1.0'"
    assert base.asked == []


def test_offline_without_an_answer_the_newest_cached_one_serves(base: Index) -> None:
    trainer(base, "base<5.5")
    tree = open_source("trainer==1.0")
    with pytest.raises(InputError, match=r"no cached release of base satisfies base<5\.5"):
        resolve_requirement(tree, "base", offline=True)
    for version in ("4.57.1", "5.0.0", "5.9.0"):
        open_source(f"base=={version}")
    base.asked.clear()
    found = resolve_requirement(tree, "base", offline=True)
    assert found is not None
    assert found.version == "5.0.0"
    assert base.asked == []


def test_an_explicit_release_overrides(base: Index) -> None:
    trainer(base, "base<5")
    tree = open_source("trainer==1.0")
    found = resolve_requirement(tree, "base", explicit="base==5.9.0")
    assert found is not None
    assert found.version == "5.9.0"
    with pytest.raises(InputError, match=r"no release 9 of base"):
        resolve_requirement(tree, "base", explicit="base==9")


def test_what_cannot_be_satisfied_names_the_requirement(base: Index) -> None:
    trainer(base, "base>=5.5")
    with pytest.raises(InputError) as caught:
        resolve_requirement(open_source("trainer==1.0"), "base")
    assert "base>=5.5 and appeared by 2026-03-01" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pre_release_that_nobody_named_does_not_satisfy(base: Index) -> None:
    trainer(base, "base>4.57.2,<5.1,!=5.0.0")
    with pytest.raises(InputError, match="no release of base satisfies"):
        resolve_requirement(open_source("trainer==1.0"), "base")


def test_a_requirement_by_address_is_no_release(base: Index) -> None:
    trainer(base, "base @ git+https://host.example/base")
    with pytest.raises(InputError, match="which is no release"):
        resolve_requirement(open_source("trainer==1.0"), "base")


def test_a_checkout_takes_the_newest_allowed(base: Index, tmp_path: Path) -> None:
    (tmp_path / "fork" / "trainer").mkdir(parents=True)
    (tmp_path / "fork" / "trainer" / "__init__.py").write_text("")
    (tmp_path / "fork" / "pyproject.toml").write_text(
        '[project]\nname = "trainer"\ndependencies = ["base<5.5"]\n'
    )
    tree = open_source(str(tmp_path / "fork"), package="trainer")
    found = resolve_requirement(tree, "base")
    assert found is not None
    assert found.version == "5.1.0"


def test_a_site_packages_is_its_own_answer(base: Index, tmp_path: Path) -> None:
    for name in ("trainer", "base"):
        (tmp_path / "site" / name).mkdir(parents=True)
        (tmp_path / "site" / name / "__init__.py").write_text("here = True")
    (tmp_path / "site" / "base-3.0.dist-info").mkdir()
    (tmp_path / "site" / "base-3.0.dist-info" / "METADATA").write_text("Name: base\nVersion: 3.0\n")
    tree = open_source(str(tmp_path / "site"), package="trainer")
    found = resolve_requirement(tree, "base")
    assert found is not None
    assert (found.name, found.version) == ("base", "3.0")
    assert found.read("base/__init__.py") == b"here = True"
    assert base.asked == []
