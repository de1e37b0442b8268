"""How routes name what they are given."""

from typing import Annotated

from litestar.params import Dependency

from upload_api.dependencies import Dependencies

Deps = Annotated[Dependencies, Dependency(skip_validation=True)]
"""Built by `bootstrap`, passed in by `create_app`."""
