"""The ports on AWS, and on anything that speaks its protocols. The only place that knows boto3.

`wiring.Adapters.from_settings(settings)` builds them all; a service's `bootstrap` calls it once. Tests that want to
stand between an adapter and botocore wrap the raw clients: `Adapters.from_clients(injector.wrap(clients), settings)`.
"""
