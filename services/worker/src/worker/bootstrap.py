"""Builds a worker from settings: the only module here that makes clients, engines and threads' owners."""

import os
import secrets
import socket
import threading
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from reelworks.adapters.wiring import Adapters
from reelworks.domain.instants import SECOND_MS
from reelworks.domain.options import resolved
from reelworks.domain.plan import MediaSummary, MediaType, TaskKind
from reelworks.domain.ranking import Weights
from reelworks.domain.timeline import Chunking
from reelworks.errors import InvalidSettings
from reelworks.runtime.cancellation import Cancellation
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.ops_server import OpsServer
from reelworks.runtime.settings import Media, Settings, Speech
from reelworks.workflow.graph import Workflow
from worker.acknowledgement import Acknowledger
from worker.attempt import Attempts
from worker.consumer import Consumer
from worker.media import cpu
from worker.media.audio import AudioClip
from worker.media.compress import compress_speech
from worker.media.encode.encoders import Encoder
from worker.media.engine import MediaEngine, MediaLimits
from worker.media.probe import probe
from worker.media.report import MediaReport
from worker.media.runner import Runner
from worker.media.tools import find_tools
from worker.processor import Processor
from worker.scratch import Scratch
from worker.speech.factory import SpeechOptions, make_provider
from worker.speech.openai import OpenAIOptions
from worker.speech.provider import SpeechProvider
from worker.tasks.audio import AudioDependencies, audio
from worker.tasks.fit import FitDependencies, fit
from worker.tasks.ingest import IngestDependencies, Probed, ingest
from worker.tasks.mp4 import Mp4Dependencies, mp4
from worker.tasks.package import PackageDependencies, package
from worker.tasks.poster import PosterDependencies, poster
from worker.tasks.preview import preview
from worker.tasks.remember import remembering
from worker.tasks.storyboard import StoryboardDependencies, storyboard
from worker.tasks.thumbnails import ThumbnailsDependencies, thumbnails
from worker.tasks.transcribe import TranscribeDependencies, transcribe
from worker.tasks.video import VideoDependencies, video
from worker.work import Handlers, Work


class WorkerParts(Struct, frozen=True, kw_only=True):
    """What `main` starts and stops."""

    consumer: Consumer
    processor: Processor
    attempts: Attempts
    scratch: Scratch
    ops: OpsServer


def build(settings: Settings, stopping: threading.Event, adapters: Adapters | None = None) -> WorkerParts:
    """Everything, wired; nothing started. `adapters`: other than those of the settings.

    Raises InvalidSettings for what cannot work together.
    """
    check(settings)
    adapters = adapters or Adapters.from_settings(settings)
    metrics = Metrics()
    flow = Workflow(
        store=adapters.store,
        queue=adapters.queue,
        events=adapters.events,
        clock=adapters.clock,
        metrics=metrics,
        watch=settings.sweep.rules(),
    )
    scratch = Scratch(settings.worker.scratch_dir)
    attempts = Attempts(
        flow,
        handlers(settings, adapters, metrics),
        scratch,
        rules=settings.lease.rules(),
        policy=settings.lease.policy(),
    )
    processor = Processor(
        flow,
        attempts,
        Acknowledger(flow.queue, flow.metrics),
        rules=settings.lease.rules(),
        worker_id=worker_id(),
    )
    consumer = _consumer(settings, flow, processor, attempts, stopping)
    return WorkerParts(
        consumer=consumer,
        processor=processor,
        attempts=attempts,
        scratch=scratch,
        ops=_ops(settings, flow, consumer, stopping),
    )


def check(settings: Settings) -> None:
    """Lanes must have queues."""
    unknown = sorted(set(settings.worker.lanes) - set(settings.sqs.lanes))
    if unknown or not settings.worker.lanes:
        raise InvalidSettings(
            f"REELWORKS_WORKER_LANES names {unknown or 'nothing'}; the queues of REELWORKS_SQS_LANES are: "
            f"{', '.join(settings.sqs.lanes)}."
        )


def worker_id() -> str:
    """Host (the pod's name), process and a random part: identity must not survive a restart."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


def _consumer(
    settings: Settings, flow: Workflow, processor: Processor, attempts: Attempts, stopping: threading.Event
) -> Consumer:
    worker = settings.worker
    return Consumer(
        flow.queue,
        processor,
        attempts,
        flow.clock,
        lanes=worker.lanes,
        slots=worker.slots,
        idle_wait_s=worker.idle_wait_s,
        grace_s=worker.grace_s,
        rules=settings.lease.rules(),
        stopping=stopping,
    )


def _ops(settings: Settings, flow: Workflow, consumer: Consumer, stopping: threading.Event) -> OpsServer:
    def live() -> str | None:
        return consumer.trouble(settings.worker.stale_poll_s)

    def ready() -> str | None:
        return "shutting down" if stopping.is_set() else consumer.stale(settings.worker.stale_poll_s)

    return OpsServer(settings.worker.host, settings.worker.port, flow.metrics, live, ready)


def handlers(settings: Settings, adapters: Adapters, metrics: Metrics) -> Handlers:
    """Each task kind with what it needs."""
    engine = media_engine(settings.media, settings.worker.slots)
    ingesting = IngestDependencies(
        raw=adapters.raw,
        media=adapters.media,
        probe=partial(_probed, engine),
        max_bytes=settings.worker.max_bytes,
        chunking=Chunking(above_s=settings.media.chunk_above_s, length_s=settings.media.chunk_s),
        fit=partial(fit, needs=FitDependencies(media=adapters.media, engine=engine)),
    )
    transcribing = TranscribeDependencies(
        raw=adapters.raw,
        media=adapters.media,
        engine=engine,
        speech=speech_provider(settings.speech, engine),
        language=settings.speech.language,
    )
    heard = remembering(
        partial(transcribe, needs=transcribing), adapters.media, partial(_listener, settings.speech)
    )
    return {
        TaskKind.INGEST: partial(ingest, needs=ingesting),
        TaskKind.TRANSCRIBE: heard,
        **picture_handlers(adapters, engine),
        **stream_handlers(settings.media, adapters, engine, metrics),
    }


def picture_handlers(adapters: Adapters, engine: MediaEngine) -> Handlers:
    """Posters, storyboards, thumbnails."""
    raw, media = adapters.raw, adapters.media
    choosing = PosterDependencies(
        raw=raw, media=media, engine=engine, weights=lambda: adapters.store.ranking() or Weights()
    )
    boarding = StoryboardDependencies(raw=raw, media=media, engine=engine)
    shrinking = ThumbnailsDependencies(raw=raw, media=media, engine=engine)
    return {
        TaskKind.POSTER: remembering(partial(poster, needs=choosing), media),
        TaskKind.STORYBOARD: remembering(partial(storyboard, needs=boarding), media),
        TaskKind.THUMBNAILS: remembering(partial(thumbnails, needs=shrinking), media),
    }


def _listener(speech: Speech, work: Work) -> tuple[object, ...]:
    """What decides about a transcript besides the sound."""
    language = resolved(work.upload.profile, work.upload.options).language or speech.language
    model = speech.model if speech.provider == "openai" else None
    fake = speech.fake_text if speech.provider == "fake" else None
    return speech.provider, speech.base_url, model, fake, language


def stream_handlers(settings: Media, adapters: Adapters, engine: MediaEngine, metrics: Metrics) -> Handlers:
    """Renditions, and what is made of them without encoding again."""
    raw, media = adapters.raw, adapters.media
    encoding = VideoDependencies(
        raw=raw, media=media, engine=engine, encoder=Encoder(settings.encoder), metrics=metrics
    )
    sounding = AudioDependencies(raw=raw, media=media, engine=engine, metrics=metrics)
    remuxing = Mp4Dependencies(media=media, engine=engine)
    return {
        TaskKind.VIDEO: partial(video, needs=encoding),
        TaskKind.AUDIO: partial(audio, needs=sounding),
        TaskKind.PACKAGE: partial(package, needs=PackageDependencies(media=media)),
        TaskKind.PREVIEW: partial(preview, needs=remuxing),
        TaskKind.MP4: partial(mp4, needs=remuxing),
    }


def media_engine(media: Media, slots: int) -> MediaEngine:
    """ffmpeg with its limits and as many threads as its share of the CPUs."""
    limits = MediaLimits(
        max_streams=media.max_streams,
        max_duration_ms=int(media.max_duration_s * SECOND_MS),
        max_pixels=media.max_pixels,
        stall_s=media.stall_s,
    )
    tools = find_tools(ffmpeg=media.ffmpeg, ffprobe=media.ffprobe, threads=cpu.threads(concurrency=slots))
    return MediaEngine(tools=tools, runner=Runner(), limits=limits)


def speech_provider(speech: Speech, engine: MediaEngine) -> SpeechProvider:
    """The configured engine; what is too large for a service is compressed first."""

    def shrink(clip: AudioClip, cancellation: Cancellation) -> AudioClip:
        return compress_speech(clip, engine=engine, cancellation=cancellation)

    service = OpenAIOptions(
        base_url=speech.base_url or OpenAIOptions().base_url,
        api_key=speech.api_key,
        model=speech.model,
        timeout_s=speech.timeout_s,
        max_bytes=speech.max_bytes,
    )
    options = SpeechOptions(provider=speech.provider, fake_text=speech.fake_text, openai=service)
    return make_provider(options, shrink=shrink)


def _probed(engine: MediaEngine, path: Path, cancellation: Cancellation) -> Probed:
    report = probe(path, engine=engine, cancellation=cancellation)
    return Probed(summary=summary(report), report=msgspec.json.encode(report))


def summary(report: MediaReport) -> MediaSummary:
    """What the plan needs of a report."""
    picture = report.picture
    moving = None if report.image else picture
    return MediaSummary(
        format=report.formats[0],
        type=_media_type(report),
        has_audio=report.speech is not None,
        has_video=moving is not None,
        duration_ms=None if report.image else report.duration_ms,
        picture_ms=moving.end_ms if moving else None,
        width=picture.display_width if picture else 0,
        height=picture.display_height if picture else 0,
        frame_rate=moving.constant_rate if moving else None,
    )


def _media_type(report: MediaReport) -> MediaType:
    if report.image:
        return MediaType.IMAGE
    return MediaType.VIDEO if report.picture else MediaType.AUDIO
