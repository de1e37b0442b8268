"""The page: self-contained files under a strict policy. Its behaviour is tested in a browser, in tests/e2e."""

import re
from pathlib import Path

import msgspec
import pytest
from litestar.testing import TestClient

from reelworks.runtime.settings import S3, Settings
from reelworks.runtime.settings import Api as ApiSettings
from reelworks.testing import InMemory
from tests.unit.upload_api.api import Api, make_app
from upload_api import assets

FILES = assets.load()
LIBRARY = ("hls.js", "hls-license.txt")
OWN = sorted(FILES.keys() - set(LIBRARY))
SCRIPTS = [name for name in OWN if name.endswith(".js")]
PLAYER = Path("services/upload-api/player")


def test_the_page_is_served(api: Api) -> None:
    response = api.client.get("/")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1>" in response.text


@pytest.mark.parametrize("name", FILES)
def test_each_file_has_its_type_and_is_checked_for_news(api: Api, name: str) -> None:
    first = api.client.get(f"/assets/{name}")
    assert first.status_code == 200
    assert first.headers["cache-control"] == "no-cache"
    again = api.client.get(f"/assets/{name}", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = api.client.get(f"/assets/{name}", headers={"If-None-Match": '"other"'})
    assert other.content == first.content


def test_the_policy_allows_this_api_and_the_buckets_only(memory: InMemory) -> None:
    settings = Settings(s3=S3(public_endpoint_url="http://localhost:4566", addressing="path"))
    with TestClient(make_app(memory, settings)) as client:
        policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'self'; connect-src 'self' http://localhost:4566;" in policy
    assert "img-src 'self' http://localhost:4566;" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("name", OWN)
def test_nothing_comes_from_elsewhere(name: str) -> None:
    text = FILES[name].body.decode().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|@import|//cdn", text)


def test_the_page_has_no_inline_code_or_style() -> None:
    page = FILES["index.html"].body.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"\s(on\w+|style)=", page) == []
    assert "<style" not in page


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_only_ever_write_text(name: str) -> None:
    """Names, messages and transcripts are other people's."""
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", FILES[name].body.decode()
    )


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_import_what_is_there(name: str) -> None:
    imported = re.findall(r'(?:from |import\()"\./([^"]+)"', FILES[name].body.decode())
    assert set(imported) <= FILES.keys()


def test_the_library_is_the_one_that_is_locked() -> None:
    lock = msgspec.json.decode((PLAYER / "package-lock.json").read_bytes())
    version = lock["packages"]["node_modules/hls.js"]["version"]
    code = FILES["hls.js"].body
    assert code.startswith(f"/*! hls.js {version}, Apache-2.0, see hls-license.txt".encode())
    assert len(code) < 1_000_000
    assert b"Apache License" in FILES["hls-license.txt"].body


def test_other_sites_may_not_call_unless_the_settings_say_so(api: Api) -> None:
    response = api.client.get("/healthz", headers={"Origin": "https://other.example"})
    assert "access-control-allow-origin" not in response.headers


def test_other_sites_may_call_if_the_settings_say_so(memory: InMemory) -> None:
    settings = Settings(api=ApiSettings(cors_origins=("https://app.example",)))
    asking = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    with TestClient(make_app(memory, settings)) as client:
        preflight = client.options("/api/uploads", headers=asking)
        answer = client.get("/healthz", headers={"Origin": "https://app.example"})
    assert preflight.headers["access-control-allow-origin"] == "https://app.example"
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
