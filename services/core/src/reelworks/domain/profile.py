"""Named, validated processing options. A request names one; the plan follows from it."""

from msgspec import Struct

from reelworks.errors import Permanent


class Profile(Struct, frozen=True, kw_only=True):
    """What to make of an upload.

    `transcribe`: make a transcript. `language`: BCP 47 tag the speech is expected in, None to let the provider
    decide.
    """

    name: str
    transcribe: bool = True
    language: str | None = None


DEFAULT = Profile(name="default")
PROFILES: dict[str, Profile] = {DEFAULT.name: DEFAULT}


def named(name: str) -> Profile:
    """The profile of that name, or Permanent that says which there are."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(sorted(PROFILES))
        raise Permanent(
            f"There is no profile {name!r}. Use one of: {known}.", code="unknown_profile"
        ) from None
