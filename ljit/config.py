"""Settings from the environment, and the log that they switch on.

docs/debugging.md has the variables. They are read once; tests use `overridden`. What cannot be read is told of and left
out: it is no fault of the program, which goes on even where warnings are errors.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from ljit.records import Record, made_by

__all__ = ["Logger", "Settings", "configure", "logger", "overridden", "settings", "warn_of_unknown"]

_Default = TypeVar("_Default", int, None)
DUMP, UPDATE, DEBUG = 0, 1, 2
_LEVEL_NAMES = ("DUMP", "UPDATE", "DEBUG")
_OFF = -1
KEPT_MEMORY = 256  # MiB
EXECUTOR = "profiling_executor"
COMPONENTS = (EXECUTOR,)  # that have a log, beside the passes
CHECK_NOTHING, CHECK_ENDS, CHECK_PASSES = 0, 1, 2
VARIABLES = frozenset(
    "LJIT_CHECK LJIT_COLD_CALLS LJIT_FULL_TRACEBACK LJIT_KEPT_MEMORY LJIT_LOG_LEVEL LJIT_OPT_LIMIT "
    "LJIT_PROFILED_SIZES LJIT_QUICK_RUNS LJIT_STOP_AFTER".split()
)
_BEYOND_ALL_FRAMES = 1 << 30  # a stack level: no place in the program is at fault
# Optimising costs as much as running quick code so often costs more than running what it becomes.
QUICK_RUNS = 200_000


class Settings(Record, eq=True):
    """What the environment says."""

    enabled: bool = True
    check: int = CHECK_NOTHING
    full_traceback: bool = False
    profiled_sizes: bool = True
    log_levels: Mapping[str, int] = made_by(factory=dict)
    opt_limits: Mapping[str, int] = made_by(factory=dict)
    stop_after: int | None = None
    kept_memory: int = KEPT_MEMORY
    quick_runs: int = QUICK_RUNS
    cold_calls: bool = True

    @staticmethod
    def from_environment(environment: Mapping[str, str]) -> Settings:
        """Read the variables; malformed parts are warned about and left out."""
        for name in sorted(environment.keys() - VARIABLES):
            if name.startswith("LJIT_"):
                _warn(f"{name}: ljit has no such variable; docs/debugging.md has them")
        return Settings(
            enabled=_switch(environment, "LJIT", default=True),
            check=min(_count(environment, "LJIT_CHECK", CHECK_NOTHING), CHECK_PASSES),
            full_traceback=_switch(environment, "LJIT_FULL_TRACEBACK", default=False),
            profiled_sizes=_switch(environment, "LJIT_PROFILED_SIZES", default=True),
            log_levels=parse_log_levels(environment.get("LJIT_LOG_LEVEL", "")),
            opt_limits=_parse_limits(environment.get("LJIT_OPT_LIMIT", "")),
            stop_after=_count(environment, "LJIT_STOP_AFTER", None),
            kept_memory=_count(environment, "LJIT_KEPT_MEMORY", KEPT_MEMORY),
            quick_runs=_count(environment, "LJIT_QUICK_RUNS", QUICK_RUNS),
            cold_calls=_switch(environment, "LJIT_COLD_CALLS", default=True),
        )


def parse_log_levels(text: str) -> dict[str, int]:
    """Read the value of ``LJIT_LOG_LEVEL``.

    >>> parse_log_levels("inline:>fuse:>>runtime")
    {'inline': 0, 'fuse': 1, 'runtime': 2}
    """
    levels: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split(":"))):
        name = part.lstrip(">")
        levels[name] = min(len(part) - len(name), DEBUG)
    return levels


def _parse_limits(text: str) -> dict[str, int]:
    limits: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.replace(":", ",").split(","))):
        name, _, number = part.partition("=")
        if number.strip().isdecimal():
            limits[name.strip()] = int(number)
        else:
            _warn(f"LJIT_OPT_LIMIT: {part!r} is not name=N; ignored")
    return limits


def _parse_count(variable: str, text: str) -> int | None:
    if text.isdecimal():
        return int(text)
    _warn(f"{variable}: {text!r} is not a count; ignored")
    return None


def warn_of_unknown(passes: Collection[str]) -> None:
    """Warn of names in the environment's limits and logs that are of no pass and no component."""
    unknown = {
        "LJIT_OPT_LIMIT": _settings.opt_limits.keys() - set(passes),
        "LJIT_LOG_LEVEL": _settings.log_levels.keys() - {*passes, *COMPONENTS},
    }
    for variable, names in unknown.items():
        for name in sorted(names):
            _warn(f"{variable}: there is no {name!r}; docs/passes.md has the names")


def _warn(message: str) -> None:
    try:
        warnings.warn(message, RuntimeWarning, stacklevel=_BEYOND_ALL_FRAMES)
    except RuntimeWarning as error:
        _write(f"RuntimeWarning: {error}\n")


def _write(text: str) -> None:
    if sys.stderr is not None:  # it was open when Python started
        sys.stderr.write(text)


def _count(environment: Mapping[str, str], variable: str, default: _Default) -> int | _Default:
    text = environment.get(variable, "").strip()
    count = _parse_count(variable, text) if text else None
    return default if count is None else count


def _switch(environment: Mapping[str, str], variable: str, *, default: bool) -> bool:
    text = environment.get(variable, "").strip()
    if text not in ("", "0", "1"):
        _warn(f"{variable}: {text!r} is neither 0 nor 1; ignored")
    return text == "1" if text in ("0", "1") else default


class Logger:
    """The log of one pass or component. Messages are made into text only when they are shown.

    ``log.update("removed", node)`` writes its parts one after the other, each line behind the
    head ``[UPDATE eliminate_dead_code]``.
    """

    __slots__ = ("level", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.level = _OFF

    def dump(self, *parts: object) -> None:
        """Show graphs and results: the lowest level."""
        if self.level >= DUMP:
            self._write(DUMP, parts)

    def update(self, *parts: object) -> None:
        """Show one rewrite or decision."""
        if self.level >= UPDATE:
            self._write(UPDATE, parts)

    def debug(self, *parts: object) -> None:
        """Show why something was done or left alone."""
        if self.level >= DEBUG:
            self._write(DEBUG, parts)

    def _write(self, level: int, parts: tuple[object, ...]) -> None:
        head = f"[{_LEVEL_NAMES[level]} {self.name}] "
        text = " ".join(map(str, parts))
        _write("".join(f"{head}{line}\n" for line in text.splitlines()))


_settings = Settings.from_environment(os.environ)
_loggers: dict[str, Logger] = {}


def settings() -> Settings:
    """Give the settings in force."""
    return _settings


def logger(name: str) -> Logger:
    """Give the one logger of that name."""
    found = _loggers.get(name)
    if found is None:
        found = _loggers[name] = Logger(name)
        found.level = _settings.log_levels.get(name, _OFF)
    return found


def configure(new: Settings) -> None:
    """Put `new` in force, also for loggers that exist."""
    global _settings
    _settings = new
    for log in _loggers.values():
        log.level = new.log_levels.get(log.name, _OFF)


@contextmanager
def overridden(**changes: object) -> Iterator[Settings]:
    """Change fields of the settings for the length of a ``with`` block."""
    before = _settings
    configure(before.with_changes(**changes))
    try:
        yield _settings
    finally:
        configure(before)
