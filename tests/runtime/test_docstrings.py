"""Docstrings of tools in three styles: each text of a parameter goes to its schema."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from runtime_support import prompt
from runtime_support.testing import Scripted


def google(customer: str, limit: int = 5) -> list[str]:
    """Finds orders.

    Of one customer, newest first.

    Args:
        customer: The customer's
            number.
        limit (int): At most so many.

    Returns:
        The numbers of the orders.

    Raises:
        KeyError: No such customer.
    """
    return [customer] * limit


def numpy(customer: str, limit: int = 5) -> list[str]:
    """Finds orders.

    Of one customer, newest first.

    Parameters
    ----------
    customer : str
        The customer's number.
    limit : int, optional
        At most so many.

    Returns
    -------
    list of str
        The numbers of the orders.
    """
    return [customer] * limit


def sphinx(customer: str, limit: int = 5) -> list[str]:
    """Finds orders.

    Of one customer, newest first.

    :param customer: The customer's number.
    :param int limit: At most so many.
    :returns: The numbers of the orders.
    """
    return [customer] * limit


def sent(model: Scripted, tool: Callable[..., Any]) -> dict[str, Any]:
    prompt("{find}", find=tool)
    return model.requests[-1].tools[0]["function"]


@pytest.fixture
def model(scripted: Callable[..., Scripted]) -> Scripted:
    return scripted("ok")


@pytest.mark.parametrize("tool", [google, numpy, sphinx])
def test_texts_of_parameters_are_in_the_schema(
    model: Scripted, tool: Callable[..., Any]
) -> None:
    told = sent(model, tool)
    beginning = "Finds orders.\n\nOf one customer, newest first."
    assert told["description"].startswith(beginning)
    assert told["description"].endswith("Returns: The numbers of the orders.")
    assert ("KeyError: No such customer." in told["description"]) == (tool is google)
    fields = told["parameters"]["properties"]
    assert fields["customer"]["description"] == "The customer's number."
    assert fields["limit"]["description"] == "At most so many."
    assert "customer" not in told["description"].replace("customer, newest", "").replace(
        "such customer", ""
    )


def test_an_annotation_goes_before_the_docstring(model: Scripted) -> None:
    def find(customer: Annotated[str, "as on the invoice"]) -> str:
        """Finds.

        Args:
            customer: Somebody.
        """
        return customer

    fields = sent(model, find)["parameters"]["properties"]
    assert fields["customer"]["description"] == "as on the invoice"


@pytest.mark.parametrize(
    "doc",
    [
        "Finds.",
        "Finds.\n\nArgs:\n    somebody: Not a parameter.",
        "Finds.\n\nArguments are checked: customer has to be there.",
        "Finds.\n\nExample:\n    find('a')",
    ],
)
def test_another_docstring_stays_as_it_is(model: Scripted, doc: str) -> None:
    def find(customer: str) -> str:
        return customer

    find.__doc__ = doc
    told = sent(model, find)
    assert told["description"] == doc
    assert "description" not in told["parameters"]["properties"]["customer"]
