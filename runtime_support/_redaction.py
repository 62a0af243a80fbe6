"""What others wrote, made fit to be shown: without secrets, in characters that do no harm.

    redacted("key sk-proj-abcdefghijklmnopqrstuv")     "key [redacted]"
    shown("\\x1b[2Jno key sk-proj-abcdefghijklmnop", 40) "\\\\x1b[2Jno key [redacted]"

A secret is the value of an environment variable that is named like one, a key that a provider was
made with, or text in the form of a well-known kind of key. It is found as it is, and as it stands
in JSON, in an address and in a header.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from runtime_support.errors import printable

REDACTED = "[redacted]"

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)$", re.IGNORECASE)
_SECRET_FORM = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{30,}"
    r"|github_pat_[A-Za-z0-9_]{30,}"
    r"|xox[abpsr]-[A-Za-z0-9-]{10,}"
    r"|AKIA[0-9A-Z]{16}"
    r"|AIza[0-9A-Za-z_-]{35}"
    r"|hf_[A-Za-z0-9]{30,}"
    r"|Bearer +[A-Za-z0-9._~+/-]{16,}=*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_SHORTEST = 8
_SHORTEST_REMEMBERED = 4
_PLAIN_WORD = re.compile(r"[a-z]{1,15}|[A-Z]{1,15}|[A-Z][a-z]{1,14}")

_MOST_REMEMBERED = 1000
# The keys of the providers that were made, and the users that go with them; the oldest first.
_remembered: dict[str, str] = {}


def remember_secrets(*secrets: str, user: str = "") -> None:
    """Keeps these out of everything shown from now on, also where they stand behind the user."""
    for secret in secrets:
        if secret:
            _remembered[secret] = user
    for oldest in list(_remembered)[:-_MOST_REMEMBERED]:
        _remembered.pop(oldest, None)


def redacted(text: str) -> str:
    """The text with every secret replaced."""
    for secret in _secrets():
        text = text.replace(secret, REDACTED)
    for pattern in map(_short, list(_remembered)):
        if pattern is not None:
            text = pattern.sub(REDACTED, text)
    return _SECRET_FORM.sub(REDACTED, text)


def shown(text: str, most: int | None = None) -> str:
    """The text without secrets, escaped as a terminal needs it, in at most `most` characters."""
    text = escaped(redacted(text))
    return text if most is None or len(text) <= most else text[: most - 3] + "..."


def escaped(text: str) -> str:
    """The text on one line: as `printable` has it, line ends and tabs as `\\n`, `\\t` as well."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def holds_secret(text: str) -> bool:
    """Whether there is a secret in the text; a plain word that a variable holds is none."""
    if _SECRET_FORM.search(text) is not None:
        return True
    return any(secret in text for secret in _secrets() if not _PLAIN_WORD.fullmatch(secret))


def _secrets() -> list[str]:
    """The longest first, so that no rest of one stays."""
    global _known
    variables, remembered, secrets = _known
    if variables != environment() or remembered != _remembered:
        variables, remembered = environment().copy(), _remembered.copy()
        secrets = _secrets_of(dict(os.environ), remembered)
        _known = variables, remembered, secrets
    return secrets


def environment() -> dict[Any, Any]:
    """What `os.environ` keeps; itself, it decodes each variable each time that it is asked for."""
    kept: Any = os.environ
    return getattr(kept, "_data", kept)


_known: tuple[dict[Any, Any], dict[str, str], list[str]] = {}, {}, []


def _secrets_of(variables: dict[str, str], remembered: dict[str, str]) -> list[str]:
    found: set[str] = set()
    for name, value in variables.items():
        if len(value) >= _SHORTEST and _SECRET_NAME.search(name):
            found |= _spellings(value, "")
    for value, user in remembered.items():
        if len(value) >= _SHORTEST:
            found |= _spellings(value, user)
        elif user:
            found |= set(_encoded(f"{user}:{value}"))
    return sorted(found, key=len, reverse=True)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _spellings(secret: str, user: str) -> frozenset[str]:
    """The secret as it is, in JSON and in JSON in JSON, in an address, and in a basic header."""
    in_json = _in_json(secret)
    spellings = {secret, in_json, _in_json(in_json)}
    for quoting in (quote, quote_plus):
        in_address = quoting(secret, safe="", errors="replace")
        lower = re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), in_address)
        spellings |= {in_address, lower}
    for together in (secret, f":{secret}", f"{secret}:", f"{user}:{secret}"):
        spellings.update(_encoded(together))
    return frozenset(spellings)


def _encoded(text: str) -> Iterator[str]:
    data = text.encode(errors="replace")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode()
        yield encode(data).decode().rstrip("=")


@lru_cache(maxsize=_MOST_REMEMBERED)
def _short(secret: str) -> re.Pattern[str] | None:
    """Where a short key is meant: as a word of its own, or when it could be any word, as a key."""
    if len(secret) >= _SHORTEST:
        return None
    word = rf"(?<![A-Za-z0-9]){re.escape(secret)}(?![A-Za-z0-9])"
    if len(secret) < _SHORTEST_REMEMBERED or _PLAIN_WORD.fullmatch(secret):
        return re.compile(rf"(?i:\b(?:bearer|basic|key|token|password)[\s:='\"]{{1,4}}){word}")
    return re.compile(word)


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
