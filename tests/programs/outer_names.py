"""Names bound outside of the function: ``global``, ``nonlocal``, imports in functions."""

import numpy as np

from tests.programs.harness import program

CALLS = 0
SCALE = 2.0


def reset():
    global CALLS
    CALLS = 0


@program(lambda: (2,), lambda: (300,), lambda: (0,))
def counts_in_a_global(n):
    global CALLS
    CALLS = 0
    for _ in range(n):
        CALLS += 1
    return CALLS


@program(lambda: (3,), lambda: (1.5,), lambda: ("a",), lambda: (None,))
def a_global_takes_any_type(x):
    global SCALE
    SCALE = x
    before = SCALE
    SCALE = (SCALE, 1)
    return before, SCALE


@program(lambda: (3,), lambda: (0.5,))
def a_name_in_parentheses_that_is_annotated_is_none_of_the_function(x):
    (CALLS): int

    def inner():
        nonlocal x
        (reset): object
        x = x + CALLS
        reset()
        return x

    reset()
    return inner(), CALLS


@program(lambda: (np.arange(6.0),))
def an_error_leaves_what_was_stored(a):
    global CALLS
    CALLS = 0
    for i in range(10):
        CALLS = CALLS + a[i]
    return CALLS


@program(lambda: (5,))
def a_loop_over_a_global(n):
    global POSITION
    total = 0
    for POSITION in range(n):  # noqa: B007  # which is the point
        total += POSITION
    return total, POSITION


@program(lambda: (5,))
def a_callee_changes_the_global(n):
    global CALLS
    total = 0
    for i in range(n):
        CALLS = i
        total += CALLS
        reset()
        total += CALLS
    return total


@program(lambda: (2**62,), lambda: (7,))
def a_global_that_overflows(n):
    global CALLS
    CALLS = n
    for _ in range(3):
        CALLS += n
    return CALLS


@program(lambda: (3,), lambda: (0.5,))
def nonlocal_statement(n):
    total = 0

    def add(x):
        nonlocal total
        total += x

    for i in range(int(n)):
        add(i * n)
    return total


@program(lambda: (4,))
def nonlocal_through_two_functions(n):
    total = 0

    def outer(x):
        def inner(y):
            nonlocal total
            total += y
            return total

        return inner(x) + inner(2 * x)

    return [outer(i) for i in range(n)], total


@program(lambda: (4,))
def nonlocal_rebinds_between_uses(n):
    step = 1

    def double():
        nonlocal step
        step *= 2

    seen = []
    for _ in range(n):
        seen.append(step)
        double()
    return seen, step


@program(lambda: (True,), lambda: (False,))
def nonlocal_before_it_is_bound(is_bound):
    def bind():
        nonlocal late
        late = 1

    if is_bound:
        bind()
    if not is_bound:
        late = 2.5
    return late


def counter():
    count = 0

    @program(lambda: (3,), lambda: (200,))
    def counts_in_a_closure_variable(n):
        nonlocal count
        count = 0
        for i in range(n):
            count += i
        return count

    return counts_in_a_closure_variable


counts_in_a_closure_variable = counter()


@program(lambda: (3,), lambda: (20,))
def local_import(n):
    import math

    return math.factorial(n), math.sqrt(n) + math.pi


@program(lambda: (np.arange(5.0),))
def imports_of_all_kinds(a):
    import collections.abc
    import os.path as path
    from math import pi, sqrt as root
    from os import path as same

    import numpy as np, math  # noqa: E401  # which is the point

    total = 0.0
    for x in a:
        total += root(x) * math.cos(x) + pi
    return np.sum(a) + total, path.join("a", "b"), path is same, collections.abc.Sized.__name__


@program(lambda: (50,))
def import_in_a_loop(n):
    total = 0.0
    for i in range(n):
        from math import sin

        total += sin(i)
    return total


@program(lambda: (True,), lambda: (False,))
def import_in_a_branch(is_wanted):
    if is_wanted:
        import math
    return math.pi


@program(lambda: ())
def a_module_that_is_not_there():
    import ljit_has_no_such_module

    return ljit_has_no_such_module


@program(lambda: ())
def a_name_that_a_module_lacks():
    from math import no_such_name

    return no_such_name


@program(lambda: (2,))
def an_import_in_a_nested_function(n):
    def f(x):
        import math as m

        return m.exp(x)

    return [f(i) for i in range(n)]
