for name in ("anything", "something"):
    globals()[name] = print
