"""Makes foreign text safe to show: removes secrets, escapes control characters.

    redacted("key sk-proj-Abc123dEf456Ghi789jKl")     "key [redacted]"
    secret_in("key sk-proj-Abc123dEf456Ghi789jKl")    "the form sk-..."
    shown("\\x1b[2Jno key sk-proj-Abc123dEf456", 40)  "\\\\x1b[2Jno key [redacted]"

A secret is the value of an environment variable with a name like `OPENAI_API_KEY`, a provider's
key, text in the form of a well-known kind of key, or the password in a server's address. A value is
also found in the form that it has in JSON, in an address or in a header. Very short values do not
count, and other secrets are not guessed.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any
from urllib.parse import quote, quote_plus

from runtime_support._values.context import environment
from runtime_support._values.predicates import is_list, is_object
from runtime_support.errors import printable

REDACTED = "[redacted]"

# Names of variables that hold secrets, whatever their values look like.
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:[A-Z0-9]*(?:API|ACCESS|ACCOUNT|ADMIN|APP|AUTH|CLIENT|DEPLOY|ENCRYPTION|JWT|LICENSE"
    r"|MASTER|PRIVATE|SECRET|SERVICE|SESSION|SIGNING)_?KEY)$"
    r"|(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$",
    re.IGNORECASE,
)
_FILE = re.compile(r"(?:~|\.{0,2})/[^\s:@]*\.[A-Za-z]{2,6}|[A-Za-z]:\\[^\s:@]*\.[A-Za-z]{2,6}")


def _no_word_before(start: str) -> str:
    """Returns a pattern that finds `start`, the beginning of a key, but not inside of a word.

    A letter may come before `start` if it ends an escape of JSON, of an address or of terminal
    colours.
    """
    escapes = (r"\\[nrtbf]", r"\\u[0-9A-Fa-f]{4}", r"%[0-9A-Fa-f]{2}", r"[\[;0-9]m")
    others = "".join(rf"|(?<={escape}{start})" for escape in escapes)
    return rf"{start}(?:(?<![A-Za-z0-9]{start}){others})"


_PEM = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_LINE_END = r"(?:\s|\\+[nrt])"
_PRIVATE_KEY = (
    rf"-----BEGIN {_PEM}(?:{_LINE_END}|[A-Za-z-]{{1,40}}: [\w .,:/+-]{{0,200}}?(?={_LINE_END}))*+"
    rf"(?:[A-Za-z0-9+/=]{{16,}}+(?:[A-Za-z0-9+/=\s]|\\+[nrt/])*+(?:-----END {_PEM})?"
    rf"|[^-]{{0,9999}}+-----END {_PEM})"
)


# Keys have more letters and digits in a row than words joined by dashes.
_LONG = "(?=[A-Za-z0-9._~+/-]{0,100}?[A-Za-z0-9]{16})"

_FORMS = {
    "sk-...": _no_word_before("sk-") + _LONG + "[A-Za-z0-9_-]{16,}",
    **{f"gh{kind}_...": _no_word_before(f"gh{kind}_") + "[A-Za-z0-9]{30,}" for kind in "pousr"},
    "github_pat_...": _no_word_before("github_pat_") + _LONG + "[A-Za-z0-9_]{30,}",
    **{
        f"xox{kind}-...": _no_word_before(f"xox{kind}-")
        + "(?=[A-Za-z0-9-]{0,100}?[0-9]{6})[A-Za-z0-9-]{10,}"
        for kind in "abpsr"
    },
    "AKIA...": _no_word_before("AKIA") + "[0-9A-Z]{16}",
    "AIza...": _no_word_before("AIza") + "[0-9A-Za-z_-]{35}",
    "hf_...": _no_word_before("hf_") + "[A-Za-z0-9]{30,}",
    "Bearer ...": f"(?i:bearer) +{_LONG}[A-Za-z0-9._~+/-]{{16,}}=*",
    "of a private key": _PRIVATE_KEY,
}
_KEYS = {name: re.compile(form) for name, form in _FORMS.items()}

# The password in the address of a server: `postgres://app:hunter2pw@db`.
# It ends at the last `@` before a slash, or else, where it has a slash itself, at the first.
_NO_AT = r"""[^\s@/?#"'<>]{0,200}+"""
_IN_ADDRESS = re.compile(
    r"""(://[^\s/?#@:"'<>]{0,200}+:)(?!@|[0-9]{1,5}+[/?#])"""
    rf"""((?:{_NO_AT}@){{0,9}}{_NO_AT}(?=@)|[^\s@"'<>]{{1,200}}+)(?=@[\w.\[-])"""
)
# Placeholders for a password in a template.
_NO_PASSWORD = re.compile(
    r"\$?\{.*|\$[A-Z_]+|<.*|%\(?\w*\)?s?|[*x.]+|\[.*", re.IGNORECASE | re.DOTALL
)

_SHORTEST = 8
_SHORTEST_REMEMBERED = 4
_PLAIN_WORD = re.compile(r"[a-z]{1,15}|[A-Z]{1,15}|[A-Z][a-z]{1,14}")

_PLAINLY_SHOWN = re.compile(
    rf"(?:{_PLAIN_WORD.pattern})?|[0-9.]{{1,6}}|(?:~|\.{{0,2}})/[\w./ -]*|[A-Za-z]:\\[^\s:@]*"
    rf"|\$\{{\w+\}}|(?i:true|false|https?)(?:://[\w.-]+(?::[0-9]+)?/?)?"
)

_MOST_REMEMBERED = 1000
# The keys of the providers so far, with their user names, the oldest first.
_remembered: dict[str, str] = {}


def remember_secrets(*secrets: str, user: str = "") -> None:
    """Redacts these secrets from now on, also in a header for basic authentication as `user`."""
    for secret in secrets:
        if secret:
            _remembered[secret] = user
    for oldest in list(_remembered)[:-_MOST_REMEMBERED]:
        _remembered.pop(oldest, None)


def secret_values(values: Mapping[str, str]) -> list[str]:
    """Returns those values of another program's variables that may be secrets.

    These are all values of variables with a name like `OPENAI_API_KEY`, and all values that are not
    plainly a word, a number or a path.
    """
    found = [
        value
        for name, value in values.items()
        if value and (_SECRET_NAME.search(name) or not _PLAINLY_SHOWN.fullmatch(value))
    ]
    # For `Bearer ...`, also the key alone.
    return found + [key for one in found if (key := one.partition(" ")[2].strip())]


def redacted(text: str) -> str:
    """Returns the text with `[redacted]` in place of every secret."""
    for secret in _secrets():
        text = text.replace(secret, REDACTED)
    for form in _KEYS.values():
        text = form.sub(REDACTED, text)
    return _IN_ADDRESS.sub(_without_password, text)


def redacted_data(data: Any) -> Any:
    """Returns JSON data with every secret in its texts replaced."""
    return with_texts(data, redacted)


def with_texts(data: Any, change: Callable[[str], str]) -> Any:
    """Returns JSON data with `change` applied to all texts, object keys included."""
    if isinstance(data, str):
        return change(data)
    if is_list(data):
        return [with_texts(one, change) for one in data]
    if is_object(data):
        return {change(name): with_texts(one, change) for name, one in data.items()}
    return data


def shown(text: str, most: int | None = None) -> str:
    """Returns the text without secrets, escaped for terminals, in at most `most` characters."""
    text = escaped(redacted(text))
    return text if most is None or len(text) <= most else text[: most - 3] + "..."


def escaped(text: str) -> str:
    """Returns the text on one line, made `printable`: line ends and tabs become `\\n` and `\\t`."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def holds_secret(text: str) -> bool:
    """Whether the text contains a secret; see `secret_in`."""
    return secret_in(text) is not None


def secret_in(text: str) -> str | None:
    """Describes the first secret in the text without revealing it. Returns None if there is none.

    A plain word does not count as a secret, even if it is a variable's value or a password.
    """
    known = known_secret_in(text)
    found = (f"the form {name}" for name, form in _KEYS.items() if form.search(text))
    passwords = (
        "a password in a connection string"
        for match in _IN_ADDRESS.finditer(text)
        if _is_password(match) and not _PLAIN_WORD.fullmatch(match[2])
    )
    return known or next(chain(found, passwords), None)


def known_secret_in(text: str) -> str | None:
    """Describes a known secret in the text, or returns None.

    Text that only has the form of a key does not count, since encrypted data may have it by chance.
    """
    found = (one for one in _secrets() if one in text and not _PLAIN_WORD.fullmatch(one))
    return next(map(_name_of, found), None)


def without_known_secrets(text: str) -> str:
    """Replaces known secrets in the text.

    Text that only has the form of a key stays, since encrypted data may have it by chance.
    """
    for one in _secrets():
        if not _PLAIN_WORD.fullmatch(one):
            text = text.replace(one, REDACTED)
    return text


def _without_password(match: re.Match[str]) -> str:
    return f"{match[1]}{REDACTED}" if _is_password(match) else match.group()


def _is_password(match: re.Match[str]) -> bool:
    return _NO_PASSWORD.fullmatch(match[2]) is None


def _name_of(secret: str) -> str:
    """Returns words for the source of a secret: the variable that holds it, or a provider."""
    for name, value in os.environ.items():
        is_kept = _is_secret(name, value) or value in _remembered
        if is_kept and secret in _spellings(value, _remembered.get(value, "")):
            return f"the value of {name}"
    return "the key of a provider"


def _secrets() -> list[str]:
    """Returns all known secrets, the longest first.

    In another order, replacing a short secret could leave the rest of a longer one.
    """
    global _known
    variables, remembered, secrets = _known
    if variables != environment() or remembered != _remembered:
        variables, remembered = environment().copy(), _remembered.copy()
        secrets = _secrets_of(dict(os.environ), remembered)
        _known = variables, remembered, secrets
    return secrets


_known: tuple[dict[Any, Any], dict[str, str], list[str]] = {}, {}, []


def _secrets_of(variables: dict[str, str], remembered: dict[str, str]) -> list[str]:
    found: set[str] = set()
    for name, value in variables.items():
        if _is_secret(name, value):
            found |= _spellings(value, "")
    for value, user in remembered.items():
        # A provider's key may be short, but a short word is none: many servers take `EMPTY`.
        if len(value) >= (_SHORTEST if _PLAIN_WORD.fullmatch(value) else _SHORTEST_REMEMBERED):
            found |= _spellings(value, user)
    return sorted(found, key=len, reverse=True)


def _is_secret(name: str, value: str) -> bool:
    if len(value) < _SHORTEST or _FILE.fullmatch(value):
        return False
    return _SECRET_NAME.search(name) is not None


@lru_cache(maxsize=_MOST_REMEMBERED)
def _spellings(secret: str, user: str) -> frozenset[str]:
    """Returns a secret in all its forms: unchanged, in JSON, nested JSON, addresses and headers."""
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


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
