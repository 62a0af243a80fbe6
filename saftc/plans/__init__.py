"""Plans as source: a JSON program that a model wrote, compiled to Python.

    compiling  from files to modules or to what is wrong
    reading    the file: its text, and where in it a JSON Pointer points
    tools      the module whose functions the program calls, as a registry of the runtime
    declaring  compiled modules, imported without what they do
    writing    the checked program as the text of a module
    uses       which of its variables are used, and where it needs statements
    arguments  its calls, and what the checker puts between an argument and its parameter
    naming     the names of the output: imports, variables, types

The language of programs belongs to the runtime, and only there stands what a program means. So a
plan is checked by it, and what is compiled is its checked tree (`saftc.runtime.program_tree`).
"""
