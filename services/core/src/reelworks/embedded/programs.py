"""Which processes there are, in which order they start, and how each says that it is ready."""

from reelworks.embedded.child import Program
from reelworks.embedded.environment import Environment, Place, for_ministack, for_services
from reelworks.embedded.sockets import HOST

Stages = tuple[tuple[Program, ...], ...]
"""The programs of a stage start together, once those of the stage before are ready. They stop in the given order,
the last stage first: the API takes no more work, workers end theirs, and what all of them need goes last."""


def stages(
    base: Environment, place: Place, *, ministack_port: int | None = None, pretty: bool = False
) -> Stages:
    """`ministack_port`: None if somebody else runs the emulator. `pretty`: see `for_services`."""
    environment = for_services(base, place, pretty=pretty)
    resources = Program(name="resources", module="reelworks.embedded.resources", environment=environment)
    services = tuple(
        Program(name=name, module=module, environment=environment, health=f"http://{HOST}:{port}/readyz")
        for name, module, port in (
            ("upload-api", "upload_api", place.api_port),
            ("worker", "worker", place.worker_port),
            ("dlq-janitor", "dlq_janitor", place.janitor_port),
        )
    )
    if ministack_port is None:
        return ((resources,), services)
    ministack = Program(
        name="ministack",
        module="ministack",
        environment=for_ministack(base, place, ministack_port),
        health=f"{place.endpoint}/_ministack/health",
    )
    return ((ministack,), (resources,), services)
