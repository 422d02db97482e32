"""The graphs that the frontend writes: before variables become values."""

from __future__ import annotations

import re

from ljit.frontend.emitting.emit import build_graph
from ljit.ir import Graph
from tests.frontend.harness import function_of


def graph_of(body: str, params: str = "", head: str = "def f({}):") -> Graph:
    lines = "\n".join("    " + line for line in body.split("\n"))
    return build_graph(function_of(f"{head.format(params)}\n{lines}\n"))


def text_of(body: str, params: str = "") -> list[str]:
    """The lines of the graph without positions and types."""
    text = re.sub(r"   # .*| : [^=(),)]+(?=[ ,)])", "", str(graph_of(body, params)))
    return [line.strip() for line in text.strip().split("\n")]


def ops_of(body: str, params: str = "") -> list[str]:
    return [node.op.name for node in graph_of(body, params).walk()]


def test_parameters_come_in_the_order_of_the_signature_and_are_stored():
    graph = graph_of("pass", "a, /, b, *, c=1")
    assert [p.name for p in graph.params] == ["a", "b", "c"]
    stores = [n for n in graph.walk() if n.op.name == "prim::Store"]
    assert [(n.attrs["name"], n.inputs[0]) for n in stores] == [(p.name, p) for p in graph.params]


def test_a_function_ends_by_returning_none():
    assert text_of("pass")[-1] == "return (%0)"
    assert ops_of("pass") == ["prim::Constant", "prim::Return"]


def test_nothing_is_emitted_behind_a_terminator():
    assert ops_of("return 1\nprint(2)\nwhile x: pass") == ["prim::Constant", "prim::Return"]
    assert "py::call" not in ops_of("raise x\nprint(2)")
    assert "py::call" not in ops_of("while 1: pass\nprint(2)")
    assert "py::call" not in ops_of("if x: return 1\nelse: raise x\nprint(2)", "x")


def test_names_are_local_free_or_global():
    fn = function_of("def make(k):\n    def f(x): return x, k, len\n    return f\nf = make(1)")
    nodes = list(build_graph(fn).walk())
    reads = {n.op.name: n.attrs for n in nodes if n.attrs.get("name") in ("x", "k", "len")}
    assert reads["prim::Load"]["name"] == "x"
    assert reads["prim::load_closure"] == {"name": "k", "scope": fn}
    assert reads["prim::load_global"] == {"name": "len", "scope": fn}


def test_what_is_declared_global_or_nonlocal_is_stored_outside():
    text = """
def make(k):
    def f(x):
        nonlocal k
        global z
        k = x
        z = k
        def g():
            nonlocal x
            x = 1
        g()
    return f
f = make(1)
"""
    fn = function_of(text)
    stores = [n for n in build_graph(fn).walk() if "tore" in n.op.name and n.attrs["name"] in "xkz"]
    assert [(n.op.name, n.attrs["name"]) for n in stores] == [
        ("prim::Store", "x"),
        ("prim::store_closure", "k"),
        ("prim::store_global", "z"),
        ("prim::Store", "x"),
    ]


def test_an_import_takes_what_its_path_leads_to():
    ops = ops_of("import a.b.c as d; from e import f, g; import h.i")
    imports = [op for op in ops if "import" in op]
    module, part = "prim::import_module", "prim::import_from"
    assert imports == [module, part, part, module, part, part, module]


def test_functions_of_modules_are_attributes_and_methods_of_locals_are_methods():
    ops = ops_of("return np.sqrt(x)", "x")
    assert "py::getattr" in ops
    assert "py::call" in ops
    method = next(
        n for n in graph_of("return x.sum(axis=0)", "x").walk() if n.op.name == "py::call_method"
    )
    assert method.attrs == {"name": "sum", "kwnames": ("axis",)}
    assert "py::getattr" in ops_of("return x.append(g())", "x")  # looked up before the argument


def test_a_for_loop_asks_and_leaves_in_front_of_its_body():
    assert text_of("for i in x: y", "x, y")[4:] == [
        "%1 = prim::iter(%0)",
        "%2 = prim::Constant[value=0]()",
        "%3 = prim::Constant[value=9223372036854775807]()",
        "prim::Loop(%2, %3)",
        "block0(%4):",
        "%5 = prim::has_next(%1, %4)",
        "prim::If(%5)",
        "block0():",
        "-> ()",
        "block1():",
        "prim::Break[depth=0]()",
        "%6 = prim::next(%1, %4)",
        "prim::Store[name='i'](%6)",
        "%7 = prim::Load[name='y']()",
        "-> ()",
        "%8 = prim::Constant[value=None]()",
        "return (%8)",
    ]


def test_calls_in_the_head_of_a_loop_stay_whole():
    assert "prim::iter_call" in ops_of("for i in range(3): pass")
    assert "prim::iter_call" in ops_of("return [i for i in enumerate(x)]", "x")
    assert "prim::iter_call" not in ops_of("for i in x.items(): pass", "x")
    assert "prim::iter_call" not in ops_of("for i in g(k=1): pass")


def test_a_condition_is_a_bool_and_asks_each_truth_once():
    graph = graph_of("if a and not b or a < b < 3: return 1", "a, b")
    conditions = [n.inputs[0] for n in graph.walk() if n.op.name == "prim::If"]
    assert {str(c.type) for c in conditions} == {"bool"}
    assert [n.op.name for n in graph.walk()].count("py::truth") == 4


def test_locals_of_inlined_functions_have_slots_of_their_own():
    graph = graph_of("def g(x):\n    y = x\n    return y\nreturn g(1) + g(2)")
    slots = [n.attrs["name"] for n in graph.walk() if n.op.name == "prim::Store"]
    assert len(slots) == len(set(slots)) == 4
    assert {slot.split("@")[0] for slot in slots} == {"x", "y"}


def test_ranges_of_inlined_code_name_their_callers():
    graph = graph_of("def g(x):\n    return x + 1\nreturn [g(i) for i in y]", "y")
    add = next(n for n in graph.walk() if n.op.name == "py::add")
    chain, where = [], add.range
    while where is not None:
        chain.append((where.source.function, where.line))
        where = where.caller
    assert chain[0] == ("f.<locals>.g", 3)
    assert chain[-1] == ("f", 4)


def three(n):
    yield n
    yield n + 1
    yield n + 2


def nested_loops(n):
    total = 0
    for a in three(n):
        for b in three(a):
            for c in three(b):
                for d in three(c):
                    total += d**n
    return total


def test_bodies_of_loops_over_generators_are_copied_a_few_times_only():
    copies = [n.op.name for n in build_graph(nested_loops).walk()].count("py::pow")
    assert 3 < copies < 10


def test_every_node_has_a_range():
    body = "def g(x):\n    for i in x:\n        if i: return i\nassert x, 'a'\nreturn [g(i) for i in x if i and g(x)]"
    for node in graph_of(body, "x").walk():
        assert node.range is not None, node


def test_tuples_of_constants_are_constants_and_swaps_make_no_tuple():
    assert "prim::TupleConstruct" not in ops_of("return 1, (2, 'x'), None")
    assert "prim::TupleConstruct" not in ops_of("a, b = b, a", "a, b")
    assert "prim::Unpack" not in ops_of("a[0], b.x = b, (a, 1)", "a, b")
    assert "prim::Unpack" in ops_of("a, *b = b, a", "a, b")


def test_items_of_map_and_filter_are_used_in_loops():
    for body in ("return any(map(lambda x: x * a, b))", "for x in map(abs, a, b): a(x)"):
        ops = ops_of(body, "a, b")
        assert "prim::Loop" in ops
        assert "py::is" in ops  # what the names stand for is asked for in each call
    assert "prim::Loop" in ops_of("return ','.join(filter(lambda c: c > 'a', a))", "a")
    for kept in ("map(lambda x: x, a)", "list(map(a, b))", "list(map(lambda x, y=a: x, b))"):
        assert "prim::Loop" not in ops_of(f"return {kept}", "a, b")


def test_the_body_of_a_loop_over_maps_within_maps_is_written_twice():
    body = "for x in map(abs, map(abs, a)):\n    for y in map(abs, x):\n        y ** 2"
    assert ops_of(body, "a").count("py::pow") == 3


def test_nested_functions_that_generator_expressions_call_are_inlined():
    body = "def g(x): return x ** 2\nreturn any(g(x) for x in a), g(1)"
    assert ops_of(body, "a").count("py::pow") == 2
    body = "def g(x):\n    for h in x: print(h)\ndef h(x): return x ** 2\nreturn h(2) + h(3)"
    assert ops_of(body).count("py::pow") == 2  # another function may have a variable of that name
