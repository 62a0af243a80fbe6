# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt
from runtime_support.ops import failure, show


# Maps, numbers and texts grow as lists do: what each item adds is asked ahead.
def doubt(claim: str) -> str:
    return prompt("What speaks against {claim}?", claim=claim).value


def sure(claim: str) -> int:
    return prompt("How sure is {claim}?", claim=claim, returns=int).value


claims = ["a", "b"]
doubts: dict[str, str] = {}


def ask_claim(claim: str) -> dict[str, str]:
    new_doubts: dict[str, str] = {}
    new_doubts[claim] = doubt(claim)
    return new_doubts


for new_doubts in overlap(ask_claim, claims):
    doubts.update(new_doubts)
print(show(doubts))

# what a failure leaves out is left out of the map alone
rated: dict[str, int] = {}
failed: list[str] = []


def ask_claim_2(claim: str) -> tuple[dict[str, int], list[str]]:
    new_rated: dict[str, int] = {}
    new_failed: list[str] = []
    try:
        new_rated.update({claim: sure(claim), claim.upper(): 0})
    except Exception as error:
        new_failed.append(f"{claim}: {failure(error).message}")
    return new_rated, new_failed


for new_rated, new_failed in overlap(ask_claim_2, claims):
    rated.update(new_rated)
    failed.extend(new_failed)
print(show(rated), show(failed))


def totals(claims: list[str]) -> tuple[int, str, float, dict[str, int], dict[str, int]]:
    total = 0
    text = ""
    weight = 0.5
    kept = {"none": 1}
    others: dict[str, int] = kept

    def ask_claim(claim: str) -> int:
        new_total = 0
        new_total += sure(claim)
        return new_total

    for new_total in overlap(ask_claim, claims):
        total += new_total

    def ask_claim_2(claim: str) -> str:
        new_text = ""
        if claim != "":
            new_text = new_text + doubt(claim)
        return new_text

    for new_text in overlap(ask_claim_2, claims):
        text += new_text

    # sums of floats depend on their order
    def ask_claim_3(claim: str) -> float:
        weighed = prompt("The weight of {claim}", claim=claim, returns=float).value
        return weighed

    for weighed in overlap(ask_claim_3, claims):
        weight += weighed
    for claim in claims:
        weight += float(sure(claim))

    # who else holds it keeps it
    def ask_claim_4(claim: str) -> dict[str, int]:
        new_others: dict[str, int] = {}
        new_others = {**new_others, claim: sure(claim)}
        return new_others

    for new_others in overlap(ask_claim_4, claims):
        others = {**others, **new_others}
    # and this one is read
    for claim in claims:
        total += sure(f"{claim} {total}")
    return (total, text, weight, kept, others)


print(show(totals(claims)))
