"""The folder and the running stack that both commands need: made, used, taken away."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from reelworks.embedded.client import Client
from reelworks.embedded.environment import Place, for_services, inherited
from reelworks.embedded.errors import EmbeddedError
from reelworks.embedded.exchange import answers
from reelworks.embedded.patience import Patience
from reelworks.embedded.programs import stages
from reelworks.embedded.sockets import HOST, free_ports, require_free
from reelworks.embedded.stack import Stack
from reelworks.runtime import logging
from reelworks.runtime.settings import Settings

CLIP = Path(__file__).parent / "clips" / "speech.mp4"
PROBE_S = 5.0

log = logging.get(__name__)


class Options(Struct, frozen=True, kw_only=True):
    """What the command line says. `port`: of the page, None takes a free one. `endpoint`: None starts a MiniStack."""

    clip: Path = CLIP
    port: int | None = None
    endpoint: str | None = None
    keep: bool = False


class Workshop(Struct, frozen=True, kw_only=True):
    """Everything runs and is ready."""

    stack: Stack
    place: Place
    client: Client


@contextmanager
def folder(*, keep: bool) -> Iterator[Path]:
    """For data and, in `logs`, one file of each process. Removed at the end unless `keep`."""
    path = Path(tempfile.mkdtemp(prefix="reelworks-embedded-"))
    for name in ("logs", "ministack"):
        (path / name).mkdir()
    try:
        yield path
    finally:
        if keep:
            log.info("folder.kept", path=str(path))
        else:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def open_workshop(
    options: Options, path: Path, patience: Patience, *, pretty: bool = False
) -> Iterator[Workshop]:
    """Start everything in the folder `path`, and stop it at the end."""
    _check(options)
    ministack_port, api_port, worker_port, janitor_port = free_ports(4)
    place = Place(
        endpoint=(options.endpoint or f"http://{HOST}:{ministack_port}").rstrip("/"),
        api_port=options.port or api_port,
        worker_port=worker_port,
        janitor_port=janitor_port,
        folder=path,
    )
    base = inherited()
    Settings.load(
        for_services(base, place)
    )  # a bad REELWORKS_ variable is named now, not in the log of a child
    plan = stages(base, place, ministack_port=None if options.endpoint else ministack_port, pretty=pretty)
    with Stack(plan, path / "logs", patience) as stack:
        client = Client(place.api_url, patience, stack.pause)
        yield Workshop(stack=stack, place=place, client=client)


def _check(options: Options) -> None:
    """What can be known before anything starts."""
    try:
        options.clip.open("rb").close()
    except OSError as error:
        raise EmbeddedError(
            f"The clip {options.clip} cannot be read ({error.strerror}). Name another one with --clip."
        ) from error
    if options.port:
        require_free(options.port)
    if options.endpoint and not answers(options.endpoint, timeout_s=PROBE_S, any_status=True):
        raise EmbeddedError(
            f"Nothing answers at {options.endpoint}. Start an emulator of AWS there, or leave --endpoint out."
        )
