"""The singular of English plurals, for naming the class of a list's items: `movies`, `movie`.

Written by hand: the libraries for it take longer to load than a script to compile, and find
singulars for words that are none (`bu` for `bus`). An ending that is not known changes nothing.
"""

# What a plural ends in, and its singular instead (`=`: it is no plural); of several endings, the
# longest counts. Those that begin with `_` are whole words, as parts of a name.
_TABLE = """
    s: ss:= us:= is:= ies:y sses:ss xes:x ches:ch shes:sh zzes:zz uses:us auses:ause ouses:ouse
    cuses:cuse aches:ache eaches:each oaches:oach ovies:ovie ookies:ookie oodies:oodie
    ombies:ombie alories:alorie indices:index vertices:vertex matrices:matrix
    appendices:appendix alyses:alysis theses:thesis crises:crisis diagnoses:diagnosis
    aliases:alias biases:bias atlases:atlas canvases:canvas quizzes:quiz heroes:hero echoes:echo
    vetoes:veto tatoes:tato matoes:mato shelves:shelf wolves:wolf halves:half people:person
    children:child series:= species:= news:= _ties:tie _pies:pie _lies:lie _dies:die _uses:use
    _axes:axis _gases:gas _leaves:leaf _knives:knife _wives:wife _lives:life _men:man
    _women:woman _lens:= _gas:= _yes:= _os:=
"""
_ENDINGS = {plural: one for plural, _, one in (pair.partition(":") for pair in _TABLE.split())}
_LONGEST = max(map(len, _ENDINGS))


def singular(plural: str) -> str | None:
    """The name of one item of what has this name; None when that is no plural."""
    word = f"_{plural}"
    for length in range(min(_LONGEST, len(word)), 0, -1):
        one = _ENDINGS.get(word[-length:])
        if one is not None:
            kept = plural[: len(plural) - len(word[-length:].removeprefix("_"))]
            return None if one == "=" or len(kept + one) < 2 else kept + one
    return None
