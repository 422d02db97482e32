"""Tree views and their s-expressions."""

from __future__ import annotations

import pytest

from ljit.frontend import dump_tree
from ljit.frontend.trees import tree
from ljit.frontend.trees.build import build_def
from tests.frontend.harness import function_of


def dump(text):
    return dump_tree(function_of(text))


def flat(body, params=""):
    """The statements of a function as one line."""
    definition = build_def(function_of(f"def f({params}):\n    {body}\n"))
    return " ".join(" ".join(str(s).split()) for s in definition.body)


def test_a_function_prints_in_the_form_of_torchscript():
    text = """
def f(a, b):
    c = a + b
    d = c * c
    e = torch.tanh(d * c)
    return d + (e + e)
"""
    assert dump(text) == EXPECTED.strip()


EXPECTED = """
(def
  (ident f)
  (decl
    (list
      (param
        (ident a)
        (option)
        (option)
        (False))
      (param
        (ident b)
        (option)
        (option)
        (False)))
    (option))
  (list
    (assign
      (list (variable (ident c)))
      (option
        (+
          (variable (ident a))
          (variable (ident b))))
      (option))
    (assign
      (list (variable (ident d)))
      (option
        (*
          (variable (ident c))
          (variable (ident c))))
      (option))
    (assign
      (list (variable (ident e)))
      (option
        (apply
          (.
            (variable (ident torch))
            (ident tanh))
          (list
            (*
              (variable (ident d))
              (variable (ident c))))
          (list)))
      (option))
    (return
      (+
        (variable (ident d))
        (+
          (variable (ident e))
          (variable (ident e)))))))
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x: int", "(assign (list (variable (ident x))) (option) (option (variable (ident int))))"),
        ("x += 1", "(+= (variable (ident x)) (const 1))"),
        ("return", "(return (None))"),
        ("return -1, True, ..., 'a'", "(return (tuple_literal (list (const -1) (True) (dots) (string_literal 'a'))))"),
        ("if 1: pass", "(if (const 1) (list (pass)) (list))"),
        ("raise", "(raise (option) (option))"),
        ("with x: y", "(with (variable (ident x)) (list (expression_statement (variable (ident y)))))"),
        ("while 1: break", "(while (const 1) (list (break)))"),
        ("for i in x: continue\n    else: pass", "(for (list (variable (ident i))) (list (variable (ident x))) (list (continue)) (list (pass)))"),
        ("assert x, y", "(assert (variable (ident x)) (option (variable (ident y))))"),
        ("raise x", "(raise (option (variable (ident x))) (option))"),
        ("del x.y", "(delete (list (. (variable (ident x)) (ident y))))"),
        ("global x, y", "(global x y)"),
        ("import a.b, c as d", "(import (ident a.b) (list (variable (ident a)))) (import (ident c) (list (variable (ident d))))"),
        ("from a import b, c as d", "(import (ident a) (list (variable (ident b)) (variable (ident d))))"),
        ("f(*x, k=1, **y)", "(expression_statement (apply (variable (ident f)) (list (starred (variable (ident x)))) (list (attribute (ident k) (const 1)) (double_starred (variable (ident y))))))"),
        ("return x[1:, ::2]", "(return (subscript (variable (ident x)) (tuple_literal (list (slice_expr (option (const 1)) (option) (option)) (slice_expr (option) (option) (option (const 2)))))))"),
        ("return not x and y", "(return (and (list (not (variable (ident x))) (variable (ident y)))))"),
        ("return 1 < x <= 2", "(return (< <= (list (const 1) (variable (ident x)) (const 2))))"),
        ("return x if y else z", "(return (if (variable (ident y)) (variable (ident x)) (variable (ident z))))"),
        ("return (x := 1)", "(return (:= (ident x) (const 1)))"),
        ("return {1: x, **y}", "(return (dict_literal (list (entry (const 1) (variable (ident x))) (double_starred (variable (ident y))))))"),
        ("return [x for x in y if x]", "(return (list_comp (variable (ident x)) (list (generator (variable (ident x)) (variable (ident y)) (list (variable (ident x)))))))"),
        ("return sum((x for x in y), 1)", "(return (use_of_generator (variable (ident sum)) (generator_comp (variable (ident x)) (list (generator (variable (ident x)) (variable (ident y)) (list)))) (list (const 1)) (list)))"),
        ("return f'{x!r:>3}a'", "(return (f_string (list (formatted_value (variable (ident x)) (114) (option (f_string (list (string_literal '>3'))))) (string_literal 'a'))))"),
    ],
)  # fmt: skip
def test_statements_and_expressions_print(body, expected):
    assert flat(body) == expected


def test_parameters_show_annotation_default_and_keyword_only():
    text = "def f(a: int, /, b=lambda: (yield), *, c: str = 'x') -> float: pass"
    first, second, third = build_def(function_of(text)).decl.params
    assert str(first.annotation) == "(variable (ident int))"
    assert first.positional_only
    assert not second.positional_only
    assert second.default.kind == "lambda"  # not evaluated again
    assert third.keyword_only
    assert third.default.value == "x"


def test_handlers_and_final_clauses_print():
    body = "try: pass\n    except x as e: y\n    except: pass\n    else: pass\n    finally: pass"
    (statement,) = build_def(function_of(f"def f():\n    {body}\n")).body
    assert "".join(str(statement).split()) == "".join(
        """
        (try (list (pass))
          (list
            (except (option (variable (ident x))) (ident e)
              (list (expression_statement (variable (ident y)))))
            (except (option) (ident ) (list (pass))))
          (list (pass)) (list (pass)))
        """.split()
    )


def test_every_tree_has_the_range_of_its_text():
    source = "def f(é, y):\n    ü = (é +\n      y.real) * é[1, 'ß':]\n    return ü\n"
    definition = build_def(function_of(source))
    lines = source.split("\n")
    seen = {}

    def visit(node):
        where = node.range
        if where.line == where.end_line:
            seen[type(node), lines[where.line - 1][where.column : where.end_column]] = node
        for child in node.children:
            visit(child)

    for statement in definition.body:
        visit(statement)
    assert {
        (tree.Select, "y.real"),
        (tree.SliceExpr, "'ß':"),
        (tree.Var, "ü"),
        (tree.Return, "return ü"),
    } <= seen.keys()
    assert (tree.Subscript, "é[1, 'ß':]") in seen


def test_trees_are_immutable():
    definition = build_def(function_of("def f(): pass"))
    with pytest.raises(AttributeError):
        definition.name = "g"
