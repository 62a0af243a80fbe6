"""Plans as source: a JSON program that a model wrote, compiled to Python.

    reading    the file: its text, and where in it a JSON Pointer points
    tools      the module whose functions the program calls, as a registry of the runtime
    declaring  compiled modules, imported without what they do
    naming     the names of the output: imports, variables, types
    coercing   what the checker puts between an argument and its parameter, as ordinary calls
    writing    the checked program as the text of a module
    compiling  from files to text or to what is wrong

The language of programs belongs to the runtime, and only there stands what a program means. So a
plan is checked by it, and what is compiled is its checked tree (`runtime_support.programs._tree`).
"""
