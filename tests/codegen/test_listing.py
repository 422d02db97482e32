"""IR and assembly as they are shown: what addresses are of, and which lines of the source instructions are for."""

import numpy as np
import pytest

import ljit
from ljit.codegen.listing import described, listing
from ljit.codegen.llvm.engine import compile_ir


def weighted(weights, values):
    total = 0.0
    for i in range(len(values)):
        total += weights[i] * values[i]
    return total


@pytest.fixture(scope="module")
def native():
    f = ljit.jit(weighted)
    for _ in range(3):
        f(np.ones(40), np.ones(40))
    return f


def test_addresses_are_followed_by_what_is_there(native):
    lines = native.dump_llvm().splitlines()
    ends = {line.partition("  ; ")[2] for line in lines if "inttoptr" in line}
    assert {"numpy.ndarray", "dtype('float64')", "calls taken", "next entry"} <= ends
    assert "leave_entry, function bail_out" in ends


def test_lines_of_the_source_stand_in_front_of_their_instructions(native):
    lines = native.dump_llvm().splitlines()
    at = next(i for i, line in enumerate(lines) if " fmul " in line)
    notes = [line for line in lines[:at] if line.startswith("  ; test_listing.py:")]
    assert notes[-1].endswith("  total += weights[i] * values[i]")


def test_checks_say_why_they_leave(native):
    lines = native.dump_llvm().splitlines()
    notes = [i for i, line in enumerate(lines) if line.startswith("  ; leaves if ")]
    assert notes
    assert all("%exit." in lines[i + 1] for i in notes)


def test_a_listing_is_ir_still(native):
    assert compile_ir(native.dump_llvm(), "ljit_entry").address


def test_machine_code_has_comments_for_assemblers(native):
    assert any(line.endswith("  # numpy.ndarray") for line in native.dump_asm().splitlines())


def test_optimised_ir_has_names_too(native):
    assert "  ; numpy.ndarray\n" in native.dump_llvm(optimized=True)


def test_only_instructions_are_indented():
    text = 'source_filename = "x"\n@a = global i64 0\ndefine i64 @f() {\nentry:\nret i64 0\n}\n!0 = !{}\n'
    shown = listing(text, {})
    assert shown.splitlines()[2:] == [
        "",
        "define i64 @f() {",
        "entry:",
        "  ret i64 0",
        "}",
        "!0 = !{}",
    ]


class Proud:
    def __repr__(self):
        raise AssertionError

    def __getattribute__(self, name):
        raise AssertionError


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (float, "float"),
        (np.ndarray, "numpy.ndarray"),
        (np.dtype("i4"), "dtype('int32')"),
        (None, "None"),
        (np, "module numpy"),
        (np.add, "numpy.add"),
        (weighted, "function weighted"),
        (len, "function len"),
        (vars(np), "variables of numpy"),
        ({1: 2}, "a dict"),
        ("x" * 50, f"'{'x' * 39}..."),
    ],
)
def test_objects_are_described_in_some_words(x, words):
    assert described(x) == words


def test_no_code_of_the_program_runs_for_a_description():
    assert described(Proud()) == f"a {__name__}.Proud"
