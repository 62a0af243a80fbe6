"""Pictures and files in prompts: their parts of a request, and what of them is kept and shown."""

from __future__ import annotations

import base64
import json
import pickle
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import CheckError, FileError, ReplayMiss, configure, file, image, ops, prompt
from runtime_support import _media as media
from runtime_support import _recordings as replay
from runtime_support._language.files import size_text
from runtime_support._media import (
    content_of,
    count_attachments,
    describe_content,
    ending_with,
    text_of,
)
from runtime_support.ops import kind, show, to_json
from runtime_support.testing import Scripted, tool_request
from tests.support.fake_server import FakeServer

Script = Callable[..., Scripted]


def png(shade: int = 0) -> bytes:
    """A picture of one grey point."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes([0, shade])))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


PNG = png()
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt "


def url_of(data: bytes, type_: str = "image/png") -> str:
    return f"data:{type_};base64,{base64.b64encode(data).decode()}"


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises((CheckError, FileError)) as caught:
        call()
    return str(caught.value)


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(PNG)
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.7 ...")
    (tmp_path / "note.txt").write_text("buy {milk}", encoding="utf-8-sig")
    (tmp_path / "voice.wav").write_bytes(WAV)
    (tmp_path / "voice.mp3").write_bytes(b"ID3\x04...")


# The parts of a request


def test_a_picture_is_a_part_at_its_place(scripted: Script) -> None:
    model = scripted("a point")
    assert prompt("What is in {photo}, Ada?", photo=image("photo.png")).value == "a point"
    assert model.requests[0].messages == (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is in "},
                {"type": "image_url", "image_url": {"url": url_of(PNG)}},
                {"type": "text", "text": ", Ada?"},
            ],
        },
    )


def test_files_are_parts_by_their_content(scripted: Script) -> None:
    model = scripted("ok")
    names = ["scan.pdf", "note.txt", "voice.wav", "voice.mp3", "photo.png"]
    prompt("{files}", files=[file(name) for name in names])
    pdf = {"filename": "scan.pdf", "file_data": url_of(b"%PDF-1.7 ...", "application/pdf")}
    assert model.requests[0].messages[0]["content"] == [
        {"type": "file", "file": pdf},
        {"type": "text", "text": "note.txt:\nbuy {milk}"},
        {
            "type": "input_audio",
            "input_audio": {"data": base64.b64encode(WAV).decode(), "format": "wav"},
        },
        {
            "type": "input_audio",
            "input_audio": {"data": base64.b64encode(b"ID3\x04...").decode(), "format": "mp3"},
        },
        {"type": "image_url", "image_url": {"url": url_of(PNG)}},
    ]


def test_the_address_of_a_picture_is_sent_as_it_is(scripted: Script) -> None:
    model = scripted("ok")
    prompt("{0}", image("https://example.org/a.png?size=2"))
    assert model.requests[0].messages[0]["content"] == [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png?size=2"}}
    ]


def test_a_data_url_is_a_picture() -> None:
    assert image(url_of(PNG)) == image("photo.png")
    assert "is not base64" in refusal(lambda: image("data:image/png;base64,AAAAA"))
    assert "expected a path or an http URL" in refusal(lambda: image("data:text/plain,x"))


def test_the_contract_comes_after_the_parts(scripted: Script) -> None:
    model = scripted("[1]")
    assert prompt("count {0}", image("photo.png"), returns=list[int]).value == [1]
    parts = model.requests[0].messages[0]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text"]
    assert "[int]" in parts[2]["text"]


def test_the_parts_stay_in_later_requests(scripted: Script) -> None:
    def look_up(name: str) -> str:
        return name

    model = scripted(tool_request("look_up", name="Ada"), "no", "1")
    prompt("who is {0}? {look_up}", image("photo.png"), look_up=look_up, returns=int)
    assert len(model.requests) == 3
    assert all(r.messages[0] == model.requests[0].messages[0] for r in model.requests)


def test_a_prompt_without_parts_stays_text(scripted: Script) -> None:
    model = scripted("ok")
    prompt("hello {name}", name="Ada")
    assert model.requests[0].messages[0]["content"] == 'hello "Ada"'


def test_the_openai_provider_sends_the_parts(server: FakeServer) -> None:
    assert prompt("see {0}", image("photo.png")).value == "ok"
    sent = server.bodies[0]["messages"][0]["content"]
    assert sent[1] == {"type": "image_url", "image_url": {"url": url_of(PNG)}}


def test_the_mock_reads_the_text_between() -> None:
    configure(provider="mock")
    value = prompt("add 2 {0} and 3", image("photo.png"), returns=int).value
    assert value == 5


# Where they cannot stand


def test_inside_other_values_they_have_no_json_form(scripted: Script) -> None:
    scripted()
    message = refusal(lambda: prompt("{0}", {"photo": image("photo.png")}))
    about = f"image(photo.png, image/png, {len(PNG)} bytes)"
    assert message == f"value.photo: {about} has no JSON form; interpolate it on its own"
    assert "value[1]: image(" in refusal(lambda: prompt("{0}", [1, image("photo.png")]))
    assert "expected string, got image(" in refusal(lambda: prompt("{0:raw}", image("photo.png")))


def test_a_tool_cannot_give_one(scripted: Script) -> None:
    model = scripted(tool_request("image", path="photo.png"), "sorry")
    prompt("{image}", image=ops.image)
    told = "error: the call was made, but its result cannot be told as text: value: image(photo.png"
    assert model.requests[1].messages[-1]["content"].startswith(told)


# What they are


def test_as_values() -> None:
    photo = image("photo.png")
    assert (kind(photo), kind(file("photo.png"))) == ("image", "file")
    assert show(photo) == f"image(photo.png, image/png, {len(PNG)} bytes)"
    assert show([file("note.txt")]) == "[file(note.txt, text/plain, 13 bytes)]"
    assert show(image("https://example.org/a.png")) == "image(https://example.org/a.png)"
    assert ops.eq(photo, image("photo.png"))
    assert not ops.eq(photo, file("photo.png"))
    assert len({photo, image("photo.png")}) == 1


def test_the_content_says_what_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "photo.txt").write_bytes(PNG)
    assert image("photo.txt").type == "image/png"
    signs = {
        "image/jpeg": b"\xff\xd8\xff\xe0..",
        "image/gif": b"GIF89a..",
        "image/webp": b"RIFF\x00\x00\x00\x00WEBP",
        "audio/mpeg": b"\xff\xfb\x90\x00",
        "text/plain": "größer".encode(),
    }
    for type_, data in signs.items():
        (tmp_path / "a").write_bytes(data)
        assert file("a").type == type_


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.png", b"", "the file is empty"),
        ("a.png", b"BM....\x00\xff", "it is not a PNG, JPEG, GIF or WebP picture"),
        (
            "a.png",
            b"%PDF-1.4",
            "it is not a PNG, JPEG, GIF or WebP picture; it is of application/pdf, which "
            "`file(path)` sends",
        ),
    ],
)
def test_what_is_no_picture(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert refusal(lambda: image(name)) == f"cannot send {tmp_path / name}: {reason}"


def test_files_that_models_do_not_take(tmp_path: Path) -> None:
    for data in (b"\x00\x01\x02", b"\xff\xfe\x00x", b"text\0text"):
        (tmp_path / "a.bin").write_bytes(data)
        message = refusal(lambda: file("a.bin"))
        assert message.startswith(
            f"cannot send {tmp_path / 'a.bin'}: its type is not known; models"
        )


@pytest.mark.parametrize("open_", [image, file])
def test_missing_files_and_folders(open_: Callable[[str], Any], tmp_path: Path) -> None:
    message = refusal(lambda: open_("none.png"))
    assert message == f"cannot read {tmp_path / 'none.png'}: No such file or directory"
    assert refusal(lambda: open_(".")) == f"cannot read {tmp_path}: Is a directory"
    assert "(path): expected string, got int 3" in refusal(lambda: open_(3))  # type: ignore[arg-type]
    assert 'got string "ftp://a/b.png"' in refusal(lambda: open_("ftp://a/b.png"))


def test_only_pictures_have_addresses() -> None:
    message = refusal(lambda: file("https://example.org/a.pdf"))
    assert message.endswith("`image(url)` sends a picture by its URL")


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "photo.png"
    monkeypatch.setattr(media, "MOST_BYTES", len(PNG))
    assert image("photo.png").data == PNG
    monkeypatch.setattr(media, "MOST_BYTES", len(PNG) - 1)
    message = f"cannot send {place}: it has {len(PNG)} bytes, at most {len(PNG) - 1} bytes go"
    assert refusal(lambda: image("photo.png")) == message
    assert refusal(lambda: file("photo.png")) == message
    assert "the data URL: it has" in refusal(lambda: image(url_of(PNG)))
    monkeypatch.setattr(media, "MOST_TEXT_BYTES", 5)
    assert "it has 13 bytes, at most 5 bytes of text go" in refusal(lambda: file("note.txt"))


def test_sizes_in_words() -> None:
    assert [size_text(n) for n in (999, 1000, 12_345, 3_450_000)] == [
        "999 bytes",
        "1 kB",
        "12 kB",
        "3.5 MB",
    ]


# What is kept and shown


def record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Script) -> Path:
    path = tmp_path / "recording.jsonl"
    monkeypatch.setenv("SAFT_RECORD", str(path))
    scripted("a point")
    prompt("see {0} and {1}", image("photo.png"), file("scan.pdf"))
    replay.close(str(path))
    monkeypatch.delenv("SAFT_RECORD")
    return path


def test_a_recording_holds_a_hash_for_the_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Script
) -> None:
    text = record(monkeypatch, tmp_path, scripted).read_text()
    assert base64.b64encode(PNG).decode() not in text
    parts = json.loads(text)["request"]["messages"][0]["content"]
    url = parts[1]["image_url"]["url"]
    assert url.startswith(f"data:image/png;base64,<{len(PNG)} bytes, sha256 ")
    assert parts[3]["file"]["filename"] == "scan.pdf"
    assert "<12 bytes, sha256 " in parts[3]["file"]["file_data"]


def test_the_content_decides_the_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Script
) -> None:
    path = record(monkeypatch, tmp_path, scripted)
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    scripted()
    assert prompt("see {0} and {1}", image("photo.png"), file("scan.pdf")).value == "a point"
    (tmp_path / "photo.png").write_bytes(png(shade=200))
    with pytest.raises(ReplayMiss, match="bytes, sha256"):
        prompt("see {0} and {1}", image("photo.png"), file("scan.pdf"))
    replay.close(str(path))


def test_the_trace_counts_and_describes_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scripted: Script
) -> None:
    monkeypatch.setenv("SAFT_VERBOSE", "1")
    scripted("ok")
    prompt("see {0}{1}, hear {2}", [image("photo.png")] * 2, file("scan.pdf"), file("voice.wav"))
    told = capsys.readouterr().err
    assert "-> 2 images, 1 file, 1 sound\n" in told
    assert f"    [image, {len(PNG)} bytes, sha256 " in told
    assert "    [file, scan.pdf, 12 bytes, sha256 " in told
    assert "    [sound, 16 bytes, sha256 " in told
    assert base64.b64encode(PNG).decode() not in told


def test_the_log_has_no_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Script
) -> None:
    monkeypatch.setenv("SAFT_LOG", str(tmp_path / "log.jsonl"))
    scripted("ok")
    prompt("see {0}", image("photo.png"))
    log = (tmp_path / "log.jsonl").read_text()
    assert base64.b64encode(PNG).decode() not in log
    assert f"<{len(PNG)} bytes, sha256 " in log


def test_contents() -> None:
    photo = image("https://example.org/a.png")
    content = content_of(["", "a", "b", photo, photo, ""])
    assert [part["type"] for part in content] == ["text", "image_url", "image_url"]
    assert text_of(content) == "ab"
    assert text_of(None) == describe_content(None) == ""
    assert describe_content(content).splitlines()[1] == "[image, https://example.org/a.png]"
    assert text_of(ending_with(content, "end")) == "abend"
    assert ending_with(content, "") is content
    assert (
        count_attachments([{"content": content}, {"content": "x"}, {"content": None}]) == "2 images"
    )


def test_json_of_a_picture_is_refused() -> None:
    assert "interpolate it on its own" in refusal(lambda: to_json(image("photo.png")))


@pytest.mark.parametrize("open_", [image, file])
def test_they_travel_between_processes(open_: Callable[[str], Any]) -> None:
    opened = open_("photo.png")
    assert pickle.loads(pickle.dumps(opened)) == opened
