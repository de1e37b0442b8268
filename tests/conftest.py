"""What every suite shares."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tool() -> Callable[..., Path]:
    """Find a program that this project does not install itself: `tool("chromium", "google-chrome")`.

    Without it the test is skipped, but in continuous integration (CI=true) it fails: a skip there would hide that
    something is not tested at all.
    """

    def find(*names: str) -> Path:
        found = next(filter(None, map(shutil.which, names)), None)
        if found:
            return Path(found)
        name = " or ".join(names)
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name} is not installed, and in CI nothing is skipped for that", pytrace=False)
        pytest.skip(f"{name} is not installed")

    return find
