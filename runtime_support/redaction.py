"""Finding secrets in text, for logs, errors and recordings.

    redacted("key sk-proj-abcdefghijklmnopqrstuv")     "key [redacted]"

A secret is the value of an environment variable that is named like one, as it is or as it stands
in JSON, or text in the form of a well-known kind of key.
"""

from __future__ import annotations

import json
import os
import re

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


def redacted(text: str) -> str:
    """The text with every secret replaced."""
    for secret in _secrets():
        text = text.replace(secret, REDACTED)
    return _SECRET_FORM.sub(REDACTED, text)


def holds_secret(text: str) -> bool:
    """Whether there is a secret in the text."""
    return _SECRET_FORM.search(text) is not None or any(secret in text for secret in _secrets())


def _secrets() -> list[str]:
    """The longest first, so that no rest of one stays."""
    found: set[str] = set()
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _SECRET_NAME.search(name):
            quoted = _in_json(value)
            found.update((value, quoted, _in_json(quoted)))
    return sorted(found, key=len, reverse=True)


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
