"""The storyboard task: an index whose sheets are there."""

import re

from reelworks.domain.plan import TaskKind
from tests.media.samples import Samples
from tests.unit.worker.media.pictures import clips
from tests.unit.worker.tasks.conftest import Probed, Stored
from tests.unit.worker.tasks.picturing import PREFIX, Studio, outputs
from worker.media.pictures.jpeg import IMMUTABLE
from worker.tasks.storyboard import StoryboardDependencies, storyboard


def made(studio: Studio, probed: Probed, samples: Samples, seconds: int) -> dict[str, str]:
    clip = clips.clip(samples, f"plain-{seconds}.mp4", seconds=seconds)
    needs = StoryboardDependencies(raw=studio.raw, media=studio.media, engine=studio.engine)
    return outputs(storyboard(studio.work(clip, probed(clip), TaskKind.STORYBOARD), needs)).files


def test_every_sheet_of_the_index_is_beside_it(
    studio: Studio, probed: Probed, samples: Samples, stored: Stored
) -> None:
    files = made(studio, probed, samples, 30)
    index = studio.media.objects[files["storyboard"]].body.decode()

    assert set(files) == {"storyboard", "storyboard-0", "storyboard-1"}
    cues = re.findall(r"^(\S+\.jpg)#xywh=(\d+),(\d+),(\d+),(\d+)$", index, re.MULTILINE)
    assert len(cues) == 30
    for name, x, y, width, height in cues:
        sheet = stored(PREFIX + name)
        assert int(x) + int(width) <= sheet.width
        assert int(y) + int(height) <= sheet.height


def test_types_and_caching(studio: Studio, probed: Probed, samples: Samples) -> None:
    files = made(studio, probed, samples, 1)
    index, sheet = (studio.media.objects[files[name]] for name in ("storyboard", "storyboard-0"))

    assert index.content_type.startswith("text/vtt")
    assert sheet.content_type == "image/jpeg"
    assert index.cache_control == sheet.cache_control == IMMUTABLE


def test_it_tells_how_far_it_is(studio: Studio, probed: Probed, samples: Samples) -> None:
    made(studio, probed, samples, 1)

    assert studio.told == sorted(studio.told)
    assert studio.told[-1] == 1.0
