"""What requests have taken before anybody counts: a budget that is set later begins with that."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from runtime_support._context import after_fork
from runtime_support._exchange import Reply
from runtime_support._hooks import Hook
from runtime_support._results import Usage
from runtime_support.errors import ProviderError

if TYPE_CHECKING:
    from runtime_support._effects import Effects
    from runtime_support._exchange import Replying, Request
    from runtime_support._hooks import AnswerPrompt, PromptRun, SendRequest
    from runtime_support._positions import Place
    from runtime_support._results import Answer
    from runtime_support._settings import Settings

# About as many characters make a token; no token has less than a byte.
TOKEN = 4


class ModelUsage(NamedTuple):
    """What the requests of one place to one model have taken; the settings are of the last."""

    settings: Settings
    place: Place | None
    model: str
    usage: Usage


class Account:
    """What the process has taken until somebody asks for it."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.is_closed = False
        self.forget_lock()
        self._clear()

    def forget_lock(self) -> None:
        """A forked process may find the lock taken, by a thread that it does not have."""
        self._lock = threading.Lock()

    def _clear(self) -> None:
        self.prompts = self.replies = self.largest = 0
        self._taken: dict[tuple[int, int, str], ModelUsage] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be taken."""
        return not (self._taken or self.prompts)

    def note_prompt(self) -> None:
        """Counts a prompt that is over."""
        with self._lock:
            self.prompts += 1

    def add(self, call: PromptRun, model: str, usage: Usage) -> None:
        """Adds a request that is sent, or what came of it."""
        place = call.place
        key = (0, 0, model) if place is None else (id(place.code), place.instruction, model)
        with self._lock:
            known = self._taken.get(key)
            if known is not None:
                usage, place = known.usage + usage, known.place
            # The place keeps its code, and so the identity of that unique.
            self._taken[key] = ModelUsage(call.settings, place, model, usage)

    def note_reply(self, usage: Usage) -> None:
        """Notes how long replies are."""
        with self._lock:
            self.replies += 1
            self.largest = max(self.largest, usage.output_tokens)

    def take(self) -> tuple[list[ModelUsage], int, int, int]:
        """What was taken, and the numbers of prompts, replies and of the tokens of the longest; all
        of it once."""
        with self._lock:
            found = [*self._taken.values()], self.prompts, self.replies, self.largest
            self._clear()
        return found


account = Account()
after_fork(account.forget_lock)


class Tally(Hook):
    """Adds one prompt to the account, as long as no budget counts it."""

    def __init__(self, prompt: PromptRun) -> None:
        self._prompt = prompt

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Effects[Answer]:
        """The answer of a prompt that is counted."""
        try:
            return (yield from proceed(prompt))
        finally:
            account.note_prompt()

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """The reply, with what it has taken added to the account."""
        model = self._prompt.model_of(request)
        account.add(self._prompt, model, Usage(requests=1))
        reply: Reply | None = None
        try:
            reply = yield from proceed(request)
            return reply
        except ProviderError as error:
            if error.stays_away:  # it was refused, or has reached nobody
                account.add(self._prompt, model, Usage(requests=-1))
            elif error.another_try:  # it may have been paid
                account.add(self._prompt, model, Usage(tokens_in(request)))
            raise
        finally:
            if reply is None and request.pieces:
                reply = likely_reply(request)
            if reply is not None:
                usage = reply.usage
                account.note_reply(usage)
                account.add(self._prompt, model, replace(usage, requests=0))


def hook_for(prompt: PromptRun) -> Tally | None:
    """What counts a prompt, as long as no budget does."""
    return None if account.is_closed else Tally(prompt)


def likely_reply(request: Request) -> Reply:
    """What a reply that was left or broke off is likely to have taken."""
    answered = -(-sum(map(len, request.pieces or ())) // TOKEN)
    return Reply("", input_tokens=tokens_in(request), output_tokens=answered)


def tokens_in(request: Request) -> int:
    """About how many tokens a request has."""
    return len(json.dumps(request.canonical(), ensure_ascii=False)) // TOKEN
