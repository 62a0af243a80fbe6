"""Settings: where they come from, and what is refused."""

from __future__ import annotations

import os
import pickle
import re
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runtime_support import ConfigError, configure, current_settings, prompt, providers
from runtime_support._core import settings as config
from runtime_support._core.question import Question, first_request
from runtime_support._core.settings import Settings, settings_for, settings_in_force
from runtime_support._core.settings.configuration import current_configuration
from runtime_support._mock.provider import MockProvider
from runtime_support._values import renamed as renaming
from runtime_support.providers import live_provider
from runtime_support.testing import Scripted


def test_defaults() -> None:
    assert settings_for() == Settings()
    assert Settings().max_tool_rounds == 8
    assert Settings().max_tool_calls == 32
    assert Settings().max_retries == 2
    assert Settings().max_repairs == 1


def test_the_first_source_that_has_a_setting_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nested = tmp_path / "a" / "b"
    nested.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text(
        '[tool.saft]\nmodel = "project"\ntemperature = 1\nmax_retries = 5\nseed = 3\n'
    )
    monkeypatch.chdir(nested)
    assert settings_for().model == "project"
    assert repr(settings_for().temperature) == "1.0"
    monkeypatch.setenv("SAFT_MODEL", "environment")
    monkeypatch.setenv("SAFT_MAX_RETRIES", "4")
    monkeypatch.setenv("SAFT_TEMPERATURE", "0.5")
    assert (settings_for().model, settings_for().max_retries) == ("environment", 4)
    configure(model="configured", temperature=0.25)
    assert (settings_for().model, settings_for().temperature) == ("configured", 0.25)
    settings = settings_for({"model": "option"})
    assert (settings.model, settings.temperature, settings.max_retries, settings.seed) == (
        *("option", 0.25, 4),
        3,
    )
    configure(model=None)
    assert settings_for().model == "environment"


def test_an_option_that_is_none_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_MODEL", "environment")
    monkeypatch.setenv("SAFT_TIMEOUT", "7")
    settings = settings_for({"model": None, "timeout": None, "extra_body": None})
    assert (settings.model, settings.timeout, settings.extra_body) == ("environment", 7, {})
    with pytest.raises(ConfigError, match="option: no option `modle`; did you mean `model`"):
        settings_for({"modle": None})
    with pytest.raises(ConfigError, match="configure: no option `modle`; did you mean `model`"):
        configure(modle=None)


def test_a_conversation_keeps_its_model_where_none_is_named() -> None:
    model = Scripted(["one", "two", "three"])
    configure(provider=model)
    first = prompt("a", options={"model": "large", "system": "Be brief."})
    second = prompt("b", after=first, options={"model": None, "system": None})
    prompt("c", after=second)
    assert [request.model for request in model.requests] == ["large"] * 3
    assert {request.messages[0]["content"] for request in model.requests} == {"Be brief."}


def test_a_file_that_was_changed_is_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    project, own = tmp_path / "pyproject.toml", tmp_path / "user" / "saft" / "config.toml"
    own.parent.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for number, (file, text, expected) in enumerate(
        [
            (own, "temperature = 0.25", 0.25),
            (project, "[tool.saft]\ntemperature = 0.5", 0.5),
            (project, "[tool.saft]\ntemperature = 1.5", 1.5),
            (project, "", 0.25),
            (own, "temperature = 2", 2),
        ]
    ):
        file.write_text(text)
        os.utime(file, (number, number))
        assert settings_for().temperature == expected
    own.unlink()
    assert settings_for().temperature is None


@pytest.mark.parametrize(
    ("variable", "name", "value"),
    [
        ("SAFT_PROVIDER", "provider", "mock"),
        ("SAFT_BASE_URL", "base_url", "http://localhost/v1"),
        ("SAFT_API_KEY_ENV", "api_key_env", "MY_KEY"),
        ("SAFT_MAX_TOOL_ROUNDS", "max_tool_rounds", 3),
        ("SAFT_MAX_TOOL_CALLS", "max_tool_calls", 3),
        ("SAFT_TIMEOUT", "timeout", 1.5),
        ("SAFT_SILENCE", "silence", 1.5),
        ("SAFT_MAX_REPLY_BYTES", "max_reply_bytes", 1000),
        ("SAFT_ENFORCE_SCHEMA", "enforce_schema", "off"),
        ("SAFT_REASONING_EFFORT", "reasoning_effort", "xhigh"),
        ("SAFT_API", "api", "responses"),
    ],
)
def test_environment(
    monkeypatch: pytest.MonkeyPatch, variable: str, name: str, value: object
) -> None:
    monkeypatch.setenv(variable, str(value))
    assert getattr(settings_for(), name) == value


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: configure(temprature=0), "no option `temprature`; did you mean `temperature`?"),
        (lambda: settings_for({"zzz": 1}), "the options are provider, model"),
        (lambda: configure(max_retries="2"), 'configure max_retries: expected int, got string "2"'),
        (lambda: settings_for({"temperature": -1}), "temperature: expected 0 or more, got float"),
        (lambda: settings_for({"timeout": 0}), "timeout: expected 0.001 or more"),
        (lambda: configure(enforce_schema="yes"), 'expected "auto" | "on" | "off"'),
        (lambda: configure(provider=Scripted), "configure provider: expected string"),
        (lambda: settings_for({"effort": "low"}), "`effort` is called `reasoning_effort`"),
        (lambda: configure(max_completion_tokens=5), "did you mean `max_tokens`?"),
        (lambda: configure(provider="opnai"), "no provider `opnai`; did you mean `openai`?"),
        (lambda: settings_for({"stop": 3}), "option stop: expected string | [string]"),
    ],
)
def test_what_is_no_setting_is_an_error(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        call()
    assert said in str(caught.value)
    assert caught.value.setting is not None


# Every option of a prompt, with a value that is right and those that are not.
OPTIONS: dict[str, tuple[object, list[object]]] = {
    "provider": ("mock", ["nobody", 3]),
    "model": ("m", [3]),
    "base_url": ("http://localhost/v1", [3]),
    "api_key_env": ("MY_KEY", [True]),
    "temperature": (0, [-0.1, "0", True, float("nan")]),
    "top_p": (0.5, [-1, 1.1]),
    "max_tokens": (5, [0, 5.0, "5"]),
    "api": ("responses", ["chats", True]),
    "reasoning_effort": ("minimal", ["much", 3]),
    "seed": (-3, [1.5]),
    "fallback": (["a", "b"], [["a", 1], [], ["a", "a"], "a"]),
    "stop": (["a", "b"], [["a", 1], 3]),
    "system": ("be brief", [["be brief"]]),
    "timeout": (2, [0, -1, float("nan")]),
    "silence": (2, [0, -1, float("nan")]),
    "max_retries": (0, [-1, True]),
    "max_wait": (0.5, [-1, "300", float("nan")]),
    "requests_per_minute": (0.5, [0, "60"]),
    "tokens_per_minute": (90_000, [0, True]),
    "budget_requests": (0, [-1, "5"]),
    "budget_tokens": (1000, [-1, 1.5]),
    "budget_cost": (2.5, [-1, "2"]),
    "prices": (
        {"m": {"input": 1, "output": 2.5}},
        [{"m": 1}, {"m": {"input": 1}}, {"m": {"input": 1, "output": -1}}],
    ),
    "max_reply_bytes": (1000, [0, 1.5]),
    "max_repairs": (0, [-1, "1"]),
    "max_tool_rounds": (0, [-1, 1.5]),
    "max_tool_calls": (0, [-1]),
    "max_in_flight": (1, [0, 2.5]),
    "enforce_schema": ("on", ["yes", True]),
    "on_truncated": ("accept", ["take", True]),
    "extra_body": ({"top_k": 1}, ["top_k", {1: 2}]),
}


# No prompt chooses who approves what its model does.
@pytest.mark.parametrize("name", sorted({*Settings.__dataclass_fields__} - {"approver"}))
def test_every_option_is_checked(name: str) -> None:
    right, wrong = OPTIONS[name]
    assert getattr(settings_for({name: right}), name) == right
    for value in wrong:
        with pytest.raises(ConfigError, match=f"option {name}|no provider") as caught:
            settings_for({name: value})
        assert caught.value.setting == name


def test_a_variable_that_nothing_reads_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runtime_support._core.settings.files._told", set[str]())
    for name in ("SAFT_MODLE", "SAFT_BUDGET_COSTS", "SAFT_TEAM_ID", "SAFT_STOP", "SAFT_MODEL"):
        monkeypatch.setenv(name, "x")
    assert settings_for().model == "x"
    told = "saftc: the environment sets {}, which is not a setting; {}"
    assert capsys.readouterr().err.splitlines() == [
        told.format("SAFT_BUDGET_COSTS", "did you mean SAFT_BUDGET_COST?"),
        told.format("SAFT_MODLE", "did you mean SAFT_MODEL?"),
        told.format("SAFT_STOP", "`stop` is set in code, or under [tool.saft] in pyproject.toml"),
        told.format("SAFT_TEAM_ID", "docs/configuration.md lists the settings"),
    ]
    monkeypatch.setenv("SAFT_MODEL", "y")
    assert settings_for().model == "y"
    assert capsys.readouterr().err == ""


def test_every_variable_that_is_read_is_known() -> None:
    root = Path(renaming.__file__).parents[2]
    files = {*root.glob("runtime_support/**/*.py"), *root.glob("saftc/**/*.py")}
    files.remove(Path(renaming.__file__))
    text = "".join(file.read_text("utf-8") for file in files)
    named = set(re.findall(r'"(SAFT_[A-Z_]*[A-Z])"', text))
    assert "SAFT_RECORD" in named
    assert named <= {*config.VARIABLES, *config._OTHER_VARIABLES}


def test_errors_name_their_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SAFT_MAX_RETRIES", "many")
    with pytest.raises(ConfigError, match="SAFT_MAX_RETRIES: expected an int"):
        settings_for()
    monkeypatch.delenv("SAFT_MAX_RETRIES")
    project = tmp_path / "p" / "pyproject.toml"
    project.parent.mkdir()
    project.write_text('[tool.saft]\nmodle = "x"\n')
    monkeypatch.chdir(project.parent)
    with pytest.raises(ConfigError, match=r"pyproject\.toml .tool.saft.: no option `modle`"):
        settings_for()
    project.write_text("[tool.saft]\nin_place = true\n")
    with pytest.raises(ConfigError, match="no option `in_place`; did you mean `in-place`"):
        settings_for()


def test_a_project_folder_that_is_missing_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Otherwise its settings would be left out in silence."""
    monkeypatch.setenv("SAFT_PROJECT", str(tmp_path / "triaage"))
    with pytest.raises(ConfigError, match=r"SAFT_PROJECT: there is no folder .*triaage"):
        settings_for()


def test_a_wrong_option_of_a_prompt_is_found_before_any_request() -> None:
    model = Scripted(["x"])
    configure(provider=model)
    with pytest.raises(ConfigError, match="did you mean `temperature`"):
        prompt("hi", options={"temperatur": 1})
    assert model.requests == []


def test_the_provider_is_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime_support._local import provider as local
    from runtime_support.providers._openai import OpenAIProvider

    monkeypatch.setattr(local, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="no model is configured"):
        live_provider(Settings())
    monkeypatch.setattr(local, "is_available", lambda: True)
    monkeypatch.setattr(local, "configured", lambda settings: "the embedded model")
    assert live_provider(Settings()) == "the embedded model"
    monkeypatch.setenv("GEMINI_API_KEY", "k" * 20)
    assert live_provider(Settings()) == "the embedded model"
    assert live_provider(Settings(model="qwen3.gguf")) == "the embedded model"
    gemini = live_provider(Settings(model="gemini-3-flash"))
    assert isinstance(gemini, OpenAIProvider)
    assert gemini.server.address == "https://generativelanguage.googleapis.com/v1beta/openai/"
    monkeypatch.setenv("OPENROUTER_API_KEY", "k" * 20)
    named: Any = live_provider(Settings(model="gemini-3-flash"))
    assert named.server.address == "https://openrouter.ai/api/v1/"
    router = live_provider(Settings())
    assert isinstance(router, OpenAIProvider)
    assert router.server.address == "https://openrouter.ai/api/v1/"
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    provider = live_provider(Settings())
    assert isinstance(provider, OpenAIProvider)
    assert provider.server.address == "https://api.openai.com/v1/"
    assert isinstance(live_provider(Settings(provider="mock")), MockProvider)


def test_one_client_for_each_address_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)

    def server(**settings: Any) -> Any:
        provider: Any = live_provider(Settings(provider="openai", **settings))
        return provider.server

    one = server(model="a")
    assert server(model="b", temperature=1) is one
    assert server(timeout=3, max_retries=0) is one
    assert server(base_url="http://127.0.0.1:9/v1") is not one
    monkeypatch.setenv("OPENAI_API_KEY", "j" * 20)
    assert server() is not one
    assert one not in [made for _, made in providers._made.values()], "nor its key is kept"


def test_a_missing_key_is_a_config_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="no OPENAI_API_KEY"):
        prompt("hi", options={"provider": "openai"})
    with pytest.raises(ConfigError, match="no MY_KEY"):
        prompt("hi", options={"provider": "openai", "api_key_env": "MY_KEY"})
    with pytest.raises(ConfigError, match="no OPENROUTER_API_KEY"):
        prompt("hi", options={"provider": "openrouter"})
    with pytest.raises(ConfigError, match="no GEMINI_API_KEY"):
        prompt("hi", options={"provider": "gemini", "model": "gemini-3-flash"})
    with pytest.raises(ConfigError, match="gemini has no default model"):
        prompt("hi", options={"provider": "gemini"})


def test_without_a_model_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime_support._local import provider as local

    monkeypatch.delenv("SAFT_PROVIDER", raising=False)
    for steps in (["`pip install xllamacpp`", "set SAFT_LOCAL_MODEL"], ["set SAFT_LOCAL_MODEL"]):
        monkeypatch.setattr(local, "lacking", lambda steps=steps: steps)
        with pytest.raises(ConfigError) as caught:
            prompt("hi")
        said = str(caught.value)
        assert "OPENAI_API_KEY" in said and "SAFT_PROVIDER=mock" in said
        assert said.endswith(" and ".join(steps))
    with pytest.raises(ConfigError, match="provider` is `unset`; choose another one"):
        prompt("hi", options={"provider": "unset"})
    with pytest.raises(ConfigError, match="Scripted"):
        prompt("hi", options={"provider": "scripted"})


# Blocks


def test_a_block_has_settings_of_its_own() -> None:
    configure(model="process", seed=1)
    with configure(model="outer", temperature=0.5):
        assert (settings_for().model, settings_for().seed) == ("outer", 1)
        with configure(model=None, temperature=0.25):
            assert (settings_for().model, settings_for().temperature) == (None, 0.25)
            assert settings_for({"model": "option"}).model == "option"
        assert (settings_for().model, settings_for().temperature) == ("outer", 0.5)
    assert (settings_for().model, settings_for().temperature) == ("process", None)


def test_a_block_ends_with_an_error_too() -> None:
    with pytest.raises(ZeroDivisionError), configure(model="block"):
        assert 1 / 0
    assert settings_for().model is None


def test_a_block_is_of_its_thread_and_of_copies_of_its_context() -> None:
    def model() -> str | None:
        return settings_for().model

    with ThreadPoolExecutor(1) as pool, configure(model="block"):
        assert pool.submit(model).result() is None
        assert pool.submit(copy_context().run, model).result() == "block"


def test_what_others_set_meanwhile_stays() -> None:
    configured = configure(model="mine", seed=1)
    configure(model="theirs")
    with configured:
        assert (settings_for().model, settings_for().seed) == ("mine", 1)
    assert (settings_for().model, settings_for().seed) == ("theirs", None)


def test_settings_made_by_many_threads_are_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["model", "base_url", "api_key_env", "system"]
    values = ("provider", "mock"), ("seed", 3), *((name, name) for name in names)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            with ThreadPoolExecutor(6) as pool:
                list(pool.map(lambda pair: configure(**dict([pair])), values))
            assert [getattr(settings_for(), name) for name, _ in values] == [v for _, v in values]
            for name, _ in values:
                configure(**{name: None})
    finally:
        sys.setswitchinterval(before)


def test_a_snapshot_can_be_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_SEED", "7")
    configure(provider="mock", max_retries=5)
    with configure(model="block", extra_body={"top_k": 3}):
        shipped: dict[str, Any] = pickle.loads(pickle.dumps(current_settings()))
        here = settings_for()
    configure(provider=None, max_retries=None)
    monkeypatch.delenv("SAFT_SEED")
    with configure(**shipped):
        assert settings_for() == here
    assert settings_for(shipped) == here
    assert settings_for() == Settings()


def test_what_is_around_another_process_is_not_what_the_program_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SAFT_MODEL", "of this process")
    with current_configuration({"seed": 7}, {"model": "of the other", "temperature": 0.5}):
        here = settings_for()
        assert (here.model, here.seed, here.temperature) == ("of the other", 7, 0.5)
        assert settings_in_force(None) == {"seed": 7}
        with current_configuration({"top_p": 0.5}):
            assert settings_for().model == "of the other"
            with configure(model="of the block"):
                assert settings_for().model == "of the block"
    assert settings_for().model == "of this process"


def test_a_snapshot_says_what_cannot_be_shipped() -> None:
    configure(provider=Scripted([]))
    with pytest.raises(ConfigError, match=r"cannot be pickled.*; choose a provider by name"):
        current_settings()


# What a project file may not choose


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """Writes the settings of a project that came from elsewhere, and goes there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))

    def make(settings: str) -> Path:
        folder = tmp_path / "cloned"
        folder.mkdir(exist_ok=True)
        (folder / "pyproject.toml").write_text(f"[tool.saft]\n{settings}\n")
        monkeypatch.chdir(folder)
        return folder

    return make


FAR = 'base_url = "https://collect.example/v1"'
HERE = 'base_url = "http://127.0.0.1:8080/v1"'
SECRET = 'api_key_env = "MY_BANK_PASSWORD"'


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (FAR, "base_url"),
        (SECRET, "api_key_env"),
        (f"{HERE}\n{SECRET}", "base_url"),
        (f'{FAR}\nprovider = "openrouter"', "base_url"),
        ('base_url = "http://localhost@collect.example/v1"', "base_url"),
        ('base_url = "no address"', "base_url"),
    ],
)
def test_a_project_file_does_not_choose_where_keys_go(
    project: Callable[[str], Path], settings: str, name: str
) -> None:
    folder = project(settings)
    with pytest.raises(ConfigError) as caught:
        settings_for()
    assert caught.value.setting == name
    home = folder.parent / "home" / "saft" / "config.toml"
    assert str(caught.value) == (
        f"{folder}/pyproject.toml [tool.saft] sets `{name}`: confirm it before "
        f"prompts and keys are sent there; set SAFT_{name.upper()}, or write "
        f'`trusted = ["{folder}"]` into {home}'
    )


def test_a_server_on_this_machine_gets_prompts_but_no_key(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path]
) -> None:
    project(HERE)
    assert settings_for().base_url == "http://127.0.0.1:8080/v1"
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    with pytest.raises(ConfigError, match="confirm it before"):
        settings_for()


@pytest.mark.parametrize("how", ["environment", "configure", "block", "option"])
def test_the_users_word(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path], how: str
) -> None:
    project(f"{FAR}\n{SECRET}")
    word = {"base_url": "https://mine.example/v1", "api_key_env": "MY_KEY"}
    if how == "environment":
        monkeypatch.setenv("SAFT_BASE_URL", word["base_url"])
        with pytest.raises(ConfigError, match="api_key_env"):
            settings_for()
        monkeypatch.setenv("SAFT_API_KEY_ENV", word["api_key_env"])
        settings = settings_for()
    elif how == "configure":
        configure(**word)
        settings = settings_for()
    elif how == "block":
        with configure(**word):
            settings = settings_for()
    else:
        settings = settings_for(word)
    assert (settings.base_url, settings.api_key_env) == tuple(word.values())


def test_trusted_projects(project: Callable[[str], Path]) -> None:
    folder = project(f"{FAR}\n{SECRET}")
    own = folder.parent / "home" / "saft" / "config.toml"
    own.parent.mkdir(parents=True)
    for trusted in (folder, folder.parent, folder / ".." / folder.name):
        own.write_text(f'trusted = ["/nowhere", "{trusted}"]\n')
        assert settings_for().api_key_env == "MY_BANK_PASSWORD"
    for text in (f'trusted = ["{str(folder)[:-1]}"]', f'trusted = ["{folder}/inside"]', ""):
        own.write_text(text)
        with pytest.raises(ConfigError, match="confirm it before"):
            settings_for()
    own.write_text("trusted = true")
    with pytest.raises(ConfigError, match=r"config\.toml trusted: expected list, got bool true"):
        settings_for()


def test_the_file_of_the_user(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path], capsys: Any
) -> None:
    folder = project('model = "of-project"')
    own = folder.parent / "home" / "saft" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(
        f'trusted = []\nmodel = "mine"\nsystem = "Be brief."\nseed = 1\ntempereture = 1\n{HERE}\n'
    )
    monkeypatch.setenv("SAFT_SEED", "7")
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    settings = settings_for()
    assert (settings.model, settings.system, settings.seed) == ("of-project", "Be brief.", 7)
    # It is the user's own word where keys go.
    assert settings.base_url == "http://127.0.0.1:8080/v1"
    assert capsys.readouterr().err == (
        f"saftc: {own} sets `tempereture`, which is not a setting; did you mean `temperature`?\n"
    )


def test_a_wrong_file_of_the_user(project: Callable[[str], Path]) -> None:
    own = project("").parent / "home" / "saft" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("timeout = 'long'")
    with pytest.raises(ConfigError, match=r"config\.toml timeout: expected float, got string"):
        settings_for()


def test_where_nothing_is_sent_the_project_file_is_no_matter(
    monkeypatch: pytest.MonkeyPatch, project: Callable[[str], Path]
) -> None:
    project(f"{FAR}\n{SECRET}")
    assert prompt("Add 2 and 3.", returns=int, options={"provider": "mock"}).value == 5
    shown = first_request(Question("hi", (), {}))
    assert shown.messages[0]["content"] == "hi"
    monkeypatch.setenv("SAFT_REPLAY", "recording.jsonl")
    assert settings_for().base_url == "https://collect.example/v1"
    monkeypatch.setenv("SAFT_RECORD", "recording.jsonl")
    with pytest.raises(ConfigError, match="confirm it before"):
        settings_for()


@pytest.mark.parametrize("text", ["tool = 3", "[tool]\nsaft = 3"])
def test_a_project_file_without_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(text)
    monkeypatch.chdir(folder)
    if "saft" in text:
        with pytest.raises(ConfigError, match="expected a table, got int 3"):
            settings_for()
    else:
        assert settings_for() == Settings()


# What a module takes with it


def _module(name: str, text: str) -> ModuleType:
    module = ModuleType(name)
    exec(compile(textwrap.dedent(text), f"{name}.py", "exec"), module.__dict__)
    return module


def test_defaults_hold_for_the_prompts_of_their_module(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Scripted(["a"] * 5)
    configure(provider=model)
    tool = _module(
        "tool",
        """
        from runtime_support import defaults, prompt

        defaults(system="Be brief.", temperature=0.5, timeout=None)

        def ask(**options):
            return prompt("hello", options=options).value
        """,
    )
    other = _module("other", "from runtime_support import prompt\ndef ask(): prompt('hello')\n")
    tool.ask()
    other.ask()
    assert model.requests[0].messages[0] == {"role": "system", "content": "Be brief."}
    assert model.requests[0].options == {"temperature": 0.5}
    assert [message["role"] for message in model.requests[1].messages] == ["user"]
    monkeypatch.setenv("SAFT_TEMPERATURE", "0.25")
    tool.ask()
    with configure(system="In French."):
        tool.ask()
    tool.ask(temperature=1.0)
    temperatures = [request.options["temperature"] for request in model.requests[2:]]
    assert temperatures == [0.25, 0.25, 1.0]
    assert model.requests[3].messages[0]["content"] == "In French."


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("base_url='http://a'", "`base_url` cannot be set by a module"),
        ("budget_requests=3", "`budget_requests` cannot be set by a module"),
        ("sistem='x'", "defaults: no option `sistem`; did you mean `system`?"),
    ],
)
def test_what_a_module_cannot_say(given: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem.replace("?", r"\?")):
        _module("tool", f"from runtime_support import defaults\ndefaults({given})\n")


def test_an_installed_package_takes_nothing_from_the_folder_it_is_run_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.saft]\nsystem = "Talk like a pirate."\n')
    text = "from runtime_support import prompt\nprompt('hello')\n"
    for folder, is_told in (("lib/site-packages/tool", False), ("src/tool", True)):
        model = Scripted(["a"])
        configure(provider=model)
        exec(compile(text, str(tmp_path / folder / "a.py"), "exec"), {"__name__": "tool.a"})
        roles = [message["role"] for message in model.requests[0].messages]
        assert ("system" in roles) is is_told


def test_queued_replies_may_be_objects_and_nothing_odd() -> None:
    kinds = {"a": int, "b": int}
    configure(provider=Scripted([{"a": 1, "b": 2}]))
    assert prompt("?", fields=kinds).value == (1, 2)
    for odd in (7, None, [1, 2], object()):
        with pytest.raises(TypeError, match="a queued reply is text, a dict"):
            Scripted([odd])  # pyright: ignore[reportArgumentType]
