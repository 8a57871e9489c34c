"""The user's index settings mean here what they mean to pip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.errors import InputError
from checker.sources import open_source
from checker.sources.settings import DEFAULT_INDEX, Settings, load_settings, without_credentials
from tests.sources.samples import wheel_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.sources.samples import Index

WHEEL = "toy-1.0-py3-none-any.whl"
CONTENT = wheel_bytes("toy", "1.0", {"toy/__init__.py": ""})


@pytest.fixture(autouse=True)
def no_system_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.sources.settings.SYSTEM_FILE", tmp_path / "none")


def settings_of(tmp_path: Path, text: str, **environ: str) -> Settings:
    (tmp_path / "pip.conf").write_text(text)
    base = {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "none")}
    return load_settings({**base, "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), **environ})


def test_the_default_is_the_public_index(tmp_path: Path) -> None:
    assert load_settings({"PIP_CONFIG_FILE": "/dev/null"}).indexes == (DEFAULT_INDEX,)


def test_configuration_files_are_read(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        "[global]\nindex-url = https://one.example/simple/\nextra_index_url =\n"
        "  https://two.example/simple\n  file:///opt/three\nfind-links = /opt/wheels\n"
        "proxy = http://proxy.example:3128\ncert = /etc/ca.pem\nclient-cert = /etc/me.pem\n"
        "timeout = 60\ntrusted-host = two.example\n[list]\nindex-url = https://never.example\n",
    )
    assert settings.indexes == (
        "https://one.example/simple",
        "https://two.example/simple",
        "file:///opt/three",
    )
    assert settings.find_links == ("/opt/wheels",)
    assert settings.proxy == "http://proxy.example:3128"
    assert (settings.verify, settings.client_cert) == ("/etc/ca.pem", "/etc/me.pem")
    assert (settings.timeout, settings.trusted_hosts) == (60.0, ("two.example",))


def test_the_environment_is_stronger(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        "[global]\nindex-url = https://one.example\n[install]\nfind-links = /a\n",
        PIP_INDEX_URL="https://two.example",
        PIP_DEFAULT_TIMEOUT="7",
        SSL_CERT_FILE="/etc/system.pem",
    )
    assert settings.indexes == ("https://two.example",)
    assert settings.find_links == ("/a",)
    assert (settings.timeout, settings.verify) == (7.0, "/etc/system.pem")


def test_no_index_leaves_only_links(tmp_path: Path) -> None:
    assert settings_of(tmp_path, "[global]\nno-index = true\nfind-links = /a\n").indexes == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [("index-url = x\n", "cannot be parsed"), ("[global]\ntimeout = soon\n", "is no number")],
)
def test_a_broken_configuration_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        settings_of(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_credentials_are_neither_kept_nor_shown(
    start_index: Callable[..., Index], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = start_index(password="s3cret")
    index.add(WHEEL, CONTENT)
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("//", "//user:wrong@"))
    with pytest.raises(InputError, match="refuses access") as caught:
        open_source("toy==1.0")
    assert "wrong" not in str(caught.value)
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("//", "//user:s3cret@"))
    assert open_source("toy==1.0").version == "1.0"
    kept = b"".join(path.read_bytes() for path in cache.rglob("*") if path.is_file())
    assert b"s3cret" not in kept


def test_netrc_is_honoured(
    start_index: Callable[..., Index], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = start_index(password="s3cret")
    index.add(WHEEL, CONTENT)
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login user password s3cret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    assert open_source("toy==1.0").version == "1.0"


def test_a_proxy_that_is_not_there_is_named_as_the_cause(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add(WHEEL, CONTENT)
    monkeypatch.setenv("PIP_PROXY", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="the proxy for"):
        open_source("toy==1.0")
    assert index.asked == []


def test_extra_indexes_are_asked_too(
    index: Index, start_index: Callable[..., Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = start_index(as_json=False)
    other.add(WHEEL, CONTENT)
    index.add("toy-0.9-py3-none-any.whl", wheel_bytes("toy", "0.9", {"toy/__init__.py": ""}))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"http://127.0.0.1:9/simple {other.url}")
    assert open_source("toy").version == "1.0"


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_wheels_in_a_folder_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / WHEEL).write_bytes(CONTENT)
    (tmp_path / "wheels" / "notes.txt").write_text("no wheel")
    (tmp_path / "wheels" / "toys-2.0-py3-none-any.whl").write_bytes(b"another project's")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{scheme}{tmp_path}/wheels {tmp_path}/not-there")
    assert open_source("toy").label == "toy==1.0"


def test_an_index_in_a_folder_is_read_and_a_missing_one_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: Index
) -> None:
    (tmp_path / "simple" / "toy").mkdir(parents=True)
    (tmp_path / "simple" / "toy" / WHEEL).write_bytes(CONTENT)
    (tmp_path / "simple" / "toy" / "index.html").write_text(f'<a href="{WHEEL}">{WHEEL}</a>')
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"file://{tmp_path}/gone file://{tmp_path}/simple")
    assert open_source("toy==1.0").version == "1.0"
    with pytest.raises(InputError, match="no project nosuch"):
        open_source("nosuch==1.0")


def test_another_index_is_another_release(
    start_index: Callable[..., Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (b"a = 1", b"a = 2"):
        index = start_index()
        index.add(WHEEL, wheel_bytes("toy", "1.0", {"toy/__init__.py": text.decode()}))
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        assert open_source("toy==1.0").read("toy/__init__.py") == text


def test_an_index_that_answers_nonsense_is_said(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add(WHEEL, CONTENT)
    for page in (b"{", b"[]", b'{"files": [{"filename": "x"}]}', b'{"files": [1]}'):
        monkeypatch.setattr(index, "json_page", lambda name, page=page: page)
        with pytest.raises(InputError, match="no list of files"):
            open_source("toy==1.0")


def test_addresses_are_shown_without_secrets() -> None:
    assert without_credentials("https://u:p@h.example/x") == "https://h.example/x"
    assert without_credentials("https://h.example/x@y") == "https://h.example/x@y"
