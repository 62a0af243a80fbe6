# Compiled by saftc from in.saft; edit that file instead.

text = "\nfirst line\n  indented\n\nlast line\n"
inline = "one line"
quotes = 'a "quoted" word and ""two'
escapes = 'tab\tand """ inside'
long = (
    "A rather long text of several lines that does not fit on one line\n"
    "of the output, so that it is written\n"
    "as several strings."
)
print(text, inline, quotes, escapes, long)
