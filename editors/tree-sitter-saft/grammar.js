// The grammar of Saft for tree-sitter: the rules of saftc/syntax/grammar.lark, by the same names.
// `npm run generate` makes src/parser.c of it. What a text decides by its layout, or by the words behind
// a word, src/scanner.c finds out: blocks, and the words that are names elsewhere.

/// <reference types="tree-sitter-cli/dsl" />

const PREC = { or: 1, and: 2, not: 3, comparison: 4, sum: 5, product: 6, negation: 7, after: 8, postfix: 9 };

const commas = (rule) => seq(rule, repeat(seq(",", rule)));
const list = (rule) => seq(commas(rule), optional(","));
const binary = ($, level, ...operators) =>
  prec.left(level, seq(field("left", $._sum), field("operator", choice(...operators)), field("right", $._sum)));

module.exports = grammar({
  name: "saft",

  extras: ($) => [/[ \t\r\n]/, $.doc_comment, $.comment],

  // In the order of `enum Kind` in src/scanner.c.
  externals: ($) => [
    $._newline,
    $._indent,
    $._dedent,
    $._pattern_start,
    $._function,
    $._type,
    $._conv,
    $._from,
    $._mcp,
    $._import,
    $._try,
    $._except,
    $._fail,
    $._do,
    $._program,
    $._stream,
    // Never read; valid where the parser tries everything.
    $._error,
  ],

  inline: ($) => [$._simple_statement],

  word: ($) => $.name,

  rules: {
    source_file: ($) => seq(optional($.shebang), repeat($._statement)),

    shebang: () => token(prec(2, /#![^\n]*/)),
    comment: () => token(/\/\/[^\n]*/),
    doc_comment: () => token(prec(1, /\/\/\/[^\n]*/)),

    _statement: ($) =>
      choice(
        $._simple_line,
        $.function_def,
        $.if_stmt,
        $.for_stmt,
        $.while_stmt,
        $.try_stmt,
        alias($._checked_record_def, $.record_def),
      ),

    _simple_line: ($) => seq($._simple_statement, $._newline),

    _simple_statement: ($) =>
      choice(
        $.assign_stmt,
        $.augmented_assign_stmt,
        $.unpack_stmt,
        $.destructure_stmt,
        $.ret_stmt,
        $.assert_stmt,
        $.fail_stmt,
        $.break_stmt,
        $.continue_stmt,
        $.type_alias,
        $.record_def,
        $.import_stmt,
        $.from_import,
        $.server_import,
        $.expression_stmt,
      ),

    block: ($) => choice(seq($._newline, $._indent, repeat1($._statement), $._dedent), $._simple_line),

    // Statements

    function_def: ($) =>
      seq(
        field("kind", choice(alias($._function, "f"), alias($._conv, "conv"))),
        field("name", $.name),
        field("parameters", $.parameters),
        optional(seq("->", field("returns", $._schema))),
        ":",
        field("body", $.block),
      ),
    parameters: ($) => seq("(", optional(list($.parameter)), ")"),
    parameter: ($) =>
      seq(
        field("name", $.name),
        optional(seq(":", field("type", $._schema))),
        optional(seq("=", field("default", $._expression))),
      ),

    assign_stmt: ($) =>
      seq(
        field("name", $.name),
        optional(seq(":", field("type", $._schema))),
        "=",
        field("value", $._expression),
      ),
    augmented_assign_stmt: ($) =>
      seq(
        field("name", $.name),
        field("operator", choice("+=", "-=", "*=", "/=", "%=")),
        field("value", $._expression),
      ),
    unpack_stmt: ($) => seq(field("targets", $.unpack_targets), "=", field("value", $._expression)),
    unpack_targets: ($) => seq($._expression, repeat1(seq(",", $._expression)), optional(",")),
    destructure_stmt: ($) =>
      seq(alias($._pattern_start, "{"), optional(list($.pattern_field)), "}", "=", field("value", $._expression)),
    pattern_field: ($) =>
      choice(
        seq(
          field("name", $.name),
          optional(seq(":", field("type", $._schema))),
          optional(seq("=", field("default", $._expression))),
        ),
        seq("...", field("name", $.name)),
      ),

    if_stmt: ($) =>
      seq(
        "if",
        field("condition", $._expression),
        ":",
        field("body", $.block),
        repeat($.elif_branch),
        optional($.else_branch),
      ),
    elif_branch: ($) => seq("elif", field("condition", $._expression), ":", field("body", $.block)),
    else_branch: ($) => seq("else", ":", field("body", $.block)),
    for_stmt: ($) =>
      seq("for", field("pattern", $._pattern), optional(seq(":", field("type", $._schema))), "in", field("iterable", $._expression), ":", field("body", $.block)),
    while_stmt: ($) => seq("while", field("condition", $._expression), ":", field("body", $.block)),
    try_stmt: ($) =>
      seq(
        alias($._try, "try"),
        ":",
        field("body", $.block),
        alias($._except, "except"),
        optional(field("error", $.name)),
        ":",
        field("handler", $.block),
      ),
    break_stmt: () => "break",
    continue_stmt: () => "continue",
    ret_stmt: ($) => seq("ret", optional(field("value", $._expression))),
    assert_stmt: ($) =>
      seq("assert", field("condition", $._expression), optional(seq(",", field("message", $._expression)))),
    fail_stmt: ($) => seq(alias($._fail, "fail"), field("value", $._expression)),
    expression_stmt: ($) => $._expression,

    type_alias: ($) => seq(alias($._type, "type"), field("name", $.name), "=", field("type", $._schema)),
    record_def: ($) => $._record_head,
    _checked_record_def: ($) => seq($._record_head, ":", field("body", $.block)),
    _record_head: ($) =>
      seq(alias($._type, "type"), field("name", $.name), field("parameters", $.parameters)),
    import_stmt: ($) =>
      seq(alias($._import, "import"), field("module", $.dotted_name), optional(seq("as", field("alias", $.name)))),
    from_import: ($) =>
      seq(
        alias($._from, "from"),
        field("module", choice($.dotted_name, $.relative_name)),
        "import",
        commas($.imported_name),
      ),
    server_import: ($) =>
      seq(
        alias($._from, "from"),
        alias($._mcp, "mcp"),
        "(",
        field("server", $.string),
        ")",
        "import",
        commas($.imported_name),
      ),
    imported_name: ($) => seq(field("name", $.name), optional(seq("as", field("alias", $.name)))),
    dotted_name: ($) => seq($.name, repeat(seq(".", $.name))),
    relative_name: ($) => prec.right(seq(repeat1(choice(".", "...")), optional($.dotted_name))),

    // Patterns of `for`

    _pattern: ($) => choice($._pattern_item, $.tuple_pattern),
    tuple_pattern: ($) => seq($._pattern_item, repeat1(seq(",", $._pattern_item)), optional(",")),
    _pattern_item: ($) => choice($.name, $.grouped_pattern),
    grouped_pattern: ($) => seq("(", $._pattern, ")"),

    // Schemas

    _schema: ($) =>
      choice(
        $.union_schema,
        $.optional_schema,
        $.named_schema,
        $.literal_schema,
        $.list_schema,
        $.grouped_schema,
        $.tuple_schema,
        $.object_schema,
        $.map_schema,
        $.function_schema,
      ),
    union_schema: ($) => prec.left(1, seq($._schema, "|", $._schema)),
    optional_schema: ($) => prec(2, seq($._schema, "?")),
    named_schema: ($) => seq($.name, repeat(seq(".", $.name))),
    literal_schema: ($) =>
      choice($.string, $.integer, $.float, $.true, $.false, $.nil, seq("-", choice($.integer, $.float))),
    list_schema: ($) => seq("[", $._schema, "]"),
    grouped_schema: ($) => seq("(", $._schema, ")"),
    tuple_schema: ($) => seq("(", $._schema, ",", optional(list($._schema)), ")"),
    object_schema: ($) => seq("{", optional(list($.schema_field)), "}"),
    schema_field: ($) => seq(field("name", choice($.name, $.string)), ":", field("type", $._schema)),
    function_schema: ($) =>
      prec.right(
        seq(choice(seq("(", ")"), $.grouped_schema, $.tuple_schema), "->", field("returns", $._schema)),
      ),
    map_schema: ($) => seq("{", "[", field("key", $._schema), "]", ":", field("value", $._schema), optional(","), "}"),

    // Expressions, from the loosest operator to the tightest

    _expression: ($) => choice($.conditional, $._or_expression),
    conditional: ($) =>
      seq(
        field("then", $._or_expression),
        "if",
        field("condition", $._or_expression),
        "else",
        field("otherwise", $._expression),
      ),
    _or_expression: ($) => choice($.logical, alias($._negated, $.unary), $.comparison, $._sum),
    logical: ($) =>
      choice(
        prec.left(PREC.or, seq($._or_expression, field("operator", "or"), $._or_expression)),
        prec.left(PREC.and, seq($._or_expression, field("operator", "and"), $._or_expression)),
      ),
    _negated: ($) => prec(PREC.not, seq(field("operator", "not"), $._or_expression)),
    comparison: ($) => prec.left(PREC.comparison, seq($._sum, repeat1(seq($.comparator, $._sum)))),
    comparator: () => choice("==", "!=", "<", "<=", ">", ">=", "in", seq("not", "in")),

    _sum: ($) => choice($.binary, $.unary, $.continued_prompt, $._postfix),
    binary: ($) => choice(binary($, PREC.sum, "+", "-"), binary($, PREC.product, "*", "/", "%")),
    unary: ($) => prec(PREC.negation, seq(field("operator", "-"), $._sum)),
    // A prompt in the conversation of an earlier result: `$ and why? $ after answer`.
    continued_prompt: ($) =>
      prec.right(
        PREC.after,
        seq(
          field("prompt", $.prompt),
          "after",
          field("result", $._postfix),
          optional(seq("with", field("options", $._options))),
        ),
      ),

    _postfix: ($) => choice($._atom, $.call, $.index, $.slice, $.member, $.tuple_member),
    call: ($) => prec(PREC.postfix, seq(field("function", $._postfix), field("arguments", $.arguments))),
    arguments: ($) => seq("(", optional(list($.argument)), ")"),
    argument: ($) => seq(optional(seq(field("name", $.name), ":")), field("value", $._expression)),
    index: ($) => prec(PREC.postfix, seq(field("value", $._postfix), "[", field("at", $._expression), "]")),
    slice: ($) =>
      prec(
        PREC.postfix,
        seq(
          field("value", $._postfix),
          "[",
          optional(field("from", $._expression)),
          ":",
          optional(field("to", $._expression)),
          optional(seq(":", optional(field("step", $._expression)))),
          "]",
        ),
      ),
    member: ($) => prec(PREC.postfix, seq(field("value", $._postfix), ".", field("name", $.name))),
    tuple_member: ($) => prec(PREC.postfix, seq(field("value", $._postfix), ".", field("at", $.integer))),

    _atom: ($) =>
      choice(
        $.name,
        $.string,
        $.integer,
        $.float,
        $.true,
        $.false,
        $.nil,
        $.grouped,
        $.tuple_literal,
        $.list_literal,
        $.comprehension,
        $.object_literal,
        $.formatted_string,
        $.prompt,
      ),
    grouped: ($) => seq("(", $._expression, ")"),
    tuple_literal: ($) => choice(seq("(", ")"), seq("(", $._expression, ",", optional(list($._expression)), ")")),
    list_literal: ($) => seq("[", optional(list(choice($._expression, $.spread))), "]"),
    comprehension: ($) =>
      choice(
        seq("[", field("item", $._expression), repeat1($.comprehension_clause), "]"),
        seq("{", field("item", $.computed_field), repeat1($.comprehension_clause), "}"),
      ),
    comprehension_clause: ($) =>
      seq("for", field("pattern", $._pattern), "in", field("iterable", $._or_expression), repeat(seq("if", field("condition", $._or_expression)))),
    object_literal: ($) => seq("{", optional(list(choice($.field, $.computed_field, $.spread))), "}"),
    field: ($) => seq(field("name", choice($.name, $.string)), ":", field("value", $._expression)),
    computed_field: ($) => seq("[", field("name", $._expression), "]", ":", field("value", $._expression)),
    spread: ($) => seq("...", $._expression),

    // Words and texts

    name: () => /[A-Za-z_][A-Za-z0-9_]*/,
    true: () => "true",
    false: () => "false",
    nil: () => "nil",
    integer: () => /0|[1-9][0-9]*(_[0-9]+)*/,
    float: () => /(0|[1-9][0-9]*(_[0-9]+)*)(\.[0-9]+(_[0-9]+)*([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)/,

    string: ($) =>
      choice(
        seq('"', repeat(choice($.escape_sequence, $._line_text)), token.immediate('"')),
        seq('"""', repeat(choice($.escape_sequence, $._block_text, $._quotes)), token.immediate('"""')),
      ),
    _line_text: () => token.immediate(prec(1, /[^"\\\n]+/)),
    _block_text: () => token.immediate(prec(1, /[^"\\]+/)),
    _quotes: () => token.immediate(/""?/),
    escape_sequence: () => token.immediate(prec(1, /\\(u[0-9a-fA-F]{4}|[ntr"\\])/)),

    formatted_string: ($) =>
      choice(
        seq('f"', repeat($._format_part), token.immediate('"')),
        seq('f"""', repeat(choice($._format_block_part, $._quotes)), token.immediate('"""')),
      ),
    _format_part: ($) => choice($.escape_sequence, $.brace, alias($._format_text, $.format_text), $.format_hole),
    _format_block_part: ($) =>
      choice($.escape_sequence, $.brace, alias($._format_block_text, $.format_text), $.format_hole),
    _format_text: () => token.immediate(prec(1, /[^"\\{}\n]+/)),
    _format_block_text: () => token.immediate(prec(1, /[^"\\{}]+/)),
    brace: () => token.immediate(prec(2, choice("{{", "}}"))),
    format_hole: ($) =>
      seq(token.immediate(prec(1, "{")), field("value", $._expression), optional(field("format", $.format_spec)), "}"),
    format_spec: () => /:[^{}"\n]*/,

    prompt: ($) =>
      prec.right(
        PREC.postfix,
        seq(
          optional(alias($._stream, "stream")),
          optional(choice(alias($._do, "do"), alias($._program, "program"))),
          "$",
          repeat(choice($.prompt_text, alias($._prompt_escape, $.escape_sequence), $.hole)),
          token.immediate(prec(1, "$")),
          optional(seq("with", field("options", $._options))),
        ),
      ),
    prompt_text: () => token.immediate(prec(1, /([^\\${}]|\\[^${}\\])+/)),
    _prompt_escape: () => token.immediate(prec(1, /\\[${}\\]/)),
    hole: ($) =>
      seq(
        token.immediate(prec(1, "{")),
        field("value", $._expression),
        optional(seq(":", field("way", $.name))),
        "}",
      ),
    _options: ($) => choice($.name, $.object_literal),
  },
});
