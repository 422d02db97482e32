"""Printed tracebacks are CPython's to the character, on all tiers."""

from __future__ import annotations

import contextlib
import io
import logging
import subprocess
import sys
import traceback
import warnings

import numpy as np
import pytest

import ljit
from ljit.config import overridden
from ljit.cpython.frames import is_own_frame
from ljit.testing.chaos import eager_loops, fail_each_guard, has_native_code
from tests.programs import test_programs
from tests.programs.harness import Args, Program, make_args
from tests.runtime.traceback_programs import CASES

RAISING = [
    p
    for p in test_programs.TRANSLATED
    if p.name.startswith(("exceptions.", "regressions.", "calls.", "recursion."))
]


def printed(function, args: Args) -> list[str] | None:
    """The traceback of a call as Python prints it, from the function's own entry on."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args.positional, **args.keywords)
        except Exception as error:
            error.__traceback__ = error.__traceback__.tb_next
            return traceback.format_exception(error)
    return None


def assert_printed_alike(function, compiled, make, message):
    assert printed(compiled, Args(make())) == printed(function, Args(make())), message


def each_case():
    return pytest.mark.parametrize(
        ("function", "arguments"), CASES, ids=[function.__name__ for function, _ in CASES]
    )


@each_case()
@pytest.mark.parametrize("good_calls", [0, 1, 2])
def test_calls_that_raise_after_good_ones(function, arguments, good_calls):
    good, *bad = arguments
    for make in bad:
        compiled = ljit.jit(function)
        for _ in range(good_calls):
            assert printed(compiled, Args(good())) is None
        for number in range(3):
            assert_printed_alike(function, compiled, make, f"call {number} after good ones")


@each_case()
def test_calls_without_a_profile(function, arguments):
    for make in arguments[1:]:
        compiled = ljit.jit(num_profiled_runs=0)(function)
        for number in range(2):
            assert_printed_alike(function, compiled, make, f"call {number}")


@each_case()
def test_outlined_loops_print_the_same_traceback(function, arguments):
    with eager_loops():
        for make in arguments:
            compiled = ljit.jit(function)
            for number in range(2):
                assert_printed_alike(function, compiled, make, f"call {number}")


@each_case()
def test_the_interpreter_after_each_bailout(function, arguments):
    good, *bad = arguments
    compiled = ljit.jit(function)
    for _ in range(2):
        compiled(*good())
    sites = (
        fail_each_guard(compiled) if has_native_code(compiled) else ()
    )  # a lambda is called as it is
    for site in sites:
        for make in bad:
            if printed(compiled, Args(make())) is not None:  # other types: another tier
                assert_printed_alike(function, compiled, make, site)


def is_of_numpy(entry: str) -> bool:
    return "/numpy/" in entry


def without_marks(entry: str) -> str:
    return "\n".join(line for line in entry.splitlines() if line.strip(" ~^"))


@pytest.mark.parametrize("program", RAISING, ids=[p.name for p in RAISING])
def test_programs_that_raise(program: Program) -> None:
    """NumPy's own frames may be others; a method that is missing has other marks."""

    def entries(function, factory):
        found = printed(function, make_args(factory))
        found = [entry for entry in found or () if not is_of_numpy(entry)]
        is_missing = found and found[-1].startswith("AttributeError")
        return list(map(without_marks, found)) if is_missing else found

    for factory in program.factories:
        expected = entries(program.function, factory)
        if not expected:
            continue
        compiled = ljit.jit(program.function)
        for number in range(3):
            assert entries(compiled, factory) == expected, f"call {number}"


# -- frames --------------------------------------------------------------------------------------------


def fails(a, i):
    total = 0.0
    for k in range(3):
        total += a[i + k]
    return total


def native_error(function=fails):
    compiled = ljit.jit(function)
    a = np.arange(4.0)
    for _ in range(2):
        compiled(a, 0)
    with pytest.raises(IndexError) as caught:
        compiled(a, 9)
    return caught.value


def test_full_tracebacks_of_native_code_show_ljit_as_well():
    with overridden(full_traceback=True):
        names = [f.f_code.co_name for f, _ in traceback.walk_tb(native_error().__traceback__)]
    assert "fails" in names and "on_bailout" in names and "resume" in names


def test_frames_can_be_cleared_and_used_again():
    first, second = native_error(), native_error()
    text = traceback.format_exception(second)
    traceback.clear_frames(first.__traceback__)
    assert traceback.format_exception(second) == text
    assert traceback.format_exception(native_error())[-3:] == text[-3:]


def key_error(table, k):
    return table[k] + 1


def test_entries_that_native_code_adds_refer_to_the_users_code():
    compiled = ljit.jit(key_error)
    for _ in range(2):
        compiled({1: 2}, 1)
    with pytest.raises(KeyError) as caught:
        compiled({1: 2}, 5)
    entry = caught.value.__traceback__.tb_next
    assert entry.tb_next is None
    code = entry.tb_frame.f_code
    assert (code.co_filename, code.co_qualname) == (__file__, "key_error")
    assert entry.tb_lineno == key_error.__code__.co_firstlineno + 1
    positions = list(code.co_positions())[entry.tb_lasti // 2]
    assert positions == (entry.tb_lineno, entry.tb_lineno, 11, 19)
    assert not entry.tb_frame.f_locals
    assert entry.tb_frame.f_back is None


def given_back(function):
    return function


def fails_in_functions_of_its_own(xs, action):
    @given_back
    def decorated(x):
        return 1 // x

    def plain(x):
        y = x + 0
        return 1 // y

    if action == "decorated":
        return decorated(xs[0])
    if action == "plain":
        return plain(xs[0])
    if action == "comprehension":
        return [
            1 // x
            for x in xs
        ]  # fmt: skip
    if action == "lambda":
        return (
            lambda x: 1 // x
        )(xs[0])  # fmt: skip
    return 1 // xs[0]


@pytest.mark.parametrize("action", ["decorated", "plain", "comprehension", "lambda", "itself"])
def test_code_of_entries_begins_where_the_function_does(action):
    def entries(function, x):
        with pytest.raises(ZeroDivisionError) as caught:
            function([x], action)
        entries = traceback.walk_tb(caught.tb.tb_next)
        users = [(frame.f_code, line) for frame, line in entries if not is_own_frame(frame)]
        return [(code.co_name, code.co_firstlineno, line) for code, line in users]

    function = fails_in_functions_of_its_own
    compiled = ljit.jit(function)
    for call in (compiled.run_interpreted, *[compiled] * 3):
        compiled([1], action)
        assert entries(call, 0) == entries(function, 0)
        assert entries(call, 0.0) == entries(function, 0.0)


class Caller(logging.Handler):
    """Keeps where the code of whoever logs begins."""

    def emit(self, record):
        frame = sys._getframe()
        while not frame.f_code.co_name.startswith("logs_"):
            frame = frame.f_back
        self.found = frame.f_code.co_qualname, frame.f_code.co_firstlineno, frame.f_lineno


@given_back
def logs_itself(logger, x):
    y = x + 1
    logger.error("%s", y)
    return y


def test_code_of_running_frames_begins_where_the_function_does():
    logger, handler = logging.Logger("ljit tests"), Caller()
    logger.addHandler(handler)
    logs_itself(logger, 2)
    expected = handler.found
    compiled = ljit.jit(logs_itself)
    assert compiled.run_interpreted(logger, 2) == 3
    assert handler.found == expected


def test_a_call_in_the_interpreter_leaves_no_frames_of_ljit():
    @ljit.jit
    def item(xs, i):
        return xs[i]

    with pytest.raises(IndexError) as caught:
        item.run_interpreted([], 0)
    assert [entry.name for entry in caught.traceback[1:]] == ["item"]


def test_entries_have_the_global_variables_of_the_module():
    @ljit.jit
    def item(xs, i):
        return xs[i]

    for xs in ([1.0], [1.0], []):
        with pytest.raises(IndexError) as caught:
            item(xs, len(xs))
        assert caught.tb.tb_next.tb_frame.f_globals is globals()


def test_functions_of_other_files_show_their_own_file(tmp_path):
    (tmp_path / "callee_module.py").write_text(
        "import ljit\n\ndef plain(a, i):\n    return a[i] * 2\n\n"
        "@ljit.jit\ndef decorated(a, i):\n    x = plain(a, i)\n    return x + 1\n"
    )
    (tmp_path / "main_module.py").write_text(
        "import sys, traceback\nimport numpy as np\nimport ljit\n"
        "from callee_module import decorated\n\n"
        "def caller(a, i):\n    return 1.0 + decorated(a, i)\n\n"
        "function = ljit.jit(caller) if sys.argv[1:] else caller\n"
        "for i in (0, 1, 7):\n    try:\n        function(np.ones(3), i)\n"
        "    except IndexError:\n        traceback.print_exc()\n"
    )

    def run(*options):
        command = [sys.executable, str(tmp_path / "main_module.py"), *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr

    shown = run("native")
    assert shown == run()
    assert [line.strip().split(", in ")[1] for line in shown.splitlines() if ", in " in line] == [
        "<module>",
        "caller",
        "decorated",
        "plain",
    ]


# -- who looks at frames while the function runs -------------------------------------------------------


def warns(x):
    warnings.warn(f"careful {x}", stacklevel=2)
    return x


def looks_up(x):
    frame = sys._getframe(1)
    code = frame.f_code
    return code.co_filename, code.co_qualname, frame.f_lineno, frame.f_globals["__name__"], x


def is_warned(x, function):
    total = 0.0
    for k in range(3):
        total += k
        if k == x:
            total += function(k)
    return total


def helper_of_watched(x, function):
    return x, function(x)


def is_watched(x, function):
    first = helper_of_watched(x + 1, function)
    return first, function(x)


def divides_arrays(a, b):
    c = a + b
    return (c / b).sum()


def seen_in(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args)
    return result, [(str(w.message), w.category, w.filename, w.lineno) for w in caught]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (is_warned, (2, warns)),
        (divides_arrays, (np.ones(2), np.zeros(2))),
        (is_watched, (2, looks_up)),
    ],
)
def test_the_interpreter_has_a_frame_of_the_users_function(function, args):
    compiled = ljit.jit(function)
    expected = seen_in(function, *args)
    actual = seen_in(compiled.run_interpreted, *args)
    if function is is_watched:  # inlined functions have no frames of their own, but their lines
        (_, inlined), own = actual[0]
        (_, called), expected_own = expected[0]
        assert own == expected_own
        assert inlined[2:] == called[2:]
    else:
        assert actual == expected
        assert actual[1] or function is not is_warned
