# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import approve, check, ops, prompt


def refund(order: str) -> str:
    return order


def close(order: str) -> str:
    return refund(order)


def settle(order: str) -> str:
    return close(order)


def ask(order: str) -> str:
    return prompt(
        "Close {order} with {refund}.",
        order=order,
        refund=approve(refund),
    ).value


def asks_and_pays(order: str) -> str:
    return prompt(
        "Close {order} with {refund}.", order=order, refund=approve(refund)
    ).value + refund(order)


print(prompt("Use {refund} and {close}.", refund=approve(refund), close=close).value)
print(
    prompt(
        "Use {refund}, {settle} and {ask}.",
        refund=approve(refund),
        settle=approve(settle),
        ask=ask,
        pure=[ask],  # may be called at the same time
    ).value
)
print(
    prompt(
        "Use {asks_and_pays}.",
        asks_and_pays=asks_and_pays,
        tools=[approve(refund)],
        pure=[asks_and_pays],  # may be called at the same time
    ).value
)
history = prompt("Use {refund}.", refund=approve(refund))
print(prompt("Close it.", after=history, tools=[*history.tools, close]).value)


def either(order: str) -> str:
    function = refund if order == "A-17" else ops.upper
    return check(ops.call(function, order), str)


print(prompt("Use {refund} and {either}.", refund=approve(refund), either=either).value)
