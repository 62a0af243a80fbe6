# Compiled by saftc from objects_from_tools.saft; edit that file instead.

# Objects from tools: a tool gives a whole object, and the answer is a list of such objects.

from typing import TypedDict

from runtime_support import prompt


class StockItem(TypedDict):
    sku: str
    name: str
    price: float
    left: int


stock: list[StockItem] = [
    {"sku": "A1", "name": "lamp", "price": 39.5, "left": 4},
    {"sku": "B7", "name": "desk", "price": 210.0, "left": 0},
    {"sku": "C3", "name": "chair", "price": 85.0, "left": 12},
]


def find_product(sku: str) -> StockItem | None:
    """The product with this stock number, or nil."""
    for product in stock:
        if product["sku"] == sku:
            return product
    return None


wanted = ["A1", "C3"]
found = prompt(
    "Call {find_product} for each stock number in {wanted} and return all that it finds.",
    find_product=find_product,
    wanted=wanted,
    returns=list[StockItem],
).value

for product in found:
    print(f"{product['name']} costs {product['price']}")
print(f"together {sum(product['price'] for product in found)}")
