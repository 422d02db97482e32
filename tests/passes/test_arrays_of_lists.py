"""``np.array`` of a list that only native code sees: its items, side by side, without objects between."""

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def places(x):
    made = []
    for i in range(x.size):
        if x[i] > 0:
            made.append(i)
    return np.array(made)


def elements(x):
    made = []
    for value in x:
        if value > 0:
            made.append(value)
    return np.asarray(made)


def signs(x):
    return np.array([value > 0 for value in x])


def points(x):
    made = []
    for i in range(x.size):
        made.append((i, x[i]))
    return np.array(made)


def triples(x):
    made = []
    for i in range(x.size):
        made.append((i > 3, i, -2))
    return np.array(made)


def as_floats(x):
    return np.array([i * i for i in range(x.size)], dtype=np.float64)


def still_a_list(x):
    made = [0.5]
    for value in x:
        made.append(float(value))
    before = np.array(made)
    made[0] = 3.0
    made.append(7.0)
    before[0] = -1.0
    return before, made[0], made[1], len(made)


def in_a_loop(x):
    total = 0.0
    for i in range(x.size):
        row = [x[i]]
        for k in range(i):
            row.append(x[k] * k)
        total += np.array(row).max()
    return total


FUNCTIONS = [places, elements, signs, points, triples, as_floats, still_a_list, in_a_loop]
X = np.sin(np.arange(23.0) * 2)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_of_lists_are_made_of_numbers_without_objects(function):
    compiled = ljit.jit(function)
    for x in (X, X[4:9], X):
        assert compare(function(x), compiled(x)) is None
    text = str(compiled.graph_for(X))
    assert "PrivateList" in text
    assert ": List[" not in text
    assert "guard[type=Float" not in text
    assert "guard[type=Int" not in text
    assert [made.bailouts for made in compiled.specializations] == [0]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_of_no_items_are_floats(function):
    compiled = ljit.jit(function)
    for x in (X, X, X[:0], np.full(3, -1.0), X, X[:0], X):
        assert compare(function(x), compiled(x)) is None


@pytest.mark.parametrize("function", FUNCTIONS)
def test_native_code_is_left_anywhere(function):
    compiled = ljit.jit(function)
    for _ in range(3):
        compiled(X)
    expected = function(X)
    for check in fail_each_guard(compiled):
        assert compare(expected, compiled(X)) is None, check


def of_several_kinds(n):
    made = []
    for i in range(n):
        made.append(i if i < 30 else i * 0.5)
    return np.array(made)


def of_complex(n):
    return np.array([complex(i, 1) for i in range(n)])


def beyond_a_word(n):
    return np.array([i << 58 for i in range(n)])


def narrow(n):
    return np.array([i * 5 for i in range(n)], dtype=np.int8)


def ragged(n):
    return np.array([(1,) * (1 + i // 30) for i in range(n)])


def texts(n):
    return np.array([str(i) for i in range(n)])


def rows(n):
    return np.array([[i, i + 1] for i in range(n)])


def two_axes(n):
    return np.array([i for i in range(n)], ndmin=2)


def the_list_itself(n):
    made = [i for i in range(n)]
    return made, np.array(made)


@pytest.mark.parametrize(
    "function",
    [
        of_several_kinds,
        of_complex,
        beyond_a_word,
        narrow,
        ragged,
        texts,
        rows,
        two_axes,
        the_list_itself,
    ],
)
def test_what_numpy_makes_of_other_lists_is_left_to_it(function):
    compiled = ljit.jit(function)
    for n in (9, 9, 40, 0, 9, 40):
        outcomes = []
        for f in (function, compiled):
            try:
                outcomes.append(f(n))
            except (OverflowError, ValueError) as error:
                outcomes.append((type(error).__name__, str(error)))
        assert compare(*outcomes) is None
