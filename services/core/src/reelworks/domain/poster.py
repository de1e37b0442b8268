"""What an upload's owner may choose its poster from, and the choice.

The candidates are described by a document beside their pictures, so a choice is a change of a pointer; that it was made
is also what the ranking learns from.
"""

from msgspec import Struct, structs

from reelworks.domain import ranking
from reelworks.domain.instants import Millis
from reelworks.domain.outcome import Outputs
from reelworks.domain.ranking import Features, Weights
from reelworks.domain.upload import Upload


class Offer(Struct, frozen=True, kw_only=True, rename="camel"):
    """A candidate as stored. `large` and `small` are file names beside this document."""

    time_ms: int
    score: float
    features: Features
    large: str
    small: str


class Description(Struct, frozen=True, kw_only=True, rename="camel"):
    """`candidates.json`: what was offered, by which weights, and which one (by index) the ranking chose.

    Its features are what `ranking.updated` wants to know when the owner chooses another.
    """

    version: int = 1
    width: int
    height: int
    chosen: int = 0
    feature_names: tuple[str, ...] = ranking.NAMES
    weights: Weights
    candidates: tuple[Offer, ...]


def shown(upload: Upload, outputs: Outputs) -> int:
    """The candidate to show: its owner's choice, as long as it was made among these, else the best one."""
    return (upload.poster_choice or 0) if upload.poster_of == outputs.prefix else 0


def chosen(upload: Upload, outputs: Outputs, candidate: int | None, now: Millis) -> Upload:
    """With its owner's choice; None leaves it to the ranking again."""
    return structs.replace(
        upload, poster_of=outputs.prefix, poster_choice=candidate, updated_at=max(now, upload.updated_at)
    )


def lesson(offered: Description, candidate: int, known: Weights | None) -> Weights | None:
    """The ranking after this choice, None if there is nothing to learn from it: no alternatives."""
    features = [offer.features for offer in offered.candidates]
    after = ranking.updated(known or Weights(), features[candidate], features)
    return after if after != (known or Weights()) else None
