"""The user's ordinary index settings: pip's configuration files, and the environment over them.

Read here from the documented places rather than through `pip config list`, because pip need not be
installed and starting it costs more than a whole check.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from checker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEFAULT_INDEX = "https://pypi.org/simple"
DEFAULT_TIMEOUT = 15.0
SYSTEM_FILE = Path("/etc/pip.conf")
_SECTIONS = ("global", "install", "download")
_TRUE = frozenset({"1", "true", "yes", "y", "on"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Where releases are looked for, and how those places are reached.

    Attributes:
        indexes: simple indexes, the main one first.
        find_links: further pages, folders or archives.
        proxy: one proxy for everything, over those of the environment.
        verify: a file or folder of certificate authorities, over the system's.
        client_cert: a file with the client's certificate and key.
        trusted_hosts: `host` or `host:port` whose certificates are not checked.
    """

    indexes: tuple[str, ...] = (DEFAULT_INDEX,)
    find_links: tuple[str, ...] = ()
    proxy: str | None = None
    verify: str | None = None
    client_cert: str | None = None
    timeout: float = DEFAULT_TIMEOUT
    trusted_hosts: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Identifies the places (not the credentials): another index may serve other files."""
        places = [without_credentials(url) for url in (*self.indexes, "", *self.find_links)]
        return hashlib.sha256("\n".join(places).encode()).hexdigest()[:16]


def without_credentials(url: str) -> str:
    """An address without user and password, fit for caches and messages."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in effect, as `pip download` would see them.

    Raises:
        InputError: a configuration file cannot be parsed, or a value is of no use.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, str] = {}
    for path in _config_files(environ):
        values.update(_read_config(path))
    for key, value in environ.items():
        if key.startswith("PIP_") and value:
            values[_key(key[4:])] = value
    indexes = (values.get("index-url", DEFAULT_INDEX), *values.get("extra-index-url", "").split())
    if values.get("no-index", "").lower() in _TRUE:
        indexes = ()
    return Settings(
        indexes=tuple(index.rstrip("/") for index in indexes),
        find_links=tuple(values.get("find-links", "").split()),
        proxy=values.get("proxy"),
        verify=_authorities(values, environ),
        client_cert=values.get("client-cert"),
        timeout=_timeout(values),
        trusted_hosts=tuple(values.get("trusted-host", "").split()),
    )


def _authorities(values: Mapping[str, str], environ: Mapping[str, str]) -> str | None:
    variables = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
    named = [values.get("cert"), *(environ.get(name) for name in variables)]
    return next((path for path in named if path), None)


def _timeout(values: Mapping[str, str]) -> float:
    text = values.get("timeout") or values.get("default-timeout")
    if text is None:
        return DEFAULT_TIMEOUT
    try:
        return max(float(text), 0.1)
    except ValueError:
        raise InputError(
            f"timeout {text!r} is no number", "correct it", "pip configuration"
        ) from None


def _config_files(environ: Mapping[str, str]) -> Iterator[Path]:
    """The files pip reads, weakest first."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if sys.platform == "win32":
        yield Path(environ.get("PROGRAMDATA", r"C:\ProgramData"), "pip", "pip.ini")
        yield home / "pip" / "pip.ini"
        yield Path(environ.get("APPDATA", str(home)), "pip", "pip.ini")
        yield Path(sys.prefix, "pip.ini")
    else:
        if sys.platform == "darwin":
            yield Path("/Library/Application Support/pip/pip.conf")
        for folder in reversed((environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)):
            yield Path(folder, "pip", "pip.conf")
        yield SYSTEM_FILE
        yield home / ".pip" / "pip.conf"
        yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "pip", "pip.conf")
        if sys.platform == "darwin":
            yield home / "Library" / "Application Support" / "pip" / "pip.conf"
        yield Path(sys.prefix, "pip.conf")
    if named:
        yield Path(named)


def _read_config(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    from configparser import Error, RawConfigParser

    parser = RawConfigParser()
    try:
        parser.read_string(text)
    except Error as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"pip's configuration cannot be parsed: {reason}", "correct the file", str(path)
        ) from error
    return {
        _key(key): value
        for section in _SECTIONS
        if parser.has_section(section)
        for key, value in parser.items(section)
        if value
    }


def _key(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")
