"""A report as text, written by hand."""


def line(name, amount, price):
    return f"{name}: {amount:,} x {price:.2f} = {amount * price:,.2f}"


def lines_of(sales):
    return [line(sale["name"], sale["amount"], sale["price"]) for sale in sales]


def share(part, whole):
    if whole == 0:
        return "none"
    return f"{part / whole:.1%}"


def summary(sales, kinds):
    whole = sum([sale["amount"] * sale["price"] for sale in sales])
    text = ""
    for kind in kinds:
        part = sum([sale["amount"] * sale["price"] for sale in sales if sale["kind"] == kind])
        text += f"{kind.upper()}: {part:,.2f} ({share(part, whole)})\n"
    return text


def work(count):
    kinds = ["fruit", "bread", "tea"]
    sales = [
        {
            "name": f"item {i}",
            "kind": kinds[i % 3],
            "amount": i % 7 + 1,
            "price": (i % 50) / 4 + 0.25,
        }
        for i in range(count)
    ]
    return "\n".join([f"{len(sales)} sales", *lines_of(sales), summary(sales, kinds)])
