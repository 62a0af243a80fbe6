[(source_file) (function_def) (comprehension)] @local.scope

(function_def name: (name) @local.definition.function)
(type_alias name: (name) @local.definition.type)
(record_def name: (name) @local.definition.type)
(parameter name: (name) @local.definition.parameter)
(assign_stmt name: (name) @local.definition.var)
(pattern_field name: (name) @local.definition.var)
(for_stmt pattern: (name) @local.definition.var)
(comprehension_clause pattern: (name) @local.definition.var)
(tuple_pattern (name) @local.definition.var)
(try_stmt error: (name) @local.definition.var)
(unpack_targets (name) @local.definition.var)
(imported_name alias: (name) @local.definition.import)
(imported_name name: (name) @local.definition.import)

(name) @local.reference
