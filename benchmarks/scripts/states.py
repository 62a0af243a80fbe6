"""A state with a list in it, and words by their first letter, written by hand."""


def work(count):
    state = {"seen": [], "count": 0}
    groups = {}
    for i in range(count):
        state["seen"].append(i)
        state["count"] += 1
        groups.setdefault(str(i % 7), []).append(i)
    return state["count"], len(state["seen"]), len(groups)
