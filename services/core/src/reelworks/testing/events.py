"""EventSink in memory."""

from reelworks.domain.event import UploadEvent


class InMemoryEventSink:
    """Implements ports.EventSink: keeps what it is given."""

    def __init__(self) -> None:
        self.events: list[UploadEvent] = []

    def emit(self, event: UploadEvent) -> None:
        """Keep the event."""
        self.events.append(event)
