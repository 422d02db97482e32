"""Loop nests as functions of their own: equal ones are one function.

LLVM's time grows faster than the length of a function, and array code is many nests, a lot of them equal but for the
arrays: the text of a nest is taken out of the function that is being written, its values are named in the order
of their appearance, and what it takes from outside becomes parameters. Quick code of short arrays has its nests where
they stand: without an optimiser the text and the call cost more than they save, unless a lot of nests are equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ljit.codegen.llvm.builder import BlockRef, FunctionBuilder, ModuleBuilder, Ref
from ljit.codegen.llvm.instructions import LABEL, NAME, NODE
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.llvm.shared_code import ELEMENTARY, PAGE
from ljit.codegen.llvm.steady_branches import has_steady_branches
from ljit.ir import Graph, Node
from ljit.ops.control import MAP

__all__ = ["LIKE_A_NEST", "has_equal_nests", "is_nest", "leaves_work_to_nests", "own_function"]

#: attributes of a call of a function that all units share and that does what a nest does
LIKE_A_NEST = 'nounwind "nest"'

_PREFIX = "nest."
_DEFINED = re.compile(r"^(%[\w.]+)(?: =|:$)", re.MULTILINE)  # a value or a block
_CALL = re.compile(rf"call void @{re.escape(_PREFIX)}|{re.escape(LIKE_A_NEST)}$", re.MULTILINE)
_ARITHMETIC = re.compile(
    r" = (?:(?:fadd|fsub|fmul|fdiv|frem|fcmp) |call (?:\w+ )+@(?:llvm|shared)\.)"
)
#: operations for each call of a nest; 40 take as long as a nest over a few elements
_LITTLE_ARITHMETIC = 40
#: nests of the same text that pay for functions in quick code: thirty take 0.9 of the time then, ten as long
_MANY_EQUAL = 10


@contextmanager
def own_function(f: FunctionBuilder) -> Iterator[None]:
    """Make a function of the loops that are written inside, unless they leave for somewhere else."""
    if f.block is None or f.module.keeps_nests:
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
    name = body.function_of(f.module, is_quick=leaves_work_to_nests(blocks))
    if not (f.module.is_quick or has_steady_branches(blocks)):
        f.module.plain_sources.add(name)
    f.take_out(mark, before)
    f.call("void", name, body.captured)


def _is_closed(blocks: Sequence[BlockRef]) -> bool:
    names = {block.name for block in blocks}
    targets = (label for block in blocks if block.lines for label in LABEL.findall(block.lines[-1]))
    return names.issuperset(targets)


# Vectors that are kept on the stack, as across a call of `exp`, lie within lines of the cache: in one of ten processes
# they lay across the end of a page, and a softmax took 1.8 to 2.5 times as long.
_OPTIMIZED = 'noinline nounwind "stackrealign"'
# Elementary functions have many constants and spill a lot, which shall have other places in their pages than these
# (`PAGE`): the frame begins at a page, behind its first line.
_AT_PAGE = f"""
  %frame = alloca i64, align {PAGE}
  store volatile i64 0, ptr %frame
"""


class _Body:
    """The text of a nest."""

    def __init__(self, f: FunctionBuilder, blocks: Sequence[BlockRef]) -> None:
        lines: list[str] = []
        for block in blocks:
            lines.append(f"%{block.name}:")
            lines += [phi.render() for phi in block.phis]
            lines += block.lines
        text = "\n".join(lines)
        defined = set(_DEFINED.findall(text))
        parts = NAME.split(text)  # each second one is a name
        places = _places_in_one(f, dict.fromkeys(parts[1::2]), defined)
        if places:
            lines[1:1] = places
            text = "\n".join(lines)
            defined = set(_DEFINED.findall(text))
            parts = NAME.split(text)
        names = dict.fromkeys(parts[1::2])
        self.captured = [Ref(f.type_of(name), name) for name in names if name not in defined]
        renamed = {ref.text: f"%a{i}" for i, ref in enumerate(self.captured)}
        renamed |= {name: f"%t{i}" for i, name in enumerate(n for n in names if n in defined)}
        parts[1::2] = [renamed[name] for name in parts[1::2]]
        self.text = "".join(parts)

    def function_of(self, module: ModuleBuilder, *, is_quick: bool) -> str:
        """Give the name of the module's function with this text; if it `is_quick`, its own speed does not matter."""
        text = re.sub(r"^%(\w+):$", r"\1:", self.text, flags=re.MULTILINE)
        key = self._key(text, module)
        if key not in module.nests:
            name = module.nests[key] = f"{_PREFIX}{len(module.nests)}"
            params = ", ".join(f"{ref.type} %a{i}" for i, ref in enumerate(self.captured))
            attributes = f"noinline {QUICK} nounwind" if is_quick else _OPTIMIZED
            head = f"define internal void @{name}({params}) {attributes} {{"
            if f"@{ELEMENTARY}" in text and not is_quick:
                text = text.replace("\n", _AT_PAGE, 1)
            module.define(name, f"{head}\n{text}\n}}")
        return module.nests[key]

    def _key(self, text: str, module: ModuleBuilder) -> str:
        """The text with metadata nodes numbered in the order of their appearance, and the types of the parameters."""
        nodes: dict[str, str] = {}
        numbers: dict[str, int] = {}

        def number(found: re.Match[str]) -> str:
            return f"!{numbers.setdefault(found[0], len(numbers))}"

        result = NODE.sub(number, text)
        by_number = module.metadata_nodes()
        while len(nodes) < len(numbers):
            for name in list(numbers):
                if name not in nodes:
                    nodes[name] = NODE.sub(number, by_number[name])
        types = " ".join(ref.type for ref in self.captured)
        return "\n".join((types, result, *nodes.values()))


def has_equal_nests(graph: Graph) -> bool:
    """Whether so many nests of a graph look the same that one function of all of them pays in any code."""
    kinds = Counter(_kind(node) for node in graph.walk() if node.op is MAP)
    return max(kinds.values(), default=0) >= _MANY_EQUAL


def _kind(nest: Node) -> tuple[object, ...]:
    """The ops of a nest and the types of its operands: others have another text."""
    return (*(node.op for node in nest.blocks[0]), *(value.type for value in nest.inputs))


def is_nest(callee: str) -> bool:
    """Whether what a line of IR calls is such a function."""
    return callee.startswith(f"@{_PREFIX}")


def leaves_work_to_nests(blocks: Sequence[BlockRef]) -> bool:
    """Whether the own speed of some code hardly matters: each loop goes through calls of nests, arithmetic is rare."""
    texts = {id(block): "\n".join(block.lines) for block in blocks}
    calls = {key: len(_CALL.findall(text)) for key, text in texts.items()}
    operations = sum(len(_ARITHMETIC.findall(text)) for text in texts.values())
    count = sum(calls.values())
    if not count or operations > _LITTLE_ARITHMETIC * count:
        return False
    covered = {key for key, found in calls.items() if found}
    for header, latches in _loops(blocks):
        reached = _before(latches, header, covered)
        if id(header) in reached:
            return False
        covered |= _before(latches, header, set())
    return True


def _loops(blocks: Sequence[BlockRef]) -> list[tuple[BlockRef, list[BlockRef]]]:
    """Headers of the natural loops with the blocks that branch back to them; inner loops before those around them."""
    loops = []
    for header in blocks:
        latches = [p for p in header.predecessors if p.dominator and p.is_dominated_by(header)]
        if latches:
            loops.append((header, latches))
    return sorted(loops, key=lambda loop: -loop[0].depth)


def _before(latches: Sequence[BlockRef], header: BlockRef, without: set[int]) -> set[int]:
    """The blocks of a loop from which its latches are reached, around those of `without`."""
    todo = [block for block in latches if id(block) not in without]
    found = set(map(id, todo))
    while todo:
        block = todo.pop()
        for p in () if block is header else block.predecessors:
            if id(p) not in found and id(p) not in without:
                found.add(id(p))
                todo.append(p)
    return found


def _places_in_one(f: FunctionBuilder, names: Mapping[str, None], inside: set[str]) -> list[str]:
    """Find addresses from outside that are so many bytes apart once more: LLVM has to see that they are."""
    found: dict[str, list[tuple[str, Ref]]] = {}
    for name in names:
        if name in f.places and name not in inside:
            base, offset = f.places[name]
            found.setdefault(base.text, []).append((name, offset))
    chosen = {
        name: (base, offset)
        for base, places in found.items()
        if len(places) > 1 or base in names
        for name, offset in places
    }

    def depth(name: str) -> int:
        return 1 + depth(chosen[name][0]) if name in chosen else 0

    return [
        f"{name} = getelementptr i8, ptr {base}, {offset.typed}"
        for name, (base, offset) in sorted(chosen.items(), key=lambda item: depth(item[0]))
    ]
