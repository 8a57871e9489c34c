"""What the documentation tells people to type and to write is what the program takes."""

from __future__ import annotations

import http.server
import importlib.resources
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
import yaml

from checker._version import __version__
from checker.arguments import parser
from checker.data import FIXTURES, SCHEMAS
from checker.settings import OWN_FILE, find_settings

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def blocks(path: Path, language: str) -> list[str]:
    text = path.read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def commands(path: Path) -> list[list[str]]:
    """Every command of the program on a page, as words; an ellipsis stands for more of them."""
    found = []
    for block in blocks(path, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|[|>]", line.partition("  #")[0]):
                words = [word for word in shlex.split(part) if word != "…"]
                if words and words[0] == "eagle3-check":
                    found.append(words[1:])
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_commands_are_what_the_program_takes(path: Path) -> None:
    grammar = parser(__version__)
    for words in commands(path):
        grammar.parse_args(words)


def test_examples_in_the_help_are_what_the_program_takes() -> None:
    grammar = parser(__version__)
    action = next(a for a in grammar._actions if isinstance(a.choices, dict))
    found = 0
    for command in action.choices.values():
        for line in (command.epilog or "").splitlines():
            words = shlex.split(line.partition(" > ")[0])
            if words[:1] == ["eagle3-check"]:
                grammar.parse_args(words[1:])
                found += 1
    assert found > 15


def test_there_are_commands_to_try() -> None:
    assert sum(len(commands(path)) for path in PAGES) > 30


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_settings_and_workflows_can_be_read(path: Path, tmp_path: Path) -> None:
    for block in blocks(path, "toml"):
        whole = block.replace("[tool.eagle3-check]\n", "")
        (tmp_path / OWN_FILE).write_text(whole, "utf-8")
        assert find_settings(tmp_path).table
    for block in blocks(path, "yaml"):
        assert yaml.safe_load(block)


def test_every_setting_is_on_its_page() -> None:
    schema = json.loads((SCHEMAS / "settings.schema.json").read_text("utf-8"))
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    rows = set(re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert rows == set(schema["properties"])


def test_links_between_pages_lead_somewhere() -> None:
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


# --- links to other sites -------------------------------------------------------------------------


class _Site(http.server.BaseHTTPRequestHandler):
    """Answers with the status that is asked for."""

    def do_GET(self) -> None:
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *words: object) -> None:
        """Says nothing."""


def test_dead_links_are_told_with_their_places(tmp_path: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site) as site:
        threading.Thread(target=site.serve_forever).start()
        here = f"http://127.0.0.1:{site.server_port}"
        (tmp_path / "a.md").write_text(
            f"[one]({here}/200), <{here}/403>; https://github.com/OWNER/x\n\nsee {here}/404.\n"
        )
        (tmp_path / "contracts").mkdir()
        (tmp_path / "contracts/b.yaml").write_text(f"references: [{here}/200#part, {here}/410]\n")
        command = [sys.executable, str(ROOT / ".ci" / "links.py"), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        (tmp_path / "a.md").write_text("")
        (tmp_path / "contracts/b.yaml").write_text(f"references: [{here}/200]\n")
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        site.shutdown()
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"a.md:3: {here}/404: status 404",
        f"contracts/b.yaml:1: {here}/410: status 410",
        "4 links, 2 dead",
    ]
    assert (again.returncode, again.stdout) == (0, "1 links, 0 dead\n")


# --- the action -----------------------------------------------------------------------------------


def test_the_action_runs_as_its_runner_would_run_it(tmp_path: Path) -> None:
    """Its own step, with the program in place of what it installs."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert action["runs"]["using"] == "composite"
    step = next(s for s in action["runs"]["steps"] if s.get("id") == "check")
    place = tmp_path / "eagle3-check" / "bin"
    place.mkdir(parents=True)
    script = (
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m checker "$@"\n'
    )
    (place / "eagle3-check").write_text(script)
    (place / "eagle3-check").chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    example, engines = FIXTURES / "example", FIXTURES / "engines"
    (work / OWN_FILE).write_text(
        f'train = "{engines / "toy_trainer"}"\nserve = "{engines / "toy_server"}"\n'
        f'train-config = "{example / "train.json"}"\nserve-config = "{example / "serve.json"}"\n'
        f'target = "{example / "target.json"}"\n'
    )
    files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    variables = {
        "PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path), "COMMAND": "verify", "BASE": "",
        "ARGUMENTS": "--offline --rename 'a b=c d'",
        "EAGLE3_CHECK_CACHE": str(tmp_path / "cache"), **{k: str(v) for k, v in files.items()},
    }  # fmt: skip
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(
        command, cwd=work, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert files["GITHUB_OUTPUT"].read_text() == "status=1\nsarif=true\n"
    assert files["GITHUB_STEP_SUMMARY"].read_text().startswith("### ❌ ")
    assert "::error " in done.stderr
    assert json.loads((tmp_path / "eagle3-check.sarif").read_text("utf-8"))["version"] == "2.1.0"


def test_the_action_is_what_its_schema_expects() -> None:
    folder = importlib.resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    for name, document in (
        ("github-actions", yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))),
        ("github-workflows", _workflow("ci.md", "jobs")),
        ("github-workflows", yaml.load((ROOT / ".github/workflows/links.yml").read_text(), _Words)),
        ("gitlab-ci", _workflow("ci.md", "eagle3-check")),
    ):
        schema = json.loads((folder / f"{name}.json").read_text("utf-8"))
        checker = jsonschema.validators.validator_for(schema)(schema)
        assert [error.message for error in checker.iter_errors(document)] == []


def _workflow(page: str, key: str) -> Any:
    found = [yaml.load(b, _Words) for b in blocks(ROOT / "docs" / page, "yaml")]
    return next(document for document in found if key in document)


class _Words(yaml.SafeLoader):
    """Reads `on` as the word that it is, as workflows mean it."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        key: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:bool"]
        for key, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
