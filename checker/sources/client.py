"""The wire: bytes, or a range of bytes, of an address.

`requests` is what pip itself speaks HTTP with, so proxies, netrc, credentials in addresses and
certificates mean here what they mean there. Only this module imports it, and only when something
must be fetched: a warm run never does. Addresses of local files are served without it.
"""

from __future__ import annotations

import os
import re
import weakref
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from checker.errors import InputError
from checker.sources.settings import Settings, without_credentials
from checker.sources.traffic import traffic

if TYPE_CHECKING:
    from collections.abc import Iterator

    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

PAGE_LIMIT = 128 * 1024 * 1024
DOWNLOAD_LIMIT = 4 * 1024 * 1024 * 1024
_BLOCK = 256 * 1024
_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.2, "
    "text/html; q=0.1"
)


class NotFound(Exception):
    """There is nothing at this address. The caller knows what that means to the user."""


class NoRanges(Exception):
    """The server sends whole files only."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of an index: where it was found in the end, its media type, its text."""

    url: str
    media_type: str
    text: str


def local_path(url: str) -> str | None:
    """The path of a `file:` address or of a plain path; None for a remote address."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        from urllib.request import url2pathname

        return url2pathname(parts.path)
    return None if len(parts.scheme) > 1 else os.path.expanduser(url)


class Client:
    """Fetches; what it fetched is counted in `checker.sources.traffic`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def page(self, url: str) -> Page:
        """A page of an index.

        Raises:
            NotFound: there is none.
            InputError: it cannot be had.
        """
        response = self._get(url, {"Accept": _ACCEPT})
        text = b"".join(self._body(response, url, PAGE_LIMIT)).decode("utf-8", "replace")
        return Page(response.url, response.headers.get("Content-Type", "").lower(), text)

    def span(self, url: str, start: int | None, end: int) -> tuple[bytes, int]:
        """The bytes from `start` up to `end`, and the whole file's length.

        With no start, the last `end` bytes.

        Raises:
            NoRanges: the server answered with the whole file, or not at all.
        """
        path = local_path(url)
        if path is not None:
            return self._local_span(path, start, end)
        wanted = f"bytes=-{end}" if start is None else f"bytes={start}-{end - 1}"
        headers = {"Range": wanted, "Accept-Encoding": "identity"}
        response = self._get(url, headers, (200, 206, 400, 416, 501))
        found = re.fullmatch(
            r"bytes (\d+)-(\d+)/(\d+)", response.headers.get("Content-Range", "").strip()
        )
        if response.status_code != 206 or not found:
            response.close()
            raise NoRanges
        first, last, total = (int(group) for group in found.groups())
        asked = (max(total - end, 0), total) if start is None else (start, min(end, total))
        if (first, last + 1) != asked:
            response.close()
            raise NoRanges
        data = b"".join(self._body(response, url, last + 1 - first))
        if len(data) != last + 1 - first:
            raise _broken(url, "the answer ended early")
        return data, total

    def download(self, url: str, target: IO[bytes]) -> None:
        """The whole file into `target`.

        Raises:
            NotFound: there is none.
            InputError: it cannot be had or kept.
        """
        path = local_path(url)
        try:
            if path is None:
                response = self._get(url, {"Accept-Encoding": "identity"})
                for block in self._body(response, url, DOWNLOAD_LIMIT):
                    target.write(block)
                return
            import shutil

            with open(path, "rb") as source:
                shutil.copyfileobj(source, target)
        except OSError as error:
            raise InputError(
                f"{without_credentials(url)} cannot be fetched: {error.strerror or error}",
                "make room for it, or name another source",
            ) from error

    def _local_span(self, path: str, start: int | None, end: int) -> tuple[bytes, int]:
        try:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                first = max(size - end, 0) if start is None else start
                file.seek(first)
                return file.read((size if start is None else end) - first), size
        except OSError as error:
            raise InputError(
                f"the archive cannot be read: {error.strerror or error}", "name another", path
            ) from error

    def _get(
        self, url: str, headers: dict[str, str], accepted: tuple[int, ...] = (200,)
    ) -> requests.Response:
        import requests

        traffic.requests += 1
        shown = without_credentials(url)
        proxy = self.settings.proxy
        try:
            response = self._session.get(
                url,
                headers=headers,
                stream=True,
                timeout=(min(self.settings.timeout, 20.0), self.settings.timeout),
                verify=self._verify(url),
                auth=self._credentials(url),
                proxies={"http": proxy, "https": proxy} if proxy else None,
            )
        except requests.RequestException as error:
            raise _unreachable(shown, error) from error
        except (OSError, ValueError) as error:
            raise InputError(
                f"cannot ask {shown}: {error}", "check the index settings of pip"
            ) from error
        if response.status_code in accepted:
            return response
        response.close()
        raise _refused(shown, response.status_code)

    def _body(self, response: requests.Response, url: str, limit: int) -> Iterator[bytes]:
        import requests

        received = 0
        try:
            with response:
                for block in response.iter_content(_BLOCK):
                    received += len(block)
                    traffic.note(url, len(block))
                    if received > limit:
                        raise _broken(url, f"the answer is longer than {limit} bytes")
                    yield block
        except requests.RequestException as error:
            raise _unreachable(without_credentials(url), error) from error

    @cached_property
    def _session(self) -> requests.Session:
        import requests
        from requests.adapters import HTTPAdapter
        from urllib3 import disable_warnings
        from urllib3.exceptions import InsecureRequestWarning
        from urllib3.util import Retry

        session = requests.Session()
        retry = Retry(
            total=3,
            connect=1,
            backoff_factor=0.3,
            status_forcelist=(502, 503, 504),
            raise_on_status=False,
        )
        own = self.settings.verify is not None
        session.mount("https://", HTTPAdapter(max_retries=retry) if own else _system_adapter(retry))
        session.mount("http://", HTTPAdapter(max_retries=retry))
        for host in self.settings.trusted_hosts:
            session.mount(f"https://{host}/", HTTPAdapter(max_retries=retry))
            if ":" not in host:
                session.mount(f"https://{host}:", HTTPAdapter(max_retries=retry))
        session.headers["User-Agent"] = "eagle3-check"
        session.cert = self.settings.client_cert
        if self.settings.trusted_hosts:  # the user asked for it: no warning per request
            disable_warnings(InsecureRequestWarning)
        weakref.finalize(self, session.close)
        return session

    def _credentials(self, url: str) -> tuple[str, str] | None:
        """Those of an index address hold for its host: files often lie beside the index.

        None leaves it to netrc and to the address itself.
        """
        parts = urlsplit(url)
        if "@" in parts.netloc:
            return None
        for index in (*self.settings.indexes, *self.settings.find_links):
            userinfo, at, host = urlsplit(index).netloc.rpartition("@")
            if at and host == parts.netloc:
                user, _, password = userinfo.partition(":")
                return unquote(user), unquote(password)
        return None

    def _verify(self, url: str) -> bool | str:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        if {host, parts.hostname} & set(self.settings.trusted_hosts):
            return False
        return self.settings.verify or True


def _system_adapter(retry: Retry) -> HTTPAdapter:
    """An adapter that trusts what the system trusts, as pip's does: companies add their own."""
    import ssl

    import truststore
    from requests.adapters import HTTPAdapter

    class SystemAdapter(HTTPAdapter):
        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            kwargs["ssl_context"] = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            super().init_poolmanager(*args, **kwargs)

    return SystemAdapter(max_retries=retry)


def _refused(shown: str, status: int) -> Exception:
    if status in (404, 410):
        return NotFound(shown)
    if status in (401, 403, 407):
        return InputError(
            f"{shown} refuses access (HTTP {status})",
            "give credentials in the index address, in netrc or in the proxy's address",
        )
    return InputError(
        f"{shown} answers HTTP {status}", "try again later, or use another index or a directory"
    )


def _broken(url: str, reason: str) -> InputError:
    return InputError(
        f"{without_credentials(url)}: {reason}", "try again, or use another index or a directory"
    )


def _unreachable(shown: str, error: Exception) -> InputError:
    """One line for what a dozen exception classes mean to a user."""
    from requests import exceptions

    host = urlsplit(shown).netloc
    if isinstance(error, exceptions.ProxyError):
        return InputError(f"the proxy for {host} does not answer", "check the proxy settings")
    if isinstance(error, exceptions.SSLError):
        return InputError(
            f"the certificate of {host} is not trusted",
            "name your authorities: pip config set global.cert FILE, or SSL_CERT_FILE",
        )
    if isinstance(error, exceptions.Timeout):
        return InputError(
            f"{host} does not answer in time", "check the network, or use --offline or a directory"
        )
    if isinstance(error, exceptions.ChunkedEncodingError):
        return _broken(shown, "the answer ended early")
    if isinstance(error, exceptions.ConnectionError):
        return InputError(
            f"no network: {host} cannot be reached",
            "check the network and proxy, or use --offline with what is cached, or a directory",
        )
    return InputError(
        f"cannot ask {shown}: {type(error).__name__}", "check the index settings of pip"
    )
