"""The layout check passes here and notices wrong offsets."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from ljit.codegen.layouts import layout
from ljit.errors import InternalError


def test_check_passes_on_this_interpreter():
    layout.check.__wrapped__()


@pytest.mark.parametrize(
    "name", ["FLOAT_VALUE", "COMPLEX_IMAG", "TUPLE_ITEMS", "ARRAY_DATA", "ARRAY_FLAGS",
             "ARRAY_DESCR", "DESCR_TYPE_NUM", "DESCR_BYTEORDER", "SLICE_STEP", "RANGE_STOP",
             "CELL_CONTENT", "LONG_DIGIT", "SCALAR_VALUE"],
)  # fmt: skip
def test_check_notices_a_wrong_offset(monkeypatch, name):
    wrong = getattr(layout, name) + (1 if name == "DESCR_BYTEORDER" else 8)
    monkeypatch.setattr(layout, name, wrong)
    with pytest.raises(InternalError, match="unknown object layout"):
        layout.check.__wrapped__()


def test_places_in_the_table_of_numpys_c_api_are_those_of_its_header():
    from pathlib import Path

    header = (Path(np.get_include()) / "numpy" / "__multiarray_api.h").read_text()
    for name, index in layout._NUMPY_API.items():
        after = header[header.index(f"#define {name} \\") :]
        assert f"PyArray_API[{index}]" in after.split(")\n")[0] + after[:400], name
        assert after[: after.index("PyArray_API[")].count("#define") == 1, name


def test_numpy_functions_have_the_addresses_of_real_functions():
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_int, ctypes.c_void_p, ctypes.py_object, ctypes.c_int
    )(layout.numpy_function("PyArray_Zeros"))
    dtype = np.dtype(np.float32)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # stolen by the call
    shape = (ctypes.c_ssize_t * 2)(2, 3)
    made = make(2, ctypes.addressof(shape), dtype, 0)
    assert (made.shape, made.dtype, made.tolist()) == ((2, 3), dtype, [[0.0] * 3] * 2)


def test_each_change_of_a_dict_has_another_version():
    assert layout.has_dict_versions()
