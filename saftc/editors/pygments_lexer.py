"""A script to coloured tokens: the Pygments lexer of Saft.

    x: int = $ add {a} to {b:raw} $  // note

gives Name, Punctuation, Keyword.Type, Operator, then String.Delimiter for each `$`, String.Other
for the text, String.Interpol for the braces, Name in the holes, Keyword.Pseudo for `raw`, and a
comment.

The states follow the grammar. `root` is where a statement begins, `line` the rest of it. What is
`inside` brackets or a hole may run over several lines. A schema ends at the first thing that is
none, so that one pair of states serves annotations, parameters, fields and returns. Prompts nest
in holes to any depth because Pygments keeps the states on a stack.
"""

from pygments.lexer import (
    RegexLexer,
    bygroups,  # pyright: ignore[reportUnknownVariableType]
    default,
    include,
    words,
)
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
)

__all__ = ["SaftLexer"]

# The words of the language. Tests hold them equal to the compiler's own tables.
STATEMENT_WORDS = (
    "assert", "break", "continue", "elif", "else", "for", "if", "ret", "while",
)  # fmt: skip
OPERATOR_WORDS = ("and", "in", "not", "or")
CONSTANTS = ("false", "nil", "true")
FAILURE_WORDS = ("except", "fail", "try")
DECLARATION_WORDS = ("conv", "f", "type")
IMPORT_WORDS = ("as", "from", "import")
PROMPT_WORDS = ("after", "do", "program", "stream", "with")
TYPES = ("any", "bool", "dataframe", "float", "int", "program", "string")
BUILTINS = (
    "abs", "all", "ambiguous", "any", "append_text", "columns", "contains", "div", "ends_with",
    "enumerate", "env", "file", "float", "get", "head", "image", "input", "int", "items", "join",
    "json", "keys", "len", "list_files", "lower", "max", "mean", "min", "option", "parse", "print",
    "range", "read", "read_text", "replace", "reversed", "round", "rows", "run", "select", "shape",
    "sorted", "split", "starts_with", "str", "strip", "sum", "type", "upper", "values",
    "write", "write_text", "zip",
)  # fmt: skip

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_HARD = "|".join((*STATEMENT_WORDS, *OPERATOR_WORDS, *CONSTANTS))
_PLAIN = rf"(?!(?:{_HARD})\b){_NAME}"
_VALUES = rf"(?:{'|'.join(CONSTANTS)})\b"
_APPLIED = r"[(\[{]|-(?![ \t])|not\b(?![ \t]+in\b)"
_BEFORE_NAME = r"(?=[ \t]+[A-Za-z_])"
_INTEGER = r"(?:0|[1-9][0-9]*(?:_[0-9]+)*)"
_FRACTION = r"\.[0-9]+(?:_[0-9]+)*"
_EXPONENT = r"[eE][+-]?[0-9]+"
_NUMBER_END = r"(?![0-9A-Za-z_])"
_OPERATOR = r"==|!=|<=|>=|->|\.\.\.|[-+*/%]=|[-<>+*/%=|?]"


class SaftLexer(RegexLexer):
    """Saft, a small language in which a prompt is an expression."""

    name = "Saft"
    aliases = ("saft",)
    filenames = ("*.saft",)
    mimetypes = ("text/x-saft",)

    tokens = {  # noqa: RUF012, the base class declares it
        # Statements
        "root": [
            (r"\A#![^\n]*", Comment.Hashbang),
            (r"\s+", Whitespace),
            include("comment"),
            (
                rf"(f|conv)([ \t]+)({_NAME})",
                bygroups(Keyword.Declaration, Whitespace, Name.Function),
                "signature",
            ),
            (
                rf"(type)([ \t]+)({_NAME})",
                bygroups(Keyword.Declaration, Whitespace, Name.Class),
                "type definition",
            ),
            (r"try(?=[ \t]*:)", Keyword, "line"),
            (rf"except(?=[ \t]*:|[ \t]+{_PLAIN})", Keyword, "line"),
            (rf"fail(?=[ \t]*[\"$0-9]|[ \t]+(?:{_APPLIED}|{_PLAIN}|{_VALUES}))", Keyword, "line"),
            (rf"from{_BEFORE_NAME}", Keyword.Namespace, "from"),
            (rf"import{_BEFORE_NAME}", Keyword.Namespace, "import"),
            (
                rf"({_PLAIN})([ \t]*)(:)",
                bygroups(Name, Whitespace, Punctuation),
                ("line", "schema"),
            ),
            (r"\{", Punctuation, ("line", "pattern")),
            default("line"),
        ],
        "line": [
            (r"\n", Whitespace, "#pop"),
            # The colon of a block: a statement may stand behind it.
            (r":", Punctuation, "#pop"),
            (r"[ \t]+", Whitespace),
            (r"\$", String.Delimiter, ("with on the line", "prompt")),
            include("expression"),
        ],
        "signature": [
            (r"\(", Punctuation, "parameters"),
            (r"->", Operator, "schema"),
            include("rest of the line"),
        ],
        "type definition": [
            (r"\(", Punctuation, "parameters"),
            (r"=", Operator, "schema"),
            include("rest of the line"),
        ],
        "from": [
            (rf"import{_BEFORE_NAME}", Keyword.Namespace, ("#pop", "imported names")),
            (_PLAIN, Name.Namespace),
            (r"\.", Punctuation),
            include("rest of the line"),
        ],
        "import": [
            (rf"as{_BEFORE_NAME}", Keyword.Namespace),
            (_PLAIN, Name.Namespace),
            (r"\.", Punctuation),
            include("rest of the line"),
        ],
        "imported names": [
            (rf"as{_BEFORE_NAME}", Keyword.Namespace),
            (_PLAIN, Name),
            (r",", Punctuation),
            include("rest of the line"),
        ],
        "rest of the line": [
            (r"[ \t]+", Whitespace),
            include("comment"),
            default(("#pop", "line")),
        ],
        "parameters": [
            include("blank"),
            (r":", Punctuation, "schema inside"),
            (r"=", Operator, "default value"),
            (_PLAIN, Name),
            (r",", Punctuation),
            (r"\)", Punctuation, "#pop"),
        ],
        "default value": [
            (r"(?=[,)])", Whitespace, "#pop"),
            include("inside"),
        ],
        "pattern": [
            include("blank"),
            (r":", Punctuation, "schema inside"),
            (_PLAIN, Name),
            (r",", Punctuation),
            (r"\}", Punctuation, "#pop"),
        ],
        # Schemas
        "schema": [
            (r"[ \t]+", Whitespace),
            include("comment"),
            include("schema part"),
            default("#pop"),
        ],
        "schema inside": [
            include("blank"),
            include("schema part"),
            default("#pop"),
        ],
        "schema part": [
            (words(TYPES, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            include("constant"),
            (rf"({_PLAIN})(\.)", bygroups(Name.Namespace, Punctuation)),
            (_PLAIN, Name.Class),
            include("number"),
            include("text"),
            (r"[|?]|-(?!>)", Operator),
            (r"[\[(]", Punctuation, "schema items"),
            (r"\{", Punctuation, "schema fields"),
        ],
        "schema items": [
            include("blank"),
            (r"[\])]", Punctuation, "#pop"),
            (r",", Punctuation),
            include("schema part"),
        ],
        "schema fields": [
            include("blank"),
            (r"\}", Punctuation, "#pop"),
            (rf"({_PLAIN})(\s*)(:)", bygroups(Name.Attribute, Whitespace, Punctuation)),
            (r"[,:]", Punctuation),
            include("schema part"),
        ],
        # Expressions
        "expression": [
            include("comment"),
            (r"\.\.\.", Operator),
            (rf"(\.)([ \t]*)({_NAME})", bygroups(Punctuation, Whitespace, Name.Attribute)),
            (r"(\.)([0-9]+)", bygroups(Punctuation, Number.Integer)),
            include("number"),
            include("text"),
            (r"(?:do|program)(?=[ \t]*\$)", Keyword),
            (r"stream(?=[ \t]*(?:(?:do|program)[ \t]*)?\$)", Keyword),
            # The second of `after` and `with`: two names never stand beside each other.
            (rf"(?:after|with)(?=[ \t]+(?!(?:{_HARD})\b)[A-Za-z_{{$])", Keyword),
            (words(STATEMENT_WORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(OPERATOR_WORDS, prefix=r"\b", suffix=r"\b"), Operator.Word),
            include("constant"),
            (words(BUILTINS, prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (_NAME, Name),
            (_OPERATOR, Operator),
            (r"\(", Punctuation, "arguments"),
            (r"\[", Punctuation, "brackets"),
            (r"\{", Punctuation, "fields"),
            (r"[,:.]", Punctuation),
        ],
        "inside": [
            include("blank"),
            (r"\$", String.Delimiter, ("with", "prompt")),
            include("expression"),
        ],
        "arguments": [
            (r"\)", Punctuation, "#pop"),
            (rf"({_PLAIN})(\s*)(:)", bygroups(Name.Attribute, Whitespace, Punctuation)),
            include("inside"),
        ],
        "brackets": [
            (r"\]", Punctuation, "#pop"),
            include("inside"),
        ],
        "fields": [
            (r"\}", Punctuation, "#pop"),
            (rf"({_PLAIN})(\s*)(:)", bygroups(Name.Attribute, Whitespace, Punctuation)),
            include("inside"),
        ],
        # Prompts
        "prompt": [
            (r"\$", String.Delimiter, "#pop"),
            (r"\\[${}\\]", String.Escape),
            (r"(?:[^\\${}]|\\[^${}\\])+", String.Other),
            (r"\{", String.Interpol, "hole"),
            (r"[}\\]", Error),
        ],
        "hole": [
            (r"\}", String.Interpol, "#pop"),
            (rf"(:)(\s*)({_NAME})", bygroups(Punctuation, Whitespace, Keyword.Pseudo)),
            include("inside"),
        ],
        # `with` and `after` are keywords behind a prompt only; inside brackets they may stand on
        # the next line.
        "with on the line": [
            (r"[ \t]+", Whitespace),
            (r"(?:after|with)\b", Keyword, "#pop"),
            default("#pop"),
        ],
        "with": [
            include("blank"),
            (r"(?:after|with)\b", Keyword, "#pop"),
            default("#pop"),
        ],
        # Literals, comments and blanks
        "text": [
            (r'f"""', String.Double, "format block"),
            (r'f"', String.Double, "format line"),
            (r'"""', String.Double, "text block"),
            (r'"', String.Double, "text line"),
        ],
        "text line": [
            (r'"', String.Double, "#pop"),
            include("escape"),
            (r'[^"\\\n]+', String.Double),
            default("#pop"),
        ],
        "text block": [
            (r'"""', String.Double, "#pop"),
            include("escape"),
            (r'[^"\\]+|"', String.Double),
        ],
        "format line": [
            (r'"', String.Double, "#pop"),
            include("format part"),
            (r'[^"\\{}\n]+', String.Double),
            default("#pop"),
        ],
        "format block": [
            (r'"""', String.Double, "#pop"),
            include("format part"),
            (r'[^"\\{}]+|"', String.Double),
        ],
        "format part": [
            (r"\{\{|\}\}", String.Escape),
            (r"\{", String.Interpol, "format hole"),
            (r"\}", Error),
            include("escape"),
        ],
        "format hole": [
            (r"\}", String.Interpol, "#pop"),
            (r':[^{}"\n]*', String.Interpol),
            include("inside"),
        ],
        "escape": [
            (r'\\(?:[ntr"\\]|u[0-9a-fA-F]{4})', String.Escape),
            (r"\\[^\n]?", Error),
        ],
        "number": [
            (
                rf"{_INTEGER}(?:{_FRACTION}(?:{_EXPONENT})?|{_EXPONENT}){_NUMBER_END}",
                Number.Float,
            ),
            (rf"{_INTEGER}{_NUMBER_END}(?!\.[0-9])", Number.Integer),
            (r"[0-9][0-9A-Za-z_]*(?:\.[0-9][0-9A-Za-z_]*)?", Error),
        ],
        "constant": [
            (words(CONSTANTS, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
        ],
        "comment": [
            (r"///[^\n]*", String.Doc),
            (r"//[^\n]*", Comment.Single),
        ],
        "blank": [
            (r"\s+", Whitespace),
            include("comment"),
        ],
    }
