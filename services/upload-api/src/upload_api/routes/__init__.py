"""HTTP: what is read from a request and written to a response. Decisions are in `service`."""
