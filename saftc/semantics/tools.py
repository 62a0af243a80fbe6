"""Which values a prompt offers its model as tools: the one place that knows."""

from collections.abc import Iterator

from saftc.syntax import nodes as n


def offered_by(node: n.Prompt) -> Iterator[n.Expression]:
    """The expressions whose values, where they are functions, the model of a prompt may call."""
    for part in node.parts:
        if isinstance(part, n.Hole):
            yield part.value
