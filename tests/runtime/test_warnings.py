"""Warnings that a function gives stand where CPython has them, and are given as often."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from warnings import warn

import numpy as np
import pytest

import ljit
from ljit.config import overridden


class Slow(UserWarning):
    """A category of this module."""


def halved_until(x, limit):
    total = 0.0
    for k in range(limit):
        total += x / (k + 1)
        if k == 3:
            warnings.warn("no convergence", RuntimeWarning)
    if total > 2.0:
        warn(f"total is {total:.3f}", stacklevel=1, category=Slow)
    return total


def blames_its_caller(x):
    warnings.warn("careful", Slow, 2)
    return x + 1


def blames_nobody(x):
    warnings.warn(Slow("far away"), stacklevel=1000)
    return x


def warns_in_all_ways(x):
    total = 0.0
    for _ in range(3):
        total += halved_until(x, 5)
    return total + blames_nobody(x)


def badly(x):
    warnings.warn("a", stacklevel=x)
    warnings.warn("a", message="b")


def badly_as_well(x):
    warnings.warn("a", x, stacklevel=2)


class Warner:
    def warn(self, *args, **kwargs):
        frame = sys._getframe(1)
        return frame.f_code.co_qualname, frame.f_lineno, frame.f_globals is globals(), args, kwargs


def another_warn(x, warner):
    return warner.warn(x, y=1), warner.warn()


def outcomes(function, args, action, calls=4):
    found = []
    vars(sys.modules[__name__]).pop("__warningregistry__", None)
    for _ in range(calls):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            try:
                result = function(*args)
            except Exception as error:
                entry, lines = error.__traceback__.tb_next, []
                while entry is not None:
                    if entry.tb_frame.f_code.co_filename == __file__:  # not of `run_interpreted`
                        lines.append((entry.tb_frame.f_code.co_qualname, entry.tb_lineno))
                    entry = entry.tb_next
                result = type(error), str(error), lines
        places = [(w.filename, w.lineno, w.category, str(w.message), w.source) for w in caught]
        found.append((result, places))
    return found


@pytest.mark.parametrize("action", ["always", "default", "once", "module", "error", "ignore"])
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (halved_until, (2.0, 5)),
        (blames_its_caller, (2,)),
        (blames_nobody, (2,)),
        (warns_in_all_ways, (0.5,)),
        (badly, (1,)),
        (badly, ("x",)),
        (badly, (0,)),
        (badly_as_well, (int,)),
        (another_warn, (2, Warner())),
    ],
)
def test_warnings_are_those_of_cpython(function, args, action):
    expected = outcomes(function, args, action)
    with overridden(cold_calls=False):
        compiled = ljit.jit(function, strict=True)
        assert outcomes(compiled.run_interpreted, args, action) == expected
        assert outcomes(compiled, args, action) == expected


@ljit.jit
def decorated_blames_its_caller(x):
    warnings.warn("careful", Slow, 2)
    return x + 1


def calls_decorated(x):
    return decorated_blames_its_caller(x) * 2


def test_a_decorated_function_blames_the_line_that_calls_it():
    expected = calls_decorated.__code__.co_firstlineno + 1
    for _ in range(4):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            calls_decorated(2)
        assert [w.lineno for w in caught] == [expected]


@ljit.jit
def logs(logger, x):
    total = 0
    for k in range(x):
        total += k
    logger.warn("deprecated")
    return total


def test_log_records_name_the_line(caplog):
    line = logs.__wrapped__.__code__.co_firstlineno + 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            logs(logging.getLogger("ljit tests"), 4)
    assert [(r.filename, r.lineno, r.funcName) for r in caplog.records] == [
        ("test_warnings.py", line, "logs")
    ] * 3


COUNTED = """
import logging, sys, warnings
import ljit
from ljit.runtime import waiting

logging.basicConfig(format="%(funcName)s:%(lineno)d", stream=sys.stdout)
log = logging.getLogger("above")
if {many}:
    waiting._STAKE = 0.0

@ljit.jit
def warns(x):
    warns_through_another(x)
    return x

def warns_through_another(x):
    warnings.warn("careful", stacklevel=3)
    log.warning("careful", stacklevel=3)

def around():
    for k in range(300):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warns(k)
        print("around:%d" % caught[0].lineno)

around()
"""


@pytest.mark.parametrize("cold_calls", ["0", "1"])
@pytest.mark.parametrize("many", [True, False])
def test_frames_of_ljit_do_not_count_for_those_that_look_far_up(tmp_path, many, cold_calls):
    """Calls that CPython runs are timed now and then, and interpreted ones have the interpreter above them."""
    program = COUNTED.format(many=many)
    environment = {**os.environ, "LJIT_COLD_CALLS": cold_calls}
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, tmp_path / "program.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    line = program.splitlines().index("            warns(k)") + 1
    assert done.stdout.splitlines() == [f"around:{line}"] * 600


def inverse_of(x, flags):
    total = 0
    for flag in flags:
        total += ~(x > 1) + ~flag
    return total


@pytest.mark.parametrize("action", ["always", "error"])
def test_the_inverse_of_a_bool_warns_as_often_as_in_cpython(action):
    """3.12 and later do. In native code the place is that of the call."""

    def without_places(function):
        return [
            (result, [warning[2:] for warning in places])
            for result, places in outcomes(function, (2.0, [True, 3, False]), action)
        ]

    with overridden(cold_calls=False):
        assert without_places(ljit.jit(inverse_of, strict=True)) == without_places(inverse_of)


def test_functions_that_warn_are_native():
    compiled = ljit.jit(halved_until)
    for _ in range(4):
        compiled(np.float64(0.25), 3)
    assert compiled.specializations[0].calls == 3


def constants_that_overflow(x):
    return np.float32(1e300) + x, np.array([1e300], "f4")


@pytest.mark.parametrize("settings", [{}, {"quick_runs": 0}], ids=["quick", "optimised"])
def test_a_compile_tells_nobody_of_constants_that_overflow(settings):
    with overridden(cold_calls=False, **settings):
        compiled = ljit.jit(constants_that_overflow)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(4):
                compiled(1.0)
        assert {w.filename for w in caught} == {__file__}
        assert sum(found.calls for found in compiled.specializations)


def greater_into_the_third(a, b, c):
    np.maximum(a, b, c)
    return np.minimum(a, c, c)


def test_arrays_for_results_by_position_are_warned_of_as_numpy_does():
    args = np.array([1.0, 5.0]), np.array([2.0, 4.0]), np.zeros(2)

    def messages(function):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(*args)
        return [str(w.message) for w in caught]

    with overridden(cold_calls=False):
        compiled = ljit.jit(greater_into_the_third)
        for _ in range(4):
            assert messages(compiled) == messages(greater_into_the_third)
