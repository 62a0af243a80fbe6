"""How scripts are written: each pair is a script and its formatted text."""

import pytest

from tests.syntax.support import formatted, parsed, shape

pytestmark = pytest.mark.one_python

CASES = {
    "blanks": ("x=[1,2]\ny  =  x [0]+1\n", "x = [1, 2]\ny = x[0] + 1\n"),
    "augmented": ("x=1\nx+=( 1+2 )\nx %=2 // odd\n", "x = 1\nx += 1 + 2\nx %= 2  // odd\n"),
    "unpacking": ("a ,(b,_),=x\n(c,d) ,e= ( 1,2 )\n", "a, (b, _) = x\n(c, d), e = (1, 2)\n"),
    "slices": ("x = y[ :: 2]+y[1 : n+1: -1 ]\n", "x = y[::2] + y[1:n + 1:-1]\n"),
    "formatted": (
        'x=f"{a  }: { b:>5 }{{}}"+f"" # c\n'.replace("#", "//"),
        'x = f"{a  }: { b:>5 }{{}}" + f""  // c\n',
    ),
    "formatted_block": (
        'if true:\n  x = f"""a\n      {b}\n        c\n      """\n',
        'if true:\n    x = f"""a\n        {b}\n          c\n    """\n',
    ),
    "blocks": (
        "if true :print( 1 )\nelse :\n  print(2)\n",
        "if true:\n    print(1)\nelse:\n    print(2)\n",
    ),
    "paragraphs": ("\n\nx = 1\n\n\n\n\ny = 2\n\n\n", "x = 1\n\n\ny = 2\n"),
    "paragraphs_inside": (
        "if true:\n\n    x = 1\n\n\n\n    y = 2\n",
        "if true:\n    x = 1\n\n    y = 2\n",
    ),
    "functions_stand_apart": (
        "x = 1\n// about g\nf g():\n    ret 1\ny = 2\n",
        "x = 1\n\n// about g\nf g():\n    ret 1\n\ny = 2\n",
    ),
    "comment_of_the_line_above_a_function": (
        "x = 1\n// about x\n\nf g():\n    ret 1\n",
        "x = 1\n// about x\n\nf g():\n    ret 1\n",
    ),
    "numbers_and_strings_as_written": (
        'x = [1_000, 1.50, 1e-3, "\\u00e9\\n"]\n',
        'x = [1_000, 1.50, 1e-3, "\\u00e9\\n"]\n',
    ),
    "chain_as_the_only_item": (
        f'print("{"a" * 50}" + "{"b" * 50}")\n',
        f'print(\n    "{"a" * 50}"\n    + "{"b" * 50}",\n)\n',
    ),
    "trailing_comma": ("x = [1, 2,]\n", "x = [\n    1,\n    2,\n]\n"),
    "no_trailing_comma": ("x = [\n    1,\n    2\n]\n", "x = [1, 2]\n"),
    "one_tuple": ("x = (1,)\n", "x = (1,)\n"),
    "parentheses": (
        "x = ((1) + 2) * 3\ny = (1 + 2)\nif (x == y):\n    print((x))\n",
        "x = (1 + 2) * 3\ny = 1 + 2\nif x == y:\n    print(x)\n",
    ),
    "parentheses_that_make_clear": (
        "a = true\nb = (a and a) or a\n",
        "a = true\nb = (a and a) or a\n",
    ),
    "number_with_a_member": ("x = (5).length\n", "x = (5).length\n"),
    "two_signs": ("x = - -1\n", "x = - -1\n"),
    "statement_that_begins_with_an_object": ("({a: 1}).a\n", "({a: 1}.a)\n"),
    "statement_that_begins_with_a_soft_keyword": (
        "type = 1\nf = [1]\n(type in f)\n",
        "type = 1\nf = [1]\n(type in f)\n",
    ),
    "schemas": (
        'type A = ("a"|"b")?\nx:{id:int , "two words" : [ (int,string) ]}?=nil\n',
        'type A = ("a" | "b")?\nx: {id: int, "two words": [(int, string)]}? = nil\n',
    ),
    "patterns": (
        "for (a,(b, c)) in [(1,(2,3))]:\n    print(a,b,c)\n",
        "for a, (b, c) in [(1, (2, 3))]:\n    print(a, b, c)\n",
    ),
    "imports": (
        "from  weather  import a  as b,c\nimport  os . path  as p\n",
        "from weather import a as b, c\nimport os.path as p\n",
    ),
    "prompt_on_one_line": ("x = $say {1}$\n", "x = $ say {1} $\n"),
    "prompt_keeps_its_text": (
        "x = $ a  b \\{c\\} \\$5 // no comment  $\n",
        "x = $ a  b \\{c\\} \\$5 // no comment $\n",
    ),
    "prompt_over_lines": (
        'if true:\n  x = do $ first\n      second {1}\n        third$ with {model: "m"}\n',
        "if true:\n    x = do $\n        first\n        second {1}\n          third\n"
        '    $ with {model: "m"}\n',
    ),
    "empty_prompt": ("x = $$\n", "x = $ $\n"),
    "prompt_in_a_prompt": ("x = $ a {$ b $} c $\n", "x = $ a { $ b $ } c $\n"),
    "prompts_are_not_broken": (
        f"x = $ {'word ' * 25}{{[1, 2]}} $\n",
        f"x = $ {'word ' * 25}{{[1, 2]}} $\n",
    ),
    "block_string": (
        'if true:\n  x = """first\n   second\n     third\n  """\n',
        'if true:\n    x = """first\n        second\n          third\n    """\n',
    ),
    "block_string_with_its_own_last_line": (
        'x = """\n  a\n\n    b\n"""\n',
        'x = """\n    a\n\n      b\n"""\n',
    ),
    "call_that_holds_one_thing": ("print([\n    1,\n])\n", "print([\n    1,\n])\n"),
    "object_with_several_fields": (
        "x = {a: 1, b: [\n1,\n]}\n",
        "x = {\n    a: 1,\n    b: [\n        1,\n    ],\n}\n",
    ),
    "comment_beside": ("x = 1// one\n", "x = 1  // one\n"),
    "comment_beside_a_head": (
        "if true: // yes\n    x = 1\nelse: // no\n    x = 2\n",
        "if true:  // yes\n    x = 1\nelse:  // no\n    x = 2\n",
    ),
    "comments_in_a_block": (
        "if true:\n  // first\n  x = 1\n  // last\n// below\ny = 2\n",
        "if true:\n    // first\n    x = 1\n    // last\n// below\ny = 2\n",
    ),
    "comment_above_else": (
        "if true:\n  x = 1\n\n// else?\nelse:\n  // no\n  x = 2\n",
        "if true:\n    x = 1\n// else?\nelse:\n    // no\n    x = 2\n",
    ),
    "comment_at_the_end": ("x = 1\n\n// the end", "x = 1\n\n// the end\n"),
    "only_comments": ("// a\n\n\n\n\n// b\n", "// a\n\n\n// b\n"),
    "comments_in_brackets": (
        "x = [ // numbers\n1, // one\n\n// two\n2 // end\n// after\n]\n",
        "x = [  // numbers\n    1,  // one\n\n    // two\n    2,  // end\n    // after\n]\n",
    ),
    "comment_in_empty_brackets": ("x = [ // none\n]\n", "x = [  // none\n]\n"),
    "comment_between_operands": (
        "x = (1 + // one\n 2)\n",
        "x = (\n    1  // one\n    + 2\n)\n",
    ),
    "comment_in_a_comprehension": (
        "x = [y // each\n for y in [1] // all\n if y > 0]\n",
        "x = [\n    y  // each\n    for y in [1]  // all\n    if y > 0\n]\n",
    ),
    "comment_without_a_place": (
        "for (a, // why\n b) in [(1, 2)]:\n    print(a, b)\n",
        "// why\nfor a, b in [(1, 2)]:\n    print(a, b)\n",
    ),
    "doc_comments": (
        "/// A module.\n\n/// A city.\ntype City(name : string)\n\n/// Nothing.\n\n"
        "f g( ):\n  ret 1\n",
        "/// A module.\n\n/// A city.\ntype City(name: string)\n\n/// Nothing.\n\n"
        "f g():\n    ret 1\n",
    ),
    "doc_comments_of_fields": (
        "type City(\n  name: string /// in English\n  ,\n  /// counted\n  people: int)\n",
        "type City(\n    name: string,  /// in English\n    /// counted\n    people: int,\n)\n",
    ),
    "doc_comment_behind_two_fields": (
        "type A(\n    a: int, b: int, /// the first\n)\n",
        "type A(\n    a: int,  /// the first\n    b: int,\n)\n",
    ),
    "doc_comment_that_documents_nothing": (
        "type A(a: int, /// nothing\n    b: int)\n",
        "type A(\n    a: int,  // nothing\n    b: int,\n)\n",
    ),
    "chain_that_opens_brackets": (
        "x = [1] + g(\n    1,\n)\nassert x == [\n    1,\n]\n",
        "x = [1] + g(\n    1,\n)\nassert x == [\n    1,\n]\n",
    ),
    "chain_that_opens_brackets_first": (
        "x = [\n    1,\n] + x\n",
        "x = (\n    [\n        1,\n    ]\n    + x\n)\n",
    ),
    "nothing": ("", ""),
    "blank": ("\n   \n\n", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_written(name: str) -> None:
    before, after = CASES[name]
    assert formatted(before) == after
    assert formatted(after) == after
    first, second = parsed(before), parsed(after)
    assert first is not None and second is not None
    assert shape(first) == shape(second)


def test_what_does_not_fit_has_one_item_a_line() -> None:
    name = "a_rather_long_name"
    text = f"{name} = 1\nx = g([{', '.join([name] * 4)}], b: {name}, c: {{d: {name}}})\n"
    assert formatted(text) == (
        f"{name} = 1\nx = g(\n    [{', '.join([name] * 4)}],\n"
        f"    b: {name},\n    c: {{d: {name}}},\n)\n"
    )


def test_what_fits_exactly_stays_on_its_line() -> None:
    text = f'x = ["{"a" * 92}"]\n'
    assert len(text) == 101
    assert formatted(text) == text
    text = f'x = ["{"a" * 93}"]\n'
    assert formatted(text) == f'x = [\n    "{"a" * 93}",\n]\n'


def test_a_long_comment_breaks_nothing() -> None:
    text = f"x = [1, 2]  // {'word ' * 30}end\n"
    assert formatted(text) == text


def test_a_long_chain_stands_in_parentheses() -> None:
    name = "a_rather_long_condition"
    chain = [name] * 5
    assert formatted(f"if {' and '.join(chain)}:\n    print(1)\n") == (
        "if (\n    " + "\n    and ".join(chain) + "\n):\n    print(1)\n"
    )


def test_long_heads_of_functions_have_one_parameter_a_line() -> None:
    parameters = [f"parameter_number_{number}: int" for number in range(5)]
    assert formatted(f"f go({', '.join(parameters)}) -> int:\n    ret 1\n") == (
        "f go(\n" + "".join(f"    {one},\n" for one in parameters) + ") -> int:\n    ret 1\n"
    )


def test_a_long_union_stands_in_parentheses() -> None:
    words = [f'"a rather long word {number}"' for number in range(5)]
    assert formatted(f"type A = {' | '.join(words)}\n") == (
        "type A = (\n    " + "\n    | ".join(words) + "\n)\n"
    )
