"""`python -m reelworks.embedded.resources`: buckets, queues and table on the emulator that the settings name.

A process of its own, so that boto3 sees the environment of the services and not that of the shell.
"""

import sys

from reelworks.adapters.clients import Clients
from reelworks.embedded.bootstrap import create_resources
from reelworks.errors import ReelworksError
from reelworks.runtime.settings import from_environment


def main() -> int:
    """0 when everything is there, 2 when the settings do not name an emulator."""
    try:
        settings = from_environment()
        create_resources(Clients.from_settings(settings), settings)
    except ReelworksError as error:
        sys.stderr.write(f"resources: {error.message}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
