"""Bad input gets a 400 that names the field and what is allowed there."""

from typing import Any

import pytest

from tests.unit.upload_api.api import BODY, CHECKSUM, Api, fields, problem

LONG_URL = "https://example.org/" + "x" * 2_048


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("fileName", "", "1 to 1,024 characters"),
        ("fileName", "x" * 1_025, "1 to 1,024 characters"),
        ("fileName", " \t\n", "visible"),
        ("fileName", "\u200b\u202e", "visible"),
        ("fileName", 7, "a text"),
        ("fileName", ["a.mp3"], "a text"),
        ("contentType", "text/html", "video/* or image/*"),
        ("contentType", "application/octet-stream", "video/* or image/*"),
        ("contentType", "", "video/* or image/*"),
        ("contentType", "audio/", "video/* or image/*"),
        ("contentType", "audio/*", "video/* or image/*"),
        ("contentType", "audio/mp3\r\nX: y", "video/* or image/*"),
        ("contentType", "video/" + "x" * 200, "video/* or image/*"),
        ("contentType", "vidéo/mp4", "video/* or image/*"),
        ("sizeBytes", 0, "at most 100,000,000"),
        ("sizeBytes", -1, "at most 100,000,000"),
        ("sizeBytes", 100_000_001, "at most 100,000,000"),
        ("sizeBytes", 10**40, "at most 100,000,000"),
        ("sizeBytes", "1000", "whole number"),
        ("sizeBytes", 1.5, "whole number"),
        ("sizeBytes", True, "whole number"),
        ("userId", "", "1 to 128 letters"),
        ("userId", "../root", "1 to 128 letters"),
        ("userId", "a" * 129, "1 to 128 letters"),
        ("userId", "ada/", "1 to 128 letters"),
        ("projectId", "a b", "1 to 128 letters"),
        ("profile", "nope", "must be one of: archive, audio, default, preview, transcript"),
        ("profile", {}, "profile"),
        ("method", "POST", "PUT"),
        ("method", "put", "PUT"),
        ("method", "multipart", "PUT"),
        ("checksumSha256", "abc", "base64"),
        ("checksumSha256", "a" * 64, "base64"),
        ("checksumSha256", CHECKSUM[:-2] + "V=", "base64"),
        ("checksumSha256", CHECKSUM[:-1], "base64"),
        ("checksumSha256", CHECKSUM + "\n", "base64"),
        ("checksumSha256", "é" * 44, "base64"),
        ("callbackUrl", "ftp://example.org", "http:// or https://"),
        ("callbackUrl", "javascript:alert(1)", "http:// or https://"),
        ("callbackUrl", "/hook", "http:// or https://"),
        ("callbackUrl", "https://", "http:// or https://"),
        ("callbackUrl", "https://me:secret@example.org/", "without user"),
        ("callbackUrl", "https://example.org:99999/", "http:// or https://"),
        ("callbackUrl", "https://[::1/", "http:// or https://"),
        ("callbackUrl", "https://example.org/ a", "http:// or https://"),
        ("callbackUrl", "https://example.org/#part", "fragment"),
        ("callbackUrl", LONG_URL, "2,048"),
        ("priority", "urgent", "normal or high"),
        ("priority", 1, "normal or high"),
        ("role", "admin", "is not a field of this request"),
        ("FileName", "a.mp3", "is not a field of this request"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(api: Api, field: str, value: Any, allowed: str) -> None:
    response = api.create(**{field: value})
    found = fields(response)
    assert list(found) == [field]
    assert allowed in found[field]
    assert f"{field} {found[field]}" in response.json()["detail"]
    assert not api.memory.store.uploads


@pytest.mark.parametrize("field", BODY)
def test_a_missing_field_is_named(api: Api, field: str) -> None:
    assert fields(api.create(**{field: None}))[field].startswith("is required: ")


@pytest.mark.parametrize("field", BODY)
def test_null_is_no_value_for_a_required_field(api: Api, field: str) -> None:
    assert field in fields(api.client.post("/api/uploads", json={**BODY, field: None}))


def test_all_wrong_fields_are_told_at_once(api: Api) -> None:
    assert set(fields(api.create(fileName="", sizeBytes=0, userId="/", priority="x"))) == {
        "fileName",
        "sizeBytes",
        "userId",
        "priority",
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"12",
        b"\xff\xfe{}",
        b'{"fileName": "\\ud800", "contentType": "audio/mpeg", "sizeBytes": 1}',
        b'{"fileName": "\xed\xa0\x80", "contentType": "audio/mpeg", "sizeBytes": 1}',
        b'{"fileName": NaN}',
        b'{"sizeBytes": 1e999}',
        b'{"a":' * 5_000,
        b'{"a":' + b"[" * 60_000,
        b"{}{}",
    ],
)
def test_what_is_not_a_json_object_is_refused(api: Api, body: bytes) -> None:
    response = api.client.post("/api/uploads", content=body, headers={"Content-Type": "application/json"})
    problem(response, 400, "invalid_request")


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "nonsense",
    ],
)
def test_only_json_in_utf8_is_understood(api: Api, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = api.client.post("/api/uploads", content=b"{}", headers=headers)
    problem(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("content_type", ["Application/JSON", "application/json; charset=UTF-8"])
def test_spelling_of_the_json_type_does_not_matter(api: Api, content_type: str) -> None:
    response = api.client.post("/api/uploads", content=b"{}", headers={"Content-Type": content_type})
    assert "fileName" in fields(response)


def test_a_large_body_is_refused_before_it_is_parsed(api: Api) -> None:
    problem(api.create(fileName="x" * 70_000), 413, "body_too_large")


def test_a_large_body_of_unknown_length_is_refused_too(api: Api) -> None:
    chunks = (b" " * 1_024 for _ in range(100))
    response = api.client.post("/api/uploads", content=chunks, headers={"Content-Type": "application/json"})
    problem(response, 413, "body_too_large")


def test_the_longest_valid_request_fits(api: Api) -> None:
    escaped = '"' + "\\ud83d\\ude00" * 1_024 + '"'
    url = "https://example.org/" + "x" * 2_028
    body = f'{{"fileName": {escaped}, "contentType": "video/mp4", "sizeBytes": 1, "callbackUrl": "{url}"}}'
    response = api.client.post("/api/uploads", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 201
