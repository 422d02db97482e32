"""The documentation is true: examples run, printed output is what is shown, links lead somewhere.

In a Markdown file every block fenced as ``python`` runs, in order, in one namespace. A ``text`` block right
behind one shows what it prints; a line ``...`` there stands for any lines.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ljit.cli.ops import markdown
from ljit.ir import REGISTRY
from ljit.passes import PASSES

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")

each_page = pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])


def run_block(source: str, name: str, namespace: dict[str, object]) -> str:
    """Run one example and give what it printed; ljit finds its source as in an interactive session."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, name, "exec"), namespace)
    return output.getvalue()


def matches(shown: str, printed: str) -> bool:
    """Compare line by line; ``...`` in `shown` stands for any number of lines."""
    parts = (re.escape(line.rstrip()) for line in shown.strip().splitlines())
    pattern = "\n".join(r"[\s\S]*?" if part == r"\.\.\." else part for part in parts)
    text = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, text) is not None


@each_page
def test_examples_run_and_print_what_is_shown(page: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    namespace: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    blocks = list(FENCE.finditer(text))
    for number, block in enumerate(blocks):
        if block[1] != "python":
            continue
        line = text.count("\n", 0, block.start()) + 2
        printed = run_block("\n" * (line - 1) + block[2], f"<{page.name}:{line}>", namespace)
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        if following is not None and following[1] == "text":
            between = text[block.end() : following.start()]
            if not between.strip():
                assert matches(following[2], printed), f"{page.name}:{line} printed:\n{printed}"


@pytest.fixture(autouse=True)
def _registries_stay_as_they_are() -> Iterator[None]:
    """Examples declare ops and passes of their own."""
    before = {id(r): dict(r) for r in (REGISTRY, PASSES)}
    yield
    for registry in (REGISTRY, PASSES):
        registry.clear()
        registry.update(before[id(registry)])


@each_page
def test_links_lead_to_files(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("path", EXAMPLES, ids=[p.name for p in EXAMPLES])
def test_example_runs(path: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"__name__": "__main__"})
    assert output.getvalue().strip()


def test_every_page_is_reachable_from_the_readme() -> None:
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        todo.extend((page.parent / link).resolve() for link in links if "://" not in link)
    assert {page.resolve() for page in PAGES} <= seen


def test_the_page_of_ops_is_what_the_registry_gives() -> None:
    shown = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
    assert shown == markdown(), "run: python -m ljit ops --markdown > docs/ops.md"


@pytest.mark.parametrize(
    ("shown", "printed", "verdict"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a", "b", False),
        ("a.", "ab", False),
    ],
)
def test_shown_output_is_compared_with_printed_output(shown, printed, verdict) -> None:
    assert matches(shown, printed) is verdict
