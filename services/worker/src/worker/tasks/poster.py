"""Poster: the frame of a video that stands for it, and a few others for its owner to choose from.

Each candidate is there in both sizes, so choosing another one later is a change of a pointer and no work for ffmpeg.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct

from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.domain.poster import Description, Offer
from reelworks.domain.ranking import Weights
from reelworks.ports import BlobStore
from worker.media.engine import MediaEngine
from worker.media.pictures import jpeg, posters, sizes, stills
from worker.media.pictures.posters import Candidate
from worker.media.pictures.sampling import Source
from worker.tasks.picture_source import fetch
from worker.work import Work

LARGE, SMALL = 1280, 320
"""Longer sides of the poster and of what a picker shows."""
FETCHED, CHOSEN = 0.3, 0.8
"""Fractions of the whole, by and large."""
DESCRIPTION = "candidates.json"


class PosterDependencies(Struct, frozen=True, kw_only=True):
    """The buckets and ffmpeg. `weights`: the ranking as it is now; a default that nobody has trained will do."""

    raw: BlobStore
    media: BlobStore
    engine: MediaEngine
    weights: Callable[[], Weights] = Weights


def poster(work: Work, needs: PosterDependencies) -> Outcome:
    """Done with `poster`, `candidates`, and for each number from 0, the best, `candidate-N` and `poster-N`.

    `poster` is `poster-0`: the same object. Permanent (`undecodable_video`) if no frame decodes.
    """
    source = fetch(work, needs)
    work.report(FETCHED)
    weights = needs.weights()
    found = posters.candidates(source, weights, lambda part: work.report(FETCHED + part * (CHOSEN - FETCHED)))
    offers = tuple(_offer(number, candidate) for number, candidate in enumerate(found))
    files: dict[str, str] = {}

    def made(offer: Offer, candidate: Candidate) -> dict[str, str]:
        return _stored(work, needs, _written(source, offer, candidate))

    # One still keeps a core busy at most: ffmpeg begins, finds one frame, and ends.
    with ThreadPoolExecutor(needs.engine.tools.threads) as pool:
        for done, stored in enumerate(pool.map(made, offers, found), 1):
            files |= stored
            work.report(CHOSEN + (1 - CHOSEN) * done / len(offers))
    files |= {"poster": files["poster-0"], "candidates": work.prefix + DESCRIPTION}
    body = msgspec.json.encode(_description(source, weights, offers))
    needs.media.put(files["candidates"], body, "application/json", jpeg.IMMUTABLE)
    return Done(outputs=Outputs(prefix=work.prefix, files=files))


def _offer(number: int, candidate: Candidate) -> Offer:
    return Offer(
        time_ms=candidate.time_ms,
        score=round(candidate.score, 4),
        features=candidate.features,
        large=f"poster-{number}.jpg",
        small=f"candidate-{number}.jpg",
    )


def _written(source: Source, offer: Offer, candidate: Candidate) -> tuple[Path, ...]:
    """Both sizes of a candidate in the scratch directory."""
    shape = sizes.displayed(source.stream)
    names = {offer.large: LARGE, offer.small: SMALL}
    wanted = {source.scratch / name: sizes.fit(shape, longest) for name, longest in names.items()}
    stills.save(source, candidate.time_ms, wanted, key=candidate.key)
    return tuple(wanted)


def _stored(work: Work, needs: PosterDependencies, paths: tuple[Path, ...]) -> dict[str, str]:
    """Their logical names and keys, once they are in the bucket."""
    files = {path.stem: work.prefix + path.name for path in paths}
    for path in paths:
        needs.media.upload(path, files[path.stem], jpeg.CONTENT_TYPE, jpeg.IMMUTABLE)
        path.unlink()
    return files


def _description(source: Source, weights: Weights, offers: tuple[Offer, ...]) -> Description:
    size = sizes.fit(sizes.displayed(source.stream), LARGE)
    return Description(width=size.width, height=size.height, weights=weights, candidates=offers)
