"""`demo`: everything, one clip, and then it stays up for a person to play with, until Ctrl-C."""

import shlex
import sys
import threading
from pathlib import Path

from reelworks.embedded.client import content_type
from reelworks.embedded.environment import Place
from reelworks.embedded.errors import ChildDied, Refused
from reelworks.embedded.follower import Follower
from reelworks.embedded.patience import Patience
from reelworks.embedded.report import Report, failed, send_through
from reelworks.embedded.workshop import Options, Workshop, folder, open_workshop
from reelworks.errors import Interrupted, ReelworksError

LOOK_S = 0.5
"""How soon a process that died is noticed."""

SUMMARY = """
Reelworks is running.

  {outcome}

  Page      {url}
            Drop an audio or video file on it and read what is said.

  By hand   curl -s {url}/api/uploads -H 'Content-Type: application/json' \\
              -d '{{"fileName": "{name}", "contentType": "{kind}", "sizeBytes": {size}}}'
            curl -T {clip} -H 'Content-Type: {kind}' 'UPLOAD_URL'
            curl -s {url}/api/uploads/UPLOAD_ID
            with the uploadUrl and the uploadId that the first one answers.

  API       {url}/schema
  AWS       {endpoint} (access key test, secret key test)

Stop it with Ctrl-C.
"""


def demo(options: Options, stopping: threading.Event) -> int:
    """0 when it was stopped by Ctrl-C or SIGTERM, 1 when it could not run or something died."""
    pretty = sys.stderr.isatty()
    patience = Patience(stopping)
    try:
        with folder(keep=options.keep) as path, Follower(path / "logs"):
            _run(options, path, patience, pretty=pretty)
    except Interrupted:
        print("Stopped; nothing is left running.", flush=True)
        return 0
    except ChildDied as error:
        sys.stderr.write(f"\n{error.message} The end of its log:\n\n{error.tail}\n")
        return 1
    except ReelworksError as error:
        sys.stderr.write(f"\n{error.message}\n")
        return 1
    return 0


def _run(options: Options, path: Path, patience: Patience, *, pretty: bool) -> None:
    with open_workshop(options, path, patience, pretty=pretty) as workshop:
        report = _passage(workshop, options.clip)
        print(_summary(report, workshop.place, options.clip), flush=True)
        while True:
            workshop.stack.pause(LOOK_S)


def _passage(workshop: Workshop, clip: Path) -> Report:
    """A clip that is refused is worth a sentence; the page is there all the same."""
    try:
        return send_through(workshop.client, clip)
    except Refused as error:
        return failed(error.message)


def _summary(report: Report, place: Place, clip: Path) -> str:
    return SUMMARY.format(
        outcome=_outcome(report, clip),
        url=place.page_url,
        endpoint=place.endpoint,
        name=clip.name,
        clip=shlex.quote(str(clip)),
        kind=content_type(clip),
        size=clip.stat().st_size,
    )


def _outcome(report: Report, clip: Path) -> str:
    if not report.completed or report.seconds is None:
        return f"{clip.name} did not go through: {report.error or report.status}"
    said = f'"{report.transcript}"' if report.transcript else "no speech"
    return f"Heard in {clip.name}, {report.seconds.total:.1f} s after it was announced:\n  {said}"
