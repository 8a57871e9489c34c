"""Hostile configurations and contract files."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import yaml

from benchmarks.fuzz.cases import DEEP, ODD, mangle

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

Damage = tuple[str, bytes]


def damaged_json(rng: random.Random, source: bytes, number: int) -> Damage:
    """A configuration, damaged: an odd value at every key in turn, or something random."""
    if number % 3:
        return _odd_values(rng, source, number)
    name = rng.choice(sorted(_JSON))
    return name, _JSON[name](rng, source)


def damaged_yaml(rng: random.Random, source: bytes) -> Damage:
    """A contract file, damaged."""
    modeline = source.partition(b"\n")[0] + b"\n"
    match rng.randrange(4):
        case 0:
            return mangle(rng, source)
        case 1:
            text = rng.choice(_YAML)
            return f"odd: {text[:40]!r}", modeline + text.encode("utf-8", "surrogatepass")
        case 2:
            text = rng.choice(_YAML)
            lines = source.split(b"\n")
            at = rng.randrange(1, len(lines))
            indent = b" " * rng.choice((0, 2, 4))
            lines[at:at] = [indent + b"odd: " * rng.randrange(2) + text.encode("utf-8", "replace")]
            return f"odd within: {text[:40]!r}", b"\n".join(lines)
        case _:
            data = yaml.safe_load(source)
            path = _change(rng, data, rng.choice(ODD))
            dumped: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=rng.random() < 0.5)
            return f"odd value at {path}", modeline + dumped.encode("utf-8", "surrogatepass")


def _odd_values(rng: random.Random, source: bytes, number: int) -> Damage:
    data = json.loads(source)
    paths = list(_paths(data))
    path = paths[number // 3 % len(paths)]
    value = rng.choice(ODD)
    _set(data, path, value)
    return f"{'.'.join(map(str, path))} = {value!r:.50}", json.dumps(data).encode()


def _paths(data: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*above, key)
        if isinstance(value, (dict, list)):
            yield from _paths(value, (*above, key))


def _set(data: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


def _change(rng: random.Random, data: Any, value: Any) -> str:
    path = rng.choice(list(_paths(data)))
    _set(data, path, copy.deepcopy(value))
    return ".".join(map(str, path))


def _several(rng: random.Random, source: bytes) -> bytes:
    data = json.loads(source)
    for _ in range(rng.randrange(2, 9)):
        _change(rng, data, rng.choice(ODD))
    return json.dumps(data).encode()


def _without_keys(rng: random.Random, source: bytes) -> bytes:
    data = json.loads(source)
    for key in list(data):
        if rng.random() < 0.3:
            del data[key]
    return json.dumps(data).encode()


def _twice(rng: random.Random, source: bytes) -> bytes:
    key = rng.choice(list(json.loads(source)))
    return source.replace(b"{", b'{"' + key.encode() + b'": 1,', 1)


def _raw(rng: random.Random, source: bytes) -> bytes:
    """A value that no JSON writer writes."""
    key = rng.choice(list(json.loads(source)))
    raw = rng.choice((
        b"[" * DEEP + b"]" * DEEP, b"[" * DEEP, b'{"a":' * 900 + b"1" + b"}" * 900, b"9" * 4000,
        b"9" * 9000, b"-Infinity", b"NaN", b"1e999", b"-1e-999", b'"\\ud800"', b'"\\udc00\\ud800"',
        b'"\xff"', b'"\n"', b"0x10", b"01", b".5", b"'a'", b"undefined", b'"' + b"x" * 10**6 + b'"',
        b"1" + b"0" * 300, b"// c\n1", b"[1,]", b'"\\u0000"', b'"\\x"', b"[" * 500 + b"]" * 500,
    ))  # fmt: skip
    data = json.loads(source)
    data[key] = "@hole@"
    return json.dumps(data).encode().replace(b'"@hole@"', raw)


def _other(rng: random.Random, _: bytes) -> bytes:
    return rng.choice((b"", b"[]", b"null", b"1", b'"a"', b"{}", b"{", b"\xef\xbb\xbf{}", b"{}{}",
                       b"NaN", b"[" * DEEP, b"{\"architectures\": 1}", b"\0", b"true",
                       b'{"architectures": []}', b'{"speculators_model_type": []}'))  # fmt: skip


_JSON: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "bytes": lambda rng, source: mangle(rng, source)[1],
    "several odd values": _several, "keys removed": _without_keys, "a key twice": _twice,
    "raw values": _raw, "another document": _other,
}  # fmt: skip

_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)
_YAML = (
    _BOMB, "&a [*a]", "&a {b: *a}", "a: &a\n  <<: *a", "<<: [1, 2]", "<<: {a: 1}\na: 2",
    "? [a, b]\n: c", "? {a: b}\n: c", "1: 2\n1: 3", "a: 1\na: 2", "null: 1\n~: 2",
    "true: 1\nyes: 2",
    "- - - - - -", "[" * DEEP, "{" * DEEP, "- " * 3000, "? " * 3000, "a: " * 500,
    "[" * 800 + "]" * 800,
    "!!python/object/apply:os.system [true]", "!!python/name:os.system", "!!binary '%%%'",
    "!!timestamp '9999-99-99'", "2001-02-30", "2024-01-01", "!!set {a, b}", "!!omap [a: 1]",
    "!!int x",
    "!!float nope", "!unknown x", "!!map [1]", "!!seq {a: 1}", "0b", "0x", "1:99:99:99", "9" * 6000,
    ".inf", ".nan", "1e999", "=", "<<", "--- a\n--- b", "%YAML 9.9\n---\n", "%TAG ! x\n", "\ta: 1",
    "a:\n\t- 1", "'unclosed", '"\\ud800"', '"\\UFFFFFFFF"', "\u2028", "\x7f", "\ufeff",
    "a: *nowhere",
    "&a &b c", "|\n x\n\ty", ">-99", "@a", "`a", "a: b: c", "", "null", "[]", "- 1", "text",
    "clauses:",
    "clauses: 1", "clauses: [1]", "clauses: [{}]", "switches: {1: 2}", "engine: []", "a" * 200_000,
    "!!str [a]", "!!null x", "!!bool x", "!!pairs [1]", "!!omap 1", "!!set [1]", "! a", "!<a> b",
    "2024-01-01T00:00:00+99:99", "2024-01-01 25:61:61", "-.inf: 1", "0o8", "09", "1_", "+", "1:60",
    "190:20:30.15", "2024-13-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "\ud800",
)  # fmt: skip
