"""Secrets and control characters in what is shown: none gets through, in no spelling."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from runtime_support import ContractError, ProviderError, configure, prompt
from runtime_support import _redaction as redaction
from runtime_support._redaction import escaped, holds_secret, redacted, remember_secrets, shown
from tests.support.fake_server import FakeServer, completion, message, raw, status

# No form of a key that is known, in a variable that is not named like one.
ODD_KEY = 'zq/9+8 "7~vbn'


@pytest.fixture
def odd_key(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MY_LLM_AUTH", ODD_KEY)
    configure(api_key_env="MY_LLM_AUTH")
    return ODD_KEY


def error(server: FakeServer, said: str, code: int = 400) -> str:
    server.answers = [status(code, said)]
    with pytest.raises(ProviderError) as caught:
        prompt("?", options={"retries": 0})
    return str(caught.value)


@pytest.mark.parametrize("code", [400, 401, 404, 429, 500])
def test_a_key_of_any_name_is_kept_out_of_errors(
    server: FakeServer, odd_key: str, code: int
) -> None:
    basic = base64.b64encode(f"bob:{odd_key}".encode()).decode()
    spellings = [
        odd_key,
        f"Bearer {odd_key}",
        quote(odd_key, safe=""),
        quote(odd_key, safe="").lower(),
        json.dumps(odd_key),
        json.dumps(json.dumps(odd_key)),
        base64.b64encode(odd_key.encode()).decode(),
        base64.b64encode(f":{odd_key}".encode()).decode(),
    ]
    assert basic not in error(server, "bob")
    for spelling in spellings:
        said = error(server, f"look: {spelling}!", code)
        assert "[redacted]" in said
        assert spelling not in said
        assert "vbn" not in said.lower()


def test_a_key_is_redacted_before_the_text_is_cut(server: FakeServer, odd_key: str) -> None:
    for before in range(280, 305):
        assert ODD_KEY[:3] not in error(server, "y" * before + odd_key)
        server.answers = [raw(b"y" * before + odd_key.encode())]
        with pytest.raises(ProviderError) as caught:
            prompt("?")
        assert ODD_KEY[:3] not in str(caught.value)


def test_keys_of_all_providers_are_redacted(
    server: FakeServer, odd_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt("?")
    monkeypatch.setenv("OTHER_AUTH", "another-odd-one")
    configure(api_key_env="OTHER_AUTH")
    said = error(server, f"{odd_key} and another-odd-one")
    assert "[redacted] and [redacted]" in said
    monkeypatch.delenv("MY_LLM_AUTH")
    assert "[redacted]!" in error(server, f"{odd_key}!"), "also when its variable is gone"


@pytest.mark.parametrize(
    ("key", "said", "expected"),
    [
        ("ab-12", "no ab-12, xab-12, ab-123", "no [redacted], xab-12, ab-123"),
        ("EMPTY", "the list is EMPTY", "the list is EMPTY"),
        ("EMPTY", "got Bearer EMPTY", "got [redacted]"),
        ("x", "x: key=x", "x: [redacted]"),
    ],
)
def test_short_keys_are_redacted_where_they_are_meant(key: str, said: str, expected: str) -> None:
    remember_secrets(key)
    assert redacted(said) == expected


def test_the_secrets_that_are_remembered_are_bounded() -> None:
    from runtime_support import _redaction as redaction

    for number in range(2000):
        remember_secrets(f"secret-number-{number}")
    assert len(redaction._remembered) == redaction._MOST_REMEMBERED
    assert redacted("secret-number-1999") == "[redacted]"


def test_a_plain_word_is_no_secret_to_stop_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SORT_KEY", "question")
    monkeypatch.setenv("SOME_TOKEN", "a1b2c3d4e5")
    assert not holds_secret("a question")
    assert holds_secret("it is a1b2c3d4e5")


def test_what_a_terminal_would_obey_is_escaped() -> None:
    text = "a\x1b[2J\rb\nerror: c\x07\x9b\u202ed\u2028\ud83d\x00é 😀\xa0"
    expected = r"a\x1b[2J\rb\nerror: c\x07\x9b\u202ed\u2028\ud83d\x00é 😀" + "\xa0"
    assert escaped(text) == expected
    assert shown(text, 12) == r"a\x1b[2J\..."


@pytest.mark.parametrize("code", [400, 401, 404, 429, 500])
def test_errors_show_control_characters_of_servers_escaped(server: FakeServer, code: int) -> None:
    said = error(server, "no\x1b[31m\nerror: faked\u202e", code)
    assert r"no\x1b[31m\nerror: faked\u202e" in said
    assert said.isprintable()


@pytest.mark.parametrize(
    "body",
    [
        b"<h1>\x1b[2J\n",
        b'{"error": {"message": "\\u001b[2J\\n"}}',
        b'{"odd": "\x1b[2J"}',
    ],
)
def test_what_is_no_reply_is_shown_escaped(server: FakeServer, body: bytes) -> None:
    server.answers = [raw(body)]
    with pytest.raises(ProviderError) as caught:
        prompt("?")
    assert str(caught.value).isprintable()


HALF = "\ud83d"


def test_half_a_character_in_a_prompt_is_an_error(server: FakeServer) -> None:
    with pytest.raises(ProviderError, match=r"half of a surrogate pair \(U\+D83D\)"):
        prompt("?", options={"system": f"cut {HALF}"})
    assert server.requests == []


def test_half_a_character_in_a_text_is_replaced_and_noted(server: FakeServer) -> None:
    server.answers = [completion(f"cut {HALF}")]
    result = prompt("?")
    assert result.value == "cut \ufffd"
    assert result.repairs == ["half of a surrogate pair was replaced by U+FFFD"]
    server.answers = [completion("whole 😀")]
    assert prompt("?").value == "whole 😀"
    assert prompt("?").repairs == []


@pytest.mark.parametrize("text", [f'["{HALF}"]', r'["\ud83d"]', r'["\ud83d\u0041"]', f"[{HALF}]"])
def test_half_a_character_in_a_value_is_asked_for_again(server: FakeServer, text: str) -> None:
    server.answers = [completion(text), completion(r'["\ud83d\ude00"]')]
    result = prompt("?", returns=list[str])
    assert result.value == ["😀"]
    assert "half of a surrogate pair" in server.bodies[1]["messages"][-1]["content"]
    server.answers = [completion(text)]
    with pytest.raises(ContractError, match="half of a surrogate pair") as caught:
        prompt("?", returns=list[str])
    str(caught.value).encode()


def test_half_a_character_in_a_call_is_told_to_the_model(server: FakeServer) -> None:
    def write(text: str) -> str:
        raise AssertionError("it was called")

    def call(name: str, arguments: str) -> dict[str, object]:
        function = {"name": name, "arguments": arguments}
        return {"id": "1", "type": "function", "function": function}

    calls = [
        call("write", rf'{{"text": "{HALF}"}}'),
        call("write", r'{"text": "\ud83d"}'),
        call(f"write{HALF}", '{"text": "a"}'),
    ]
    server.answers = [
        message({"content": None, "tool_calls": calls}, "tool_calls"),
        completion("ok"),
    ]
    errors = [made.error or "" for made in prompt("{write}", write=write).tool_calls]
    assert "half of a surrogate pair" in errors[0]
    assert "half of a surrogate pair" in errors[1]
    assert "did you mean `write`" in errors[2]


def test_what_a_model_wrote_stands_in_errors_without_harm(server: FakeServer, odd_key: str) -> None:
    for before in (0, 190, 195):
        server.answers = [completion("y" * before + f"{odd_key} \x9b2J\u202e")]
        with pytest.raises(ContractError) as caught:
            prompt("?", returns=int, options={"repairs": 0})
        assert str(caught.value).isprintable()
        assert odd_key[:4] not in str(caught.value).partition("the last reply was")[2]


def test_the_environment_is_read_anew_only_when_it_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    secrets_of = redaction._secrets_of  # pyright: ignore[reportPrivateUsage]

    def counted(*arguments: dict[str, str]) -> list[str]:
        read.append(1)
        return secrets_of(*arguments)

    monkeypatch.setattr(redaction, "_secrets_of", counted)
    monkeypatch.setenv("NEW_PASSWORD", "correct-horse")
    assert [redacted("correct-horse") for _ in range(9)] == ["[redacted]"] * 9
    assert len(read) == 1
    monkeypatch.setenv("NEW_PASSWORD", "battery-staple")
    assert redacted("correct-horse battery-staple") == "correct-horse [redacted]"
    monkeypatch.delenv("NEW_PASSWORD")
    assert not holds_secret("battery-staple")
    assert len(read) == 3
