"""`smoke`: everything once, then away with it. stdout gets exactly one JSON object, stderr all the rest."""

import sys
import threading
from pathlib import Path

import msgspec

from reelworks.embedded.patience import Patience
from reelworks.embedded.report import Report, failed, send_through
from reelworks.embedded.workshop import Options, folder, open_workshop
from reelworks.errors import ReelworksError
from reelworks.runtime import logging

DEADLINE_S = 120.0
"""From start to report. Ten times what it takes on a laptop: a slow build machine must not fail for being slow."""

log = logging.get(__name__)


def smoke(options: Options, stopping: threading.Event) -> int:
    """0 only if the upload is COMPLETED."""
    with folder(keep=options.keep) as path:
        report = _report(options, path, Patience(stopping, DEADLINE_S))
        if not report.completed:
            _show_logs(path / "logs")
    print(msgspec.json.encode(report).decode(), flush=True)
    return 0 if report.completed else 1


def _report(options: Options, path: Path, patience: Patience) -> Report:
    try:
        with open_workshop(options, path, patience) as workshop:
            return send_through(workshop.client, options.clip)
    except ReelworksError as error:
        return failed(error.message)
    except (
        Exception
    ) as error:  # the border of the program: whoever reads stdout gets an object, whatever happens
        log.exception("smoke.crashed")
        return failed(f"The smoke run itself crashed ({error!r}); stderr has the traceback.")


def _show_logs(logs: Path) -> None:
    """Whoever looks for the reason has no second look: the folder is about to go."""
    for file in sorted(logs.iterdir(), key=lambda file: file.stat().st_mtime):
        text = file.read_text(errors="replace")
        sys.stderr.write(f"---- {file.stem} {'' if text else '(wrote nothing) '}----\n{text}")
    sys.stderr.flush()
