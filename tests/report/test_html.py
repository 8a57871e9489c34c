"""The page: what is in it by its markup, and what a browser makes of it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from checker.cli import main
from checker.data import FIXTURES
from checker.report.html import page
from checker.report.model import Report
from tests.report import samples
from tests.report.test_drawing import SMALL

ENGINES, EXAMPLE = FIXTURES / "engines", FIXTURES / "example"
EVERY = (samples.VIOLATED, samples.UNPROVEN, samples.HOLDS, samples.LATER, samples.RAISING)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Markup(HTMLParser):
    """Reads a page, and refuses one whose elements are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if found.get("href"):
            self.links.append(str(found["href"]))
        self.outside += [str(v) for k, v in attrs if k in ("src", "srcset", "data", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def drawn(*clauses: object) -> Report:
    report = samples.report(*clauses)  # type: ignore[arg-type]
    return replace(report, drawings=((SMALL, SMALL),))


def test_the_page_is_nested_and_every_link_leads_somewhere() -> None:
    markup = Markup(page(drawn(*EVERY), samples.CONTRACT))
    assert len(set(markup.ids)) == len(markup.ids)
    assert all(link.startswith("#") and link[1:] in markup.ids for link in markup.links)
    assert {"header", "main", "nav", "h1", "svg", "table", "caption"} <= set(markup.tags)


def test_the_page_needs_nothing_from_elsewhere() -> None:
    text = page(drawn(*EVERY), samples.CONTRACT)
    markup = Markup(text)
    assert markup.outside == []
    assert "script" not in markup.tags
    assert not re.search(r"@import|url\(", text)


def test_checked_text_is_text() -> None:
    odd = replace(samples.VIOLATED, message='</p><script>alert("`x`")</script>')
    assert "script" not in Markup(page(drawn(odd), samples.CONTRACT)).tags


def test_an_agreement_says_so() -> None:
    text = page(samples.report(samples.HOLDS), samples.CONTRACT)
    assert "Every clause that applies holds." in text
    assert "Nothing to draw" in text


# --- a real browser -------------------------------------------------------------------------------


def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    return found


MEASURE = """
const page = document.querySelector("iframe").contentDocument;
const seen = page.documentElement;
const lit = page.querySelector("g.different rect");
const nodes = [...page.querySelectorAll("svg a")];
nodes[0].focus();
const target = page.querySelector(nodes[0].getAttribute("href"));
document.body.textContent = JSON.stringify({
  overflow: seen.scrollWidth - seen.clientWidth,
  focused: page.activeElement === nodes[0],
  target: target !== null && target.offsetHeight > 0,
  lit: page.defaultView.getComputedStyle(lit).stroke,
  page: page.defaultView.getComputedStyle(page.body).backgroundColor,
  columns: new Set([...page.querySelectorAll("figure")].map(f => f.offsetLeft)).size,
});
"""


def look(program: str, text: str, width: int, folder: Path, *, dark: bool) -> dict[str, object]:
    """What a browser makes of a page in a window of this width."""
    frame = f'<iframe width="{width}" height="900" style="border:0"></iframe>'
    held = json.dumps(text).replace("</", "<\\/")
    script = (
        'const frame = document.querySelector("iframe");'
        f"frame.onload = () => {{ {MEASURE} }}; frame.srcdoc = {held};"
    )
    harness = folder / "harness.html"
    harness.write_text(f"<!DOCTYPE html><body>{frame}<script>{script}</script></body>", "utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000",
               *(["--blink-settings=preferredColorScheme=0"] if dark else [])]  # fmt: skip
    command = [program, *options, "--dump-dom", harness.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    body = re.search(r"<body>(.*?)</body>", done.stdout, re.DOTALL)
    assert body is not None, done.stdout
    found: dict[str, object] = json.loads(html.unescape(body[1]))
    return found


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the packaged engines, which differ."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    fixtures = Path(__file__).parents[2] / "fixtures"
    engines, example = fixtures / "engines", fixtures / "example"
    status = main(
        ["verify", "--train", str(engines / "toy_trainer"), "--serve", str(engines / "toy_server"),
         "--train-config", str(example / "train.json"), "--target", str(example / "target.json"),
         "--serve-config", str(example / "serve.json"), "--output", f"html={path}", "--offline"]
    )  # fmt: skip
    assert status == 1
    return path.read_text("utf-8")


@pytest.mark.parametrize(("width", "columns"), [(1300, 2), (400, 1)])
def test_the_page_fits_wide_and_narrow_windows(
    real: str, width: int, columns: int, tmp_path: Path
) -> None:
    found = look(browser(), real, width, tmp_path, dark=False)
    assert found["overflow"] == 0
    assert found["columns"] == columns
    assert (found["focused"], found["target"]) == (True, True)


def test_the_page_follows_the_reader_s_choice_of_dark(real: str, tmp_path: Path) -> None:
    light = look(browser(), real, 1300, tmp_path, dark=False)
    dark = look(browser(), real, 1300, tmp_path, dark=True)
    assert light["page"] != dark["page"]
    assert light["lit"] != dark["lit"]


def test_the_page_of_a_deep_draft_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Layers that repeat are drawn once; where the sides part is lit whatever is folded."""
    monkeypatch.chdir(tmp_path)
    words = ["verify", "-q", "--output=html=x.html", f"--target={EXAMPLE / 'target.json'}"]
    words += [f"--train={ENGINES / 'toy_trainer'}", f"--serve={ENGINES / 'toy_server'}"]
    sizes = []
    for layers in (1, 20):
        for name in ("train", "serve"):
            config = json.loads((EXAMPLE / f"{name}.json").read_text("utf-8"))
            inner = config.get("transformer_layer_config", config)
            inner["num_hidden_layers"] = layers
            Path(f"{name}.json").write_text(json.dumps(config))
        assert main([*words, "--train-config=train.json", "--serve-config=serve.json"]) == 1
        text = Path("x.html").read_text("utf-8")
        sizes.append(len(text))
        Markup(text)
        assert 'class="node different' in text
    assert "18 more layers like this" in text
    assert sizes[1] < 2.5 * sizes[0]
