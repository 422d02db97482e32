"""Numbers of trips that follow one another are sums, which addresses of elements are made of."""

import numpy as np

from ljit import jit
from ljit.codegen.llvm.address_sums import with_address_sums
from ljit.codegen.llvm.engine import compile_ir

SECOND_OF_FOUR = """
define i64 @f(ptr %p, i64 %i) {
  %first = shl i64 %i, 2
  %second = add i64 %first, 1
  %q = getelementptr inbounds i64, ptr %p, i64 %second
  store i64 %first, ptr %q
  ret i64 %second
}
"""


def test_an_or_of_other_bits_is_a_sum():
    line = "  %y = or disjoint i64 %x, 3\n"
    assert with_address_sums(line) == "  %y = add nuw nsw i64 %x, 3\n"
    assert with_address_sums("  %y = or i64 %x, 3\n") is None


def test_the_number_of_an_element_is_no_or():
    compiled = compile_ir(SECOND_OF_FOUR, "f")
    made = compiled.optimized_ir()
    assert "add nuw nsw i64" in made
    assert "or disjoint" not in made
    compiled.free()


def common(a, b):
    n, m = len(a), len(b)
    t = np.zeros((n + 1, m + 1), np.int64)
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                t[i + 1, j + 1] = t[i, j] + 1
            else:
                t[i + 1, j + 1] = max(t[i, j + 1], t[i + 1, j])
    return t[n, m]


def test_the_longest_common_subsequence_is_as_in_python():
    native = jit(common)
    random = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (30, 41), (8, 64)):
        a, b = random.integers(0, 4, n), random.integers(0, 4, m)
        for _ in range(2):
            assert native(a, b) == common(a, b)
