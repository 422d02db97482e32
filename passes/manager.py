"""The pass manager: a registry of passes, pipelines as text, and checks around each run.

A pass is a function ``(graph, ...) -> bool`` that says whether it changed the graph; further parameters are
options, which a pipeline is given for all its passes. A pipeline is a text of pass names:
``"inline,(constant_propagation,eliminate_dead_code)*"``; a group with a star is repeated until none of its passes
changes anything (at most `MAX_ROUNDS` times).

With ``LJIT_CHECK=1`` the graph is verified at the end, with ``2`` after each pass, and what the pass said about
a change is compared with what the graph is made of. ``LJIT_LOG_LEVEL=name`` dumps the graph after the pass,
``>name`` also before it. To bisect a miscompile: ``LJIT_STOP_AFTER`` finds the pass,
``LJIT_OPT_LIMIT`` the rewrite (passes ask `is_allowed` before each one).
"""

from __future__ import annotations

import itertools
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import import_module

from ljit import config
from ljit.errors import InputError, InternalError, VerifyError
from ljit.ir import Graph, Node
from ljit.records import Record

__all__ = [
    "NAMES",
    "PASSES",
    "PassManager",
    "PassRun",
    "find_pass",
    "graph_pass",
    "is_allowed",
    "parse_pipeline",
    "reset_limits",
    "run_passes",
]

Pass = Callable[..., bool]

MAX_ROUNDS = 8
#: the passes; each registers itself in `PASSES` once the module of its name is imported
NAMES = (
    "canonicalize_modified_loops",
    "canonicalize_ops",
    "check_inplace",
    "carry_places",
    "carry_powers",
    "choose_terms",
    "clear_profiling_information",
    "constant_pooling",
    "constant_propagation",
    "convert_to_ssa",
    "decompose_ops",
    "distribute_checks",
    "drop_high_bits",
    "eliminate_common_subexpression",
    "eliminate_dead_code",
    "eliminate_redundant_checks",
    "eliminate_redundant_guards",
    "forward_stores",
    "fuse",
    "fuse_rows",
    "hoist_guards",
    "inline",
    "insert_guards",
    "insert_profile_nodes",
    "insert_settings_checks",
    "interchange",
    "lower_simple_tuples",
    "mark_erratic_branches",
    "mark_steady_branches",
    "normalize_ops",
    "peephole_optimize",
    "profile_operators",
    "scalarize_arrays",
    "scalarize_lists",
    "sink_stores",
    "skip_trips",
    "split_sums",
    "split_trips",
    "unbox_lists",
    "unroll_and_jam",
    "unroll_products",
    "unroll_updates",
)
config.warn_of_unknown(NAMES)

PASSES: dict[str, Pass] = {}
_idempotent: set[str] = set()
_rewrites: Counter[str] = Counter()
_runs = itertools.count(1)


def graph_pass(name: str, *, is_idempotent: bool = False) -> Callable[[Pass], Pass]:
    """Put the decorated function into `PASSES`; it stays a plain function.

    One that `is_idempotent` does nothing on a graph that did not change since it ran: then it does not run. A module
    whose import was interrupted is loaded again, and declares its pass again.
    """

    def register(function: Pass) -> Pass:
        before = PASSES.get(name, function)
        assert before.__module__ == function.__module__, f"pass {name} is declared twice"
        PASSES[name] = function
        if is_idempotent:
            _idempotent.add(name)
        return function

    return register


def find_pass(name: str) -> Pass:
    """Give a pass by its name; imports its module when it is first asked for."""
    if name not in PASSES or PASSES[name].__module__ not in sys.modules:
        if name not in NAMES:
            known = ", ".join(sorted({*NAMES, *PASSES}))
            raise InputError(f"pipeline: no pass is called {name!r}; there are {known}")
        import_module(f"ljit.passes.{name}")
    return PASSES[name]


def is_allowed(name: str, node: Node | None) -> bool:
    """Whether one more rewrite of the pass `name` is within ``LJIT_OPT_LIMIT``; logs it."""
    log = config.logger(name)
    if node is not None and log.level >= config.UPDATE:
        log.update("rewrites", repr(node))
    limit = config.settings().opt_limits.get(name)
    if limit is None:
        return True
    _rewrites[name] += 1
    return _rewrites[name] <= limit


def reset_limits() -> None:
    """Start counting rewrites and pass runs again."""
    global _runs
    _rewrites.clear()
    _runs = itertools.count(1)


class PassRun(Record):
    """One run of one pass."""

    name: str
    seconds: float
    changed: bool


class Group(Record):
    """A parsed pipeline: pass names and starred groups, in order."""

    items: tuple[str | Group, ...]


@cache
def parse_pipeline(text: str) -> Group:
    """Read a pipeline; unknown passes are an InputError."""
    tokens = re.findall(r"\w+|\)\*|\S", text)
    group, rest = _parse_group(tokens)
    if rest:
        raise InputError(f"pipeline {text!r}: unexpected {rest[0]!r}")
    return group


def _parse_group(tokens: list[str]) -> tuple[Group, list[str]]:
    items: list[str | Group] = []
    while tokens and tokens[0] != ")*":
        head, tokens = tokens[0], tokens[1:]
        if head == "(":
            inner, tokens = _parse_group(tokens)
            if not tokens:
                raise InputError("pipeline: a group ends in ')*'")
            items.append(inner)
            tokens = tokens[1:]
        elif head != ",":
            find_pass(head)
            items.append(head)
    return Group(tuple(items)), tokens


class PassManager:
    """A pipeline ready to run. `options` go to those of its passes that have parameters of these names.

    `runs` lists what was run, for `explain()` and for timing.
    """

    def __init__(self, pipeline: str, **options: object) -> None:
        self.pipeline = parse_pipeline(pipeline)
        self.options = options
        self.runs: list[PassRun] = []
        self._done: set[str] = set()  # passes that would change nothing now
        self._parts: list[object] | None = None  # of the graph, under LJIT_CHECK=2

    def run(self, graph: Graph) -> bool:
        """Run the pipeline on `graph` in place; whether anything changed."""
        self._parts = None
        self._done = set()
        changed = self._run_group(graph, self.pipeline)
        if config.settings().check == config.CHECK_ENDS:
            _verify(graph, ", ".join(dict.fromkeys(run.name for run in self.runs if run.changed)))
        return changed

    def _run_group(self, graph: Graph, group: Group) -> bool:
        changed = False
        for item in group.items:
            if isinstance(item, str):
                changed |= self._run_pass(graph, item)
                continue
            for _ in range(MAX_ROUNDS):
                if not self._run_group(graph, item):
                    break
                changed = True
        return changed

    def _run_pass(self, graph: Graph, name: str) -> bool:
        if name in self._done:
            return False
        settings = config.settings()
        if settings.stop_after is not None and next(_runs) > settings.stop_after:
            return False
        log = config.logger(name)
        if log.level >= config.UPDATE:
            log.update("before:", graph)
        is_checked = settings.check >= config.CHECK_PASSES
        if is_checked and self._parts is None:
            self._parts = _contents(graph)
        start = time.perf_counter()
        changed = PASSES[name](graph, **self._options_of(PASSES[name]))
        if changed:
            self._done.clear()
        if name in _idempotent:
            self._done.add(name)
        self.runs.append(PassRun(name, time.perf_counter() - start, changed))
        log.dump("changed:" if changed else "unchanged:", graph)
        if is_checked:
            before, self._parts = self._parts, _contents(graph)
            _check(graph, name, is_changed=self._parts != before, changed=changed)
        return changed

    def _options_of(self, function: Pass) -> dict[str, object]:
        code = function.__code__
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        return {name: self.options[name] for name in names if name in self.options}


def _check(graph: Graph, name: str, *, is_changed: bool, changed: bool) -> None:
    """Verify the graph that a pass made, and compare what the pass said of a change with the truth."""
    if changed or is_changed:
        _verify(graph, name)
    if changed != is_changed:
        said = "a change: it is the same" if changed else "no change: it is another"
        hint = f"LJIT_LOG_LEVEL='>{name}' shows the graph before it"
        raise InternalError(f"the pass {name} reported {said} ({hint}):\n{graph}")


def _verify(graph: Graph, passes: str) -> None:
    from ljit.ir.verifier import verify  # for tests: no call imports it

    try:
        verify(graph)
    except VerifyError as error:
        raise VerifyError(f"after the pass {passes}:\n{error}") from error


def _contents(graph: Graph) -> list[object]:
    from ljit.ir.printer import contents  # likewise

    return contents(graph)


def run_passes(graph: Graph, pipeline: str, **options: object) -> bool:
    """Run a pipeline once; whether anything changed."""
    return PassManager(pipeline, **options).run(graph)
