" Saft: a prompt is a region of its own, and its holes hold expressions.
if exists('b:current_syntax')
  finish
endif

syntax keyword saftConditional if elif else
syntax keyword saftRepeat for while break continue
syntax keyword saftException try except fail
syntax keyword saftStatement ret assert do after with stream program
syntax keyword saftImport import from as
syntax keyword saftOperator and or not in
syntax keyword saftBoolean true false
syntax keyword saftConstant nil
syntax keyword saftType int float bool string any dataframe
" Also builtins, which read them, and names of a script's own.
syntax match saftType /\v(:|-\>|\||\[|\()\s*\zs(date|datetime|time|duration|decimal)>(\()@!/
syntax match saftDefinition /^\s*\zs\(f\|conv\)\ze\s\+\h\w*\s*(/ nextgroup=saftFunction skipwhite
syntax match saftDefinition /^\s*\zstype\ze\s\+\h\w*\s*[=(]/ nextgroup=saftTypeName skipwhite
syntax match saftFunction /\h\w*/ contained
syntax match saftTypeName /\h\w*/ contained
syntax match saftNumber /\<\d[0-9_]*\(\.\d\+\)\?\([eE][+-]\?\d\+\)\?\>/

syntax match saftEscape /\\\(u\x\{4}\|[ntr"\\$\{\}]\)/ contained
syntax region saftString start=/"/ skip=/\\./ end=/"/ oneline contains=saftEscape
syntax region saftString start=/"""/ skip=/\\./ end=/"""/ contains=saftEscape
syntax region saftFormatted matchgroup=saftString start=/\<f"/ skip=/\\./ end=/"/ oneline contains=saftEscape,saftBraces,saftHole
syntax region saftFormatted matchgroup=saftString start=/\<f"""/ skip=/\\./ end=/"""/ contains=saftEscape,saftBraces,saftHole

syntax region saftPrompt matchgroup=saftDollar start=/\$/ skip=/\\./ end=/\$/ contains=saftEscape,saftHole
syntax region saftHole matchgroup=saftHoleEdge start=/{/ end=/}/ contained contains=TOP
" Behind the holes, so that it comes first where both could begin.
syntax match saftBraces /{{\|}}/ contained

syntax match saftComment +//.*$+ contains=saftTodo,@Spell
syntax match saftDoc +///.*$+ contains=@Spell
syntax match saftComment /\%^#!.*$/
syntax keyword saftTodo TODO FIXME XXX contained

highlight default link saftConditional Conditional
highlight default link saftRepeat Repeat
highlight default link saftException Exception
highlight default link saftStatement Statement
highlight default link saftImport Include
highlight default link saftOperator Operator
highlight default link saftBoolean Boolean
highlight default link saftConstant Constant
highlight default link saftType Type
highlight default link saftDefinition Keyword
highlight default link saftFunction Function
highlight default link saftTypeName Type
highlight default link saftNumber Number
highlight default link saftEscape SpecialChar
highlight default link saftBraces SpecialChar
highlight default link saftString String
highlight default link saftFormatted String
highlight default link saftPrompt Special
highlight default link saftDollar Delimiter
highlight default link saftHoleEdge Delimiter
highlight default link saftComment Comment
highlight default link saftDoc SpecialComment
highlight default link saftTodo Todo

syntax sync fromstart
let b:current_syntax = 'saft'
