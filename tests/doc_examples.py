"""Run the examples of a page of documentation in a process of its own, as a reader would: ``doc_examples.py PAGE``.

Every block fenced as ``python`` runs, in order, in one namespace. A ``text`` block right behind one shows what it
prints; ``...`` there stands for any text. Nothing but the examples themselves imports ljit.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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


def run_page(page: Path) -> None:
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


if __name__ == "__main__":
    run_page(Path(sys.argv[1]))
