"""For `saftc play`: tells which provider a script's folder uses, and sends a request again.

    python -m saftc.trace.resend who              {"provider": "mock", "choices": [...], ...}
    python -m saftc.trace.resend again < REQUEST  events as lines of JSON, as in `saftc.trace.live`:
                                                  the pieces of the reply, then the reply or failure

Both commands run in a separate process in the folder of the script, so that its settings apply.
"""

import json
import os
import sys
import time
from typing import Any

from runtime_support._core.hooks import load_part
from runtime_support._core.messages import Request
from runtime_support._core.settings import settings_for, settings_to_show
from runtime_support.errors import SaftError
from runtime_support.providers import PRESETS, live_provider, provider_and_model
from saftc.trace.live import reply_data


def provider_info() -> dict[str, Any]:
    """The configured provider and model, and the providers to choose from.

    A problem with the configuration is returned in place of the provider and model.
    """
    try:
        settings = settings_to_show()
        provider, model = provider_and_model(settings)
    except SaftError as problem:
        return {"problem": str(problem), "choices": _choices()}
    replay = os.environ.get("SAFT_REPLAY")
    told = {"provider": provider, "model": model, "options": settings.sampling()}
    return {**told, "replay": replay and os.path.basename(replay), "choices": _choices()}


def _choices() -> list[list[str]]:
    """The providers that can be used without further settings, each with its model."""
    keyed = [
        [name, preset.model]
        for name, preset in PRESETS.items()
        if preset.model is not None and os.environ.get(preset.variable)
    ]
    local = [["local", "embedded"]] if load_part("local").is_available() else []
    return [*keyed, *local, ["mock", "rules, no model"]]


def resend(request: dict[str, Any]) -> None:
    """Sends a request of the live file again, and writes the events of the reply."""
    began = time.monotonic()
    try:
        settings = settings_for()
        provider = live_provider(settings)
        reply = _reply(provider, _request(request))
    except SaftError as problem:
        told = {"event": "failure", "error": type(problem).__name__, "message": str(problem)}
    else:
        told = {"event": "reply", **reply_data(settings.prices, request, reply.readable())}
    _write({**told, "seconds": round(time.monotonic() - began, 4)})


def _request(data: dict[str, Any]) -> Request:
    return Request(
        tuple(data["messages"]),
        data.get("model"),
        tools=tuple(data.get("tools", ())),
        must_answer=data.get("tool_choice") == "none",
        schema=data.get("schema"),
        options=data.get("options", {}),
    )


def _reply(provider: Any, request: Request) -> Any:
    stream = getattr(provider, "stream", None)
    if stream is None:
        return provider.complete(request)
    pieces = iter(stream(request))
    while True:
        try:
            _write({"event": "piece", "text": next(pieces)})
        except StopIteration as end:
            return end.value


def _write(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "who":
        _write(provider_info())
    else:
        resend(json.load(sys.stdin))
