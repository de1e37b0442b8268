"""The cache of manifests."""

import pytest

from reelworks.domain.outcome import Outputs
from reelworks.errors import Temporary
from reelworks.streaming import manifest
from reelworks.streaming.manifest import Manifest
from reelworks.testing import FakeClock, InMemoryBlobStore
from upload_api.growing import Manifests


@pytest.fixture
def media() -> InMemoryBlobStore:
    return InMemoryBlobStore(FakeClock())


def stored(media: InMemoryBlobStore, number: int) -> Outputs:
    return manifest.write(Manifest(task=f"video-{number:03d}"), f"processed/u/1/tasks/{number}/t/", media)


def test_what_was_read_once_is_not_read_again(media: InMemoryBlobStore) -> None:
    outputs, manifests = stored(media, 1), Manifests()
    first = manifests.read(outputs, media)
    media.delete([outputs.files["manifest"]])
    assert manifests.read(outputs, media) == first


def test_the_longest_unused_is_forgotten(media: InMemoryBlobStore) -> None:
    outputs, manifests = [stored(media, number) for number in range(3)], Manifests(kept=2)
    for number in (0, 1, 0, 2):
        manifests.read(outputs[number], media)
    for found in outputs:
        media.delete([found.files["manifest"]])
    assert manifests.read(outputs[0], media).task == "video-000"
    with pytest.raises(Temporary):
        manifests.read(outputs[1], media)
