"""Loops whose checks are made in front of them do what the program does, also where a check fails."""

import math

import numpy as np
import pytest

import ljit
import ljit.codegen
from ljit.testing.guarded import guarded_array

N = 10_000  # trips: several blocks


@pytest.fixture(params=[64, 32], autouse=True)
def vector_bytes(request, monkeypatch):
    """How long the machine's vectors are, for what the pass decides: the code runs on any."""
    monkeypatch.setattr(ljit.codegen, "vector_bytes", lambda: request.param)
    return request.param


def roots(x, out):
    for i in range(len(x)):
        out[i] = math.sqrt(x[i])


def whole_parts(x, out):
    for i in range(1, len(x)):
        out[i] = int(x[i] * 4.0) + math.floor(x[i])


def quotients(x, out):
    for i in range(len(x)):
        out[i] = 1.0 / float(x[i]) if i % 2 else x[i]


def quarters(x, out):
    for i in range(len(x)):
        k = round(abs(x[i]))
        if k == 0:
            out[i] += x[i] * x[i]
        elif k == 1:
            out[i] -= x[i]


def roots_of_what_was_stored(x, out):
    for i in range(len(x)):
        x[i] = x[i] - 0.5
        out[i] = math.sqrt(x[i] * x[i] * x[i])


def roots_in_place(x, out):
    for i in range(len(x)):
        x[i] = math.sqrt(x[i]) + out[i]


def rows(x, out):
    a, b = x.reshape(-1, 50), out.reshape(-1, 50)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = math.ceil(a[i, j]) + math.sqrt(a[i, j])


PROGRAMS = [roots, whole_parts, quotients, quarters, roots_of_what_was_stored, roots_in_place, rows]
DISTRIBUTED = [roots, whole_parts, quotients, quarters, roots_in_place, rows]
BAD = {whole_parts: math.nan, quotients: 0.0, quarters: math.nan, rows: math.nan}


def outcome(f, *args):
    """What a call gives or raises."""
    try:
        return f(*args)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        return type(error), str(error)


def compare(f, native, x, out):
    """Call both on arrays of their own, `out` maybe a part of the memory of `x`."""
    memory, shift = (None, 0) if isinstance(out, np.ndarray) else (x, out)
    seen = []
    for function in (f, native):
        a = x.copy()
        b = out.copy() if memory is None else a[shift:]
        a = a if memory is None else a[: len(b)]
        with np.errstate(all="ignore"):
            result = outcome(function, a, b)
        seen.append((result, a.tobytes(), b.tobytes()))
    assert seen[0] == seen[1]


def compiled(f, x, out):
    native = ljit.jit(f)
    for _ in range(3):
        compare(f, native, x, out)
    return native


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("bad", [-3.0, math.nan, 1e300])
def test_a_check_that_fails_somewhere_is_that_of_its_trip(f, bad):
    x = np.random.default_rng(3).random(N) + 0.5
    native = compiled(f, x, np.zeros(N))
    for place in (0, 31, 32, 70, N - 1):
        y = x.copy()
        y[place] = bad
        for _ in range(2):
            compare(f, native, y, np.ones(N))
    compare(f, native, x, np.ones(N))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shift", [0, 8, 50])
def test_checks_see_what_earlier_trips_have_stored(f, shift):
    x = np.random.default_rng(4).random(N) + 0.5
    native = compiled(f, x, np.zeros(N))
    for _ in range(3):
        compare(f, native, x, shift)
        compare(f, native, -x, shift)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_loop_of_checks_is_there_until_one_fails(f):
    x, out = np.random.default_rng(5).random(N) + 0.5, np.zeros(N)
    native = compiled(f, x, out)
    assert ("checks='made'" in str(native.graph_for(x, out))) == (f in DISTRIBUTED)
    bad = np.full(N, BAD.get(f, -1.0))
    for _ in range(4):
        compare(f, native, bad, out)
    assert "checks=" not in str(native.graph_for(x, out))


def test_arrays_of_any_length_have_all_their_trips():
    native = compiled(roots, np.ones(5), np.zeros(5))
    for n in (0, 1, 2, 31, 32, 33, 63, 64, 65, 4097):
        compare(roots, native, np.random.default_rng(n).random(n), np.zeros(n))


def blended(x, out, limit):
    for i in range(1, len(x)):
        out[i] = (int(x[i]) * 5 + int(x[i - 1])) >> 2


def chosen(x, out, limit):
    for i in range(len(x)):
        v = abs(int(x[i]) * 3 - 7)
        if v > limit:
            out[i] = 100
        elif i % 3:
            out[i] = v // 2
        else:
            out[i] = v if v % 2 else -v


def seldom(x, out, limit):
    for i in range(len(x)):
        if x[i] > limit:
            out[i] = int(x[i]) + limit


def truncated(x, out, limit):
    for i in range(len(x)):
        out[i] = x[i] * 1.5 + limit


def in_place(x, out, limit):
    for i in range(len(x)):
        x[i] = int(x[i]) + limit
        out[i] = 1


def nearest(x, out, limit):
    for i in range(len(x)):
        out[i] = min(100, max(-100, int(x[i] * 1.5))) + abs(int(x[i]) - limit)


STORES = [blended, chosen, seldom, truncated, in_place, nearest]


def stored(f, x, out, limit):
    """What a call gives or raises, and the arrays then."""
    x, out = x.copy(), out.copy()
    with np.errstate(all="ignore"):
        result = outcome(f, x, out, limit)
    return result, x.tobytes(), out.tobytes()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
@pytest.mark.parametrize("f", STORES, ids=lambda f: f.__name__)
def test_numbers_that_do_not_fit_are_found_in_front_of_their_stores(f, dtype, vector_bytes):
    x, out = np.random.default_rng(6).integers(0, 40, N).astype(dtype), np.ones(N, dtype)
    native = ljit.jit(f)
    for _ in range(3):
        assert stored(f, x, out, 30) == stored(native, x, out, 30)
    if f is not chosen:  # of which a test of the limit in front of the loop says that all fits
        is_short = (
            f is seldom and dtype != np.int32
        )  # only long vectors have a mask for such elements
        is_made = "checks='made'" in str(native.graph_for(x, out, 30))
        assert is_made == (not is_short or vector_bytes == 64)
    most = np.iinfo(dtype).max
    for place in (0, 31, 32, 70, N - 1):
        for limit in (30, most, most + 1):
            y = x.copy()
            y[place] = most
            for _ in range(2):
                assert stored(f, y, out, limit) == stored(native, y, out, limit)


def test_a_store_whose_test_in_front_failed_for_its_limit_is_still_checked_in_front():
    x, out = np.random.default_rng(7).integers(0, 60, N).astype(np.uint8), np.zeros(N, np.uint8)
    native = ljit.jit(chosen)
    for _ in range(4):
        assert stored(chosen, x % 40, out, 300) == stored(native, x % 40, out, 300)
    assert "checks='made'" in str(native.graph_for(x, out, 300))


def down_a_column(x, out):
    for i in range(len(x)):
        out[i, 1] = int(x[i]) * 3


def test_columns_of_which_there_are_no_vectors_keep_their_checks():
    x, out = np.arange(50, dtype=np.int32), np.zeros((50, 3), np.int32)
    native = ljit.jit(down_a_column)
    for _ in range(3):
        native(x, out)
    assert out[:, 1].tolist() == (x * 3).tolist()
    assert "checks='made'" not in str(native.graph_for(x, out))


def looked_up(p, table, out):
    for i in range(len(p)):
        x = int(p[i])
        out[i] = int(table[(x * x) >> 58] * 16.0)


def looked_up_where_a_product_is_small(p, table, out):
    for i in range(len(p)):
        x = int(p[i])
        if 0 <= x * 3 < 64:
            out[i] = int(table[x] * 16.0)


def roots_of_a_table(p, table, out):
    for i in range(len(p)):
        out[i] = math.sqrt(table[p[i] & 63])


def test_short_vectors_are_not_put_together_of_what_is_looked_up(vector_bytes):
    p, table, out = np.arange(N), np.arange(64.0), np.zeros(N)
    native = ljit.jit(roots_of_a_table)
    for _ in range(3):
        native(p, table, out)
    assert out[:130].tolist() == [math.sqrt(i & 63) for i in range(130)]
    assert ("checks='made'" in str(native.graph_for(p, table, out))) == (vector_bytes == 64)


WRONG = (
    3_100_000_000,
    0xAAAAAAAAAAAAAAAB - 2**64,
)  # a square and three times it are small in 64 bits


@pytest.mark.parametrize(
    "f", [looked_up, looked_up_where_a_product_is_small], ids=lambda f: f.__name__
)
def test_nothing_is_read_at_a_place_that_a_check_which_fails_has_let_pass(f):
    p, table = np.arange(N), guarded_array(32, at="start")
    native = ljit.jit(f)
    for _ in range(3):
        native(p[:100], table, np.zeros(N, np.int64))
    native.dump_asm()  # what is optimised from now on
    for wrong in (0, *WRONG):
        p[N - 3] = wrong
        seen = []
        for function in (f, native):
            out = np.zeros(N, np.int64)
            try:
                result = function(p, table, out)
            except IndexError as error:
                result = str(error)
            seen.append((result, out.tobytes()))
        assert seen[0] == seen[1]


def product(p, q, out):
    for i in range(len(p)):
        out[i] = int(p[i]) * int(q[i])


def halved_product(p, q, out):
    for i in range(len(p)):
        if q[i] != 7:
            out[i] = (int(p[i]) * int(q[i])) >> 1


def total(p, q, out):
    for i in range(len(p)):
        out[i] = (int(p[i]) + int(q[i])) // 4


def difference(p, q, out):
    for i in range(len(p)):
        out[i] = (-int(p[i]) - int(q[i])) & 255


@pytest.mark.parametrize(
    "f", [product, halved_product, total, difference], ids=lambda f: f.__name__
)
def test_ints_that_do_not_fit_are_found_in_front_of_the_loop(f, vector_bytes):
    p, q = np.random.default_rng(7).integers(-(2**31), 2**31, (2, N))
    native = ljit.jit(f)
    for _ in range(3):
        native(p, q, np.zeros(N, np.int64))
    multiplies = f in (product, halved_product)  # for which only long vectors have an instruction
    is_made = "checks='made'" in str(native.graph_for(p, q, np.zeros(N, np.int64)))
    assert is_made == (not multiplies or vector_bytes == 64)
    for place in (0, 31, 32, 70, N - 1):
        for wrong in (2**63 - 1, -(2**63)):
            wide = np.array([p, q])
            wide[:, place] = wrong
            seen = []
            for function in (f, native):
                out = np.zeros(N, np.int64)
                seen.append((outcome(function, *wide, out), out.tobytes()))
            assert seen[0] == seen[1]


def cells(p, out):
    for i in range(len(p)):
        left = p[i - 1] if i > 0 else 0
        out[i] = (110 >> (4 * left + 2 * p[i])) & 1


def test_numbers_that_are_zero_beyond_an_edge_may_be_multiplied_and_shift():
    p, out = np.random.default_rng(8).integers(0, 2, N), np.zeros(N, np.int64)
    native = compiled(cells, p, out)
    assert "checks='made'" in str(native.graph_for(p, out))
    for place, wrong in ((0, 2**61), (4095, 2**62), (N - 2, -1), (N - 1, -(2**63))):
        p[place] = wrong
        compare(cells, native, p, out)


def set_bits(p, out):
    for i in range(len(p)):
        x = int(p[i])
        x = x - ((x >> 1) & 0x5555555555555555)
        x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
        x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
        out[i] = (x * 0x0101010101010101 & 0xFFFFFFFFFFFFFFFF) >> 56


def test_masks_of_wide_products_are_no_checks():
    p = np.random.default_rng(8).integers(0, 2**62, 1000)
    native = compiled(set_bits, p, np.zeros(1000, np.int64))
    assert "checks='made'" in str(native.graph_for(p, np.zeros(1000, np.int64)))
    for first in (-(2**63), -1, 2**63 - 1):
        p[500] = first
        compare(set_bits, native, p, np.zeros(1000, np.int64))


def whole(x, out):
    for i in range(len(x)):
        out[i] = int(x[i])


@pytest.mark.parametrize("edge", [2.0**63, -(2.0**63), math.nan, math.inf, -(2.0**63) - 2048])
def test_floats_at_the_ends_of_int64_are_stored_or_raise(edge):
    x = np.random.default_rng(9).random(100) * 1e18
    native = compiled(whole, x, np.zeros(100, np.int64))
    for number in (math.nextafter(edge, 0.0), edge):
        y = x.copy()
        y[40] = number
        compare(whole, native, y, np.zeros(100, np.int64))


def test_what_both_loops_need_is_computed_once(vector_bytes):
    x, out = np.ones(100), np.zeros(100, np.int64)
    native = compiled(whole, x, out)
    made = native.dump_asm().count("vcvttpd2qq")
    # vectors of eight, of 32 or 16 trips and of the last ones; 0: no AVX-512
    assert made in (0, vector_bytes // 8)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("edge", [2.0**31, -(2.0**31), 2.0**31 - 1.0, 65504.0, math.inf, math.nan])
def test_floats_at_the_ends_of_int32_are_stored_or_raise(dtype, edge):
    x = (np.random.default_rng(9).random(100) * 1e4).astype(dtype)
    native = compiled(whole, x, np.zeros(100, np.int64))
    native.dump_asm()
    for place in (40, 99):
        y = x.copy()
        with np.errstate(all="ignore"):
            y[place] = edge
        compare(whole, native, y, np.zeros(100, np.int64))
