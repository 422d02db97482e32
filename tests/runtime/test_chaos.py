"""`ljit.testing.chaos`."""

import pytest

import ljit
from ljit.testing.chaos import fail_each_guard


def test_a_function_without_native_code_has_no_checks_to_fail():
    @ljit.jit
    def double(x):
        return x + x

    with pytest.raises(ValueError, match="double> has no native code"):
        list(fail_each_guard(double))
    for _ in range(2):
        double(1)
    assert list(fail_each_guard(double))
