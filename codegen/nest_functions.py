"""Loop nests as functions of their own: equal ones are one function.

LLVM's time grows faster than the length of a function, and array code is many nests, a lot of them equal but for the
arrays: the text of a nest is taken out of the function that is being written, its values are named in the order
of their appearance, and what it takes from outside becomes parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ljit.codegen.builder import BlockRef, FunctionBuilder, ModuleBuilder, Ref

__all__ = ["own_function"]

_PREFIX = "nest."
_NAME = re.compile(r"%[\w.]+")
_LABEL = re.compile(r"label %([\w.]+)")
_NODE = re.compile(r"![0-9]+")
_DEFINED = re.compile(r"^(%[\w.]+) = ")


@contextmanager
def own_function(f: FunctionBuilder) -> Iterator[None]:
    """Make a function of the loops that are written inside, unless they leave for somewhere else."""
    if f.block is None:
        yield
        return
    mark = f.mark()
    begin = f.new_block("nest")
    before = f.br(begin)
    f.start(begin)
    yield
    blocks = f.blocks_since(mark)
    if before is None or f.block is None or len(blocks) < 2 or not _is_closed(blocks):
        return
    f.block.lines.append("ret void")
    body = _Body(f, blocks)
    name = body.function_of(f.module)
    f.take_out(mark, before)
    f.call("void", name, body.captured)


def _is_closed(blocks: Sequence[BlockRef]) -> bool:
    names = {block.name for block in blocks}
    targets = (
        label for block in blocks if block.lines for label in _LABEL.findall(block.lines[-1])
    )
    return names.issuperset(targets)


class _Body:
    """The text of a nest."""

    def __init__(self, f: FunctionBuilder, blocks: Sequence[BlockRef]) -> None:
        lines: list[str] = []
        for block in blocks:
            lines.append(f"%{block.name}:")
            lines += [phi.render() for phi in block.phis]
            lines += block.lines
        names = dict.fromkeys(_NAME.findall("\n".join(lines)))
        defined = {f"%{block.name}" for block in blocks}
        defined.update(found[1] for line in lines if (found := _DEFINED.match(line)))
        self.captured = [Ref(f.type_of(name), name) for name in names if name not in defined]
        renamed = {ref.text: f"%a{i}" for i, ref in enumerate(self.captured)}
        renamed |= {name: f"%t{i}" for i, name in enumerate(n for n in names if n in defined)}
        self.text = _NAME.sub(lambda found: renamed[found[0]], "\n".join(lines))

    def function_of(self, module: ModuleBuilder) -> str:
        """Give the name of the module's function with this text."""
        text = re.sub(r"^%(\w+):$", r"\1:", self.text, flags=re.MULTILINE)
        key = self._key(text, module)
        if key not in module.nests:
            name = module.nests[key] = f"{_PREFIX}{len(module.nests)}"
            params = ", ".join(f"{ref.type} %a{i}" for i, ref in enumerate(self.captured))
            head = f"define internal void @{name}({params}) noinline nounwind {{"
            module.define(name, f"{head}\n{text}\n}}")
        return module.nests[key]

    def _key(self, text: str, module: ModuleBuilder) -> str:
        """The text with metadata nodes numbered in the order of their appearance, and the types of the parameters."""
        nodes: dict[str, str] = {}
        numbers: dict[str, int] = {}

        def number(found: re.Match[str]) -> str:
            return f"!{numbers.setdefault(found[0], len(numbers))}"

        result = _NODE.sub(number, text)
        by_number = module.metadata_nodes()
        while len(nodes) < len(numbers):
            for name in list(numbers):
                if name not in nodes:
                    nodes[name] = _NODE.sub(number, by_number[name])
        types = " ".join(ref.type for ref in self.captured)
        return "\n".join((types, result, *nodes.values()))
