"""DeleteObjects answers 200 whatever it did; what it kept is in the body."""

from types import SimpleNamespace
from typing import Any

import pytest

from reelworks.adapters.s3 import DELETED_AT_ONCE, S3BlobStore
from reelworks.errors import ReelworksError, Temporary, Unreachable


class Bucket:
    """Keeps what it is told to keep, and remembers the requests."""

    def __init__(self, **kept: str) -> None:
        self.kept = kept
        self.requests: list[list[str]] = []

    def delete_objects(self, Bucket: str, Delete: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        keys = [each["Key"] for each in Delete["Objects"]]
        self.requests.append(keys)
        errors = [{"Key": key, "Code": self.kept[key], "Message": "no"} for key in keys if key in self.kept]
        return {"Errors": errors} if errors else {}


def store(client: Bucket) -> S3BlobStore:
    made: Any = SimpleNamespace(delete_objects=client.delete_objects)
    signer: Any = None
    return S3BlobStore(made, "media", signer)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("AccessDenied", Unreachable),
        ("InternalError", Unreachable),
        ("SlowDown", Unreachable),
        ("Odd", Temporary),
    ],
)
def test_what_was_kept_is_an_error_that_names_it(code: str, kind: type[ReelworksError]) -> None:
    with pytest.raises(kind) as caught:
        store(Bucket(k=code)).delete(["a", "k"])
    assert "media" in caught.value.message
    if kind is Temporary:
        assert "k among them" in caught.value.message


def test_keys_go_in_batches_and_none_is_no_request() -> None:
    bucket = Bucket()
    store(bucket).delete([])
    store(bucket).delete(str(number) for number in range(DELETED_AT_ONCE * 2 + 1))
    assert [len(keys) for keys in bucket.requests] == [DELETED_AT_ONCE, DELETED_AT_ONCE, 1]
