"""Find the source of a function: its text, its syntax tree and the places in it.

The whole file (or notebook cell, or what a REPL keeps) is parsed, not a dedented piece of it, so that lines and
columns are the file's. A candidate counts only if it compiles to the very code object of the function:
that finds the right one of several lambdas on a line, and notices that a file was edited after
it was imported.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import linecache
import sys
import warnings
import weakref
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from types import CodeType, FunctionType

from ljit.errors import SourceUnavailableError
from ljit.frontend.function_code import with_sets_of
from ljit.frontend.generated import constructor_lines
from ljit.records import Record
from ljit.source import Source, SourceRange

__all__ = [
    "FUTURE_FLAGS",
    "FunctionNode",
    "FunctionSource",
    "RangeMaker",
    "compile_alone",
    "find_source",
    "has_lazy_annotations",
    "nodes_around",
    "remember_source",
    "without_warnings",
]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FILES = 8  # whose trees are kept: functions of a package are called in any order
_WARNED_OF = (SyntaxWarning, DeprecationWarning)  # ``x is 1``, ``"\\d"``
FUTURE_FLAGS = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


class RangeMaker:
    """Makes source ranges from `ast` nodes, whose columns count UTF-8 bytes."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def within(self, function: str, node: ast.expr | ast.FunctionDef) -> RangeMaker:
        """Give the maker for a function that is nested in this one."""
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        return RangeMaker(self.source.with_changes(function=function, first_line=first))

    def of(self, node: ast.AST) -> SourceRange:
        """Give the range of a node that has a position."""
        line: int = node.lineno  # type: ignore[attr-defined]  # only nodes with a position
        end_line: int = node.end_lineno or line  # type: ignore[attr-defined]
        column = self._column(line, node.col_offset)  # type: ignore[attr-defined]
        end_column = self._column(end_line, node.end_col_offset)  # type: ignore[attr-defined]
        return SourceRange(self.source, line, column, end_line, end_column)

    def of_attribute(self, node: ast.Attribute) -> SourceRange:
        """Give the range that tracebacks report: of the attribute's name if it is on a line of its own."""
        whole = self.of(node)
        if whole.line == whole.end_line:
            return whole
        column = max(whole.end_column - len(node.attr), 0)
        return SourceRange(self.source, whole.end_line, column, whole.end_line, whole.end_column)

    def of_method_call(self, node: ast.Call, method: ast.Attribute) -> SourceRange:
        """Give the range of a method call: as in tracebacks, it starts where the method's name is."""
        whole = self.of(node)
        if method.lineno == method.end_lineno:
            return whole
        start = self.of_attribute(method)
        return SourceRange(self.source, start.line, start.column, whole.end_line, whole.end_column)

    def _column(self, line: int, offset: int | None) -> int:
        lines = self.source.lines
        if offset is None or not 1 <= line <= len(lines):
            return 0
        text = lines[line - 1]
        if text.isascii():
            return min(offset, len(text))
        return len(text.encode()[:offset].decode(errors="ignore"))


class FunctionSource(Record):
    """What `find_source` found: the node, the class it stands in (for private names), its ranges."""

    node: FunctionNode
    class_name: str | None
    ranges: RangeMaker


#: of functions that ljit makes of the user's, whose text stands nowhere
_made: weakref.WeakKeyDictionary[FunctionType, FunctionSource] = weakref.WeakKeyDictionary()


def remember_source(fn: FunctionType, source: FunctionSource) -> None:
    """Note the syntax tree of a function that was compiled from a tree."""
    _made[fn] = source


def has_lazy_annotations(code: CodeType) -> bool:
    """Whether annotations in the code are not evaluated where they stand."""
    return bool(code.co_flags & __future__.annotations.compiler_flag) or sys.version_info >= (3, 14)


def find_source(fn: FunctionType) -> FunctionSource:
    """Find the syntax tree of `fn`; SourceUnavailableError says why there is none."""
    if not isinstance(fn, FunctionType):
        raise SourceUnavailableError(f"{fn!r} is not a function that is written in Python")
    if fn in _made:
        return _made[fn]
    code = fn.__code__
    lines = _lines_of(fn)
    found = list(_search(code, lines, _parse(tuple(lines), code.co_filename)))
    if not found:
        found = list(_search(code, lines, _parse_block(code, lines)))
    if not found:
        made = constructor_lines(code)
        found = list(_search(code, made, _parse(tuple(made), code.co_filename)))
        lines = made if found else lines
    if not lines:
        raise SourceUnavailableError(
            f"there is no source text of {code.co_qualname} ({code.co_filename!r}): it was made by exec, "
            "in a console that keeps no text, or its file is gone; put it into a file"
        )
    if not found:
        raise SourceUnavailableError(
            f"the source of {code.co_qualname} in {code.co_filename!r} is not what the function was made "
            "from: the file was changed after it was loaded, or the function was made by other code"
        )
    node, class_name = found[0]
    source = Source(
        code.co_filename,
        _without_ends(tuple(lines)),
        code.co_qualname,
        fn.__module__ or "?",
        code.co_firstlineno,
    )
    return FunctionSource(node, class_name, RangeMaker(source))


def nodes_around(code: CodeType, found: FunctionSource) -> list[ast.AST]:
    """Give what a nested function stands in, the outermost function first; nothing if the file cannot be parsed."""
    tree = _parse(tuple(linecache.getlines(code.co_filename)), code.co_filename)
    statements = _statements_at(code.co_firstlineno, tree.body) if tree is not None else []
    ways: list[list[ast.AST]] = [[statement] for statement in statements]
    while ways:
        way = ways.pop()
        if way[-1] is found.node:
            first = next(i for i, n in enumerate(way) if isinstance(n, FunctionNode))
            return way[first:-1]
        ways += [[*way, child] for child in ast.iter_child_nodes(way[-1])]
    return []


def compile_alone(node: FunctionNode, class_name: str | None, code: CodeType) -> CodeType | None:
    """Compile a function that was rewritten: code of the same name, at the same place in the file."""
    first_line = min((n.lineno for n in getattr(node, "decorator_list", ())), default=node.lineno)
    compiled = _compile(node, class_name, [], code, first_line)
    if compiled is None:
        return None
    compiled = with_sets_of(code, compiled)
    return compiled.replace(co_qualname=code.co_qualname, co_firstlineno=code.co_firstlineno)


def _lines_of(fn: FunctionType) -> list[str]:
    filename = fn.__code__.co_filename
    linecache.checkcache(filename)
    return linecache.getlines(filename, fn.__globals__)


@functools.lru_cache(maxsize=64)
def _without_ends(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Give the lines of a file: all its functions share them, which keep them as long as they live."""
    return tuple(line.rstrip("\r\n") for line in lines)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Compile without warnings of the text: CPython gave them when it compiled the module, and they may be errors.

    `warnings.catch_warnings` would replace the filters of all threads, and let each place warn again.
    """
    filters = warnings.filters
    quiet = [("ignore", None, category, None, 0) for category in _WARNED_OF]
    filters[:0] = quiet  # type: ignore[index]
    try:
        yield
    finally:
        for one in quiet:
            with suppress(ValueError):  # another thread has reset them
                filters.remove(one)  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=_FILES)
def _parse(lines: tuple[str, ...], filename: str) -> ast.Module | None:
    """Parse a file; None if it is not Python as it stands (a notebook's magics, say)."""
    try:
        with without_warnings():
            return ast.parse("".join(lines), filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parse_block(code: CodeType, lines: list[str]) -> ast.Module | None:
    """Parse only the lines of the function, at their places in the file."""
    first = code.co_firstlineno - 1
    if not 0 <= first < len(lines):
        return None
    try:
        block = "".join(inspect.getblock(lines[first:]))
        if block[:1].isspace():  # keep the columns: no dedent, but a block for the indentation
            block, first = "if 1:\n" + block, first - 1
        with without_warnings():
            return ast.increment_lineno(ast.parse(block, code.co_filename), first)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _search(
    code: CodeType, lines: list[str], tree: ast.Module | None
) -> Iterator[tuple[FunctionNode, str | None]]:
    """Give the functions in `tree` that compile to `code`, with their classes."""
    if tree is None or not 1 <= code.co_firstlineno <= len(lines):
        return
    candidates = [
        (node, class_name)
        for node, class_name in _functions_at(code.co_firstlineno, tree)
        if _has_name(node, class_name, code.co_name)
    ]
    is_rewritten = any(name.startswith("@") for name in (*code.co_names, *code.co_varnames))
    imports = _module_imports(tree)
    for node, class_name in candidates:
        compiled = _compile(node, class_name, imports, code)
        if compiled is None:
            continue
        # An import hook such as pytest's (its names start with "@") changes the code, not the text.
        if _is_same(compiled, code) or (is_rewritten and _looks_like(compiled, code)):
            yield node, class_name


def _functions_at(line: int, tree: ast.Module) -> Iterator[tuple[FunctionNode, str | None]]:
    """The functions that begin on `line`, each with the name of the innermost class around it."""
    around = _statements_at(line, tree.body)
    pending: list[tuple[ast.AST, str | None]] = [(statement, None) for statement in around]
    while pending:
        node, class_name = pending.pop()
        first = _first_line(node)
        if not first <= line <= getattr(node, "end_lineno", line):
            continue
        if isinstance(node, FunctionNode) and first == line:
            yield node, class_name
        below = node.name if isinstance(node, ast.ClassDef) else class_name
        pending += [(child, below) for child in ast.iter_child_nodes(node)]


def _statements_at(line: int, body: list[ast.stmt]) -> list[ast.stmt]:
    """Those of a module's statements that a line is in."""
    begun = body[: bisect_right(body, line, key=_first_line)]
    found = takewhile(lambda statement: (statement.end_lineno or line) >= line, reversed(begun))
    return [*found][::-1]


def _first_line(node: ast.AST) -> int:
    """The line that `co_firstlineno` names: that of the first decorator, if any."""
    lines: list[int] = [d.lineno for d in getattr(node, "decorator_list", ())]
    first: int = getattr(node, "lineno", 0)
    return min([first, *lines])


def _has_name(node: FunctionNode, class_name: str | None, name: str) -> bool:
    if isinstance(node, ast.Lambda):
        return name == "<lambda>"
    return name in (node.name, mangle(node.name, class_name))


def mangle(name: str, class_name: str | None) -> str:
    """Give the name that a private name (``__x``) has inside of a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


@functools.lru_cache(maxsize=_FILES)
def _module_imports(tree: ast.Module) -> list[ast.stmt]:
    """The imports at module level: CPython compiles calls of attributes of modules in another way."""
    found: list[ast.stmt] = []
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            if getattr(node, "module", "") != "__future__":
                found.append(node)
        elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            if not isinstance(node, FunctionNode | ast.ClassDef):
                pending += ast.iter_child_nodes(node)
    return found


def _compile(
    node: FunctionNode,
    class_name: str | None,
    imports: list[ast.stmt],
    code: CodeType,
    first_line: int | None = None,
) -> CodeType | None:
    """Compile the function `node` in surroundings that give it the free variables of `code`.

    `first_line`: of the function, if not that of `code`.
    """
    statement = node if not isinstance(node, ast.Lambda) else _lambda_statement(node)
    if class_name is not None:
        statement = _class_around(statement, class_name)
    if code.co_flags & inspect.CO_NESTED:
        statement = _function_around(statement, code.co_freevars)
    module = ast.Module([*imports, statement], type_ignores=[])
    flags = code.co_flags & FUTURE_FLAGS
    try:
        with without_warnings():
            compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError):
        return None
    return _find_code(compiled, code.co_name, first_line or code.co_firstlineno)


def _lambda_statement(node: ast.Lambda) -> ast.stmt:
    """A statement of nothing but the lambda; its defaults, which may hold others, become None."""
    nothing = ast.copy_location(ast.Constant(None), node)
    arguments = ast.arguments(
        node.args.posonlyargs,
        node.args.args,
        node.args.vararg,
        node.args.kwonlyargs,
        [nothing if default is not None else None for default in node.args.kw_defaults],
        node.args.kwarg,
        [nothing] * len(node.args.defaults),
    )
    copy = ast.copy_location(ast.Lambda(arguments, node.body), node)
    return ast.copy_location(ast.Expr(copy), node)


def _class_around(statement: ast.stmt, name: str) -> ast.stmt:
    empty = ast.parse("class C: pass").body[0]
    assert isinstance(empty, ast.ClassDef)
    empty.name, empty.body = name, [statement]
    return empty


def _function_around(statement: ast.stmt, parameters: tuple[str, ...]) -> ast.stmt:
    empty = ast.parse("def f(): pass").body[0]
    assert isinstance(empty, ast.FunctionDef)
    empty.args.args = [ast.arg(name, lineno=1, col_offset=0) for name in parameters]
    empty.body = [statement]
    return empty


def _find_code(compiled: CodeType, name: str, first_line: int) -> CodeType | None:
    """Find the function's code object in that of the module around it: the outermost that fits."""
    pending = [compiled]
    while pending:
        code = pending.pop(0)
        if code.co_name == name and code.co_firstlineno == first_line:
            return code
        pending += [c for c in code.co_consts if isinstance(c, CodeType)]
    return None


def _is_same(one: CodeType, other: CodeType) -> bool:
    """What ``one == other`` says; CPython compares each nested code twice, and what is nested in that four times."""
    nested, others = (
        [c for c in code.co_consts if isinstance(c, CodeType)] for code in (one, other)
    )
    if not nested:
        return one == other
    return (
        len(nested) == len(others)
        and _with_names_of_nested(one) == _with_names_of_nested(other)
        and all(map(_is_same, nested, others))
    )


def _with_names_of_nested(code: CodeType) -> CodeType:
    """The code with names in the place of the codes in it."""
    constants = (c.co_name if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_consts=tuple(constants))


def _looks_like(compiled: CodeType, code: CodeType) -> bool:
    """Whether code that an import hook rewrote has the signature and the lines of `compiled`."""
    count = compiled.co_argcount + compiled.co_kwonlyargcount
    lines = {line for *_, line in compiled.co_lines() if line is not None}
    changed = {line for *_, line in code.co_lines() if line is not None}
    return (
        compiled.co_argcount == code.co_argcount
        and compiled.co_kwonlyargcount == code.co_kwonlyargcount
        and compiled.co_posonlyargcount == code.co_posonlyargcount
        and compiled.co_varnames[:count] == code.co_varnames[:count]
        and compiled.co_freevars == code.co_freevars
        and min(lines) <= min(changed)
        and max(changed) <= max(lines)
    )
