"""Ingest: is what arrived what was promised, what is it, and what is to be done with it?

Downloads the object once to probe it locally: ffmpeg is never given a URL of an uploaded object, whose Content-Type
and body are the uploader's choice.
"""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, structs

from reelworks.domain import plan as plans
from reelworks.domain.options import resolved
from reelworks.domain.outcome import Accepted, Outcome, Outputs
from reelworks.domain.plan import MediaSummary, MediaType, ObjectFacts, VideoPlan
from reelworks.domain.timeline import Chunking
from reelworks.domain.upload import Upload
from reelworks.errors import Permanent, Temporary
from reelworks.ports import BlobStore
from reelworks.runtime.cancellation import Cancellation
from worker.media import refusals
from worker.work import Work

SOURCE_NAME = "source"
"""The local name is fixed: nothing of an uploader's file name ever reaches a command line."""
REPORT_NAME = "probe.json"
MISSING = (
    "The file was not there when it was to be processed: it was deleted, or never arrived. Upload it again."
)


class Probed(Struct, frozen=True, kw_only=True):
    """`summary` for the plan, `report` as JSON for S3."""

    summary: MediaSummary
    report: bytes


class Ladder(Struct, frozen=True, kw_only=True):
    """What is to be fitted: a plan for the pictures of a local file. `report`: of `Probed`. `keep`: names of rungs."""

    source: Path
    report: bytes
    plan: VideoPlan
    keep: frozenset[str]


class IngestDependencies(Struct, frozen=True, kw_only=True):
    """`probe` raises Permanent with a sentence for people when the file is nothing we can use.

    `max_bytes`: larger objects are refused before a byte is downloaded. `fit`: fits a ladder to its pictures; gives it
    and the key of what was measured, if anything was.
    """

    raw: BlobStore
    media: BlobStore
    probe: Callable[[Path, Cancellation], Probed]
    max_bytes: int
    chunking: Chunking = Chunking()
    fit: Callable[[Work, Ladder], tuple[VideoPlan, str | None]] | None = None


def ingest(work: Work, needs: IngestDependencies) -> Outcome:
    """The accepted plan, or Permanent that says what is wrong with the file."""
    upload = work.upload
    facts = needs.raw.head(upload.object_key)
    if facts is None:
        raise Temporary(MISSING, code="object_missing")
    check_size(upload, facts, needs.max_bytes)
    source = work.scratch / SOURCE_NAME
    _fetch(work, needs, facts, source)
    probed = needs.probe(source, work.cancellation)
    check_type(upload, probed.summary)
    report_key = work.prefix + REPORT_NAME
    needs.media.put(report_key, probed.report, "application/json")
    summary = structs.replace(probed.summary, report_key=report_key)
    files = {"probe": report_key}

    def fit(plan: VideoPlan, keep: frozenset[str]) -> VideoPlan:
        if needs.fit is None:
            return plan
        ladder = Ladder(source=source, report=probed.report, plan=plan, keep=keep)
        fitted, measured = needs.fit(work, ladder)
        files.update({"complexity": measured} if measured else {})
        return fitted

    plan = plans.make_plan(summary, resolved(upload.profile, upload.options), needs.chunking, fit)
    outputs = Outputs(prefix=work.prefix, files=files)
    return Accepted(outputs=outputs, object=facts, media=summary, plan=plan)


def check_type(upload: Upload, media: MediaSummary) -> None:
    """Permanent for a picture that was announced as audio or video: somebody chose the wrong file."""
    if media.type is MediaType.IMAGE and upload.content_type.startswith(("audio/", "video/")):
        raise refusals.picture_instead_of_media()


def _fetch(work: Work, needs: IngestDependencies, facts: ObjectFacts, source: Path) -> None:
    """Until the plan is made, another object under the key is a client that sent again: look once more."""
    try:
        needs.raw.download(work.upload.object_key, facts, source, work.cancellation)
    except Permanent as error:
        raise Temporary(MISSING if error.code == "object_gone" else error.message, code=error.code) from error


def check_size(upload: Upload, facts: ObjectFacts, max_bytes: int) -> None:
    """Permanent for an object that is empty, too large, or not of the size that was announced."""
    size, declared = facts.size_bytes, upload.size_bytes
    if size == 0:
        raise Permanent("The uploaded file is empty. Upload it again.", code="empty_file")
    if size > max_bytes:
        raise Permanent(
            f"The uploaded file has {size:,} bytes; at most {max_bytes:,} are processed.", code="too_large"
        )
    if size < declared:
        raise Permanent(
            f"Only {size:,} of the {declared:,} announced bytes arrived. Upload the file again.",
            code="truncated",
        )
    if size > declared:
        raise Permanent(
            f"{size:,} bytes arrived, but {declared:,} were announced. Ask for an upload with the right size.",
            code="size_mismatch",
        )
