"""The scripts that the colours are tested on: each construct alone, and whole files."""

from pathlib import Path

FILES = sorted((Path(__file__).parent / "data").glob("*.saft"))

CONSTRUCTS = {
    "function": "f g(p, q: int, r: string? = nil) -> [int]:\n    ret q\n",
    "function on a line": "f g(x): ret x\n",
    "function on lines": (
        "f g(\n    x: int,\n    y: int | string\n        | nil = 3,\n) -> {a: int}:\n    ret x\n"
    ),
    "conversion": "conv locate(city: City) -> Point:\n    ret Point(1, 2)\n",
    "assignment": "total = 1\n",
    "augmented assignment": "total += 1\ntotal -=a\nx *= -1\nx /= 2\nx%=3\n",
    "unpacking": "a, (b, _) = pair\nx, y = (y, x[::2])\n",
    "annotated assignment": "total: (int, [float]) = (1, [2.0])\n",
    "destructuring": "{name: string, age: int} = $ ask $\n",
    "if": "if a: b = 1\nelif c: d: int = 2\nelse:\n    e = 3\n",
    "for": "for id, verb in pairs:\n    break\n",
    "draft": "for draft: [shop.Post]? in stream $ a $:\n    print(draft)\n",
    "while": "while not done: continue\n",
    "ret": "f g():\n    ret\n",
    "assert": 'assert a == b, "no"\n',
    "type of a module": "o: shop.Order? = $ a $\nf g(x: [a.b.C], y: {k: m.T}) -> m.T: ret x\n",
    "alias": 'type Label = "bug" | "feature"\n',
    "record": (
        "type City(\n    /// the city's own name\n    name: string,\n"
        "    country: string? = nil, /// where\n)\n"
    ),
    "rules": (
        'type A(a: int): // head\n    assert a > 0, "no" // beside\n    assert a < $ b $\n'
        "type B(\n    a: int = 1,\n): assert a == 1\nx = 2\n"
    ),
    "from": "from weather.now import forecast as look_up, wind // both\n",
    "import": "import weather.now as w\n",
    "literals": 'x = [1, 1_000, 1.5, 1e-3, 0.5e+10, "a", true, false, nil]\n',
    "tuples": "x = ((1, 2), (3,), ())\ny = x.0.1\n",
    "objects": 'x = {id: 1, "two words": {in_: 2}}\n',
    "calls": "x = g(a, b: 2)(c)[0][1:][:2][a:b].length\n",
    "operators": "x = -a * b / c % d + e - f < g or h >= i and not j != k\n",
    "membership": "x = a in b or a not in c\n",
    "conditional": "x = a if b else c\n",
    "comprehension": "x = [g(y) for y in z if y > 2]\n",
    "brackets on lines": "x = [\n    1, // one\n    g(\n        a: 2,\n    ),\n]\ny: int = 3\n",
    "prompt": "x = $ who is in {people}? $\n",
    "prompt on lines": "x: [int] = $\n\n    add {a}\n      to {b}\n$\n",
    "prompt at once": "x = $$\n",
    "mode": "x = do $ a $\ny: float = program$ b $\n",
    "options": "x = $ a $ with fast\ny = [$ b $ with {seed: 1}]\n",
    "after": (
        "x = $ a $ after y[0] with fast\ny = [$ b $ with {seed: 1}\n    after g(x)]\n"
        "after = x + after\nwith = $ a $ after $ b $ with after\n"
    ),
    "nested prompts": "x = $ a {$ b {$ c {d} $:raw} $} e $\n",
    "object in a hole": "x = $ {{a: {b: 1}}} $\n",
    "hole on lines": "x = $ {g(\n    a, // one\n    b: 2,\n)} $\n",
    "prompt escapes": r"x = $ \$ \{ \} \\ \n \é $" + "\n",
    "prompt text": 'x = $ // "a # if ret nil 12 /// b [ ( $\n',
    "string escapes": r'x = "\n \t \r \" \\ \u00e9 // $ {a}"' + "\n",
    "block string": 'x = """a\n  "b" ""c \\""" $ {d}\n"""\n',
    "formatted string": 'x = f"{a}: {b:,.2f} {{c}} \\n {g(d, [e][0:1])}" + f""\n',
    "formatted block": 'x = f"""a "{b}" ""\n  {$ c {d} $}\n"""\n',
    "formatted in formatted": 'x = f"{f"{a}"} {b["c"]:>5}"\ny = [f"{$ d $}"]\n',
    "comments": "/// module\n\n/// g\nf g(): // no $ prompt\n    ret 1 // { no hole\n",
    "soft words as names": (
        "f = 1\ntype = f\nconv: int = 2\ndo = [f, type, conv]\nprogram = do[0] + f (2)\n"
        "with = program\nfrom = with\nimport = from\nas = import * as\nf.type(do: 1, with: f)\n"
    ),
    "failures": (
        'try:\n    fail "no"\nexcept error: // why\n    fail error\ntry: fail(x)\nexcept: nil\n'
        "try = except\nfail(1)\nfail = try + fail\nif a: fail (1)\nfail $ why? $\nfail -1\n"
        "fail [1]\nfail not x\nfail - 1\n"
    ),
    "soft words below a prompt": "x = $ a $\nwith = 3\n",
    "soft words in place": (
        "f f(f: type, do):\n    ret do $ {f} {do} $ with with\ntype type(as: as)\n"
    ),
    "keys that are builtins": "x = {min: min(1, 2), type: type(1)}\ny = g(sum: sum([x.max]))\n",
    "literal schemas": 'x: "a" | 1 | -2.5 | true | nil? = "a"\n',
    "no end of line": "x = $ a {b} $",
    "nothing": "",
}

SCRIPTS = CONSTRUCTS | {path.name: path.read_text("utf-8") for path in FILES}
