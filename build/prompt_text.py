# Compiled by saftc from prompt_text.saft; edit that file instead.

# The text of a prompt: values go in as JSON, `:raw` inserts text as it is, prompts nest, and a
# backslash keeps a brace or a dollar sign.

from typing import Any

from runtime_support import prompt
from runtime_support.ops import show

product = "desk lamp"
facts: dict[str, Any] = {"colour": "green", "height_cm": 42, "price_usd": 30}
tone = "friendly"

slogan = prompt(
    """
    Write one {tone:raw} sentence to sell a {product:raw} with these facts: {facts}
    Do not write {{placeholders}} and name the price as ${price_usd}.
    """,
    tone=tone,
    product=product,
    facts=facts,
    price_usd=facts["price_usd"],
).value
print(slogan)

# the inner prompt is answered first; the outer one contains its answer
headline = prompt(
    "Make a headline of at most five words from {0}",
    prompt("Describe a {product} in one sentence.", product=product).value,
).value
print(headline)

# any expression may be between braces
tags = prompt(
    "Give {0} tags for a {1}, as short words.",
    len(facts),
    product.upper(),
    returns=list[str],
).value
print(show(tags))
