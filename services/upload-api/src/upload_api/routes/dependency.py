"""How routes name what they are given."""

from litestar.di import NamedDependency
from litestar.params import SkipValidation

from upload_api.dependencies import Dependencies

Deps = NamedDependency[SkipValidation[Dependencies]]
"""Built by `bootstrap`, passed in by `create_app`."""
