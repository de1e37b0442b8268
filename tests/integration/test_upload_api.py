"""The API on MiniStack: what it signs is what the storage accepts; and the process itself, from start to SIGTERM."""

import base64
import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient
from msgspec import structs

from reelworks.domain.upload import UploadStatus
from tests.servers import HOST, free_port
from tests.world import World
from upload_api.bootstrap import build

pytestmark = pytest.mark.needs_ministack
FILE = b"not really a video " * 50
SHA256 = base64.b64encode(hashlib.sha256(FILE).digest()).decode()
KEY = {"Idempotency-Key": "k1"}


@pytest.fixture
def endpoint(ministack: str) -> str:
    """Only MiniStack checks signatures."""
    return ministack


@pytest.fixture
def client(world: World) -> Iterator[TestClient]:  # type: ignore[type-arg]
    with TestClient(build(world.settings, world.adapters)) as client:
        yield client


def create(client: httpx.Client, headers: dict[str, str] | None = None, **changes: Any) -> dict[str, Any]:
    body = {"fileName": "Été 😀.mp4", "contentType": "video/mp4", "sizeBytes": len(FILE), **changes}
    response = client.post("/api/uploads", json=body, headers=headers)
    assert response.status_code == 201, response.text
    ticket: dict[str, Any] = response.json()
    return ticket


def put(ticket: dict[str, Any], body: bytes = FILE, **headers: str) -> httpx.Response:
    """Exactly what the ticket says, unless told otherwise."""
    sent = {**ticket["headers"], **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx.request(ticket["method"], ticket["uploadUrl"], content=body, headers=sent, trust_env=False)


@pytest.mark.parametrize("checksum", [None, SHA256])
def test_the_storage_takes_exactly_what_was_signed(
    client: httpx.Client, world: World, checksum: str | None
) -> None:
    ticket = create(client, checksumSha256=checksum)
    assert put(ticket).status_code == 200
    facts = world.adapters.raw.head(ticket["objectKey"])
    assert facts is not None
    assert facts.size_bytes == len(FILE)


def test_another_content_type_is_refused(client: httpx.Client, world: World) -> None:
    ticket = create(client)
    assert put(ticket, Content_Type="text/html").status_code == 403
    assert world.adapters.raw.head(ticket["objectKey"]) is None


def test_another_body_than_the_checksum_says_is_refused(client: httpx.Client, world: World) -> None:
    ticket = create(client, checksumSha256=SHA256)
    assert put(ticket, b"other bytes").status_code == 400
    assert world.adapters.raw.head(ticket["objectKey"]) is None


def test_a_checksum_cannot_be_left_out(client: httpx.Client) -> None:
    ticket = create(client, checksumSha256=SHA256)
    del ticket["headers"]["x-amz-checksum-sha256"]
    assert put(ticket).status_code == 403


def test_the_row_is_there_with_all_it_needs(client: httpx.Client, world: World) -> None:
    ticket = create(client, userId="ada", checksumSha256=SHA256, priority="high")
    snapshot = world.adapters.store.load(ticket["uploadId"])
    assert snapshot is not None
    upload = snapshot.upload
    assert (upload.user_id, upload.file_name, upload.priority) == ("ada", "Été 😀.mp4", "high")
    assert upload.due_at is not None
    view = client.get(f"/api/uploads/{ticket['uploadId']}").json()
    assert (view["status"], view["fileName"]) == (UploadStatus.PENDING_UPLOAD, "Été 😀.mp4")


def test_a_replay_is_the_same_upload_and_its_url_works(client: httpx.Client) -> None:
    first, second = create(client, KEY), create(client, KEY)
    assert first["uploadId"] == second["uploadId"]
    assert put(second).status_code == 200


def test_two_requests_at_once_under_one_key_make_one_upload(client: httpx.Client) -> None:
    tickets: list[dict[str, Any]] = []
    threads = [threading.Thread(target=lambda: tickets.append(create(client, KEY))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(tickets) == 8
    assert len({ticket["uploadId"] for ticket in tickets}) == 1


def test_it_is_ready_with_its_stores_and_not_without(client: httpx.Client, world: World) -> None:
    assert client.get("/readyz").status_code == 200
    elsewhere = structs.replace(world.settings.dynamodb, table="no-such-table")
    lost = structs.replace(world.settings, dynamodb=elsewhere)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ACCESS_KEY_ID", "test")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test")
        app = build(lost)
    with TestClient(app) as client:
        response = client.get("/readyz")
    assert (response.status_code, response.headers["content-type"]) == (503, "application/problem+json")
    assert "no-such-table" not in response.text


@contextmanager
def running(world: World, **changes: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The service as its container starts it."""
    port, settings = free_port(), world.settings
    environment = {
        "REELWORKS_AWS_ENDPOINT_URL": settings.aws.endpoint_url or "",
        "REELWORKS_S3_ADDRESSING": "path",
        "REELWORKS_S3_RAW_BUCKET": settings.s3.raw_bucket,
        "REELWORKS_S3_MEDIA_BUCKET": settings.s3.media_bucket,
        "REELWORKS_DYNAMODB_TABLE": settings.dynamodb.table,
        "REELWORKS_API_HOST": HOST,
        "REELWORKS_API_PORT": str(port),
        "REELWORKS_LOG_FORMAT": "json",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        **changes,
    }
    command = [sys.executable, "-m", "upload_api"]
    process = subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True)
    try:
        yield process, f"http://{HOST}:{port}"
    finally:
        process.kill()
        process.communicate()


def wait_until(process: "subprocess.Popen[str]", url: str) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)  # it announces nothing but its port
    pytest.fail("not ready")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_process_stops_within_seconds(world: World, number: int) -> None:
    with running(world) as (process, url):
        wait_until(process, f"{url}/readyz")
        with httpx.Client(
            base_url=url, trust_env=False
        ) as client:  # a kept-alive connection must not hold it up
            ticket = create(client)
            begun = time.monotonic()
            process.send_signal(number)
            assert process.wait(5) == 0
        assert time.monotonic() - begun < 5
        assert process.stderr is not None
        log = process.stderr.read()
    assert '"event": "upload.created"' in log
    assert ticket["uploadId"] in log
    assert "X-Amz-Signature" not in log


def test_a_request_that_hangs_does_not_hold_the_process_up(world: World) -> None:
    with socket.create_server((HOST, 0)) as silent:  # takes connections and never answers
        endpoint = f"http://{HOST}:{silent.getsockname()[1]}"
        changes = {"REELWORKS_AWS_ENDPOINT_URL": endpoint, "REELWORKS_API_SHUTDOWN_GRACE_S": "1"}
        with running(world, **changes) as (process, url):
            wait_until(process, f"{url}/healthz")
            with socket.create_connection((HOST, int(url.rpartition(":")[2]))) as client:
                client.sendall(f"GET /api/uploads/{'0' * 32} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                silent.settimeout(10)
                connection, _ = silent.accept()  # the request is in the middle of its call
                process.send_signal(signal.SIGTERM)
                assert process.wait(6) == 0
                connection.close()


def test_the_server_does_not_tell_what_it_is(world: World) -> None:
    with running(world) as (process, url):
        wait_until(process, f"{url}/readyz")
        assert "server" not in httpx.get(url, trust_env=False).headers


def test_wrong_settings_are_told_in_one_line(world: World) -> None:
    with running(world, REELWORKS_API_PORT="many") as (process, _):
        _, message = process.communicate(timeout=20)
    assert process.returncode == 2
    assert message.startswith("upload-api: REELWORKS_API_PORT")
    assert len(message.splitlines()) == 1


def test_a_port_in_use_ends_the_process(world: World) -> None:
    with running(world) as (first, url):
        wait_until(first, f"{url}/readyz")
        with running(world, REELWORKS_API_PORT=url.rpartition(":")[2]) as (second, _):
            assert second.wait(20) == 1
