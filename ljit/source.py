"""Places in a user's source text: what every node, error and traceback entry points at."""

from __future__ import annotations

from ljit.records import Record

__all__ = ["Source", "SourceRange", "depth_of"]


class Source(Record):
    """The text of one function and where it came from.

    `lines` are the lines of the whole file or cell (no line ends), so that line numbers are the file's.
    `function` is the qualified name that tracebacks and reports show, `module` the name of the module, `first_line`
    where the function begins, decorators included.
    """

    filename: str
    lines: tuple[str, ...]
    function: str
    module: str = "?"
    first_line: int = 1

    @property
    def name(self) -> str:
        """The file's base name."""
        return self.filename.replace("\\", "/").rsplit("/", 1)[-1]

    def shown(self, line: int) -> str:
        """The base name of the file, the number of a line, and its text."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return f"{self.name}:{line}  {' '.join(text.split())}".rstrip()

    def byte_column(self, line: int, column: int) -> int:
        """Give a column as code objects count it: in bytes of UTF-8."""
        if not 1 <= line <= len(self.lines):
            return column
        return len(self.lines[line - 1][:column].encode())


class SourceRange(Record, eq=True, frozen=False):
    """A stretch of source: 1-based lines, 0-based columns counted in characters (not bytes).

    `caller` is the place of the call when the node was inlined: the chain is the call stack,
    innermost first.
    """

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int
    caller: SourceRange | None

    def __init__(
        self,
        source: Source,
        line: int,
        column: int,
        end_line: int,
        end_column: int,
        caller: SourceRange | None = None,
    ) -> None:
        self.source = source
        self.line = line
        self.column = column
        self.end_line = end_line
        self.end_column = end_column
        self.caller = caller

    def __str__(self) -> str:
        return f"{self.source.filename}:{self.line}:{self.column}"

    def short(self) -> str:
        """Give ``file.py:line:column`` with the file's base name, as printed in graphs."""
        return f"{self.source.name}:{self.line}:{self.column}"

    def called_from(self, caller: SourceRange) -> SourceRange:
        """Give this range as seen when its function is inlined at `caller`."""
        outer = self.caller.called_from(caller) if self.caller is not None else caller
        return SourceRange(
            self.source, self.line, self.column, self.end_line, self.end_column, outer
        )

    def highlight(self) -> str:
        """Show the file, the line and a caret line below it, as CPython's tracebacks do."""
        head = f'  File "{self.source.filename}", line {self.line}, in {self.source.function}'
        if not 1 <= self.line <= len(self.source.lines):
            return head
        text = self.source.lines[self.line - 1]
        end = self.end_column if self.end_line == self.line else len(text)
        indent = len(text) - len(text.lstrip())
        carets = " " * max(self.column - indent, 0) + "^" * max(end - self.column, 1)
        return f"{head}\n    {text.strip()}\n    {carets}"


def depth_of(where: SourceRange | None) -> int:
    """Give into how many functions around it a place was inlined."""
    depth = 0
    while where is not None and where.caller is not None:
        where, depth = where.caller, depth + 1
    return depth
