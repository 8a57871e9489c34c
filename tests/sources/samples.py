"""Small archives, and a small index to serve them on this machine."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Files = dict[str, str]


def wheel_bytes(name: str, version: str, files: Files, requires: tuple[str, ...] = ()) -> bytes:
    """A wheel with these files and a METADATA."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {line}" for line in requires]
    content = {**files, f"{name}-{version}.dist-info/METADATA": "\n".join(lines) + "\n\nText.\n"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in content.items():
            archive.writestr(path, text)
    return buffer.getvalue()


def sdist_bytes(name: str, version: str, files: Files) -> bytes:
    """An sdist with these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            info = tarfile.TarInfo(f"{name}-{version}/{path}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def noise(size: int, seed: int = 0) -> str:
    """Text that does not compress, so that archives get large without getting suspicious."""
    blocks = (hashlib.sha256(f"{seed}-{at}".encode()).hexdigest() for at in range(size // 64 + 1))
    return "".join(blocks)[:size]


@dataclass
class Index:
    """A package index on this machine, and what was asked of it."""

    ranges: bool = True
    as_json: bool = True
    hashes: bool = True
    password: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    yanked: set[str] = field(default_factory=set)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    failing: int = 0
    cut: bool = False
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/simple"

    def add(self, filename: str, content: bytes, time: str | None = None) -> None:
        self.files[filename] = content
        if time:
            self.times[filename] = time

    @property
    def sent_paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def project(self, name: str) -> list[str]:
        prefix = name.replace("-", "_") + "-"
        return [file for file in self.files if file.lower().startswith(prefix)]

    def json_page(self, name: str) -> bytes:
        entries = [
            {
                "filename": file,
                "url": f"../../files/{file}",
                "hashes": self._hashes(file),
                "size": len(self.files[file]),
                "yanked": file in self.yanked,
                **({"upload-time": self.times[file]} if file in self.times else {}),
            }
            for file in self.project(name)
        ]
        return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": entries}).encode()

    def html_page(self, name: str) -> bytes:
        rows = []
        for file in self.project(name):
            fragment = "".join(f"#{kind}={value}" for kind, value in self._hashes(file).items())
            yanked = " data-yanked" if file in self.yanked else ""
            rows.append(f'<a href="../../files/{file}{fragment}"{yanked}>{file}</a><br>')
        return ("<!DOCTYPE html><html><body>" + "\n".join(rows) + "</body></html>").encode()

    def _hashes(self, file: str) -> dict[str, str]:
        return {"sha256": hashlib.sha256(self.files[file]).hexdigest()} if self.hashes else {}


def handler(index: Index) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            index.asked.append((self.path, self.headers.get("Range")))
            if index.failing:
                index.failing -= 1
                return self.answer(503, b"")
            if index.password:
                wanted = base64.b64encode(f"user:{index.password}".encode()).decode()
                if self.headers.get("Authorization") != f"Basic {wanted}":
                    return self.answer(401, b"")
            kind, _, rest = self.path.lstrip("/").partition("/")
            name = rest.strip("/")
            if kind == "simple" and index.project(name):
                if index.as_json:
                    media = "application/vnd.pypi.simple.v1+json"
                    return self.answer(200, index.json_page(name), {"Content-Type": media})
                return self.answer(200, index.html_page(name), {"Content-Type": "text/html"})
            if kind == "files" and name in index.files:
                return self.file(index.files[name])
            return self.answer(404, b"nothing here")

        def file(self, content: bytes) -> None:
            asked = self.headers.get("Range")
            if not asked or not index.ranges:
                return self.answer(200, content)
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(len(content) - int(last), 0)
            end = min(int(last) + 1, len(content)) if first and last else len(content)
            where = f"bytes {start}-{end - 1}/{len(content)}"
            return self.answer(206, content[start:end], {"Content-Range": where})

        def answer(self, status: int, body: bytes, headers: Mapping[str, str] = {}) -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if index.cut else body)
            self.close_connection = index.cut

    return Handler
