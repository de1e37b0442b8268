"""Builds the service from settings: the only module here that makes clients."""

from litestar import Litestar

from reelworks.adapters.wiring import Adapters
from reelworks.domain.keys import valid_user_id
from reelworks.errors import InvalidSettings
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.settings import Settings
from upload_api import storage
from upload_api.app import create_app
from upload_api.dependencies import Dependencies, Policy
from upload_api.readiness import Readiness


def build(settings: Settings, adapters: Adapters | None = None) -> Litestar:
    """The application, connected to nothing yet. `adapters`: other than those of the settings."""
    return create_app(dependencies(settings, adapters or Adapters.from_settings(settings)))


def dependencies(settings: Settings, adapters: Adapters) -> Dependencies:
    """What the routes are given. Raises InvalidSettings for what cannot work."""
    if not valid_user_id(settings.api.default_user_id):
        raise InvalidSettings(
            f"REELWORKS_API_DEFAULT_USER_ID: {settings.api.default_user_id!r} does not do: 1 to 128 letters, digits, "
            "'.', '_', '@' or '-', beginning with a letter or digit."
        )
    checks = {"table": adapters.store.ping, "bucket for uploads": adapters.raw.ping}
    return Dependencies(
        store=adapters.store,
        queue=adapters.queue,
        raw=adapters.raw,
        media=adapters.media,
        clock=adapters.clock,
        metrics=Metrics(),
        readiness=Readiness(checks, adapters.clock),
        policy=Policy.from_settings(settings, storage.origins(settings)),
    )
