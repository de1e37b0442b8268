"""The files of the page, read once at the start."""

import hashlib
from collections.abc import Mapping
from importlib.resources import files

from msgspec import Struct

PAGE = "index.html"
_TYPES = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}


class Asset(Struct, frozen=True, kw_only=True):
    """`etag`: of the content, in quotes: a new version of the page is seen at once."""

    body: bytes
    content_type: str
    etag: str


Assets = Mapping[str, Asset]


def load() -> Assets:
    """Everything in `upload_api/web`, by file name."""
    return {
        file.name: _asset(file.read_bytes(), file.name.rpartition(".")[2])
        for file in files("upload_api").joinpath("web").iterdir()
        if file.is_file() and file.name.rpartition(".")[2] in _TYPES
    }


def _asset(body: bytes, extension: str) -> Asset:
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    return Asset(body=body, content_type=_TYPES[extension], etag=etag)
