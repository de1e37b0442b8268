"""Use cases over the ports that worker and janitor share: sending hints, advancing the graph, the outbox."""
