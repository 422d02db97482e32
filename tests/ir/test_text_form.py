"""Printer and parser: every kind of value and type reads back as what it was."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ljit.ops  # noqa: F401
from ljit.errors import ParseError
from ljit.ir import Graph, parse, parse_literal, parse_type, print_graph
from ljit.ir.literals import object_path, print_literal
from ljit.ops.control import BREAK, CONSTANT, LOOP, RETURN, YIELD
from ljit.source import Source, SourceRange
from ljit.types import INT, ObjectType, TupleType
from ljit.value_types import type_of

VALUES = [
    0,
    -7,
    2**63,
    -(2**400),
    10**5000,
    True,
    None,
    ...,
    1.5,
    -0.0,
    1e-300,
    1.7976931348623157e308,
    math.inf,
    -math.inf,
    math.nan,
    2 + 3j,
    complex(-0.0, -0.0),
    complex(math.nan, math.inf),
    "plain",
    'it\'s "quoted"\n\t\\ # not a comment   # f.py:1:2',
    "naïve ∑",
    b"bytes\x00\xff",
    (),
    (1,),
    (1, (2.5, "x"), None),
    slice(None),
    slice(1, None, -2),
    range(0, 10, 3),
    np.float64(0.1),
    np.float32(0.1),
    np.float16(0.5),
    np.int8(-128),
    np.uint64(2**64 - 1),
    np.bool(True),
    np.complex64(1 - 2j),
    np.complex128(complex(-0.0, math.inf)),
    np.dtype("float32"),
    math.sqrt,
    np.sqrt,
    np.linalg.norm,
    np,
    np.random,
    int,
    np.float64,
    len,
    TupleType,
]


@pytest.mark.parametrize("value", VALUES, ids=[str(i) for i in range(len(VALUES))])
def test_an_attribute_value_reads_back_as_itself(value):
    objects = []
    text = print_literal(value, objects)
    again = parse_literal(text, objects)
    assert type(again) is type(value)
    assert print_literal(again, objects) == text
    assert again == value or again != again or value is again
    if isinstance(value, float | complex | np.generic):
        assert np.asarray(again).tobytes() == np.asarray(value).tobytes() or value != value
    assert objects == []


def test_an_object_that_cannot_be_imported_goes_through_the_list():
    thing = object()
    objects = []
    assert print_literal((thing, 1, thing), objects) == "(<@0>, 1, <@0>)"
    assert parse_literal("<@0>", objects) is thing
    local = lambda x: x  # noqa: E731
    assert object_path(local) is None
    assert print_literal(local, objects) == "<@1>"


def test_a_path_that_leads_to_another_object_is_not_printed():
    class Imposter:
        __module__ = "math"
        __qualname__ = "sqrt"

    assert object_path(Imposter) is None


TYPES = [
    "Any",
    "Never",
    "Unbound",
    "None",
    "bool",
    "int",
    "float",
    "complex",
    "str",
    "range",
    "np.float64",
    "np.bool",
    "np.uint8",
    "np.complex64",
    "Float64(*)",
    "Float64()",
    "Int32(3, *)",
    "Bool(*, strided)",
    "Complex128(*, *, strided, readonly)",
    "()",
    "(int,)",
    "(int, (float, Float64(*)))",
    "List[(int,)]",
    "List[Never]",
    "slice[int, None, int]",
    "View[enumerate, Float64(*), int]",
    "View[zip, range, List[int]]",
    "Object[builtins.dict]",
    "Packed[d]",
    "List[Packed[h]]",
    "UnalignedFloat64(*, 2, strided)",
    "UnalignedInt16(*, strided, readonly)",
    """Records["[('x', '<f8'), ('p', '<i4', (2,))]"](*, 3, strided, readonly)""",
    """Record["[('at', [('x', '>f8'), ('c', '|S3')])]"]""",
    """(int, Record["{'names': ['x'], 'formats': ['<f4'], 'offsets': [4], 'itemsize': 16}", readonly])""",
    "Object[numpy.ufunc]",
    "Module[math]",
    "(List[Module[numpy.linalg]], int)",
    "Union[None, bool, float, int]",
    "Named[Object[sched.Event], float, int, int, None, (), (str,)]",
    "(int, Named[Object[sched.Event], Any])",
]


@pytest.mark.parametrize("text", TYPES)
def test_a_type_reads_back_as_itself(text):
    assert str(parse_type(text)) == text
    assert parse_type(text) == parse_type(str(parse_type(text)))


@pytest.mark.parametrize("value", [1, 2.5, (1, "x"), np.zeros((2, 3))[:, ::2], [1], slice(2)])
def test_the_type_of_a_value_reads_back(value):
    assert parse_type(str(type_of(value))) == type_of(value)


def test_a_local_class_is_found_among_the_objects():
    class Local:
        pass

    assert parse_type(str(ObjectType(Local)), [1, Local]) == ObjectType(Local)
    with pytest.raises(ParseError, match="cannot import"):
        parse_type(str(ObjectType(Local)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "flot",
        "Named[int, int]",
        "Float65(*)",
        "(int",
        "List[int, int]",
        "slice[int]",
        "np.nothing",
        "int x",
    ],
)
def test_a_bad_type_is_an_error(text):
    with pytest.raises((ParseError, ValueError)):
        parse_type(text)


def sample_graph():
    graph = Graph("f.<locals>.g")
    n = graph.block.add_param("n", INT)
    zero = graph.block.create(CONSTANT, attrs={"value": 0}).output
    place = SourceRange(Source("/somewhere/f.py", (), "f"), 3, 4, 3, 9)
    inlined = place.called_from(SourceRange(Source("<cell 1>", (), "g"), 7, 0, 7, 2))
    loop = graph.block.create(LOOP, [zero, n, n], outputs=[INT], range=inlined)
    loop.output.name = "s"
    body = loop.add_block([("k", INT), ("s", INT)])
    leave = body.create(BREAK, [body.params[1]])
    leave.target = loop
    after = loop.add_block([("s", INT)])
    after.create(YIELD, after.params)
    graph.block.create(RETURN, [loop.output], range=place)
    return graph


TEXT = """\
graph f.<locals>.g(%n : int):
  %0 : int = prim::Constant[value=0]()
  %s : int = prim::Loop(%0, %n, %n)   # f.py:3:4 <- <cell 1>:7:0
    block0(%k : int, %s.1 : int):
      prim::Break[depth=0](%s.1)
    block1(%s.2 : int):
      -> (%s.2)
  return (%s)   # f.py:3:4
"""


def test_a_graph_prints_in_the_form_of_the_docs():
    assert str(sample_graph()) == TEXT
    assert str(parse(TEXT)) == TEXT


def test_ranges_can_be_left_out():
    assert "f.py" not in print_graph(sample_graph(), ranges=False)


def test_hints_that_are_no_names_do_not_break_the_text():
    graph = sample_graph()
    for hint in ("", "x.1", "1", "a b", "%", "s.s", "日本"):
        graph.params[0].name = hint
        assert str(parse(str(graph))) == str(graph)


def test_text_written_by_hand_may_leave_out_types_and_have_remarks():
    graph = parse(
        """
        // a remark
        graph(%x : float):
            %y = py::add(%x, %x)   # what the author thought

            return (%y)
        """
    )
    assert [str(n.outputs[0].type) for n in graph.walk() if n.outputs] == ["float"]


def test_a_type_attribute_reads_back_as_a_type():
    text = """\
graph(%x : Any):
  %0 : None = prim::guard[type=None](%x)
  return (%0)
"""
    graph = parse(text)
    assert str(graph) == text
    (guard,) = (n for n in graph.walk() if "type" in n.attrs)
    assert str(guard.attrs["type"]) == "None"
    assert guard.attrs["type"] is not None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%y : int = py::nothing(%x)", "no op py::nothing"),
        ("%y : int = py::neg(%z)", "%z is not defined"),
        ("%x : int = py::neg(%x)", "%x is defined twice"),
        ("%y : int = py::neg(%x", "')' wanted"),
        ("%y : int = prim::Constant[value=]()", "not a type"),
        ("%y : int = prim::Constant[value=<@3>]()", "there is no object @3"),
        ("%y : int = prim::Constant[value=<no.such>]()", "cannot import"),
        ("prim::Break[depth=0](%x)", "only 0 Loops"),
        ("%y : in = py::neg(%x)", "'in' is not a type"),
        ("%y, %z = py::neg(%x)", "1 result"),
        ("%y : int = py::neg(%x) nonsense", "end of the line"),
        ("what is this", "op's name wanted"),
    ],
)
def test_malformed_text_is_an_error_with_its_line(line, message):
    text = f"graph(%x : int):\n  {line}\n  return (%x)\n"
    with pytest.raises(ParseError) as info:
        parse(text)
    assert info.value.line == 2
    assert message in str(info.value)


@pytest.mark.parametrize(
    "text", ["", "nothing", "graph", "graph(%x : int)", "graph(%x : int):\n x"]
)
def test_what_is_no_graph_is_an_error(text):
    with pytest.raises(ParseError):
        parse(text)
