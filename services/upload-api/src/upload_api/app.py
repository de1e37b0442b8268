"""The application: routes, the one error handler, and what wraps every request."""

from litestar import Litestar
from litestar.config.cors import CORSConfig
from litestar.di import Provide

from upload_api import assets, openapi, problems
from upload_api.dependencies import Dependencies
from upload_api.middleware import hardened, observed
from upload_api.requests import MAX_BODY_BYTES
from upload_api.routes import ops, playback, uploads
from upload_api.routes.page import page_routes


def create_app(deps: Dependencies) -> Litestar:
    """Connects to nothing and starts nothing."""

    def provide() -> Dependencies:
        return deps

    app = Litestar(
        route_handlers=[
            uploads.create_upload,
            uploads.get_upload,
            uploads.post_poster,
            uploads.post_reprocess,
            playback.get_playback,
            ops.healthz,
            ops.readyz,
            ops.metrics,
            *page_routes(assets.load()),
        ],
        dependencies={"deps": Provide(provide, sync_to_thread=False)},
        exception_handlers={Exception: problems.respond},
        request_max_body_size=MAX_BODY_BYTES,
        cors_config=_cors(deps.policy.cors_origins),
        openapi_config=openapi.config(),
        logging_config=None,  # ours is configured before, for all libraries
        debug=False,
    )
    # Outside of Litestar's own stack, where also requests pass that match no route.
    app.asgi_handler = observed(hardened(app.asgi_handler, deps.policy.storage_origins), deps.metrics)
    return app


def _cors(origins: tuple[str, ...]) -> CORSConfig | None:
    """None, unless other sites may call the API from a browser."""
    if not origins:
        return None
    return CORSConfig(
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["Content-Type", "Idempotency-Key", "traceparent"],
        expose_headers=["Location", "Idempotent-Replayed", "Retry-After"],
        max_age=600,
    )
