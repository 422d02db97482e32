"""What CPython's C functions do at once is what the Python functions do: values, errors, references."""

import gc
import sys
from functools import partial

import numpy as np
import pytest

from ljit.codegen.objects.c_api import C_FUNCTIONS, DISPLAYS
from ljit.ir import REGISTRY
from ljit.types import ANY
from tests.codegen.harness import Compiled
from tests.ops.python_harness import attempt, compile_op

OPS = [op for op in REGISTRY.values() if op.evaluate in {**C_FUNCTIONS, **DISPLAYS}]
METHODS = (
    ("abc", "upper", ()),
    ("a,b", "split", (",",)),
    ("abc", "find", ("c",)),
    ("abc", "find", ("c", 0, "wrong")),
    ("abc", "upper", ("too many",)),
    ([3, 1, 2], "sort", ()),
    ([3, "x", 2], "sort", ()),
    ([3, 1, 2], "index", (1,)),
    ([3, 1, 2], "index", (7,)),
    ([3, 1, 2], "insert", (1, 7.5)),
    ([3, 1, 2], "missing", ()),
    ([3, 1, 2], "extend", ((1.5, None),)),
)
TYPES = {str: "str", int: "int", list: "List[Any]", float: "float", tuple: "(float, None)"}


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_c_function_does_what_its_op_evaluates(op):
    """`attempt` works on copies of its operands and compares them afterwards too."""
    compiled = {}
    for operands in op.operand_samples():
        count = len(operands)
        if count not in compiled:
            compiled[count] = compile_op(op, (ANY,) * count)
        expected = attempt(op.evaluate, operands)
        assert attempt(compiled[count], operands).text == expected.text, operands


@pytest.mark.parametrize(("x", "name", "args"), METHODS)
def test_a_method_of_a_built_in_class_is_called_by_its_c_function(x, name, args):
    operands = (x, *args)
    names = [f"%x{i}" for i in range(len(operands))]
    params = ", ".join(f"{n} : {TYPES[type(v)]}" for n, v in zip(names, operands, strict=True))
    f = Compiled(f"""
graph({params}):
  prim::Snapshot[at='before:0', names=('x0',)](%x0)
  %r : Any = py::call_method[name={name!r}, kwnames=()]({", ".join(names)})
  %t : Any = prim::TupleConstruct(%r, %x0)
  return (%t)
""")
    expected = attempt(lambda x, *args: (getattr(x, name)(*args), x), operands)
    assert attempt(f, operands).text == expected.text


TRANSPOSED = np.asfortranarray(np.arange(6.0).reshape(2, 3))
HALVES = TRANSPOSED.astype(np.float16)
ARRAY_OPS = (
    ("np::argmin", "", TRANSPOSED, ()),
    ("np::argmin", "", TRANSPOSED[:0], ()),
    ("np::sum", "[axis=0, keepdims=True]", HALVES, ()),
    ("np::cumsum", "", HALVES, ()),
    ("np::nonzero", "", HALVES, ()),
    ("np::searchsorted", "[side='right']", HALVES[0], (1,)),
    ("np::swapaxes", "", TRANSPOSED, (0, 1)),
    ("np::clip", "", TRANSPOSED, (1, 3)),
)


@pytest.mark.parametrize(("name", "attrs", "array", "args"), ARRAY_OPS)
def test_numpys_functions_of_arrays_are_called_as_methods(name, attrs, array, args):
    """They come to C code at once: no function of NumPy's that is written in Python runs."""
    sizes = ", ".join("*" * array.ndim)
    params = [f"%a : {array.dtype.name.title()}({sizes}, strided)", *(f"%x{i} : int" for i in args)]
    operands = ["%a", *(f"%x{i}" for i in args)]
    f = Compiled(f"""
graph({", ".join(params)}):
  prim::Snapshot[at='before:0', names=('a',)](%a)
  %r : Any = {name}{attrs}({", ".join(operands)})
  return (%r)
""")
    evaluate = partial(REGISTRY[name].evaluate, **eval(f"dict({attrs[1:-1]})"))
    expected = attempt(evaluate, (array, *args))
    files = []
    sys.setprofile(lambda frame, *_: files.append(frame.f_code.co_filename))
    try:
        found = attempt(f, (array, *args))
    finally:
        sys.setprofile(None)
    assert found.text == expected.text
    assert not [x for x in files if x.endswith("fromnumeric.py")]


def test_an_error_behind_several_calls_leaks_nothing():
    f = Compiled("""
graph(%x : Any, %y : Any, %s : str):
  prim::Snapshot[at='before:0', names=('x', 'y', 's')](%x, %y, %s)
  %a : Any = py::add(%x, %y)
  %b : Any = py::getitem(%a, %y)
  %c : bool = py::contains(%b, %x)
  %p : Any = py::call_method[name='split', kwnames=()](%s, %s)
  %t : Any = prim::TupleConstruct(%a, %b, %c, %p)
  return (%t)
""")
    x, y, s = [object()], [object()], "separator"

    def counts():
        gc.collect()
        return [sys.getrefcount(v) for v in (x, y, s, x[0])]

    before = counts()
    for _ in range(50):
        with pytest.raises(TypeError):
            f(x, y, s)
    assert counts() == before
