"""The documentation is true: examples run, printed output is what is shown, links lead somewhere.

In a Markdown file every block fenced as ``python`` runs, in order, in one namespace. A ``text`` block right
behind one shows what it prints; ``...`` there stands for any text.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from ljit.cli.ops import index, markdown
from ljit.ir import REGISTRY
from ljit.ops.index import FILE
from ljit.passes import PASSES
from ljit.passes.manager import NAMES, find_pass

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
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
    """Compare; ``...`` in `shown` stands for any text in a line, alone on a line for any lines."""
    dots = re.escape("...")
    lines = [re.escape(line.rstrip()) for line in shown.strip().splitlines()]
    parts = [r"[\s\S]*?" if line == dots else line.replace(dots, ".*") for line in lines]
    text = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch("\n".join(parts), text) is not None


def links_of(page: Path) -> list[str]:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    return [target for target in LINK.findall(text) if "://" not in target]


@pytest.fixture(autouse=True)
def _registries_stay_as_they_are() -> Iterator[None]:
    """Examples declare ops and passes of their own."""
    for name in NAMES:
        find_pass(name)
    before = [(registry, dict(registry)) for registry in (REGISTRY, PASSES)]
    yield
    for registry, entries in before:
        registry.clear()
        registry.update(entries)


@each_page
def test_examples_run_and_print_what_is_shown(page: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    namespace: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    blocks = list(FENCE.finditer(text))
    for block, following in zip(blocks, [*blocks[1:], None], strict=False):
        if block[1] != "python":
            continue
        line = text.count("\n", 0, block.start()) + 2
        printed = run_block("\n" * (line - 1) + block[2], f"<{page.name}:{line}>", namespace)
        if following is None or following[1] != "text":
            continue
        if not text[block.end() : following.start()].strip():
            assert matches(following[2], printed), f"{page.name}:{line} printed:\n{printed}"


@each_page
def test_links_lead_to_files(page: Path) -> None:
    for target in links_of(page):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("path", EXAMPLES, ids=[p.name for p in EXAMPLES])
def test_example_runs(path: Path, monkeypatch, tmp_path: Path) -> None:
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
            todo.extend((page.parent / target).resolve() for target in links_of(page))
    assert {page.resolve() for page in PAGES} <= seen


def test_the_page_of_ops_is_what_the_registry_gives() -> None:
    shown = (ROOT / "docs" / "ops.md").read_text(encoding="utf-8")
    assert shown == markdown(), "run: python -m ljit ops --markdown > docs/ops.md"


def test_the_index_of_ops_is_what_the_registry_gives() -> None:
    assert FILE.read_text(encoding="utf-8") == index(), "run: python -m ljit ops --index"


def test_every_pass_is_described() -> None:
    page = (ROOT / "docs" / "passes.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"| [{name}](" not in page] == []


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
