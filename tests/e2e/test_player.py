"""What was really encoded, in a real browser: over the seams of chunks, in every quality, while it still grows."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from playwright.sync_api import Browser, Page, expect

from reelworks.domain.plan import TaskKind
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import UploadStatus
from tests.e2e.browser import browser, opened, served
from tests.integration.pipeline import SPOKEN, Pipeline
from tests.media.fixtures import samples, tools
from tests.media.samples import Samples
from tests.servers import ministack
from tests.world import make_world

__all__ = ["browser", "ministack", "samples", "tools"]

CHUNK_S, SECONDS = 4, 12
SEAMS = (4, 8)
WATCH = """() => {
    window.troubles = [];
    const note = (event) => window.troubles.push(event.detail);
    document.getElementById("stage").addEventListener("streamerror", note, true);
}"""
PLAY = """(rate) => {
    const player = document.querySelector("#stage video");
    Object.assign(player, { muted: true, playbackRate: rate });
    return player.play();
}"""


@pytest.fixture(scope="module")
def pipeline(ministack: str, tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """Real handlers, and chunks of one segment."""
    world = make_world(ministack, tmp_path_factory.mktemp("scratch"))
    media = structs.replace(world.settings.media, chunk_above_s=CHUNK_S, chunk_s=CHUNK_S)
    return Pipeline(dataclasses.replace(world, settings=structs.replace(world.settings, media=media)))


@pytest.fixture(scope="module")
def url(pipeline: Pipeline) -> Iterator[str]:
    with served(pipeline.world) as url:
        yield url


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    with opened(browser, url) as page:
        page.set_viewport_size({"width": 1280, "height": 1400})
        page.evaluate(WATCH)
        yield page


@pytest.fixture(scope="module")
def clip(samples: Samples) -> Path:
    """Large enough for two qualities."""
    sources = ("-f", "lavfi", "-i", f"testsrc2=s=1280x720:r=25:d={SECONDS}")
    sound = ("-f", "lavfi", "-i", f"sine=d={SECONDS}", "-c:a", "aac")
    return samples.encoded(
        "player.mp4", *sources, *sound, "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "50"
    )


def player(page: Page, expression: str) -> Any:
    return page.evaluate(
        f"(() => {{ const p = document.querySelector('#stage video'); return {expression}; }})()"
    )


def until(page: Page, condition: str) -> None:
    """Wait for a condition on the player `p`. Playwright's own way needs `eval`, which the page's policy forbids."""
    page.evaluate(
        f"""() => new Promise((resolve, reject) => {{
            const end = Date.now() + 20_000;
            const look = () => {{
                const p = document.querySelector("#stage video");
                if (p && ({condition})) resolve(true);
                else if (Date.now() > end) reject(new Error(`not: {condition}`));
                else setTimeout(look, 30);
            }};
            look();
        }})"""
    )


def reaches(page: Page, seconds: float) -> None:
    until(page, f"p.currentTime > {seconds}")


def choose(page: Page, clip: Path) -> None:
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-status")).to_have_text("Processing", timeout=10_000)


@pytest.fixture
def completed(page: Page, pipeline: Pipeline, clip: Path) -> Page:
    choose(page, clip)
    pipeline.work()
    expect(page.locator("#upload-status")).to_have_text("Completed")
    page.reload()  # without the file: all that is shown is what was made
    page.evaluate(WATCH)
    page.get_by_role("button", name="player.mp4").first.click()
    until(page, "p.readyState >= 2")
    return page


def test_a_finished_stream_plays_over_its_seams_in_every_quality(completed: Page, tmp_path: Path) -> None:
    page = completed
    assert player(page, "p.duration") == pytest.approx(SECONDS, abs=0.1)
    page.evaluate(PLAY, 2)
    for seam in SEAMS:
        reaches(page, seam + 0.5)
    assert page.evaluate("window.troubles") == []

    names = page.locator("#quality option").all_text_contents()
    assert [name.split(" ")[0] for name in names] == ["Auto", "720p", "360p"]
    for name, height in (("720p", 720), ("360p", 360)):
        page.select_option("#quality", label=name)
        player(page, "p.currentTime = 1")
        page.evaluate(PLAY, 1)
        until(page, f"p.videoHeight === {height}")
        expect(page.locator("#quality option:checked")).to_have_text(name)
        reaches(page, 1.5)
    assert page.evaluate("window.troubles") == []
    assert player(page, "p.getVideoPlaybackQuality().corruptedVideoFrames") == 0


def test_captions_scenes_and_files_are_there(completed: Page, tmp_path: Path) -> None:
    page = completed
    page.get_by_role("button", name="Captions").click()
    page.evaluate(PLAY, 1)
    shown = f"Array.from(t.activeCues ?? []).some((c) => c.text.includes('{SPOKEN}'))"
    until(page, f"Array.from(p.textTracks).some((t) => t.mode === 'showing' && {shown})")
    player(page, "p.pause()")
    scenes = page.locator("#scenes button")
    assert scenes.count() >= 3
    colours = page.evaluate(
        """async () => {
            const tile = document.querySelector("#scenes .tile");
            const url = tile.style.backgroundImage.slice(5, -2);
            const image = Object.assign(new Image(), { src: url });
            await image.decode();
            return [image.naturalWidth, image.naturalHeight];
        }"""
    )
    assert min(colours) > 0
    scenes.nth(2).click()
    assert player(page, "p.currentTime") > 0.5
    expect(page.locator("#files a")).to_have_text(["MP4, 720p", "Preview, 10 s", "Poster"])
    page.screenshot(path=tmp_path / "completed.png", full_page=True)


def test_another_poster_can_be_chosen(completed: Page) -> None:
    page = completed
    candidates = page.locator("#candidates button")
    expect(candidates.nth(0)).to_have_attribute("aria-pressed", "true")
    candidates.nth(1).click()
    expect(candidates.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(candidates.nth(0)).to_have_attribute("aria-pressed", "false")
    assert "poster-1.jpg" in player(page, "p.poster")
    page.reload()
    page.get_by_role("button", name="player.mp4").first.click()
    expect(page.locator("#candidates button").nth(1)).to_have_attribute("aria-pressed", "true")


def test_what_is_encoded_so_far_can_be_watched(page: Page, pipeline: Pipeline, clip: Path) -> None:
    choose(page, clip)
    upload_id = page.evaluate("JSON.parse(localStorage.getItem('reelworks.uploads'))[0]")
    held = []
    while message := pipeline.next():
        if '"video-001"' in message.body or '"video-002"' in message.body:
            held.append(message)
        else:
            pipeline.world.processor().handle(message)
    page.reload()
    page.evaluate(WATCH)
    page.get_by_role("button", name="player.mp4").first.click()
    expect(page.locator("#player-note")).to_contain_text("still being made")
    until(page, "p.readyState >= 2")
    page.evaluate(PLAY, 1)
    reaches(page, 1)

    for message in held:
        pipeline.world.processor().handle(message)
    pipeline.work()
    snapshot = pipeline.deps.store.load(upload_id)
    assert snapshot is not None
    assert snapshot.upload.status is UploadStatus.COMPLETED
    reaches(page, SEAMS[1] + 0.5)
    expect(page.locator("#player-note")).to_have_text("")
    # At the end of what there is, a player has to wait.
    assert not [trouble for trouble in page.evaluate("window.troubles") if trouble["fatal"]]


def test_chunks_were_really_several(completed: Page, pipeline: Pipeline) -> None:
    upload_id = completed.evaluate("JSON.parse(localStorage.getItem('reelworks.uploads'))[0]")
    snapshot = pipeline.deps.store.load(upload_id)
    assert snapshot is not None
    chunks = [task for task in snapshot.tasks.values() if task.kind is TaskKind.VIDEO]
    assert len(chunks) == len(SEAMS) + 1
    assert all(task.status is TaskStatus.DONE for task in chunks)
