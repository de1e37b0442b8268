"""The thumbnails task: an uploaded image in four sizes."""

import pytest
from msgspec import structs

from reelworks.domain.plan import TaskKind
from reelworks.errors import Permanent, Temporary
from tests.media.samples import Samples
from tests.unit.worker.tasks.conftest import Stored
from tests.unit.worker.tasks.picturing import Studio, outputs
from worker.media.pictures.jpeg import IMMUTABLE
from worker.tasks.thumbnails import ThumbnailsDependencies, thumbnails


def needs(studio: Studio) -> ThumbnailsDependencies:
    return ThumbnailsDependencies(raw=studio.raw, media=studio.media, engine=studio.engine)


def test_four_sizes_under_their_names(studio: Studio, samples: Samples, stored: Stored) -> None:
    photo = samples.encoded("photo-2000.jpg", "-f", "lavfi", "-i", "testsrc=s=2000x1500", "-frames:v", "1")
    files = outputs(thumbnails(studio.work(photo, None, TaskKind.THUMBNAILS), needs(studio))).files

    widths = {name: stored(key).width for name, key in files.items()}
    assert widths == {"preview": 1600, "thumb-640": 640, "thumb-320": 320, "thumb-160": 160}
    assert all(studio.media.objects[key].content_type == "image/jpeg" for key in files.values())
    assert all(studio.media.objects[key].cache_control == IMMUTABLE for key in files.values())
    assert studio.told[-1] == 1.0


def test_a_video_is_no_image(studio: Studio, samples: Samples) -> None:
    with pytest.raises(Permanent) as refused:
        thumbnails(studio.work(samples.one_frame(), None, TaskKind.THUMBNAILS), needs(studio))
    assert refused.value.code == "unreadable_picture"


def test_an_upload_without_an_object_waits(studio: Studio, samples: Samples) -> None:
    work = studio.work(samples.picture(), None, TaskKind.THUMBNAILS)
    bare = structs.replace(work, upload=structs.replace(work.upload, object=None))

    with pytest.raises(Temporary):
        thumbnails(bare, needs(studio))
