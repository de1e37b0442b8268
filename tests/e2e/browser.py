"""A real browser, and the API behind a real port."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from reelworks.runtime.settings import Api
from tests.servers import HOST, free_port
from tests.world import World
from upload_api.__main__ import server
from upload_api.bootstrap import build

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser(tool: Callable[..., Path]) -> Iterator[Browser]:
    chromium = tool("chromium", "google-chrome", "chromium-browser")
    with sync_playwright() as playwright:
        # Playwright makes a fresh profile and removes it afterwards.
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def served(world: World) -> Iterator[str]:
    """The API of this installation; its URL."""
    settings = Api(host=HOST, port=free_port(), shutdown_grace_s=1.0)
    serving = server(build(world.settings, world.adapters), settings)
    thread = threading.Thread(target=serving.run, name="api")
    thread.start()
    try:
        _until_started(serving)
        yield f"http://{HOST}:{settings.port}/"
    finally:
        serving.should_exit = True
        thread.join(10)


def _until_started(serving: uvicorn.Server) -> None:
    deadline = time.monotonic() + 10
    while not serving.started and time.monotonic() < deadline:
        time.sleep(0.02)  # uvicorn has no signal for it
    assert serving.started


@contextmanager
def opened(browser: Browser, url: str) -> Iterator[Page]:
    """The page in a fresh profile; errors of its scripts and what its policy forbids fail the test."""
    context = browser.new_context(base_url=url)
    page = context.new_page()
    page.set_default_timeout(10_000)
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.on(
        "console", lambda message: broken.append(message.text) if "Security Policy" in message.text else None
    )
    page.goto("/")
    yield page
    context.close()
    assert broken == [], broken
