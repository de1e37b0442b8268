"""Whatever is sent, the answer is one that is documented: never a 500, always problem+json."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from litestar import Litestar
from litestar.testing import TestClient

from reelworks.testing import InMemory
from tests.unit.upload_api.api import BODY, CHECKSUM, PROBLEM, make_app
from upload_api.requests import ALLOWED

ANY_TEXT = st.text(st.characters(codec=None))
"""Lone surrogates included: JSON can write them as escapes."""
FUZZ = settings(max_examples=150, deadline=None)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=8,
)
NEAR_MISSES = st.sampled_from(
    [
        "audio/mpeg",
        "video/",
        "AUDIO/X;",
        "PUT",
        "high",
        "default",
        CHECKSUM,
        "https://[",
        "http://x:0",
        "a" * 128,
        "\x00",
    ]
)
FIELDS = st.fixed_dictionaries({}, optional=dict.fromkeys(ALLOWED, NEAR_MISSES | JSON))
VISIBLE = st.characters(min_codepoint=0x21, max_codepoint=0x10FFFF, exclude_categories=["C", "Z"])
PATHS = [
    "api/uploads/..",
    "api//uploads",
    "%00",
    "%ff",
    "assets/%2e%2e/app.py",
    ";/",
    "api/uploads?x=%",
    "/",
    "api/uploads/",
]
HEADER = st.binary(max_size=300).map(lambda raw: raw.translate(None, b"\r\n\x00"))


def quote_loosely(text: str) -> str:
    return quote(text, safe="/;,:@&=+$?!*'()~", errors="replace")


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient[Litestar]]:
    with TestClient(make_app(InMemory.make()), raise_server_exceptions=False) as client:
        yield client


def check(response: httpx.Response, *allowed: int) -> None:
    assert response.status_code in allowed, response.text
    if response.status_code >= 400:
        assert response.headers["content-type"] == PROBLEM
        assert response.json()["status"] == response.status_code


@FUZZ
@given(body=JSON | FIELDS | FIELDS.map(lambda changes: BODY | changes))
def test_any_json(client: TestClient[Litestar], body: Any) -> None:
    response = client.post(
        "/api/uploads", content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    check(response, 201, 400, 413)


@FUZZ
@given(body=st.binary(max_size=400), content_type=st.just(b"application/json") | HEADER)
def test_any_bytes(client: TestClient[Litestar], body: bytes, content_type: bytes) -> None:
    headers = [(b"content-type", content_type)]
    check(client.post("/api/uploads", content=body, headers=headers), 400, 415)


@FUZZ
@given(
    name=st.text(VISIBLE, min_size=1, max_size=1).flatmap(
        lambda seen: st.text(max_size=1_000).map(seen.__add__)
    )
)
def test_any_name_with_something_to_see_is_kept(client: TestClient[Litestar], name: str) -> None:
    response = client.post("/api/uploads", json=BODY | {"fileName": name})
    check(response, 201)
    assert client.get(response.headers["location"]).json()["fileName"] == name


@FUZZ
@given(key=HEADER, trace=HEADER)
def test_any_headers(client: TestClient[Litestar], key: bytes, trace: bytes) -> None:
    headers = [(b"idempotency-key", key), (b"traceparent", trace), (b"content-type", b"application/json")]
    check(client.post("/api/uploads", content=b"{}", headers=headers), 400)


@FUZZ
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]),
    path=st.binary(max_size=60).map(quote) | st.text(max_size=30).map(quote_loosely) | st.sampled_from(PATHS),
)
def test_any_method_and_path(client: TestClient[Litestar], method: str, path: str) -> None:
    response = client.request(method, f"http://testserver.local/{path}")
    assert response.status_code < 500
    if response.status_code >= 400 and method != "HEAD":
        assert response.headers["content-type"] == PROBLEM
