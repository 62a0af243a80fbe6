"""Servers of HTTPS: whom the client trusts, large bodies, and the way through a proxy."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from runtime_support import ProviderError, configure, prompt
from tests.runtime.conftest import KEY, Ask, Trust
from tests.support.fake_server import FakeServer, completion, streamed


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key, and the certificate by which it is 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def secure(
    certificate: Path, trust: Trust, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeServer]:
    """A server of HTTPS, which the client trusts."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    trust(ssl.create_default_context(cafile=certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with FakeServer(context) as running:
        configure(provider="openai", base_url=running.url, model="fake", max_retries=0)
        yield running


def test_bodies_of_each_size(secure: FakeServer, ask: Ask) -> None:
    large = "x" * 2_000_000
    secure.answers = [completion(large)]
    assert ask("?").value == large
    secure.answers = [streamed("Once ", "upon")]
    assert ask("{0}", large, stream=True).value == "Once upon"


def test_a_connection_serves_again(secure: FakeServer) -> None:
    async def several() -> None:
        for _ in range(3):
            await prompt.aio("?")

    asyncio.run(several())
    assert len({request.port for request in secure.requests}) == 1


def test_a_server_that_nobody_trusts(secure: FakeServer, ask: Ask, trust: Trust) -> None:
    trust(ssl.create_default_context())
    with pytest.raises(ProviderError, match=r"cannot reach .*certificate verify failed"):
        ask("?")
    assert not secure.requests


def test_a_proxy_leads_to_it(secure: FakeServer, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        port = proxy.getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        threading.Thread(target=lead, args=(proxy,), daemon=True).start()
        assert ask("?").value == "ok"


def lead(proxy: socket.socket) -> None:
    """Leads one client to where it wants to go."""
    client, _ = proxy.accept()
    asked = client.recv(65_536).decode()
    assert asked.startswith("CONNECT ")
    host, port = asked.split()[1].split(":")
    server = socket.create_connection((host, int(port)))
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    threading.Thread(target=pass_on, args=(server, client), daemon=True).start()
    pass_on(client, server)


def pass_on(one: socket.socket, other: socket.socket) -> None:
    """Sends what comes from one end to the other."""
    with suppress(OSError), one, other:
        while data := one.recv(65_536):
            other.sendall(data)
