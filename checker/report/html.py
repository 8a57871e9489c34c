"""One self-contained page: the answer, both graphs with the places where they part, the evidence.

It needs no scripts and nothing from elsewhere, follows the reader's choice of dark or light, and
every node of a graph leads to its line of source by mouse, keyboard or screen reader.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from checker.report.diagrams import STYLE, svg
from checker.report.drawing import Light
from checker.report.model import NOT_IMPLEMENTED, Status, Verdict
from checker.report.places import upstream
from checker.report.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from checker.contract.model import Contract
    from checker.location import Location
    from checker.report.model import ClauseResult, Report, Side, SideValue

_SAID = {
    Verdict.AGREE: "computes what",
    Verdict.DIFFER: "does not compute what",
    Verdict.UNPROVEN: "is not proven to compute what",
}
_COLOURS = """
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--soft:#4a5260;--line:#5b6472;
--panel:#f6f7f9;--node:#fff;--source:#eef1f6;--affected:#fff3d6;--affected-line:#8a5800;
--different:#fbd9d9;--different-line:#b00020;--good:#116329;--bad:#b00020;--open:#7a4d00;
--link:#0b57d0}
@media (prefers-color-scheme:dark){:root{--page:#14171b;--ink:#e8eaed;--soft:#b4bcc8;
--line:#8b95a5;--panel:#1e2329;--node:#232930;--source:#1a1f25;--affected:#3d3113;
--affected-line:#e0a83a;--different:#4d1c24;--different-line:#ff8a96;--good:#6fd58a;--bad:#ff8a96;
--open:#e6b450;--link:#8ab4f8}}
"""
_LAYOUT = """
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:96rem;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;line-height:1.3}h2{margin-top:2.5rem;font-size:1.25rem}h3{font-size:1.05rem}
a{color:var(--link);overflow-wrap:anywhere}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.agree{color:var(--good)}.differ{color:var(--bad)}.unproven{color:var(--open)}
nav ul,.plain{list-style:none;padding:0}nav li{display:inline-block;margin-right:1.2rem}
article{border-left:4px solid var(--bad);background:var(--panel);padding:.1rem 1rem .6rem;
margin:1rem 0}article.unproven-clause{border-color:var(--open);color:var(--ink)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem;margin:.5rem 0}
dt{color:var(--soft)}dd{margin:0;min-width:0}
code,pre{font:13px/1.45 ui-monospace,monospace;overflow-wrap:anywhere}
pre{margin:.1rem 0;white-space:pre-wrap}
table{border-collapse:collapse;display:block;overflow-x:auto;max-width:100%}
th,td{border:1px solid var(--line);padding:.25rem .6rem;text-align:left;vertical-align:top}
caption{text-align:left;color:var(--soft)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}
figure{margin:0;background:var(--panel);padding:.6rem}figcaption{font-weight:600}
.graph{overflow:auto}.graph svg{max-width:100%;min-width:38rem;height:auto}
.legend span{display:inline-block;padding:0 .6rem;margin-right:.6rem;border:2px solid var(--line)}
.legend .different{background:var(--different);border-color:var(--different-line)}
.legend .affected{background:var(--affected);border-color:var(--affected-line)}
:target{outline:3px solid var(--link)}
@media (max-width:40rem){body{padding:.8rem}dl{grid-template-columns:1fr}dt{margin-top:.4rem}}
"""
_LIGHTS = {
    Light.DIFFERENT: "the sides part here",
    Light.AFFECTED: "another value because of that",
}


def page(report: Report, contract: Contract) -> str:
    """The whole page."""
    writer = _Writer(report, contract)
    body = "\n".join(writer.body())
    title = _text(f"{report.verdict.value}: {report.serve.source}, {report.train.source}")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title>\n<style>{_COLOURS}{_LAYOUT}{STYLE}</style></head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


class _Writer:
    def __init__(self, report: Report, contract: Contract) -> None:
        self._report = report
        self._contract = contract
        self._violated = [r for r in report.clauses if r.status is Status.VIOLATED]
        self._undecided = [r for r in report.clauses if r.undecided]
        self._lines = {place: f"line-{i}" for i, place in enumerate(sorted(self._named()))}

    def body(self) -> Iterator[str]:
        yield from self._head()
        yield "<main>"
        yield from self._findings()
        if self._report.complaints:
            told = map(_prose, self._report.complaints)
            yield from self._listed("waivers", "Waivers that have to go", told)
        yield from self._graphs()
        yield from self._configuration()
        yield from self._explored()
        yield from self._coverage()
        yield from self._listed("assumed", "Assumed", map(_prose, self._report.assumptions))
        yield from self._sources()
        yield "</main>"

    def _head(self) -> Iterator[str]:
        report = self._report
        verdict = report.verdict
        train, serve = _code(report.train.source), _code(report.serve.source)
        yield "<header>"
        yield (
            f'<h1><span class="{verdict.value}">{verdict.value.upper()}</span>: {serve}'
            f" {_SAID[verdict]} {train} trained</h1>"
        )
        rows = [*self._given("Trained", report.train), *self._given("Served", report.serve)]
        yield f"<dl>{''.join(rows)}</dl>"
        sections = {
            "findings": "Findings", "graphs": "Graphs", "configuration": "Configuration",
            "coverage": "Clauses", "assumed": "Assumed", "lines": "Lines of source",
        }  # fmt: skip
        links = "".join(f'<li><a href="#{key}">{name}</a></li>' for key, name in sections.items())
        yield f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
        yield "</header>"

    def _given(self, word: str, side: Side) -> Iterator[str]:
        given = side.configured
        said = _code(side.source)
        if given is not None and given.path is not None:
            title = given.title or "a format that is not known"
            said += f" with {_code(given.path)} ({_text(title)})"
        beside = ", ".join(f"{name} {version}".strip() for name, version in side.with_.items())
        said += f", read with {_text(beside)}" if beside else ""
        yield f"<dt>{word}</dt><dd>{said}</dd>"

    def _findings(self) -> Iterator[str]:
        yield '<section id="findings"><h2>Findings</h2>'
        if not self._violated and not self._undecided:
            yield "<p>Every clause that applies holds.</p>"
        for number, result in enumerate(self._violated, start=1):
            yield from self._finding(f"{number}. ", result)
        for result in self._undecided:
            yield from self._finding("Not proven: ", result)
        yield "</section>"

    def _finding(self, lead: str, result: ClauseResult) -> Iterator[str]:
        clause = self._contract.clauses.get(result.id)
        kind = "unproven-clause" if result.undecided else "violated-clause"
        title = f": {_text(clause.title)}" if clause else ""
        yield f'<article class="{kind}" id="clause-{_text(result.id)}">'
        yield f"<h3>{lead}{_code(result.id)}{title}</h3>"
        if result.message:
            yield f"<p>{_prose(result.message)}</p>"
        rows = [("because", _prose(result.reason or "")), ("waived", _prose(result.waived or ""))]
        rows += [("trainer", self._value(result.train)), ("server", self._value(result.serve))]
        if result.error is not None:
            where = self._place(result.error.location) if result.error.location else ""
            rows.append(("raises", _code(f"{result.error.type}: {result.error.message}") + where))
        if not result.undecided:
            rows.append(("when", _code(" and ".join(result.when) or "always")))
            rows.append(("effect", _prose(clause.effect if clause else "")))
        rows += [("to mend", _prose(result.remedy)), ("fingerprint", _code(result.fingerprint))]
        yield f"<dl>{''.join(f'<dt>{k}</dt><dd>{v}</dd>' for k, v in rows if v)}</dl></article>"

    def _value(self, value: SideValue) -> str:
        said = "" if value.value is None else _code(value.value)
        return said + "".join(map(self._place, value.locations))

    def _place(self, location: Location) -> str:
        line = self._report.excerpts.get(location)
        shown = "" if line is None else f"<pre>{_text(line.strip())}</pre>"
        where = f'<a href="#{self._lines[location]}">{_text(str(location))}</a>'
        return f"<div>{where}{shown}</div>"

    # --- graphs ------------------------------------------------------------------------------

    def _graphs(self) -> Iterator[str]:
        yield '<section id="graphs"><h2>Graphs</h2>'
        if not self._report.drawings:
            yield "<p>Nothing to draw: one of the sides could not be followed to its end.</p>"
        drawn = [n for pair in self._report.drawings for side in pair for n in side.nodes]
        lit = {node.light for node in drawn}
        keys = [f'<span class="{k.value}">{v}</span>' for k, v in _LIGHTS.items() if k in lit]
        if keys:
            yield f'<p class="legend">{"".join(keys)}</p>'
        if any(node.stands for node in drawn):
            yield (
                "<p>Layers that repeat are drawn once; a node with a double frame stands for the"
                " others. Layers in which the sides part are all drawn.</p>"
            )
        for train, serve in self._report.drawings:
            yield f"<h3>{_text(train.title.capitalize())}</h3>"
            yield '<div class="pair">'
            sides = (("trainer", self._report.train, train), ("server", self._report.serve, serve))
            for word, side, drawing in sides:
                yield f"<figure><figcaption>{word}: {_code(side.source)}</figcaption>"
                yield f'<div class="graph" tabindex="0" role="region" aria-label="{word} graph">'
                yield svg(drawing, self._link, styled=False)
                yield "</div></figure>"
            yield "</div>"
        yield "</section>"

    def _link(self, location: Location) -> str | None:
        anchor = self._lines.get(location)
        return None if anchor is None else f"#{anchor}"

    # --- what else was found ------------------------------------------------------------------

    def _configuration(self) -> Iterator[str]:
        yield '<section id="configuration"><h2>Configuration</h2>'
        configuration = sorted(self._report.configuration.items())
        if configuration:
            rows = ((_code(k), _code(_plain(v))) for k, v in configuration)
            yield from _table("Switches in effect", ("switch", "value"), rows)
        yield "</section>"

    def _explored(self) -> Iterator[str]:
        tried = self._report.configurations
        if not tried:
            return
        rows = (
            (
                _text(c.around.value),
                _code(", ".join(f"{k}={_plain(v)}" for k, v in c.switches.items()) or "defaults"),
                f'<span class="{c.verdict.value}">{c.verdict.value}</span>',
                ", ".join(map(_code, (*c.violated, *c.unproven))),
            )
            for c in tried
        )
        heads = ("around", "changed", "verdict", "violated or unproven")
        yield "<section><h2>Other configurations</h2>"
        yield from _table("One switch at a time", heads, rows)
        yield "</section>"

    def _coverage(self) -> Iterator[str]:
        yield '<section id="coverage"><h2>Clauses</h2>'
        rows = (self._status(result) for result in self._report.clauses)
        counted = self._report.coverage
        caption = (
            f"{len(self._report.clauses)} clauses: {counted.violated} violated,"
            f" {counted.unproven} unproven, {counted.holds} hold,"
            f" {counted.not_applicable} not applicable"
        )
        yield from _table(caption, ("clause", "status", "remark"), rows)
        yield "</section>"

    def _status(self, result: ClauseResult) -> tuple[str, ...]:
        shown = result.status is Status.VIOLATED or result.undecided
        name = _code(result.id)
        name = f'<a href="#clause-{_text(result.id)}">{name}</a>' if shown else name
        remark = result.message or result.reason or ""
        if result.reason == NOT_IMPLEMENTED:
            remark = "not checked yet"
        return name, _text(result.status.value), _prose(remark)

    def _listed(self, key: str, heading: str, rows: Iterable[str]) -> Iterator[str]:
        items = "".join(f"<li>{row}</li>" for row in rows)
        yield f'<section id="{key}"><h2>{heading}</h2><ul>{items}</ul></section>'

    # --- sources -------------------------------------------------------------------------------

    def _named(self) -> set[Location]:
        """Every line that the page leads to."""
        report = self._report
        found = {place for result in report.clauses for _, place in upstream(report, result)}
        for pair in report.drawings:
            found |= {n.location for side in pair for n in side.nodes if n.location is not None}
        return found

    def _sources(self) -> Iterator[str]:
        yield '<section id="lines"><h2>Lines of source</h2>'
        source = None
        for location, anchor in self._lines.items():
            if location.source != source:
                yield "</ul>" if source is not None else ""
                source = location.source
                yield f'<h3>{_code(source)}</h3><ul class="plain">'
            line = self._report.excerpts.get(location, "")
            shown = f"<pre>{_text(line.strip())}</pre>"
            yield f'<li id="{anchor}" tabindex="-1">{_text(str(location))}{shown}</li>'
        yield "</ul></section>" if source is not None else "</section>"


def _table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    yield f"<table><caption>{_text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>"
    for first, *others in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in others)
        yield f'<tr><th scope="row">{first}</th>{cells}</tr>'
    yield "</tbody></table>"


def _text(text: str) -> str:
    return escape(printable(" ".join(text.split())))


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


def _prose(text: str) -> str:
    """A sentence in which words between backquotes are code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _text(text)
    return "".join(_code(part) if i % 2 else escape(printable(part.replace("\n", " ")))
                   for i, part in enumerate(parts))  # fmt: skip


def _plain(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
