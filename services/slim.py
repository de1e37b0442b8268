"""Take out of an image's site-packages what no service ever imports: half of a small image would be that.

Called by the Dockerfiles: `python3 slim.py SITE_PACKAGES`. The smoke test of the built
images shows that nothing is missed.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

APIS = {"dynamodb", "events", "s3", "signin", "sqs", "sso", "sso-oidc", "sts", "transcribe"}
"""Descriptions of AWS services that botocore may look for: those that are called, and those that give credentials."""
KUBERNETES = {"batch_v1", "coordination_v1", "core_v1", "version"}
"""Groups of the Kubernetes API: Jobs, Leases, events. Its client imports each one when it is asked for."""
LOCALES = {"en", "en_US"}
"""Of Faker, which comes with Litestar for examples in its schema."""


def superfluous(packages: Path) -> Iterator[Path]:
    """Files and directories to remove; none of a package that is not installed."""
    data = packages / "botocore" / "data"
    yield from (found for found in _directories(data) if found.name not in APIS)
    # The asynchronous twin of the Kubernetes client, and what only that imports.
    yield packages / "kubernetes" / "aio"
    yield from (packages / name for name in ("aiohttp", "multidict", "yarl", "frozenlist"))
    for api in sorted((packages / "kubernetes" / "client" / "api").rglob("*_api.*")):
        if api.name.partition("_api.")[0] not in KUBERNETES:
            yield api
    for provider in _directories(packages / "faker" / "providers"):
        yield from (found for found in _directories(provider) if _other_locale(found.name))


def _other_locale(name: str) -> bool:
    return name not in LOCALES and not name.startswith("__")


def _directories(parent: Path) -> list[Path]:
    return sorted(found for found in parent.iterdir() if found.is_dir()) if parent.is_dir() else []


def main() -> None:
    """Say how much it was."""
    packages = Path(sys.argv[1])
    if not packages.is_dir():
        sys.exit(f"{packages} is not a directory: give the site-packages of the image.")
    sys.stdout.write(
        f"Removed {sum(map(removed, list(superfluous(packages)))) / 1e6:.0f} MB of {packages}.\n"
    )


def removed(path: Path) -> int:
    """Bytes that it had."""
    if not path.is_dir():
        size = path.stat().st_size if path.exists() else 0
        path.unlink(missing_ok=True)
        return size
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    shutil.rmtree(path)
    return size


if __name__ == "__main__":
    main()
