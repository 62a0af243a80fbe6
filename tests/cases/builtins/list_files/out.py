# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import list_files, read_text, show

for path in list_files("notes/*.txt"):
    print(path, len(read_text(path)))

print(show(sorted(list_files("**/*.csv"), reverse=True)))
