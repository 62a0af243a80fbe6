"""A table with the properties of each kind of syntax node, for the passes of the compiler.

A kind without an entry is treated as unknown: it may have any effect, fail, and send prompts.
"""

from dataclasses import dataclass
from typing import Literal

from saftc.syntax import nodes as n
from saftc.syntax.walk import walk


@dataclass(frozen=True, slots=True)
class Construct:
    """The properties of a kind of node. The value "rule" means that a pass of the compiler decides.

    - `does`: the effects of the node itself, without the effects of its parts.
    - `fails`: whether evaluating the node may fail after its parts were evaluated.
    - `asks`: whether the node sends prompts. "parts" means that only its parts may send prompts.
    - `stays`: whether the node has the same value at any time, as long as its parts do.
    - `keeps`: whether the node's value contains the values of its parts.
    """

    does: Literal["nothing", "rule", "unknown"]
    fails: Literal["never", "rule", "unknown"]
    asks: Literal["parts", "rule", "unknown"]
    stays: bool = False
    keeps: Literal["nothing", "parts", "unknown"] = "unknown"


_UNKNOWN = Construct("unknown", "unknown", "unknown")
_WRITTEN = Construct("nothing", "never", "parts", stays=True, keeps="nothing")
_COLLECTION = Construct("nothing", "never", "parts", keeps="parts")
_OPERATOR = Construct("nothing", "rule", "parts", stays=True, keeps="nothing")
_PART = Construct("nothing", "rule", "parts", keeps="nothing")
_LOOP = Construct("nothing", "rule", "rule", keeps="nothing")
_STATEMENT = Construct("nothing", "never", "rule")
_CHECK = Construct("nothing", "rule", "rule")
_IMPORT = Construct("rule", "rule", "rule")
# Nodes that are evaluated by the node around them, or not at all.
_BELOW = Construct("nothing", "unknown", "unknown")

CONSTRUCTS: dict[type[n.Node], Construct] = {
    # Expressions and their parts
    **dict.fromkeys((n.Identifier, n.Literal, n.Argument, n.Logical), _WRITTEN),
    **dict.fromkeys((n.FormatText, n.FormattedString, n.PromptText, n.Hole), _WRITTEN),
    **dict.fromkeys((n.ListLiteral, n.TupleLiteral, n.Field), _COLLECTION),
    **dict.fromkeys(
        (n.ObjectLiteral, n.ComputedField), Construct("nothing", "rule", "parts", keeps="parts")
    ),
    **dict.fromkeys((n.Binary, n.Comparison, n.TupleMember, n.FormatHole), _OPERATOR),
    **dict.fromkeys((n.Index, n.Slice, n.Spread), _PART),
    n.Name: Construct("rule", "rule", "parts", stays=True, keeps="parts"),
    n.Member: Construct("rule", "rule", "parts", stays=True, keeps="nothing"),
    n.Unary: _OPERATOR,
    n.Conditional: Construct("nothing", "never", "rule", stays=True),
    n.Comprehension: Construct("nothing", "never", "rule", keeps="parts"),
    n.ComprehensionClause: _LOOP,
    n.Prompt: Construct("rule", "rule", "rule"),
    n.Call: Construct("rule", "rule", "rule"),
    n.ServerCall: Construct("rule", "rule", "parts"),
    # Statements and their parts
    **dict.fromkeys((n.AssignStmt, n.AugmentedAssignStmt, n.DestructureStmt), _STATEMENT),
    **dict.fromkeys((n.ExpressionStmt, n.IfStmt, n.WhileStmt, n.TryStmt), _STATEMENT),
    **dict.fromkeys((n.BreakStmt, n.ContinueStmt, n.RetStmt), _STATEMENT),
    **dict.fromkeys((n.FunctionDef, n.RecordDef, n.TypeAlias, n.ServerImport), _STATEMENT),
    **dict.fromkeys((n.AssertStmt, n.FailStmt, n.UnpackStmt), _CHECK),
    n.ForStmt: _LOOP,
    **dict.fromkeys((n.ImportStmt, n.FromImport), _IMPORT),
    **dict.fromkeys(
        (n.NamePattern, n.TuplePattern, n.PatternField),
        Construct("nothing", "never", "unknown", keeps="nothing"),
    ),
    **dict.fromkeys((n.Branch, n.Parameter, n.ImportedName, n.Module), _BELOW),
    # Schemas
    **dict.fromkeys((n.NamedSchema, n.LiteralSchema, n.ListSchema, n.TupleSchema), _BELOW),
    **dict.fromkeys((n.FunctionSchema, n.SchemaField, n.ObjectSchema, n.MapSchema), _BELOW),
    **dict.fromkeys((n.UnionSchema, n.OptionalSchema), _BELOW),
}


# The nodes of values that are written out in the script.
_VALUES = (
    *(n.Literal, n.Unary, n.ListLiteral, n.TupleLiteral),
    *(n.ObjectLiteral, n.Field, n.Identifier),
)


def construct_of(node: n.Node) -> Construct:
    """Returns the properties of the kind of a node."""
    return CONSTRUCTS.get(type(node), _UNKNOWN)


def is_constant(node: n.Expression) -> bool:
    """Returns whether an expression consists of literals only, as `{name: "Ada", ids: [1, -2]}`."""
    return all(isinstance(one, _VALUES) for one in walk(node))
