# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

order = {
    "customer": "Ada Lovelace",
    "street": "12 St James's Square",
    "city": "London",
    "items": ["pen", "paper"],
}
print(show(order))
