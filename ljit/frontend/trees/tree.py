"""Tree views: what a function looks like between Python's `ast` and the graph.

Immutable nodes in TorchScript's manner: each has a `kind`, a source range and children. They hold only what the
frontend translates, with the details of Python's syntax already dealt with (names mangled, positions in
characters and as tracebacks count them).
"""

from __future__ import annotations

from ljit.frontend.trees.tree_base import SYMBOLS, Tree, dump
from ljit.frontend.trees.tree_try import Handler, Raise, Try, With
from ljit.source import SourceRange

__all__ = [
    "Apply",
    "Assert",
    "Assign",
    "AugAssign",
    "BinOp",
    "BoolOp",
    "Break",
    "Compare",
    "Comprehension",
    "Const",
    "Continue",
    "Decl",
    "Def",
    "Delete",
    "DictEntry",
    "DictLiteral",
    "DoubleStarred",
    "ExprStmt",
    "For",
    "FormattedText",
    "FormattedValue",
    "Generator",
    "Handler",
    "If",
    "Import",
    "Keyword",
    "Lambda",
    "ListLiteral",
    "NamedExpr",
    "Outside",
    "Param",
    "Pass",
    "Raise",
    "Return",
    "Select",
    "SetLiteral",
    "SliceExpr",
    "Starred",
    "Subscript",
    "TernaryIf",
    "Tree",
    "Try",
    "TupleLiteral",
    "UnaryOp",
    "UseOfGenerator",
    "Var",
    "While",
    "With",
    "Yield",
    "dump",
]

# -- functions -------------------------------------------------------------------------------------


class Param(Tree):
    """One parameter; ``*args`` and ``**kwargs``, which take the rest of the arguments, come last."""

    name: str
    annotation: Tree | None
    default: Tree | None
    keyword_only: bool
    positional_only: bool
    takes_rest: bool
    takes_keywords: bool
    name_of_kind = "param"
    hidden = frozenset(("positional_only", "takes_rest", "takes_keywords"))

    @property
    def has_name(self) -> bool:
        """Whether it takes one argument, by position or by its name."""
        return not (self.takes_rest or self.takes_keywords)


class Decl(Tree):
    """Parameters and the annotation of the result."""

    params: tuple[Param, ...]
    returns: Tree | None
    name_of_kind = "decl"


class Def(Tree):
    """A function; as a statement, the definition of a nested one."""

    name: str
    decl: Decl
    body: tuple[Tree, ...]
    has_lazy_annotations: bool
    decorators: tuple[Tree, ...] = ()
    name_of_kind = "def"
    hidden = frozenset(("has_lazy_annotations",))
    optional_lists = frozenset(("decorators",))


class Lambda(Tree):
    """A lambda expression; the body of `definition` is one Return."""

    definition: Def
    name_of_kind = "lambda"


# -- statements ------------------------------------------------------------------------------------


class Assign(Tree):
    """``targets[0] = targets[1] = value``; an annotated target may have no value."""

    targets: tuple[Tree, ...]
    value: Tree | None
    annotation: Tree | None
    name_of_kind = "assign"


class AugAssign(Tree):
    """``target op= value``; `operator` is an op's name, ``iadd`` ..."""

    operator: str
    target: Tree
    value: Tree
    hidden = frozenset(("operator",))

    @property
    def kind(self) -> str:
        return f"{SYMBOLS[self.operator.removeprefix('i')]}="


class Return(Tree):
    """``return value``"""

    value: Tree
    name_of_kind = "return"


class If(Tree):
    """``if condition: body else: orelse``"""

    condition: Tree
    body: tuple[Tree, ...]
    orelse: tuple[Tree, ...]
    name_of_kind = "if"


class While(Tree):
    """``while condition: body else: orelse``"""

    condition: Tree
    body: tuple[Tree, ...]
    orelse: tuple[Tree, ...]
    name_of_kind = "while"
    optional_lists = frozenset(("orelse",))


class For(Tree):
    """``for target in iterable: body else: orelse``; both lists have one item."""

    targets: tuple[Tree, ...]
    iterables: tuple[Tree, ...]
    body: tuple[Tree, ...]
    orelse: tuple[Tree, ...]
    is_delegation: bool = False  # that of a ``yield from``
    name_of_kind = "for"
    hidden = frozenset(("is_delegation",))
    optional_lists = frozenset(("orelse",))


class Assert(Tree):
    """``assert condition, message``"""

    condition: Tree
    message: Tree | None
    name_of_kind = "assert"


class Delete(Tree):
    """``del targets``"""

    targets: tuple[Tree, ...]
    name_of_kind = "delete"


class ExprStmt(Tree):
    """An expression whose value is not used."""

    value: Tree
    name_of_kind = "expression_statement"


class Import(Tree):
    """``import module`` or ``from module import names``: each target gets what its path of attributes leads to."""

    module: str
    level: int
    names: tuple[str, ...] | None
    paths: tuple[tuple[str, ...], ...]
    targets: tuple[Tree, ...]
    hidden = frozenset(("level", "names", "paths"))
    name_of_kind = "import"


class Outside(Tree):
    """``global names`` or ``nonlocal names``"""

    names: tuple[str, ...]
    is_global: bool

    @property
    def kind(self) -> str:
        return "global" if self.is_global else "nonlocal"

    @property
    def text(self) -> str:
        return " ".join(self.names)


class Pass(Tree):
    """``pass``"""

    name_of_kind = "pass"


class Break(Tree):
    """``break``"""

    name_of_kind = "break"


class Continue(Tree):
    """``continue``"""

    name_of_kind = "continue"


# -- expressions -----------------------------------------------------------------------------------


class Var(Tree):
    """A name, read or (as a target) bound."""

    name: str
    name_of_kind = "variable"


class Const(Tree):
    """A literal: number, text, bytes, None, True, False or ``...``."""

    value: object

    @property
    def kind(self) -> str:
        if self.value is Ellipsis:
            return "dots"
        if self.value is None or isinstance(self.value, bool):
            return str(self.value)
        return "string_literal" if isinstance(self.value, str) else "const"

    @property
    def text(self) -> str | None:
        return repr(self.value) if self.kind in ("const", "string_literal") else ""


class Select(Tree):
    """``value.name``"""

    value: Tree
    name: str
    name_of_kind = "."


class Keyword(Tree):
    """``name=value`` in a call."""

    name: str
    value: Tree
    name_of_kind = "attribute"


class Starred(Tree):
    """``*value`` in a call, a display or a target."""

    value: Tree
    name_of_kind = "starred"


class DoubleStarred(Tree):
    """``**value`` in a call or a dict display."""

    value: Tree
    name_of_kind = "double_starred"


class Apply(Tree):
    """A call; arguments may be Starred, keywords are Keyword or DoubleStarred."""

    function: Tree
    arguments: tuple[Tree, ...]
    keywords: tuple[Tree, ...]
    name_of_kind = "apply"


class Subscript(Tree):
    """``value[index]``"""

    value: Tree
    index: Tree
    name_of_kind = "subscript"


class SliceExpr(Tree):
    """``start:stop:step`` inside of brackets."""

    start: Tree | None
    stop: Tree | None
    step: Tree | None
    name_of_kind = "slice_expr"


class BinOp(Tree):
    """``left operator right``; `operator` is an op's name, ``add`` ..."""

    operator: str
    left: Tree
    right: Tree
    hidden = frozenset(("operator",))

    @property
    def kind(self) -> str:
        return SYMBOLS[self.operator]


class UnaryOp(Tree):
    """``operator operand``; `operator` is an op's name, ``neg`` ..."""

    operator: str
    operand: Tree
    hidden = frozenset(("operator",))

    @property
    def kind(self) -> str:
        return SYMBOLS[self.operator]


class BoolOp(Tree):
    """``a and b and c`` or ``a or b or c``"""

    operator: str
    operands: tuple[Tree, ...]
    hidden = frozenset(("operator",))

    @property
    def kind(self) -> str:
        return self.operator


class Compare(Tree):
    """``a < b < c``: one operator less than operands."""

    operators: tuple[str, ...]
    operands: tuple[Tree, ...]
    hidden = frozenset(("operators",))

    @property
    def kind(self) -> str:
        return " ".join(SYMBOLS[name] for name in self.operators)


class TernaryIf(Tree):
    """``then if condition else otherwise``"""

    condition: Tree
    then: Tree
    otherwise: Tree
    name_of_kind = "if"


class NamedExpr(Tree):
    """``(name := value)``"""

    name: str
    value: Tree
    name_of_kind = ":="


class TupleLiteral(Tree):
    """``(a, *b)``, also as a target."""

    items: tuple[Tree, ...]
    name_of_kind = "tuple_literal"


class ListLiteral(Tree):
    """``[a, *b]``, also as a target."""

    items: tuple[Tree, ...]
    name_of_kind = "list_literal"


class SetLiteral(Tree):
    """``{a, *b}``"""

    items: tuple[Tree, ...]
    name_of_kind = "set_literal"


class DictEntry(Tree):
    """``key: value``"""

    key: Tree
    value: Tree
    name_of_kind = "entry"


class DictLiteral(Tree):
    """``{k: v, **d}``: entries are DictEntry or DoubleStarred."""

    entries: tuple[Tree, ...]
    name_of_kind = "dict_literal"


class Generator(Tree):
    """``for target in iterable if conditions`` of a comprehension."""

    target: Tree
    iterable: Tree
    conditions: tuple[Tree, ...]
    name_of_kind = "generator"


class Comprehension(Tree):
    """A comprehension: `container` is ``list``, ``set`` or ``dict``, or ``generator`` for a generator expression.

    `element` of a dict comprehension is a DictEntry. `inner` is the range as seen from the frame that
    runs the comprehension, the same object as `range` where that is the function's own.
    """

    container: str
    element: Tree
    generators: tuple[Generator, ...]
    inner: SourceRange
    hidden = frozenset(("container", "inner"))

    @property
    def kind(self) -> str:
        return f"{self.container}_comp"


class UseOfGenerator(Tree):
    """``function(element for ..., more)``: a call whose first argument is a generator expression."""

    function: Tree
    generator: Comprehension
    arguments: tuple[Tree, ...]
    keywords: tuple[Tree, ...]
    name_of_kind = "use_of_generator"

    @property
    def plain(self) -> Apply:
        """The same as any other call."""
        arguments = (self.generator, *self.arguments)
        return Apply(self.range, self.function, arguments, self.keywords)


class Yield(Tree):
    """``yield value``, or ``yield from value``: the function around is a generator."""

    value: Tree
    is_from: bool
    name_of_kind = "yield"


class FormattedValue(Tree):
    """``{value!conversion:spec}`` in an f-string; `conversion` is -1 or a character's code."""

    value: Tree
    conversion: int
    spec: Tree | None
    name_of_kind = "formatted_value"


class FormattedText(Tree):
    """An f-string: parts are Const and FormattedValue."""

    parts: tuple[Tree, ...]
    name_of_kind = "f_string"
