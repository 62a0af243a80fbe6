"""Whatever a file holds, saftc says what is wrong with it: no crash, no hang."""


import pytest

from saftc.diagnostics.model import LIMIT
from tests.compiler.support import codes_of, compile_text, diagnostics_of

_CLEAN: list[str] = []

# What a file holds, and the codes of what is wrong with it.
_FILES: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", _CLEAN),
    "a blank": (" ", _CLEAN),
    "blank lines": ("\n\n  \n\t\n", _CLEAN),
    "no newline at the end": ("x = 1", _CLEAN),
    "only comments": ("// one\n  // two\n\t// three", _CLEAN),
    "only a byte order mark": (b"\xef\xbb\xbf", _CLEAN),
    "byte order mark": (b"\xef\xbb\xbfx = 1\n", _CLEAN),
    "byte order mark inside": (b"x = 1\n\xef\xbb\xbfy = 2\n", ["SAFT0102"]),
    "CRLF": (b'if true:\r\n    x = """a\r\nb"""\r\n', _CLEAN),
    "lone carriage return": (b"x = 1\ry = 2\n", ["SAFT0102"]),
    "carriage return in a comment": (b"// a\rb = 1\nx = 1\n", ["SAFT0102"]),
    "carriage return at the end of a comment": (b"x = 1  // a\r\r\n", ["SAFT0102"]),
    "carriage return at the end of the file": (b"x = 1  // a\r", ["SAFT0102"]),
    "carriage return in a comment in a list": (b"x = [\n  1,  // a\rb\n]\n", ["SAFT0102"]),
    "carriage return in a comment between parameters": (
        b"f go(\n  a,  // a\rb\n  b\n):\n  ret a\n",
        ["SAFT0102"],
    ),
    "carriage return in a doc comment": (b"/// a\rb = 1\nf go():\n  ret 1\n", ["SAFT0102"]),
    "carriage return in a string": (b'x = "a\rb"\n', ["SAFT0102"]),
    "carriage return in a string of several lines": (b'x = """a\rb"""\n', ["SAFT0102"]),
    "carriage return in a prompt": (b"x = $ a\rb $\n", ["SAFT0102"]),
    "carriage return in a hole": (b"x = 1\ny = $ {x\r} $\n", ["SAFT0102"]),
    "NUL in a prompt": (b"x = $ a\0b $\n", ["SAFT0102"]),
    "CRLF in a prompt": (b"x = $\r\n  one\r\n  two\r\n$\r\n", _CLEAN),
    "tab in the indentation": ("if true:\n\tx = 1\n", ["SAFT0103"]),
    "tabs and spaces": ("if true:\n    x = 1\n\ty = 2\n", ["SAFT0103"]),
    "tab between words": ("x\t=\t1\n", _CLEAN),
    "tab in a prompt": ("x = $\n\thello\n$\n", _CLEAN),
    "mixed indentation": ("if true:\n    x = 1\n  y = 2\nz = 3\n", ["SAFT0104"]),
    "block below a line that needs none": ("f go(): ret\n    print(1)\n", ["SAFT0120"]),
    "indented first line": ("  x = 1\ny = 2\n", ["SAFT0123"]),
    "NUL": (b"x = 1\0\n", ["SAFT0102"]),
    "NUL in a string": (b'x = "a\0b"\n', ["SAFT0102"]),
    "NUL in a comment": (b"// a\0b\nx = 1\n", ["SAFT0102"]),
    "invalid UTF-8": (b"x = \xff\n", ["SAFT0101"]),
    "invalid UTF-8 in a string": (b'x = "\xff"\n', ["SAFT0101"]),
    "invalid UTF-8 in a prompt": (b"x = $ \xff $\n", ["SAFT0101"]),
    "invalid UTF-8 in a comment": (b"// caf\xe9\nx = 1\n", ["SAFT0101"]),
    "only invalid UTF-8": (bytes(range(128, 256)), ["SAFT0101"]),
    "UTF-16": ("x = 1  // one\n".encode("utf-16"), ["SAFT0101"]),
    "many NUL": (b"x = 1\n" + bytes(300), ["SAFT0102"]),
    "many umlauts in Latin-1": ("// \xfc \xf6\n".encode("latin-1") * 20, ["SAFT0101"]),
    "module named like a word of Python": ("from class import g\nprint(g(1))\n", ["SAFT0502"]),
    "package named like a word of Python": ("import os.None\nprint(os)\n", ["SAFT0502"]),
    "surrogates by escapes": ('x = "\\ud800"\n', ["SAFT0106"]),
    "calls without arguments": ("x = min()\ny = max()\nz = join()\n", ["SAFT0310"] * 3),
    "variables of each other": (
        "from first import a\nb = a\nfrom second import b\na = b\n",
        ["SAFT0207"],
    ),
    "unterminated string": ('x = "abc\n', ["SAFT0105"]),
    "unterminated block string": ('x = """abc\n', ["SAFT0105"]),
    "lone quote": ('"', ["SAFT0105"]),
    "string that ends in a backslash": ('x = "abc\\\n', ["SAFT0105"]),
    "unterminated prompt": ("x = $ abc\n", ["SAFT0108"]),
    "lone dollar": ("$", ["SAFT0108"]),
    "a dollar too many": ("x = $ a $ $\n", ["SAFT0114"]),
    "prompt that ends in a backslash": ("x = $ abc \\", ["SAFT0108"]),
    "unterminated hole": ("x = $ a {b\n", ["SAFT0109"]),
    "empty hole": ("x = $ a {} b $\n", ["SAFT0120"]),
    "unterminated list": ("x = [1, 2\ny = 3\n", ["SAFT0109"]),
    "unterminated call": ("print(1\n", ["SAFT0109"]),
    "lone bracket": ("(", ["SAFT0109"]),
    "lone closing bracket": (")", ["SAFT0110"]),
    "every bracket": ("([{", ["SAFT0109"]),
    "crossed brackets": ("x = ([)]\n", ["SAFT0111", "SAFT0111"]),
    "only an operator": ("+\n", ["SAFT0120"]),
    "only a keyword": ("if\n", ["SAFT0120"]),
    "only a colon": (":\n", ["SAFT0120"]),
    "unfinished at the end": ("x = ", ["SAFT0120"]),
    "block without body at the end": ("f go():", ["SAFT0121"]),
    "emoji": ("x = 😀\n", ["SAFT0102"]),
    "control characters": ("x = \x07\n", ["SAFT0102"]),
    "non-breaking space": ("x =\u00a01\n", ["SAFT0102"]),
}


@pytest.mark.parametrize("name", _FILES)
def test_file(name: str) -> None:
    text, expected = _FILES[name]
    found = codes_of(text)
    shown = diagnostics_of(text)
    shown.encode("utf-8")
    if expected is None:
        assert found
    else:
        errors = [code for code in found if not code.startswith("SAFT06")]
        assert errors == expected, shown


# Sizes. What hangs or is quadratic here is ended by the timeout of all tests.


@pytest.mark.heavy
@pytest.mark.one_python
def test_a_line_of_two_megabytes_of_text() -> None:
    assert codes_of('x = "' + "a" * 2_000_000 + '"\n') == []


def test_a_line_of_two_megabytes_of_garbage() -> None:
    found = codes_of("x = " + "#" * 2_000_000 + "\n")
    assert 0 < len(found) <= LIMIT


@pytest.mark.heavy
@pytest.mark.one_python
def test_a_prompt_of_two_megabytes() -> None:
    assert codes_of("x = $ " + "word " * 400_000 + "$\n") == []


def test_a_comment_of_two_megabytes() -> None:
    assert codes_of("// " + "a" * 2_000_000 + "\nx = 1\n") == []


def test_a_number_of_many_digits() -> None:
    assert codes_of("x = " + "1" * 100_000 + "\n") == ["SAFT0107"]


def test_two_megabytes_of_open_quotes() -> None:
    found = codes_of('"\n' * 200_000)
    assert found == ["SAFT0105"] * LIMIT


@pytest.mark.heavy
@pytest.mark.one_python
def test_many_open_brackets_one_a_line() -> None:
    found = codes_of("x = [\n" * 20_000)
    assert 0 < len(found) <= LIMIT


@pytest.mark.heavy
@pytest.mark.one_python
def test_many_open_prompts_one_a_line() -> None:
    found = codes_of("x = $ {\n" * 20_000)
    assert 0 < len(found) <= LIMIT


def test_ten_thousand_lines_with_a_mistake_each() -> None:
    assert codes_of("x = = 1\n" * 10_000) == ["SAFT0120"] * LIMIT


# Depth. Python's own parser takes 200 brackets and 100 blocks, so deeper scripts are refused.


@pytest.mark.parametrize(("opening", "closing"), ["()", "[]"], ids=["parentheses", "lists"])
def test_nested_brackets(opening: str, closing: str) -> None:
    assert codes_of(f"x = {opening * 500}1{closing * 500}\n") == ["SAFT0112"]
    assert codes_of(f"x = {opening * 50}1{closing * 50}\n") == []


def test_nested_objects() -> None:
    assert codes_of("x = " + "{a: " * 500 + "1" + "}" * 500 + "\n") == ["SAFT0112"]


def test_nested_calls() -> None:
    assert codes_of("x = " + "str(" * 500 + "1" + ")" * 500 + "\n") == ["SAFT0112"]


def test_nested_prompts() -> None:
    assert codes_of("x = " + "$ {" * 300 + "1" + "} $" * 300 + "\n") == ["SAFT0112"]


def test_nested_schemas() -> None:
    assert codes_of("x: " + "[" * 500 + "int" + "]" * 500 + " = []\n") == ["SAFT0112"]


def test_nested_patterns() -> None:
    script = "for " + "(a, " * 500 + "b" + ")" * 500 + " in []:\n    nil\n"
    assert codes_of(script) == ["SAFT0112"]


def test_unclosed_nested_brackets() -> None:
    found = codes_of("x = " + "[" * 500 + "\n")
    assert "SAFT0109" in found or "SAFT0112" in found


@pytest.mark.parametrize("operator", ["+", "-", "*", "and", "or"], ids=str)
def test_chained_operators(operator: str) -> None:
    operand = "true" if operator in ("and", "or") else "1"
    script = "x = " + f" {operator} ".join([operand] * 5_000) + "\n"
    found = codes_of(script)
    assert [code for code in found if not code.startswith("SAFT06")] in ([], ["SAFT0112"])


@pytest.mark.parametrize("chained", ["x.a", "x[0]", "x()"], ids=["members", "indexes", "calls"])
def test_chained_postfixes(chained: str) -> None:
    script = 'x = parse("1")\ny = x' + chained[1:] * 5_000 + "\n"
    assert codes_of(script) in ([], ["SAFT0112"])


@pytest.mark.parametrize("sign", ["-", "not "], ids=["minus", "not"])
def test_chained_signs(sign: str) -> None:
    found = codes_of("x = " + sign * 5_000 + "1\n")
    assert [code for code in found if not code.startswith("SAFT06")] in ([], ["SAFT0112"])


def test_chained_conditionals() -> None:
    script = "x = " + "1 if true else " * 2_000 + "2\n"
    found = codes_of(script)
    assert [code for code in found if not code.startswith("SAFT06")] in ([], ["SAFT0112"])


@pytest.mark.one_python
def test_a_long_list_is_no_deep_one() -> None:
    compiled = compile_text("x = [" + ", ".join(["1"] * 5_000) + "]\n")
    assert compiled.text is not None


def test_a_wide_union_is_no_deep_one() -> None:
    names = " | ".join(f'"name{number}"' for number in range(1_000))
    assert codes_of(f'x: {names} = "name1"\n') == []


def test_deep_blocks() -> None:
    def nested(depth: int) -> str:
        lines = ["    " * level + "if x > 1:" for level in range(depth)]
        return "x = 2\n" + "\n".join([*lines, "    " * depth + "print(x)"]) + "\n"

    assert codes_of(nested(15)) == []
    assert set(codes_of(nested(300))) == {"SAFT0112"}


@pytest.mark.heavy
def test_a_long_chain_of_elif() -> None:
    branches = "".join(f"elif x == {n}:\n    print({n})\n" for n in range(1_000))
    compiled = compile_text("x = 1\nif x == -1:\n    print(x)\n" + branches)
    found = [diagnostic.code for diagnostic in compiled.checked.diagnostics]
    assert found in ([], ["SAFT0112"])
    if not found:
        assert compiled.text is not None
        compile(compiled.text, "out.py", "exec")


def test_a_long_chain_of_else_if() -> None:
    lines: list[str] = ["x = 1"]
    for level in range(200):
        lines += ["    " * level + f"if x == {level}:", "    " * (level + 1) + "print(x)"]
        lines += ["    " * level + "else:"]
    lines.append("    " * 200 + "nil")
    assert set(codes_of("\n".join(lines) + "\n")) == {"SAFT0112"}


def test_functions_that_call_each_other_in_a_ring() -> None:
    script = "".join(f"f go{n}(x):\n    ret go{(n + 1) % 300}(x)\n\n" for n in range(300))
    assert compile_text(script + "print(go0(1))\n").text is not None


def test_a_type_that_grows_for_ever() -> None:
    script = "f grow(x, n: int):\n    if n == 0:\n        ret x\n    ret grow([x], n - 1)\n"
    assert compile_text(script + "print(grow(1, 3))\n").text is not None
    loop = "x = []\nfor i in range(5):\n    x = [x]\nprint(x)\n"
    assert compile_text(loop).text is not None


def test_many_mistakes_of_every_kind_at_once() -> None:
    text = "".join(
        part if isinstance(part, str) else part.decode("utf-8", "surrogateescape")
        for part, _ in _FILES.values()
        if not (isinstance(part, bytes) and part.startswith(b"\xff\xfe"))
    )
    found = codes_of(text.encode("utf-8", "surrogateescape"))
    assert 0 < len(found) <= LIMIT
