"""What a hostile input is, how its run ended, and the odd values that all kinds of inputs use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Case:
    """Words for the program, and how the input was made.

    `places`: of a status 2, the line has to name one of these.
    """

    how: str
    argv: tuple[str, ...]
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended: its exit status, or minus the signal that ended it."""

    status: int
    seconds: float
    out: str
    err: str


DEEP = 20_000


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, -0.0, 0.5, 1e308, 5e-324, 10**12, 10**40, 10**400, -(10**40),
    float("nan"), float("inf"), -float("inf"), "", "x", "1", "-1", "é", "\0", "\n", "\ud800",
    "a" * 5000, [], {}, [[]], [None], {"": None}, {"a": {"a": {}}}, [0] * 500, nested(60),
    {"rope_type": "yarn"}, {"type": [], "factor": {}}, ["LlamaForCausalLM"] * 3, "../../etc/passwd",
    [-1, 0, 10**30], ["1", 2.5, None], {"\ud800": "\udfff"}, "silu\u202e", "%s%s%n", "{0}{x!r:>9}",
)  # fmt: skip


def mangle(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    """Bytes damaged in one way or in several."""
    name = rng.choice(sorted(MANGLERS))
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        data = MANGLERS[name](rng, data)
    return name, data


def _truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _behead(rng: random.Random, data: bytes) -> bytes:
    return data[rng.randrange(len(data) + 1) :]


def _flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(min(rng.choice((1, 3, 20)), len(data))):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 5, 40, 400)))


def _delete(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 2, 30)) + data[end:]


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    odd = (
        rng.randbytes(rng.choice((1, 4, 100))), b"\0", b"\0" * 50, b"\xef\xbb\xbf", b"\x0c", b"\r",
        b"\x1a", b"\t", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\xff", b"\\\n", b"'''", b'"', b"(",
        b")",
        b"[" * DEEP, b"{" * 300, b"(" * 150 + b")" * 150, b"9" * 6000, b"-" * 5000, b"\n" * 9999,
    )  # fmt: skip
    return data[:at] + rng.choice(odd) + data[at:]


def _encode(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    cookies = ("utf-8", "latin-1", "ascii", "rot13", "hex", "utf-16", "nonsense", "unicode_escape",
               "idna", "cp037", "punycode", "undefined", "\ud800")  # fmt: skip
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: text.encode("utf-16", "replace"),
        lambda: text.encode("utf-32", "replace"),
        lambda: text.encode("cp037", "replace"),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: b"\xff\xfe" + data,
        lambda: f"# coding: {rng.choice(cookies)}\n".encode("utf-8", "replace") + data,
        lambda: b"\xef\xbb\xbf# coding: latin-1\n" + data,
        lambda: data.replace(b"\n", b"\r\n"),
        lambda: data.replace(b"\n", b"\r"),
        lambda: data.replace(b"    ", b"\t"),
        lambda: data.replace(b"\n", b" \\\n"),
    )
    return rng.choice(ways)()


def _lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    if len(lines) < 3:
        return data
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            lines[first], lines[second] = lines[second], lines[first]
        case 1:
            del lines[first]
        case 2:
            lines[first] = rng.choice((b" ", b"\t", b"")) + lines[first].lstrip()
        case _:
            lines.insert(first, lines[second])
    return b"\n".join(lines)


def _replace_all(rng: random.Random, data: bytes) -> bytes:
    return rng.choice(
        (b"", b"\n", b"\0", b" " * 10_000, rng.randbytes(len(data)), b"\xef\xbb\xbf", b"#")
    )


MANGLERS: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "truncated": _truncate, "beheaded": _behead, "bits flipped": _flip, "bytes deleted": _delete,
    "bytes repeated": _repeat, "bytes inserted": _insert, "encoded oddly": _encode,
    "lines moved": _lines, "replaced": _replace_all,
}  # fmt: skip
