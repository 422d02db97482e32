"""All ops that stand for functions of libraries (builtins, math, NumPy, random). A compile loads few (`index.py`)."""

# ruff: noqa: F401  # they are imported for what they declare

from ljit.ops import members
from ljit.ops.arrays import attributes, limits, machine_limits, scalars
from ljit.ops.containers import combinations, list_methods, ordered_lists, private_lists, texts
from ljit.ops.creation import (
    copies,
    counted,
    create,
    fills,
    grids,
    insertions,
    joins,
    pads,
    repeats,
    triangles,
)
from ljit.ops.formulas import combined, covariances, derived, elementwise, gradients, sequences
from ljit.ops.indexing import (
    assign,
    distinct,
    elements,
    gathers,
    index,
    marks,
    puts,
    records,
    search,
    selections,
)
from ljit.ops.products import contractions, convolutions, linalg, products, products_out
from ljit.ops.python import carried_powers, near_numbers, wide_ints, wide_products
from ljit.ops.reductions import (
    accumulations,
    histograms,
    nan_orders,
    orders,
    places,
    reduce,
    reduce_where,
    scans,
    segments,
)
from ljit.ops.stdlib import (
    builtins_containers,
    builtins_extrema,
    builtins_numbers,
    builtins_sums,
    complex_functions,
    int_bits,
    math_functions,
    math_integers,
    math_norms,
    random_integers,
    random_numpy,
    random_python,
)
from ljit.ops.ufuncs import (
    arithmetic,
    complex_numbers,
    elementary,
    inplace,
    logic,
    out,
    outer,
    splits,
    whole_powers,
)
from ljit.ops.views import axes, rolls, shapes, views
