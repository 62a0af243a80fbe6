"""Secrets and control characters in what is shown: none gets through, in no spelling."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from runtime_support import ContractError, ProviderError, configure, prompt
from runtime_support._core import redaction
from runtime_support._core.redaction import (
    escaped,
    holds_secret,
    redacted,
    remember_secrets,
    secret_in,
    shown,
)
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
        prompt("?", options={"max_retries": 0})
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


def test_a_key_that_could_be_any_word_is_none() -> None:
    remember_secrets("ab-12", "x", "", "EMPTY")
    assert redacted("no ab-12, key=x, EMPTY") == "no [redacted], key=x, EMPTY"


def test_the_secrets_that_are_remembered_are_bounded() -> None:
    from runtime_support._core import redaction

    for number in range(2000):
        remember_secrets(f"secret-number-{number}")
    assert len(redaction._remembered) == redaction._MOST_REMEMBERED
    assert redacted("secret-number-1999") == "[redacted]"


def test_a_plain_word_is_no_secret_to_stop_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SORT_KEY", "question")
    monkeypatch.setenv("SOME_TOKEN", "a1b2c3d4e5")
    assert not holds_secret("a question")
    assert holds_secret("it is a1b2c3d4e5")


WORDS = [
    "task-management-system-overview",
    "risk-assessment-framework",
    "desk-lamp-with-adjustable-arm",
    "disk-encryption-at-rest",
    "mask-rcnn-resnet50-fpn",
    "flask-sqlalchemy-migrations",
    "sk-learn-pipeline-tutorial",
    "task-550e8400-e29b-41d4-a716-446655440000",
    "sk-learn-1-3-release-notes",
    "highp_abcdefghijklmnopqrstuvwxyz01234",
    "shelf_abcdefghijklmnopqrstuvwxyz012345",
    "github_pat_rotation_policy_for_all_teams",
    "xoxo-hugs-and-kisses",
    'connect(host="db",password="pw")',
    "password=getpass()",
    "http://localhost:3000/@fs/x",
    "https://a.b:443/@me",
    "postgres://{user}:{password}@host/db",
    "postgres://app:$PASSWORD@db",
    "a@b.c",
]
SENTENCES = [
    "the Bearer authentication/authorization header",
    "a file begins with -----BEGIN PRIVATE KEY----- and so on",
    "set password = something and go",
]


@pytest.mark.parametrize("text", [*WORDS, *SENTENCES])
def test_words_are_no_keys(text: str) -> None:
    assert redacted(text) == text
    assert not holds_secret(text)


KEYS = {
    "sk-abcdefghijklmnopqrstuvwx": "sk-...",
    "sk-proj-abcdefghijklmnop1234": "sk-...",
    "sk-ant-api03-AbC1dEf2GhI3jKl4-mNo5PqR6": "sk-...",
    "ghp_" + "aB3" * 12: "ghp_...",
    "github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789": "github_pat_...",
    "xoxb-123456789012-1234567890123-AbCdEfGhIjKl": "xoxb-...",
    "AKIAIOSFODNN7EXAMPLE": "AKIA...",
    "AIzaSyNHxIf32IQ1a1yjl3ZJIqKZqzLAK1XhDk-": "AIza...",
    "hf_" + "aBcDeF" * 6: "hf_...",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc": "Bearer ...",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567\nab/cd+\n"
    "-----END RSA PRIVATE KEY-----": "of a private key",
}
# Of random letters, few look like words.
LIKE_WORDS = ["sk-KdfGhiXZjklMnoPQRstu", "sk-proj-abcdEfghij12klmnopqr", "Bearer KdfGhijklMnopqrs"]


@pytest.mark.parametrize("key", LIKE_WORDS)
def test_keys_that_look_much_like_words_are_found(key: str) -> None:
    assert redacted(f"a {key} b") == "a [redacted] b"


AROUND = ["{}", "key={}", "\n{}\n", "\t{}", "é{}", "\x1b[31m{}\x1b[0m", "'{}'", "x-{}", "_{}"]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("key", KEYS)
def test_keys_are_found_whatever_stands_before_them(key: str, around: str) -> None:
    text = around.format(key)
    in_json = json.dumps(text)
    for spelling in (text, in_json, json.dumps(in_json)):
        assert secret_in(spelling) == f"the form {KEYS[key]}"
        assert key[10:20] not in redacted(spelling)
        assert not holds_secret(redacted(spelling))


@pytest.mark.parametrize("behind", ['"', '", and', '\n"', "\\"])
def test_a_key_without_its_end_leaves_json_whole(behind: str) -> None:
    text = f"the key is \"-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567\nab/cd+=={behind}"
    for spelling in (text, json.dumps(text)):
        found = redacted(json.dumps({"a": spelling, "b": 1}))
        assert "MIIE" not in found and "ab/cd" not in found
        assert json.loads(found)["b"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "postgres://app:hunter2pw@db",
        "postgres://app:hunter2pw@db:5432/x?a=b",
        "redis://:hunter2pw@[::1]:6379/0",
        "postgres://app:hunter2pw@x@db/x",
        "mysql+pymysql://root:a/hunter2pw@db/x",
        "https://bob:hunter2pw@example.com/a@b",
        "dsn=mongodb+srv://u:hunter2pw@c.example.net, again",
    ],
)
def test_passwords_in_connection_strings_are_redacted(text: str) -> None:
    for spelling in (text, json.dumps({"a": text}), json.dumps(json.dumps(text))):
        assert "hunter2pw" not in redacted(spelling)
        assert "db" in redacted(spelling) or "example" in spelling or "::1" in spelling
        assert secret_in(spelling) == "a password in a connection string"
        assert not holds_secret(redacted(spelling))


def test_the_rest_of_a_connection_string_is_shown() -> None:
    assert redacted("postgres://app:hunter2pw@db/x") == "postgres://app:[redacted]@db/x"


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("SORT_KEY", "created_at", False),
        ("PARTITION_KEY", "customer_id", False),
        ("CACHE_KEY", "linux-py311", False),
        ("SORT_KEY", "lastModifiedAt", False),
        ("S3_KEY", "uploads/2024/05/report-final.pdf", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/a/creds-1a2b3c4d5e6f.json", False),
        ("SOME_TOKEN", "a1b2c3d4e5", True),
        ("MY_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", False),
        ("MY_SECRET_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", True),
        ("MY_TOKEN", "not-a-key-by-its-look", True),
        ("MAIL_PASSWORD", "correct-horse", True),
        ("ACME_API_KEY", "letmein-please", True),
        ("DB_CREDENTIALS", "app:hunter2pw", True),
    ],
)
def test_what_variables_hold(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, is_secret: bool
) -> None:
    monkeypatch.setenv(name, value)
    assert secret_in(f"so {value} it is") == (f"the value of {name}" if is_secret else None)
    assert (value in redacted(f"so {value} it is")) is not is_secret


def test_a_key_of_any_name_is_named(server: FakeServer, odd_key: str) -> None:
    prompt("?")
    assert secret_in(f"it is {json.dumps(odd_key)}") == "the value of MY_LLM_AUTH"


def test_hostile_text_does_not_take_for_ever() -> None:
    pieces = ["://", "://a:", "://a:b@", "-----BEGIN PRIVATE KEY-----", "sk-", "Bearer ", "\\n"]
    texts = [piece * (100_000 // len(piece)) for piece in pieces]
    for text in [*texts, f"-----BEGIN PRIVATE KEY-----{texts[-1]}", "://a:" + "b@" * 50_000]:
        redacted(text)
        secret_in(text)


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


@pytest.mark.parametrize("text", [f'["{HALF}"]', r'["\ud83d"]', r'["\ud83d\u0041"]', f"['{HALF}']"])
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
            prompt("?", returns=int, options={"max_repairs": 0})
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
