"""The errors that ljit itself raises. What a user's program raises is never wrapped in one of these.

`UserError` says that a program is outside of what ljit takes (only shown under ``strict=True``),
`InputError` that a text or a file is malformed, `InternalError` that ljit is at fault.
"""

from __future__ import annotations

from types import TracebackType

from ljit.source import SourceRange

__all__ = [
    "CodegenError",
    "InputError",
    "InternalError",
    "LjitError",
    "NotTranslatedError",
    "OptionError",
    "ParseError",
    "Raised",
    "SourceUnavailableError",
    "UnsupportedSyntaxError",
    "UserError",
    "VerifyError",
]


class LjitError(Exception):
    """Base of every error that ljit raises about itself or about its input."""


class UserError(LjitError):
    """The program is outside of the translated subset; names the place and a way out."""

    def __init__(self, message: str, where: SourceRange | None = None) -> None:
        self.message = message
        self.where = where
        super().__init__(f"{message}\n{where.highlight()}" if where is not None else message)


class OptionError(UserError, TypeError):
    """An option that `ljit.jit` does not have, or a value that it cannot have: CPython's class for these."""


class UnsupportedSyntaxError(UserError):
    """A statement or an expression that the frontend does not translate."""


class SourceUnavailableError(UserError):
    """A function whose source text cannot be had, or is no longer what the function was made from."""


class NotTranslatedError(UserError, AttributeError):
    """A function that is left to CPython was asked for its graph: it has no such attributes, `dir` names none."""


class InputError(LjitError):
    """A text or a file that ljit was asked to read is malformed."""


class ParseError(InputError):
    """IR text that does not parse; carries the line."""

    def __init__(self, message: str, line: int) -> None:
        self.line = line
        super().__init__(f"line {line}: {message}")


class InternalError(LjitError):
    """ljit's own fault, always."""


class VerifyError(InternalError):
    """A graph breaks an invariant of the IR; lists every breach."""


class CodegenError(InternalError):
    """A graph that verifies could not be turned into machine code."""


class Raised(tuple[BaseException, TracebackType | None]):
    """What a slow call returns to make its native caller raise: ``Raised((error, traceback))``.

    The exception is raised with exactly that traceback, so that no frame of ljit is part of it.
    """

    __slots__ = ()
