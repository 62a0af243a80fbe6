; Later patterns win. The names are those that Neovim and Helix know.

(name) @variable

; Words

["if" "elif" "else"] @keyword.conditional
["for" "while" "in"] @keyword.repeat
[(break_stmt) (continue_stmt)] @keyword.repeat
["ret"] @keyword.return
["import" "from" "as" "mcp"] @keyword.import
["try" "except" "fail" "assert"] @keyword.exception
["f" "conv"] @keyword.function
["type"] @keyword.type
["and" "or" "not"] @keyword.operator
(comparator "in" @keyword.operator)
["do" "program" "stream" "with" "after"] @keyword

; Texts, numbers, comments

(comment) @comment
(shebang) @keyword.directive
(doc_comment) @comment.documentation
(string) @string
(formatted_string) @string
(escape_sequence) @string.escape
(brace) @string.escape
(format_spec) @string.special
[(integer) (float)] @number
[(true) (false)] @boolean
(nil) @constant.builtin

; Prompts have a scope of their own; what is in their holes is code.

(prompt "$" @punctuation.special)
(prompt_text) @string.special.prompt
(prompt (escape_sequence) @string.escape)
(hole ["{" "}"] @punctuation.special)
(hole ":" @punctuation.special way: (name) @attribute)
(format_hole ["{" "}"] @punctuation.special)

; Operators and signs

["=" "+=" "-=" "*=" "/=" "%=" "+" "-" "*" "/" "%" "->" "|" "?" "..."] @operator
(comparator ["==" "!=" "<" "<=" ">" ">="] @operator)
["," "." ":"] @punctuation.delimiter
["(" ")" "[" "]"] @punctuation.bracket
(object_literal ["{" "}"] @punctuation.bracket)
(object_schema ["{" "}"] @punctuation.bracket)
(map_schema ["{" "}"] @punctuation.bracket)
(destructure_stmt ["{" "}"] @punctuation.bracket)

; Names

(named_schema (name) @type)
((named_schema (name) @type.builtin)
  (#any-of? @type.builtin "int" "float" "bool" "string" "any" "date" "datetime" "decimal" "dataframe"))
(type_alias name: (name) @type)
(record_def name: (name) @type)
(function_def name: (name) @function)
(parameter name: (name) @variable.parameter)
(argument name: (name) @variable.parameter)
(call function: (name) @function.call)
(call function: (member name: (name) @function.call))
(member name: (name) @variable.member)
(tuple_member at: (integer) @variable.member)
(field name: (name) @variable.member)
(schema_field name: (name) @variable.member)
(pattern_field name: (name) @variable)
(dotted_name (name) @module)
