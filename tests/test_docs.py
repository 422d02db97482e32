"""The documentation is true: examples run, printed output is what is shown, links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from ljit.cli.ops import index, markdown
from ljit.ops.index import FILE
from ljit.passes.manager import NAMES
from tests.doc_examples import matches

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_EXAMPLES = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
NO_PROSE = re.compile(
    r"```.*?```|<!-- written.*?<!-- end -->|^[|#!<].*?$", re.DOTALL | re.MULTILINE
)
LINE = 120  # characters of prose; a longer one may hold a link or code that cannot be broken
LONGEST_CHANGE = 170  # characters of a line: a list of changes that nobody can read is none

each_page = pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])


def links_of(page: Path) -> list[tuple[Path, str]]:
    """Files that a page links to, each with the heading, in the form of a link, or an empty text."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    found = [(target, part) for target, part in LINK.findall(text) if "://" not in target]
    return [((page.parent / target).resolve() if target else page, part) for target, part in found]


def headings_of(page: Path) -> set[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in HEADING.findall(text)}


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=[p.name for p in WITH_EXAMPLES])
def test_examples_run_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    """In a process without anything that the tests have set or loaded."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("LJIT")}
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "doc_examples.py", page],
        cwd=tmp_path,
        env={**settings, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@each_page
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, heading in links_of(page):
        assert target.exists(), f"{page.name} links to {target}"
        if heading:
            assert heading in headings_of(target), f"{page.name} links to {target}#{heading}"


@each_page
def test_prose_is_wrapped(page: Path) -> None:
    prose = NO_PROSE.sub("", page.read_text(encoding="utf-8"))
    too_long = [line for line in prose.splitlines() if len(LINK.sub("", line)) > LINE]
    assert page.name in ("CHANGELOG.md", "ops.md") or too_long == []


def test_each_change_is_a_short_line() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > LONGEST_CHANGE] == [], "docs/ have room for more"


@pytest.mark.parametrize("path", EXAMPLES, ids=[p.name for p in EXAMPLES])
def test_each_example_runs_and_prints_something(path: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"__name__": "__main__"})
    assert output.getvalue().strip()


def test_every_page_is_reachable_from_the_readme() -> None:
    seen: set[Path] = set()
    todo = [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            todo.extend(target for target, _ in links_of(page))
    assert {page.resolve() for page in PAGES} <= seen


def test_the_page_of_ops_is_what_the_registry_gives() -> None:
    shown = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
    assert shown == markdown(), "run: python -m ljit ops --markdown > docs/ops.md"


def test_the_index_of_ops_is_what_the_registry_gives() -> None:
    assert FILE.read_text(encoding="utf-8") == index(), "run: python -m ljit ops --index"


def test_every_pass_is_described() -> None:
    page = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"| [{name}](" not in page] == []


def test_every_benchmark_is_described() -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    scripts = [p for p in (ROOT / "benchmarks").glob("*.py") if "__main__" in p.read_text("utf-8")]
    assert [p.name for p in scripts if f"benchmarks/{p.name}" not in page] == []


def test_every_module_is_in_the_overview_or_in_the_page_of_its_package() -> None:
    pages = [
        ROOT / "docs" / f"{name}.md" for name in ("overview", "interpreter", "codegen", "passes")
    ]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    patterns = set(re.findall(r"[\w*]+\.py\b", text))
    modules = [p for folder in ("ljit", "codegen", "passes") for p in (ROOT / folder).rglob("*.py")]
    missing = [p for p in modules if not any(fnmatch(p.name, pattern) for pattern in patterns)]
    assert [p for p in missing if p.name != "__init__.py"] == []


@pytest.mark.parametrize(
    ("shown", "printed", "verdict"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a...c\nd", "abbc\nd", True),
        ("a", "b", False),
        ("a.", "ab", False),
    ],
)
def test_shown_output_is_compared_with_printed_output(shown, printed, verdict) -> None:
    assert matches(shown, printed) is verdict
