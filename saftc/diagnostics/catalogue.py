"""The catalogue of all codes with their messages. A code is never reused or changed in meaning.

01xx text and tokens, 02xx names, 03xx types, 04xx prompts, 05xx modules, 06xx warnings.
"""

from pathlib import Path

from saftc import _version
from saftc.diagnostics.model import Code

# The folder of the Markdown pages, one for each code.
PAGES = Path(__file__).parent / "pages"

# Text and tokens.
INVALID_UTF8 = Code("SAFT0101", "error", "byte 0x{byte:02x} is not UTF-8")
INVALID_CHARACTER = Code("SAFT0102", "error", "unexpected {character}")
TAB_INDENTATION = Code("SAFT0103", "error", "a tab in the indentation")
INDENTATION = Code("SAFT0104", "error", "this indentation matches no open block")
UNTERMINATED_STRING = Code("SAFT0105", "error", "this string is never closed")
INVALID_ESCAPE = Code("SAFT0106", "error", "`{escape}` is not an escape")
INVALID_NUMBER = Code("SAFT0107", "error", "`{text}` is not a number")
UNTERMINATED_PROMPT = Code("SAFT0108", "error", "this prompt is never closed")
UNCLOSED_BRACKET = Code("SAFT0109", "error", "this `{bracket}` is never closed")
UNOPENED_BRACKET = Code("SAFT0110", "error", "`{bracket}` closes nothing")
MISMATCHED_BRACKET = Code("SAFT0111", "error", "`{bracket}` does not close `{opened}`")
TOO_DEEP = Code("SAFT0112", "error", "{what} nested more than {limit} levels deep")
STRAY_BRACE = Code("SAFT0113", "error", "a `}}` in {what} that closes nothing")
STRAY_DOLLAR = Code("SAFT0114", "error", "unexpected `$` in a prompt: it would end here")
UNEXPECTED = Code("SAFT0120", "error", "expected {expected}, found {found}")
MISSING_BLOCK = Code("SAFT0121", "error", "this block is empty")
CHAINED_COMPARISON = Code("SAFT0122", "error", "comparisons do not chain")
UNEXPECTED_INDENT = Code("SAFT0123", "error", "this line is indented, but no block was opened")
PATTERN_FIELD = Code("SAFT0124", "error", "{problem} in a destructuring pattern")
NOT_A_PROMPT = Code("SAFT0125", "error", "only a prompt can be destructured")
DEFAULT_ORDER = Code("SAFT0126", "error", "parameter `{name}` needs a default")
ARGUMENT_ORDER = Code("SAFT0127", "error", "a positional argument after a named one")
UNKNOWN_FORMAT = Code("SAFT0128", "error", "`{format}` is not a format of an interpolation")
NOT_A_NAME = Code("SAFT0129", "error", "only names can be unpacked into")
ZERO_STEP = Code("SAFT0130", "error", "the step of a slice cannot be zero")
BAD_FORMAT = Code("SAFT0131", "error", "`{format}` cannot format {found}")
TRY_ALONE = Code("SAFT0132", "error", "`{word}` without `{other}`")
RULE_EXPECTED = Code("SAFT0134", "error", "a record's block can hold only `assert`")
MAP_KEY = Code("SAFT0135", "error", "the keys of an object cannot be {found}")

# Names.
DUPLICATE_FUNCTION = Code("SAFT0201", "error", "function `{name}` is defined twice")
DUPLICATE_NAME = Code("SAFT0202", "error", "{what} `{name}` appears twice")
UNKNOWN_NAME = Code("SAFT0203", "error", "unknown name `{name}`")
RET_OUTSIDE = Code("SAFT0204", "error", "`ret` outside a function")
LOOP_OUTSIDE = Code("SAFT0205", "error", "`{word}` outside a loop")
UNBOUND_NAME = Code("SAFT0206", "error", "`{name}` has no value yet")
NAME_IS_TAKEN = Code("SAFT0207", "error", "`{name}` is {what} and cannot be assigned")
UNKNOWN_TYPE = Code("SAFT0208", "error", "unknown type `{name}`")
DUPLICATE_TYPE = Code("SAFT0209", "error", "type `{name}` is defined twice")
TYPE_AS_VALUE = Code("SAFT0210", "error", "type `{name}` is not a value")
BUILTIN_TYPE_NAME = Code("SAFT0211", "error", "`{name}` is the name of a built-in type")
ENDLESS_TYPE = Code("SAFT0212", "error", "type `{name}` refers only to itself")
TWO_MEANINGS = Code(
    "SAFT0213",
    "error",
    "`{name}` is ambiguous in `{function}`: the call assigns it on some paths only",
)
NESTED_TYPE = Code("SAFT0214", "error", "type `{name}` is defined inside a block")
RESERVED_NAME = Code("SAFT0215", "error", "`{name}` is reserved for the runtime")
FAILURE_OUTSIDE = Code("SAFT0216", "error", "`{name}` is known only inside its `except`")
FAILURE_KIND = Code("SAFT0217", "error", "{kind} is not a kind of failure")
RULE_EFFECT = Code("SAFT0218", "error", "a record's rule must not {problem}")

# Types.
TYPE_MISMATCH = Code("SAFT0301", "error", "expected {expected}, found {found}")
OPERAND = Code("SAFT0302", "error", "`{operator}` does not take {found}")
MISSING_FIELD = Code("SAFT0303", "error", "{found} has no field `{name}`")
NOT_INDEXABLE = Code("SAFT0304", "error", "{found} cannot be indexed{how}")
OUT_OF_RANGE = Code("SAFT0305", "error", "index {index} is out of range: the tuple has {count}")
NOT_ITERABLE = Code("SAFT0306", "error", "cannot loop over {found}: `for` needs a list or a tuple")
NOT_CALLABLE = Code("SAFT0307", "error", "{found} cannot be called")
ARGUMENT_COUNT = Code("SAFT0308", "error", "`{name}` takes {expected}, {given} given")
UNKNOWN_ARGUMENT = Code("SAFT0309", "error", "`{name}` has no parameter `{argument}`")
MISSING_ARGUMENT = Code("SAFT0310", "error", "`{name}` needs a value for `{argument}`")
REPEATED_ARGUMENT = Code("SAFT0311", "error", "`{name}` is given `{argument}` twice")
UNPACK = Code("SAFT0312", "error", "cannot unpack {found} into {count} names")
DIVISION_BY_ZERO = Code("SAFT0313", "error", "division by zero")
UNNAMED_ARGUMENT = Code("SAFT0314", "error", "`{name}` takes its fields by name")
NOT_SPREAD = Code("SAFT0316", "error", "`...` in {where} takes {expected}, not {found}")
KEY_TYPE = Code("SAFT0317", "error", "a key of this object is a {expected}, not {found}")
BY_FUNCTION = Code("SAFT0318", "error", "`by` needs a function of one parameter: {problem}")
NO_ORDER = Code("SAFT0319", "error", "`by` must return a number, a string or a date: {problem}")
OTHER_ARGUMENT = Code(
    "SAFT0320",
    "error",
    "calls in its own script pass {expected} as `{parameter}` of `{name}`; found {found}",
)
UNREADABLE = Code("SAFT0321", "error", "`{text}` is not a {name}")
COPY_ENTRY = Code(
    "SAFT0322", "error", "name the fields that change in a copy of {found}: `field: value`"
)

# Prompts.
UNKNOWN_OPTION = Code("SAFT0401", "error", "`{name}` is not an option of a prompt")
TOOL_NAME_TWICE = Code("SAFT0402", "error", "two different functions have the tool name `{name}`")
RAW_NEEDS_STRING = Code("SAFT0404", "error", "`:raw` inserts a string, not {found}")
NO_HISTORY = Code("SAFT0405", "error", "{found} has no `{name}`")
RESULT_NOT_ITERABLE = Code(
    "SAFT0406", "error", "cannot iterate over a result; use .toolCalls or .value"
)
BAD_CONVERSION = Code("SAFT0407", "error", "a `conv` must {problem}")
PROGRAM_NAME = Code("SAFT0408", "error", "`{name}` is a built-in type in programs")
NO_CONVERSATION = Code(
    "SAFT0409", "error", "a prompt comes `after` a result or a list of messages, not {found}"
)
STREAM_OF_TEXT = Code("SAFT0410", "error", "`stream` gives pieces of text, not {found}")
DRAFTS_OF_STREAM = Code("SAFT0414", "error", "only a stream takes a type in `for`, not {found}")
OPTION_OF_ANOTHER_WIRE = Code("SAFT0411", "error", "the API `{api}` has no option `{name}`")
TOOLS_NOT_KNOWN = Code(
    "SAFT0412", "error", "the tools of a prompt must be known before the script runs"
)
CHECK_OF_PROMPT = Code("SAFT0416", "error", "the `check` of a prompt {problem}")
WITH_AND_WITHOUT = Code("SAFT0415", "error", "`{name}` is offered with and without approval")
TOO_MANY_REQUESTS = Code(
    "SAFT0430", "error", "this script may send {can}, and {allowed} are allowed"
)
STREAM_EXPECTED = Code("SAFT0413", "error", "a function `-> stream` returns a stream, not {found}")

# Modules.
MISSING_MODULE = Code("SAFT0501", "error", "there is no module `{name}`")
BROKEN_MODULE = Code("SAFT0502", "error", "{problem}")
CANNOT_WAIT = Code("SAFT0503", "error", "with --async, {what}")
UNLOCKED_SERVER = Code("SAFT0504", "error", "the MCP server `{name}` is not in the lock")
UNUSABLE_TOOL = Code(
    "SAFT0505", "error", "`{name}` of the MCP server `{server}` cannot be used: {problem}"
)
SERVER_IMPORT_INSIDE = Code("SAFT0506", "error", "tools of a server are imported at the top level")

# Warnings.
ALWAYS_TRUE = Code("SAFT0601", "warning", "this condition is always true")
ALWAYS_FALSE = Code("SAFT0602", "warning", "this condition is always false")
MISSING_RETURN = Code(
    "SAFT0603", "warning", "`{name}` can end without a `ret`, but must return {expected}"
)
UNUSED_NAME = Code("SAFT0604", "warning", "`{name}` is never used")
UNREACHABLE = Code("SAFT0605", "warning", "this is never reached")
UNUSED_RESULT = Code("SAFT0606", "warning", "the result of this prompt is not used")
UNUSED_VALUE = Code("SAFT0607", "warning", "this value is not used")
MAYBE_UNBOUND = Code("SAFT0608", "warning", "`{name}` may have no value here")
MAY_FAIL = Code("SAFT0609", "warning", "this may be {found}, {problem}")
DIVISION_COMMENT = Code("SAFT0610", "warning", "`//` begins a comment")
BRACES_IN_TEXT = Code(
    "SAFT0611", "warning", "`{text}` stays as text: the string has no `f` in front"
)
DOCUMENTS_NOTHING = Code("SAFT0612", "warning", "this doc comment is attached to nothing")
FIELD_LIKE_TYPE = Code(
    "SAFT0615", "warning", "`{{{name}: {type}}}` is an object with one field named `{name}`"
)
TOOLS_LOST = Code(
    "SAFT0620", "warning", "this prompt has no tools, but its conversation may have calls of tools"
)
CALLS_WITHOUT_APPROVAL = Code(
    "SAFT0625", "warning", "`{name}` calls `{other}`, and that call does not wait for approval"
)
NOT_TOLD_APART = Code(
    "SAFT0627", "warning", "`{name}` uses `{other}`, which the prompt does not mention"
)
HIDES_TYPE = Code("SAFT0624", "warning", "`{name}` hides the built-in type of that name")

# Hints, of `check --strict`.
LEFT_TO_RUN_TIME = Code(
    "SAFT0617", "hint", "`{name}` has no known type; its use is checked at run time"
)
NOT_ENFORCED = Code("SAFT0618", "hint", "no server can enforce all of this type: {losses}")
CONSTANT_BEHIND = Code("SAFT0619", "hint", "{count} constant characters follow {hole}")

ALL: tuple[Code, ...] = tuple(value for value in globals().values() if isinstance(value, Code))
BY_NUMBER: dict[str, Code] = {code.number: code for code in ALL}


def address_of_page(code: str) -> str:
    """Returns the address of a code's page: on the web site, or of its file if there is no site."""
    site = _version.SITE_URL
    return f"{site}diagnostics/{code}/" if site else (PAGES / f"{code}.md").as_uri()
