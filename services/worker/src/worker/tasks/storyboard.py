"""Storyboard: sheets of small pictures and a WebVTT index, for previews along the timeline of a player."""

from msgspec import Struct

from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.ports import BlobStore
from worker.media.engine import MediaEngine
from worker.media.pictures import jpeg, sprites
from worker.tasks.picture_source import fetch
from worker.work import Work

FETCHED, DRAWN = 0.3, 0.9
"""Fractions of the whole, by and large."""
INDEX = "storyboard.vtt"


class StoryboardDependencies(Struct, frozen=True, kw_only=True):
    """The buckets and ffmpeg."""

    raw: BlobStore
    media: BlobStore
    engine: MediaEngine


def storyboard(work: Work, needs: StoryboardDependencies) -> Outcome:
    """Done with `storyboard`, the index, and `storyboard-0`, … the sheets beside it.

    Permanent (`undecodable_video`) if no frame decodes.
    """
    source = fetch(work, needs)
    work.report(FETCHED)
    made = sprites.make(source, lambda part: work.report(FETCHED + part * (DRAWN - FETCHED)))
    work.report(DRAWN)
    files = {sheet.stem: work.prefix + sheet.name for sheet in made.sheets}
    for sheet in made.sheets:
        needs.media.upload(sheet, files[sheet.stem], jpeg.CONTENT_TYPE, jpeg.IMMUTABLE)
    # The index last: whoever finds it finds its sheets.
    files["storyboard"] = work.prefix + INDEX
    needs.media.put(
        files["storyboard"], sprites.webvtt(made).encode(), "text/vtt; charset=utf-8", jpeg.IMMUTABLE
    )
    work.report(1.0)
    return Done(outputs=Outputs(prefix=work.prefix, files=files))
