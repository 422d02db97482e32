"""Every declared op, on its own samples: types, effects, lowering and machine code agree with `evaluate`."""

import copy
import functools
import inspect
import itertools
from importlib import import_module

import numpy as np
import pytest

from ljit.characters import constant_type
from ljit.ir import REGISTRY, UNKNOWN, Effect, Graph
from ljit.ops.control import RETURN
from ljit.passes.decompose_ops import decompose_ops
from ljit.passes.specializing.requests import ways_of_giving
from ljit.testing.scalar_emitter import Bailed
from ljit.types import ANY, INT, NEVER, join
from ljit.value_types import type_of
from tests.ops.python_harness import (
    NativeBailed,
    attempt,
    compile_op,
    fits,
    is_native_type,
    run_lowering,
)

OPS = list(REGISTRY.values())
DECOMPOSED = [op for op in OPS if op.decompose is not None and op.infer is not None]
AXES = ({}, {"axis": 0}, {"axis": -1}, {"axis": -1, "keepdims": True})
SAMPLED = [op for op in OPS if op.operand_samples() and op.evaluate is not None]
PYTHON = [op for op in SAMPLED if not op.name.startswith("np::")]


def by_name(op):
    return op.name


def effects_of(op, types):
    return op.effects if isinstance(op.effects, Effect) else op.effects(*types)


def by_types(op):
    """Samples grouped by operand types."""
    groups = {}
    for operands in op.operand_samples():
        groups.setdefault(tuple(map(type_of, operands)), []).append(operands)
    return groups


@pytest.mark.parametrize("op", OPS, ids=by_name)
def test_a_declaration_is_complete(op):
    assert op.doc.strip()
    assert set(op.schema.defaults) <= {*op.schema.positional, *op.schema.keyword_only}
    assert not op.callables or op.evaluate is not None
    needs_attributes = set(op.schema.keyword_only) - set(op.schema.defaults)
    can_be_called = op.callables and not needs_attributes
    assert not can_be_called or op.operand_samples(), "an op that users can call needs samples"
    assert op.lower is None or op.evaluate is not None
    assert op.numpy is None or op.numpy in REGISTRY
    if op.array_method is not None and op.evaluate in op.callables:  # it may be called instead
        assert op.array_method == op.evaluate.__name__


def parameters_of(function):
    """The parameters of a function, as Python knows them; None if nobody can tell."""
    if isinstance(
        function, np.ufunc
    ):  # they take their operands by position, which NumPy 2.4 does not say
        return ufunc_parameters(function)
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None


def ufunc_parameters(function):
    operands = (
        ["a", "min", "max"]
        if function.__name__ == "clip"
        else [f"x{k}" for k in range(function.nin)]
    )
    by_position = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in operands]
    out = inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [*by_position, out, inspect.Parameter("where", inspect.Parameter.KEYWORD_ONLY)]


CALLED = [op for op in OPS if op.callables and op.schema.variadic is None]


@pytest.mark.parametrize("op", CALLED, ids=by_name)
def test_arguments_by_position_are_python_s(op):
    """What Python takes by name only, or as another parameter, no op takes by position."""
    schema = op.schema
    taken = (*schema.positional, *schema.keyword_only)
    order, names_too = ways_of_giving(op)
    for function in op.callables:
        found = parameters_of(function)
        if found is None or any(p.kind is p.VAR_POSITIONAL for p in found):
            continue
        if op.name == "np::arange":  # its signature leaves out what it takes
            continue
        names = [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        assert len([x for x in order if x in taken]) <= len(names)
        for own, name in zip(order[1:], names[1:], strict=False):
            assert own == name or own not in names_too or own not in taken


@pytest.mark.parametrize("op", CALLED, ids=by_name)
def test_arguments_by_name_are_python_s(op):
    """No op takes by name what Python does not: ``np.sqrt(x=a)`` raises."""
    for function in op.callables:
        found = parameters_of(function)
        if found is None or any(p.kind is p.VAR_KEYWORD for p in found):
            continue
        names = {p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        assert ways_of_giving(op)[1] <= names, function


def functions_of_members(op):
    """The functions that an op is of classes and of a library, each with a first argument."""
    samples = [operands[0] for operands in op.operand_samples() if operands]
    for path in op.library:
        module, *names = path.split(".")
        yield functools.reduce(getattr, names, import_module(module)), (*samples, None)[0]
    for name in {member.split(".")[1] for member in op.methods}:
        of_classes = {type(x): x for x in samples if hasattr(type(x), name)}
        yield from ((getattr(cls, name), copy.deepcopy(x)) for cls, x in of_classes.items())


MEMBERS = [op for op in OPS if (op.methods or op.library) and op.schema.variadic is None]


@pytest.mark.parametrize("op", MEMBERS, ids=by_name)
def test_arguments_of_members_are_given_as_python_takes_them(op):
    """Asked by calls with nothing but None: what is said of the arguments then is nothing of how they came."""
    order, names_too = ways_of_giving(op)
    own = [name for name in order if name in (*op.schema.positional, *op.schema.keyword_only)]
    first_named = next((i for i, name in enumerate(own) if i and name in names_too), len(own))
    for function, first in functions_of_members(op):
        for count, names in ((len(own), ()), (first_named, own[first_named:])):
            said = str(attempt(call_with_nothing, (function, first, count, names)).error)
            assert not any(words in said for words in ABOUT_THE_WAY), (function, names, said)


ABOUT_THE_WAY = ("keyword", "positional", "at most", "expected at")


def call_with_nothing(function, first, count, names):
    return function(first, *[None] * (count - 1), **dict.fromkeys(names))


def test_no_callable_or_member_belongs_to_two_ops():
    for field in ("callables", "methods", "attributes", "iter_callables"):
        pairs = [
            (x, op.overwrites, len(op.schema.positional)) for op in OPS for x in getattr(op, field)
        ]  # ``out=`` is another op, and so is ``np.where`` of a condition alone
        keys = [(id(x) if callable(x) else x, *others) for x, *others in pairs]
        assert len(keys) == len(set(keys)), field


@pytest.mark.parametrize("op", SAMPLED, ids=by_name)
def test_the_inferred_type_holds_the_result(op):
    for operands in op.operand_samples():
        outcome = attempt(op.evaluate, operands)
        if outcome.error is not None:
            continue
        types = op.infer_types(list(map(type_of, operands)), {})
        results = outcome.result if len(types) > 1 else (outcome.result,)
        assert len(types) == 0 or NEVER not in types, operands
        if all(fits(x, t) for x, t in zip(results, types, strict=False)):
            continue
        message = f"{op.name}{operands!r} = {outcome.result!r} is no {types}"
        assert op.has_lowering(list(map(type_of, operands))), message
        left = attempt(lambda *xs: run_lowering(op, *xs), operands)
        assert isinstance(left.error, Bailed), message


@pytest.mark.parametrize("op", SAMPLED, ids=by_name)
def test_the_effects_say_what_evaluate_does(op):
    for operands in op.operand_samples():
        effects = effects_of(op, map(type_of, operands))
        before = attempt(lambda *xs: None, operands)
        outcome = attempt(op.evaluate, operands)
        if outcome.error is not None:
            assert effects & (Effect.RAISE | Effect.CALL | Effect.WRITE), operands
        elif not effects & (Effect.WRITE | Effect.CALL):
            unchanged = attempt(lambda *xs: None, outcome.operands)
            assert unchanged.text == before.text, f"{op.name} changed {operands!r}"


@pytest.mark.parametrize("op", [op for op in SAMPLED if op.fold is not None], ids=by_name)
def test_a_fold_gives_the_value(op):
    folded = 0
    for operands in op.operand_samples():
        types = list(map(type_of, operands))
        for known in itertools.product((True, False), repeat=len(operands)):
            constants = [x if k else UNKNOWN for x, k in zip(operands, known, strict=True)]
            result = op.fold(types, constants)
            if result is UNKNOWN:
                continue
            folded += 1
            outcome = attempt(op.evaluate, operands)
            assert outcome.error is None
            assert type(result) is type(outcome.result), operands
            are_nan = result != result and outcome.result != outcome.result
            is_same = result == outcome.result or repr(result) == repr(
                outcome.result
            )  # new objects
            assert are_nan or is_same, operands
    assert folded


@pytest.mark.parametrize("op", [op for op in SAMPLED if op.reads_sizes], ids=by_name)
def test_what_reads_sizes_only_gives_the_same_of_other_arrays_with_these(op):
    arrays = [x for x, *_ in op.operand_samples() if isinstance(x, np.ndarray)]
    assert arrays
    for a in arrays:
        other = np.broadcast_to(np.array(3, np.int8), a.shape)
        for attrs in AXES[:3] if "axis" in op.schema.keyword_only else ({},):
            first, second = (attempt(op.evaluate, (x,), attrs) for x in (a, other))
            assert first.result == second.result
            assert repr(first.error) == repr(second.error)


@pytest.mark.parametrize("op", PYTHON, ids=by_name)
def test_a_lowering_computes_what_evaluate_does(op):
    done = lowered = 0
    for operands in op.operand_samples():
        if not op.has_lowering(list(map(type_of, operands))):
            continue
        lowered += 1
        expected = attempt(op.evaluate, operands)
        try:
            found = attempt(lambda *xs: run_lowering(op, *xs), operands)
            if found.error is not None:
                raise found.error
        except Bailed:
            continue
        done += 1
        assert expected.error is None, f"{op.name}{operands!r}: {expected.text} is not raised"
        if len(op.infer_types(list(map(type_of, operands)), {})) == 0:
            expected = type(expected)(None, expected.operands)
            found = type(found)(None, found.operands)
        assert found.text == expected.text, f"{op.name}{operands!r}"
    assert done or not lowered, "bails out of every sample"


@pytest.mark.parametrize("op", [op for op in PYTHON if op.takes_characters], ids=by_name)
def test_a_lowering_takes_characters_as_it_does_strs(op):
    """In operands that are no constants there are none: `type_of` knows strs."""
    for operands in op.operand_samples():
        types = [constant_type(x) for x in operands]
        if not op.has_lowering(types) or op.operand_types(types) == list(map(type_of, operands)):
            continue
        expected = attempt(op.evaluate, operands)
        found = attempt(lambda *xs: run_lowering(op, *xs, type_of=constant_type), operands)
        if not isinstance(found.error, Bailed):
            assert found.text == expected.text, f"{op.name}{operands!r}"


@pytest.mark.parametrize("op", PYTHON, ids=by_name)
def test_machine_code_computes_what_evaluate_does(op):
    done = groups = 0
    for types, samples in by_types(op).items():
        inferred = op.infer_types(list(types), {})
        if not all(map(is_native_type, (*types, *inferred))):
            continue
        groups += 1
        may_leave = effects_of(op, types) & Effect.RAISE or INT in inferred
        native = compile_op(op, types)
        for operands in samples:
            expected = attempt(op.evaluate, operands)
            found = attempt(native, operands)
            if isinstance(found.error, NativeBailed):
                assert may_leave, f"{op.name}{operands!r}"
                continue
            done += 1
            if not inferred:
                expected = type(expected)(None, expected.operands, expected.error)
            assert found.text == expected.text, f"{op.name}{operands!r}"
    assert done or not groups, "bails out of every sample"


def spread(operand):
    """An array with gaps between its elements."""
    return np.repeat(operand, 2, axis=-1)[..., ::2] if operand.ndim else operand


def attributes_of(op):
    """What the op's attributes are if nobody says."""
    return {k: v for k, v in op.schema.defaults.items() if k in op.schema.keyword_only}


def decomposed(op, types, attributes):
    """The type that the op has for these operands, and that of what takes its place."""
    graph = Graph()
    operands = [graph.block.add_param("x", type_) for type_ in types]
    node = graph.block.create(op, operands, attributes)
    end = graph.block.create(RETURN, [node.output])
    wanted = node.output.type
    decompose_ops(graph)
    return wanted, end.inputs[0].type


@pytest.mark.parametrize("order", [spread, np.asfortranarray], ids=["spread", "Fortran"])
@pytest.mark.parametrize("op", DECOMPOSED, ids=by_name)
def test_what_takes_the_place_of_an_op_is_of_its_type(op, order):
    """It may flow out of a block, where the op's type is written down."""
    for operands, axes in itertools.product(op.operand_samples(), AXES):
        if not set(axes) <= set(op.schema.keyword_only):
            continue
        arrays = [order(x) if isinstance(x, np.ndarray) else x for x in operands]
        types, attributes = list(map(type_of, arrays)), {**attributes_of(op), **axes}
        if op.infer_types(types, attributes) == (ANY,):
            continue
        wanted, given = decomposed(op, types, attributes)
        assert join(wanted, given) == wanted, (wanted, given)
