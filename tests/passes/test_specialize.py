"""The specialiser: types, resolved ops, guards, Snapshots and Deoptimize in the graphs that it makes."""

import math

import numpy as np
import pytest
from numpy import concatenate
from numpy.linalg import norm

import ljit
from ljit.testing.filecheck import file_check, parse_directives


def double(x):
    return x * 2.0


def sums(xs):
    total = 0
    for x in xs:
        total = total + x
    return total


def takes_branch(flag, x):
    if flag:
        return x + 1
    return x - 1


def items(pair):
    return pair[0] + pair[-1]


def rooted(x):
    return math.sqrt(x) + np.sin(x)


def alternates(xs):
    total = 0
    for x in xs:
        total = 1 if total == 2.5 else x
    return total


def smallest(xs, bound):
    best = None
    for x in xs:
        if x > bound and (best is None or x < best):
            best = x
    return best


def pairs(xs):
    best = (0, -1)
    for i, x in enumerate(xs):
        if x > best[0]:
            best = (x, i)
    return best


def logs(values, log):
    for v in values:
        log.append(v)
        v = v * 2
    return log


def changes(text):
    count = 0
    before = ""
    for c in text:
        if c != before:
            count += 1
        before = c
    return count


def without_blanks(text):
    out = ""
    for c in text:
        if c != " ":
            out += c
    return out


def missing(x):
    if x > 100:
        y = len(oct(x))
        return y + 1
    return x


def unbound(n):
    for i in range(n):
        last = i
    return last


def line(x, a, b):
    return a + b * x


def area(xs, others):
    total = 0.0
    for x in xs:
        total += line(x, *others)
    return total


def check(text, *directives):
    file_check(text, parse_directives("\n".join(f"// {line}" for line in directives)))


def graph(function, *args):
    compiled = ljit.jit(function)
    compiled(*args)
    return str(compiled.graph_for(*args))


def test_operators_take_their_numpy_form_for_arrays_only():
    assert "np::multiply" in graph(double, np.ones(3))
    assert "py::mul" in graph(double, 1.5)


def test_module_functions_become_their_ops():
    text = graph(rooted, 2.0)
    assert "math::sqrt" in text
    assert "np::sin" in text
    assert "py::call" not in text


def test_arguments_behind_others_are_taken_from_their_tuple():
    text = graph(area, np.ones(8), (0.5, 2.0))
    assert "ListConstruct" not in text
    assert "py::call_ex" not in text
    assert "prim::guard" not in text


def test_a_loop_carries_the_union_of_the_types_that_its_variable_takes():
    text = graph(alternates, np.ones(4))
    check(text, "CHECK: Union[int, np.float64] = prim::Loop", "CHECK: prim::type_is[type=int]")
    assert text.count("prim::Loop") == 1


def test_a_loop_whose_types_settle_in_its_first_trip_is_left_for_one_with_those_types():
    text = graph(sums, np.ones(4))
    check(
        text,
        "CHECK: Union[int, np.float64] = prim::Region",
        "CHECK: prim::Loop",
        "CHECK: prim::Break[depth=1]",
        "CHECK: np.float64 = prim::Loop",
        "CHECK-NOT: prim::type_is",
    )


def test_a_loop_that_becomes_two_is_not_walked_with_types_that_neither_has():
    def escape(xs, ys):
        a = b = 0.0
        n = 0
        while n < 50 and a * a + b * b <= 4.0:
            a, b = a * a - b * b + xs[0], 2.0 * a * b + ys[0]
            n += 1
        return n

    made = ljit.jit(escape).graph_for(np.ones(1), np.ones(1))
    left = sum(1 for _ in made.walk())
    assert (
        made.next_id < 2 * left
    )  # the rest was dropped; of Unions all is there once for each member


def test_a_number_of_either_class_is_stored_without_a_branch():
    def sums_of_rows(a, out, totals):
        for i in range(len(a)):
            total = 0.0
            for x in a[i]:
                total += x
            out[i] = total
            totals[i] = total  # of both classes

    text = graph(sums_of_rows, np.ones((2, 3)), np.ones(2), [0.0, 0.0])
    check(text, "CHECK: np.float64 = np::number", "CHECK-NOT: prim::type_is", "CHECK: np::setitem")
    text = graph(sums_of_rows, np.ones((2, 3)), np.ones(2, "f4"), [0.0, 0.0])
    check(text, "CHECK: prim::type_is", "CHECK-NOT: np::number")


def test_a_type_that_settles_when_the_data_says_so_is_asked_for_in_the_first_loop_only():
    text = graph(smallest, np.ones(4), 0.5)
    first, *second = text.split("prim::Loop")[1:]  # the second is in blocks
    assert "prim::type_is" in first
    assert "prim::type_is" not in "".join(second)


def rows_with(best, a):
    for i in range(len(a)):
        for x in a[i]:
            if x > best:
                best = x
    return best


def test_a_loop_is_written_without_tags_for_numbers_that_a_loop_around_made_numpys():
    for start, dtype in ((0, "i4"), (0, "u1"), (0.0, "f4"), (0, "f8")):
        text = graph(rows_with, start, np.ones((3, 4), dtype))
        numpys = f"np.{np.dtype(dtype)}"
        check(
            text,
            f"CHECK: prim::type_is[type={numpys}]",
            "CHECK: prim::If",
            f"CHECK: {numpys} = prim::Loop",
            "CHECK-NOT: prim::type_is",
            "CHECK-NOT: np::number",
            f"CHECK: Union[{type(start).__name__}, {numpys}] = prim::Region",
        )
        # the one around, that one, and two until the type settles; one in blocks is three
        assert text.count("prim::Loop") == 4 + 2 * text.count("checks='asked'")


def test_a_loop_whose_numbers_do_not_stay_numpys_is_written_for_both_classes():
    def largest_since(a):
        best = 0
        for i in range(len(a)):
            for x in a[i]:
                if x > best:
                    best = x
                elif x == 3:
                    best = 0
        return best

    text = graph(largest_since, np.ones((3, 4), "i4"))
    check(text, "CHECK: Union[int, np.int32] = prim::Loop", "CHECK: prim::Loop")
    assert text.count("prim::Loop") == 2


def test_items_of_tuples_settle_too():
    text = graph(pairs, np.ones(4))
    check(text, "CHECK: (int, int) = prim::Loop", "CHECK: (np.float64, int) = prim::Loop")


def test_an_index_of_either_class_is_one_without_a_branch():
    def gathered(a, places):
        total = 0.0
        for i in range(len(places)):
            place = places[i] if places[i] > 1 else 1  # an np.int64 or an int
            total += a[i, place]
            a[place, i] += 1.0
        return total

    text = graph(gathered, np.ones((4, 4)), np.array([0, 3, 1, 2]))
    check(
        text, "CHECK: np::number[type=np.int64]", "CHECK: np::setitem", "CHECK-NOT: prim::type_is"
    )
    assert "py::getitem" not in text


def test_a_condition_narrows_a_union_where_it_holds():
    text = graph(smallest, np.ones(4), 0.5)
    assert "Any" not in text


def test_a_tuple_takes_unions_as_they_are():
    text = graph(lambda xs, c: (sums(xs), sums(xs)), np.ones(4), True)
    check(text, "CHECK: (Union[int, np.float64], Union[int, np.float64]) = prim::TupleConstruct")


def test_a_known_condition_leaves_one_branch():
    compiled = ljit.jit(lambda x: x + 1 if x is None else x)
    assert "prim::If" not in str(compiled.graph_for(3))


def test_items_of_tuples_are_taken_at_compile_time():
    text = graph(items, (1, "x", 2.5))
    assert "prim::guard" not in text
    assert "float = py::add" in text


def test_a_list_item_is_guarded_with_the_observed_type():
    text = graph(sums, [1.5, 2.5])
    assert "View" not in text
    assert "float" in text


def test_code_that_never_ran_deoptimizes():
    assert "Deoptimize" in graph(missing, 1)


def test_each_effect_is_followed_by_a_snapshot():
    text = graph(logs, [1, 2], [])
    check(text, "CHECK: append", "CHECK-NEXT: prim::Snapshot[at='after:")


@pytest.mark.parametrize("function", [sums, logs, takes_branch])
def test_the_entry_has_a_snapshot(function):
    args = {sums: ([1],), logs: ([1], []), takes_branch: (True, 1)}[function]
    first = [line for line in graph(function, *args).splitlines() if "Constant" not in line][1]
    assert "prim::Snapshot[at='before:" in first


def test_a_variable_that_may_be_unbound_is_checked():
    text = graph(unbound, 3)
    assert "Union[Unbound, int]" in text


def sends(generator, n):
    next(generator)
    total = 0.0
    for i in range(n):
        total += generator.send(float(i))
    return total


def echo():
    x = yield
    while True:
        x = yield x


def test_a_method_of_a_generator_is_not_looked_up_in_front_of_its_arguments():
    f = ljit.jit(sends)
    for _ in range(3):
        assert f(echo(), 4) == 6.0
    ops = [node.op.name for node in f.graph_for(echo(), 4).walk()]
    assert "py::getattr" not in ops and "py::call_method" in ops


def test_characters_that_are_compared_and_handed_on_are_codes():
    text = graph(changes, "hello")
    check(text, "CHECK: char = prim::next", "CHECK: py::ne", "CHECK-NOT: : str = ")


def test_a_str_that_begins_as_a_character_and_grows_is_no_reason_for_two_loops():
    text = graph(without_blanks, "a b")
    check(text, "CHECK: str = prim::Loop", "CHECK: char = prim::next", "CHECK: str = py::iadd")
    assert text.count("prim::Loop") == 1


# -- attributes of dtypes ------------------------------------------------------------------------------


def sums_anew(x, begins):
    s = x.dtype.type(0)
    kind_of_item = x.dtype.type
    for i in range(x.size):
        if begins[i]:
            s = kind_of_item(0)
        s += x[i]
    return s, x.dtype.type(1), x.dtype.itemsize, x.dtype.kind, x.dtype.num, x.dtype.char


@pytest.mark.parametrize("dtype", "float32 float64 int8 uint64 complex64 float16".split())
def test_the_class_of_the_elements_is_known_where_the_dtype_is(dtype):
    x, begins = np.arange(6).astype(dtype), np.arange(6) == 3
    native = ljit.jit(sums_anew)
    assert "py::call" not in str(native.graph_for(x, begins))
    for _ in range(4):
        got, wanted = native(x, begins), sums_anew(x, begins)
        assert got == wanted
        assert list(map(type, got)) == list(map(type, wanted))


def test_names_of_the_fields_of_a_dtype_may_change():
    dtype = np.dtype([("a", "i4"), ("b", "f4")])
    f = ljit.jit(lambda: (dtype.names, dtype.kind, dtype.type))
    for names in (("a", "b"), ("c", "d"), ("e", "f")) * 2:
        dtype.names = names
        assert f() == (names, "V", np.void)


def tree(depth):
    return (tree(depth - 1), tree(depth - 1)) if depth > 0 else (None, None)


def test_tuples_of_objects_that_a_function_only_hands_on_are_not_taken_apart():
    compiled = ljit.jit(tree)
    compiled.__globals__["tree"], plain = compiled, tree
    try:
        compiled(6)
        check(
            str(compiled.graph_for(6)),
            "CHECK: Any = prim::If",
            "CHECK-NOT: prim::guard",
            "CHECK: prim::TupleConstruct",
        )
        assert compiled(6) == plain(6)
    finally:
        compiled.__globals__["tree"] = plain


def test_tuples_of_objects_whose_items_are_read_are_taken_apart():
    def swapped(pairs):
        for maker in pairs:
            first, second = maker()
        return second, first

    check(
        graph(swapped, [lambda: (print, 1), lambda: (2, "x")]),
        "CHECK: %maker",
        "CHECK: (Any, Any) = prim::guard",
        "CHECK: prim::Unpack",
    )


def test_functions_of_numpy_that_modules_import_by_name_are_known():
    def length(x):
        return norm(concatenate((x, x)))

    check(
        graph(length, np.arange(9.0)),
        "CHECK-NOT: py::call",
        "CHECK: np::concatenate",
        "CHECK-NOT: py::call",
        "CHECK: np::sqrt",
    )


def test_functions_of_numpy_that_are_arguments_and_items_are_known():
    def summed(x, where):
        medians = [reduce(x) for reduce in (np.median, np.mean)]
        return where(x > 0.5, x, medians[0])

    text = graph(summed, np.arange(99.0), np.where)
    assert all(name in text for name in ("prim::is_kind", "np::median", "np::select"))
