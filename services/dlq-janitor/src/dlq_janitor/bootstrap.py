"""Builds a janitor from settings: the only module here that makes clients."""

import threading

from msgspec import Struct

from dlq_janitor.loop import Loop
from dlq_janitor.repairs import Repairs
from dlq_janitor.sweep import Sweep
from reelworks.adapters.wiring import Adapters
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.ops_server import OpsServer
from reelworks.runtime.settings import Settings
from reelworks.workflow.graph import Workflow


class JanitorParts(Struct, frozen=True, kw_only=True):
    """What `main` starts and stops."""

    loop: Loop
    sweep: Sweep
    ops: OpsServer


def build(settings: Settings, stopping: threading.Event, adapters: Adapters | None = None) -> JanitorParts:
    """Everything, wired; nothing started. `adapters`: other than those of the settings."""
    adapters = adapters or Adapters.from_settings(settings)
    janitor = settings.janitor
    flow = Workflow(
        store=adapters.store,
        queue=adapters.queue,
        events=adapters.events,
        clock=adapters.clock,
        metrics=Metrics(),
        watch=settings.sweep.rules(),
    )
    repairs = Repairs(flow=flow, raw=adapters.raw, media=adapters.media, rules=settings.lease.rules())
    sweep = Sweep(repairs, batch=janitor.batch, max_rows=janitor.max_rows, stopping=stopping)
    loop = Loop(sweep, flow.queue, flow.metrics, flow.clock, interval_s=janitor.interval_s, stopping=stopping)

    def ready() -> str | None:
        return "shutting down" if stopping.is_set() else loop.trouble()

    ops = OpsServer(janitor.host, janitor.port, flow.metrics, loop.trouble, ready)
    return JanitorParts(loop=loop, sweep=sweep, ops=ops)
