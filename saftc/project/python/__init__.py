"""Python modules as they are written: what they declare, for types, and where; nothing runs.

    library      the modules by name, and what their names mean, wherever these come from
    bindings     what the names of a module or a class are bound to
    annotations  annotations as types
    signatures   functions: what a call gives
    classes      classes; `fields` has those that are made of fields
"""
