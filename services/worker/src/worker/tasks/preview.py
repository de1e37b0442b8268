"""Preview: the first ten seconds as a small MP4, by copy from the smallest rung that is worth looking at."""

from reelworks.domain.outcome import Outcome
from reelworks.streaming.track import Track
from worker.tasks import mp4, streams
from worker.tasks.mp4 import Mp4Dependencies
from worker.tasks.streams import Streams
from worker.work import Work

SECONDS = 10.0
WORTH_A_LOOK = 360
"""Lines; smaller rungs are for tiny sources only."""


def preview(work: Work, needs: Mp4Dependencies) -> Outcome:
    """Done with `preview`."""
    found = streams.load(work, needs.media)
    chosen = Streams(pictures=(_rung(found.pictures),), sound=found.sound)
    return mp4.file(work, needs, chosen, "preview", seconds=SECONDS)


def _rung(pictures: tuple[Track, ...]) -> Track:
    enough = (t for t in pictures if min(t.init.width, t.init.height) >= WORTH_A_LOOK)
    return next(enough, pictures[-1])
