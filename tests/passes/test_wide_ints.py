"""Ints in [0, 2**64) stay native, wherever they come from, and are checked only where their high bits count."""

import numpy as np
import pytest

import ljit
from ljit.types import ANY, INT, UINT, ListType, TupleType, join
from ljit.value_types import type_of
from tests.programs.wide_ints import MASK, TOP, xorshift


def mixed(x, n):
    for _ in range(n):
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 + 1) % 2**64
    return x


def lowest_bits(x, n):
    for _ in range(n):
        x ^= x & -x
        x &= ~(x << 1) | 2**63
    return x


def of_items(items):
    total = 0
    for x in items:
        total ^= x * 3 & MASK
    return total


def chosen(x, n):
    y = 0
    for i in range(n):
        y = x if i & 1 else i
        if y > 2**63:
            return y
    return y


CALLS = [
    *((f, (x, 50)) for f in (xorshift, mixed, lowest_bits, chosen) for x in (1, TOP, MASK)),
    (of_items, ([5, TOP, MASK],)),
]


@pytest.mark.parametrize(("function", "args"), CALLS)
def test_they_do_not_leave_native_code(function, args):
    native = ljit.jit(function)
    for _ in range(6):
        assert native(*args) == function(*args)
    assert [s.bailouts for s in native.specializations] == [0]
    assert native.specializations[0].state.startswith("native")


def wrapping(function, *args):
    lines = str(ljit.jit(function).graph_for(*args)).splitlines()
    found = [line for line in lines if "wide::" in line and "from_int" not in line]
    checked = ("wide::mul(", "wide::add(", "wide::sub(", "wide::neg(", "wide::invert(")
    return [line for line in found if any(op in line for op in checked)]


@pytest.mark.parametrize("function", [xorshift, mixed, lowest_bits])
def test_what_a_mask_is_taken_of_is_not_checked(function):
    assert wrapping(function, 1, 9) == []


def two_readers(x, y):
    p = x * y
    return p & MASK, p


def mask_of_unknown_size(x, y):
    return (x * 3) & (y + 2**63)


def two_products(x, y):
    return (x * 3) & (y * 5)


def test_what_others_read_is_checked():
    assert len(wrapping(two_readers, TOP, 9)) == 1
    assert (
        len(wrapping(mask_of_unknown_size, TOP, TOP)) == 1
    )  # the sum: the product is masked by it
    assert len(wrapping(two_products, TOP, TOP)) == 1  # either of them


@pytest.mark.parametrize("function", [two_readers, mask_of_unknown_size, two_products])
def test_checked_numbers_are_exact(function):
    native = ljit.jit(function)
    for x in (1, TOP - 1, TOP, MASK):
        for y in (0, 1, 2, TOP - 1, TOP, MASK, -1, 2**64):
            assert native(x, y) == function(x, y)


def masked_by_negatives(x):
    return (x * 5) & -8, -3 & (x * x), -x & -8, (x + x) & -(2**63)


def masked_twice(x, mask, n):
    bits = 0
    for i in range(n):
        bits ^= x & mask
        bits ^= (x * 3 + i) & mask
    return bits


def without_a_bit(x, place):
    return x & ~(1 << place), ~(1 << place) & x


@pytest.mark.parametrize("first", [3, TOP, MASK])
def test_negative_masks_keep_what_is_beyond_64_bits(first):
    one, twice, without = map(ljit.jit, (masked_by_negatives, masked_twice, without_a_bit))
    for x in (first, first, 3, TOP - 1, TOP, MASK, -5):
        assert one(x) == masked_by_negatives(x)
        for mask in (7, -8, -TOP, TOP):
            assert twice(x, mask, 4) == masked_twice(x, mask, 4)
        for place in (0, 62, 63, 64):
            assert without(x, place) == without_a_bit(x, place)


def grows(x, n):
    total = 0
    for i in range(n):
        total ^= 1 << (i & 63)
        total += (x + i) * (x - i) & 7
    return total


def test_sums_beyond_int64_are_native_in_the_next_compile():
    native = ljit.jit(grows)
    for _ in range(12):
        assert native(2**32, 200) == grows(2**32, 200)
    (info,) = native.specializations
    before = info.bailouts
    for _ in range(5):
        assert native(2**32, 200) == grows(2**32, 200)
    assert native.specializations[0].bailouts == before
    assert " : Any" not in str(native.graph_for(2**32, 200))


def factorial(n):
    product = 1
    for i in range(2, n + 1):
        product *= i
    return product


def sums_and_products(n):
    a, b, t = 1, 1, 0
    for i in range(1, n):
        a, b = a * i + b, a + b * 3
        t += a * b - i
    return a, b, t


def catalan(n):
    c = [1] + [0] * n
    for i in range(1, n + 1):
        total = 0
        for j in range(i):
            total += c[j] * c[i - 1 - j]
        c[i] = total
    return c[n] + c[-2] + c[n - 3]


def signed(n):
    x = 1
    for i in range(n):
        x = x * -3 + i
    return x


@pytest.mark.parametrize("function", [factorial, sums_and_products, signed])
def test_what_outgrows_uints_is_of_objects_in_the_next_compile(function):
    native = ljit.jit(function)
    for _ in range(12):
        assert native(60) == function(60)
    (info,) = native.specializations
    assert info.compiles == 2


def test_items_that_outgrow_int64_are_of_objects_wherever_they_are_read():
    native = ljit.jit(catalan)
    for _ in range(12):
        assert native(60) == catalan(60)
    # the profile looks at 64 ints of a place: native code finds out that they outgrow, place by place
    assert native.specializations[0].compiles <= 4


def test_a_mask_keeps_what_is_long_native():
    def masked(x, y, n):
        for i in range(n):
            x = (x * y + (x << 7)) & MASK
            y = (y * 5 + i) % 2**31
        return x, y

    native = ljit.jit(masked)
    for _ in range(12):
        assert native(2**31, 2**30, 50) == masked(2**31, 2**30, 50)
    assert native.specializations[0].state.startswith("native")
    assert " : Any" not in str(native.graph_for(2**31, 2**30, 50))


def test_each_number_of_digits_is_read():
    native = ljit.jit(of_items)
    numbers = [x for k in range(65) for x in (2**k - 1, 2**k, 2**k + 1) if x <= MASK]
    for x in numbers:
        assert native([TOP, x]) == of_items([TOP, x])
    for x in (-1, -TOP, 2**64, 2**90, -(2**64), 2**89):
        assert native([TOP, x]) == of_items([TOP, x])


def test_ints_beyond_int64_have_a_type_of_their_own():
    assert [type_of(x) for x in (TOP - 1, TOP, MASK, MASK + 1, -TOP, -TOP - 1)] == [
        *(INT, UINT, UINT, ANY, INT, ANY)
    ]
    assert str(join(INT, UINT)) == "Union[int, uint]"
    assert type_of([1, TOP]) == ListType(UINT)
    assert type_of((1, TOP)) == TupleType((INT, UINT))
    assert join(ListType(INT), ListType(UINT)) == ListType(UINT)


def counted_bits(x):
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


def test_a_loop_that_takes_one_bit_in_each_trip_has_few():
    assert "most_trips=65" in str(ljit.jit(counted_bits).graph_for(TOP))
    native = ljit.jit(counted_bits)
    for x in (0, 1, TOP - 1, TOP, MASK) * 3:
        assert native(x) == counted_bits(x)


def bits_taken_by_xor(x):
    count = 0
    while x != 0:
        bit = x & -x
        x ^= bit
        count += 1
    return count


def bits_taken_by_difference(x):
    count = 0
    while x:
        x -= -x & x
        count += 1
    return count


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (bits_taken_by_xor, (0, 1, 6, 2**62 + 5)),
        (bits_taken_by_difference, (0, 1, 6, 2**62 + 5)),
        (bits_taken_by_difference, (TOP - 1, TOP, MASK)),
    ],
)
def test_a_loop_that_takes_the_lowest_bit_in_other_words_has_few_trips(function, numbers):
    assert "most_trips=65" in str(ljit.jit(function).graph_for(numbers[-1]))
    native = ljit.jit(function)
    for x in numbers * 3:
        assert native(x) == function(x)


def takes_perhaps_another_bit(x, y):
    n = 0
    while x:
        x ^= x & -y
        n += 1
        if n == 100:
            break
    return n


def test_a_loop_that_takes_another_bit_is_not_known_to_have_few_trips():
    f = ljit.jit(takes_perhaps_another_bit)
    assert "most_trips=65" not in str(f.graph_for(6, 2))
    for _ in range(4):
        assert [f(6, 2), f(6, 8), f(12, 4)] == [
            takes_perhaps_another_bit(*a) for a in ((6, 2), (6, 8), (12, 4))
        ]


def stored(a, x):
    for i in range(len(a)):
        x = (x * 6364136223846793005 + 1) & MASK
        a[i] = x
    return a, x


def test_they_are_stored_in_arrays_of_uint64():
    native = ljit.jit(stored)
    for _ in range(6):
        made, expected = (f(np.zeros(50, np.uint64), 1) for f in (native, stored))
        assert repr(made) == repr(expected)
    assert [s.bailouts for s in native.specializations] == [0]


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint8])
def test_other_arrays_take_or_refuse_them_as_numpy_does(dtype):
    native = ljit.jit(stored)
    for _ in range(4):
        outcomes = []
        for f in (native, stored):
            try:
                outcomes.append(repr(f(np.zeros(50, dtype), 1)))
            except OverflowError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def perhaps_no_bits(x, y):
    n = 0
    while x:
        x &= x - (1 & y)
        n += 1
        if n == 100:
            break
    return n


def test_a_loop_that_may_take_no_bit_is_not_known_to_have_few_trips():
    f = ljit.jit(perhaps_no_bits)
    assert "most_trips=65" not in str(f.graph_for(TOP, TOP))
    for _ in range(4):
        assert [f(TOP, TOP), f(TOP, TOP + 1), f(TOP + 3, TOP + 1)] == [100, 1, 3]


def sums_of_two_lists(words, n):
    w = list(words) + [0] * n
    for i in range(len(words), len(w)):
        w[i] = (w[i - 1] * 5 + (w[i - 2] >> 7) + (w[i - 3] << 9)) & MASK
    return w


def state_in_a_list(x, n):
    s = [0] * 5 + [x, 7]
    t = [1, 2, 3, 4]
    for i in range(n):
        s[i % 7] ^= (s[(i + 5) % 7] * 6364136223846793005 + i) & MASK
        t[i & 3] = s[i % 7] ^ (t[(i + 1) & 3] << 5 & MASK)
        t.append(i)
        t.pop()
    return t[0] ^ t[1] ^ t[2] ^ t[3], s


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (sums_of_two_lists, ([1, 2, TOP], 50)),
        (state_in_a_list, (5, 60)),
        (state_in_a_list, (TOP, 60)),
    ],
)
def test_lists_of_them_are_native(function, args):
    native = ljit.jit(function)
    for _ in range(6):
        assert native(*args) == function(*args)
    (info,) = native.specializations
    assert (info.compiles, info.bailouts) == (1, 0)


def test_lists_that_nobody_else_sees_hold_them_unboxed():
    assert "PrivateList[uint]" in str(profiled(state_in_a_list, TOP, 60).graph_for(TOP, 60))


def profiled(function, *args):
    native = ljit.jit(function)
    assert native(*args) == function(*args)
    return native


def with_a_negative_item(x, n, last):
    a = [0] * 3
    for i in range(n):
        a[i % 3] ^= x ^ i
    a[1] = last
    return a[0] + a[1], a


def test_negative_items_of_such_lists_leave_native_code_a_few_times():
    native = ljit.jit(with_a_negative_item)
    for last in (0, TOP, MASK, *[-1] * 9, -TOP, MASK + 1, 2.5, True):
        given = TOP + 5, 30, last
        assert repr(native(*given)) == repr(with_a_negative_item(*given))
    native = ljit.jit(with_a_negative_item)
    native(TOP, 30, 7)
    for k in range(12):
        assert native(TOP, 30, 7 - k) == with_a_negative_item(TOP, 30, 7 - k)
    assert max(info.bailouts for info in native.specializations) <= 4


def remainder_of_product(a, b, c, m):
    return (a * b + c) % m


def halves_of_product(a, b, c, d):
    p = a * b + c
    return (p >> 64) ^ (p & MASK), (a + b + d) >> 64, p & 0xFF


def product_that_is_seen(a, b, c, m):
    p = a * b + c
    q = p % m
    items = [q]
    items.append(p >> 64)
    return items, p


def power(b, e, m):
    r = 1
    b %= m
    while e:
        if e & 1:
            r = r * b % m
        b = b * b % m
        e >>= 1
    return r


LARGE = (MASK, 2**64 - 59, TOP + 12345, TOP, 2**33 - 1, 1000003, 3, 1)


@pytest.mark.parametrize(
    "function", [remainder_of_product, halves_of_product, product_that_is_seen]
)
def test_products_of_128_bits_are_exact(function):
    native = ljit.jit(function)
    for k in range(6):
        assert native(MASK - k, TOP + 5, MASK, TOP - 25) == function(
            MASK - k, TOP + 5, MASK, TOP - 25
        )
    for a in LARGE:
        for b in LARGE:
            for c, m in zip(LARGE, reversed(LARGE), strict=True):
                assert native(a, b, c, m) == function(a, b, c, m)
                assert native(a, b, m, c) == function(a, b, m, c)
    for odd in (
        (-3, MASK, 5, 7),
        (MASK, MASK, -MASK, 9),
        (2**70, 3, 5, 7),
        (MASK, MASK, 5, -7),
        (MASK, 2.5, 1, 3),
    ):
        outcomes = []
        for f in (native, function):
            try:
                outcomes.append(repr(f(*odd)))
            except TypeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
    if function is not halves_of_product:
        with pytest.raises(ZeroDivisionError, match="modulo by zero|division by zero"):
            native(MASK, MASK, 5, 0)


def test_remainders_and_halves_of_products_need_no_objects():
    for function, args in (
        (power, (3, MASK, 2**64 - 59)),
        (remainder_of_product, (MASK, MASK - 1, 5, TOP + 9)),
        (halves_of_product, (MASK, MASK - 1, 5, TOP + 9)),
    ):
        native = ljit.jit(function)
        for _ in range(12):
            assert native(*args) == function(*args)
        text = str(native.graph_for(*args))
        assert "wide::product_" in text
        assert " : Any" not in text


def test_products_with_negative_factors_are_of_objects_in_the_next_compile():
    native = ljit.jit(remainder_of_product)
    for k in range(20):
        sign = -1 if k > 8 else 1
        args = MASK - k, sign * (MASK - 1), 5, TOP + 9
        assert native(*args) == remainder_of_product(*args)
    assert max(info.bailouts for info in native.specializations) <= 4


def extremes(words, k):
    low, high = words[0], 0
    for w in words:
        low = min(low, w)
        high = max(high, w)
    return low, high ^ (k & 1), min(words), max(words)


def test_extremes_are_native():
    native = ljit.jit(extremes)
    args = [TOP + 5, TOP, MASK, 7, TOP + 1], 3
    for _ in range(6):
        assert native(*args) == extremes(*args)
    (info,) = native.specializations
    assert (info.compiles, info.bailouts) == (1, 0)
    assert "calls Python" not in native.explain()
    others = (
        ([TOP, -1, MASK], 3),
        ([TOP, 2**64, MASK], 3),
        ([TOP, 1, MASK], -3),
        ([MASK], TOP),
        ([TOP, 2.5], 1),
    )
    for args in (*others, ([5, 6], 1), ([-1, -2], -3), ([MASK, -5], -3), ([True, TOP], 0)):
        for _ in range(4):
            assert repr(native(*args)) == repr(extremes(*args))
    with pytest.raises(IndexError):
        native([], TOP)
