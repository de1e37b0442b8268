"""`python -m reelworks.embedded demo|smoke`: Reelworks on one machine, with nothing but Python."""

import argparse
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from reelworks.embedded.demo import demo
from reelworks.embedded.smoke import smoke
from reelworks.embedded.workshop import CLIP, Options
from reelworks.runtime import logging, shutdown
from reelworks.runtime.settings import Log

PAGE_PORT = 8080
COMMANDS = {"demo": demo, "smoke": smoke}

EPILOG = """\
Everything runs in child processes on 127.0.0.1: MiniStack (an emulator of S3, SQS, DynamoDB and EventBridge),
upload-api, worker and dlq-janitor. Data and logs are in a temporary folder. REELWORKS_ variables of the shell reach
the services, for example REELWORKS_SPEECH_PROVIDER=fake; AWS_ variables do not.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command."""
    command, options = parse(arguments)
    logging.configure(Log(), "embedded")
    stopping = threading.Event()
    shutdown.on_signals(stopping)
    return COMMANDS[command](options, stopping)


def parse(arguments: Sequence[str] | None) -> tuple[str, Options]:
    """The command and what it shall do. Exits with 2 and a usage line if they make no sense."""
    parsed = _parser().parse_args(arguments)
    port = parsed.port or (PAGE_PORT if parsed.command == "demo" else None)
    return parsed.command, Options(clip=parsed.clip, port=port, endpoint=parsed.endpoint, keep=parsed.keep)


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--clip",
        type=Path,
        default=CLIP,
        metavar="FILE",
        help="the audio or video file to send through (default: a short spoken sentence)",
    )
    shared.add_argument(
        "--port",
        type=_port,
        metavar="N",
        help=f"of the page and the API (default: {PAGE_PORT} for demo, a free one for smoke)",
    )
    shared.add_argument(
        "--endpoint",
        type=_endpoint,
        metavar="URL",
        help="an emulator of AWS that runs already, such as LocalStack or moto_server (default: start MiniStack)",
    )
    shared.add_argument(
        "--keep", action="store_true", help="do not remove the folder with logs and data at the end"
    )
    return _with_commands(shared)


def _with_commands(shared: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reelworks.embedded", description="Reelworks on one machine.", epilog=EPILOG
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="demo|smoke")
    for name, text in (
        ("demo", "start everything, send a clip through, stay up with the page until Ctrl-C"),
        (
            "smoke",
            "start everything, send a clip through, stop, print one JSON object; exit 0 only if COMPLETED",
        ),
    ):
        commands.add_parser(
            name, parents=[shared], help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=EPILOG
        )
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text!r}")
    return int(text)


def _endpoint(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(f"an endpoint looks like http://127.0.0.1:4566, not {text!r}")
    return text


if __name__ == "__main__":
    sys.exit(main())
