"""For tests of what asks: queued replies, and the request that a prompt would begin with.

    model = Scripted([tool_request("look_up", city="Oslo"), "3.5"])
    configure(provider=model)
    ...
    model.requests[0]                                   what the model was asked

    first_request(Question("how many r are in {word}?", (), {"word": Unknown("<word>")}))
"""

from __future__ import annotations

from runtime_support._asking import Question, first_request
from runtime_support._templates import Unknown
from runtime_support.providers._scripted import Queued, Scripted, tool_request

__all__ = ["Question", "Queued", "Scripted", "Unknown", "first_request", "tool_request"]
