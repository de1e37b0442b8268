"""The page in a real browser, its API on a real port, its uploads in a real (emulated) bucket."""

import struct
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec import structs
from playwright.sync_api import Browser, Page, expect

from reelworks.domain.outcome import Accepted, Done, Fail, Outcome, Outputs
from reelworks.errors import Permanent
from tests.e2e.browser import browser, opened, served
from tests.servers import ministack
from tests.unit.core.domain.builders import MEDIA, PLAN
from tests.world import World, make_world
from worker.work import Work

__all__ = ["browser", "ministack"]

SEGMENTS = (
    b'{"language":"en","provider":"fake","durationMs":4000,"segments":['
    b'{"startMs":0,"endMs":1500,"text":"The <b>first</b> sentence."},'
    b'{"startMs":1500,"endMs":4000,"text":"And the second one."}]}'
)
VTT = b"WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nThe first sentence.\n"


@dataclass
class Studio:
    """The API behind the page. `work` pretends to be the worker."""

    world: World
    url: str

    def process(self) -> None:
        """What a worker does with an upload that has arrived."""
        self.world.work = self.worked
        self.world.handle("events")
        self.world.handle("speech")

    def refuse(self, sentence: str) -> None:
        self.world.work = lambda _: Fail(error=Permanent(sentence, code="not_media"))
        self.world.handle("events")

    def worked(self, work: Work) -> Outcome:
        outputs = Outputs(prefix=work.prefix)
        if work.task.name == "ingest":
            facts = self.world.adapters.raw.head(work.upload.object_key)
            assert facts is not None
            return Accepted(outputs=outputs, object=facts, media=MEDIA, plan=PLAN)
        bodies = {"json": SEGMENTS, "vtt": VTT, "txt": b"The first sentence.\n", "srt": b"1\n"}
        files = {name: f"{work.prefix}transcript.{name}" for name in bodies}
        for name, key in files.items():
            self.world.adapters.media.put(key, bodies[name], "text/plain")
        return Done(outputs=structs.replace(outputs, files=files, excerpt="The <b>first</b> sentence."))


@pytest.fixture(scope="module")
def studio(ministack: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    world = make_world(ministack, tmp_path_factory.mktemp("scratch"))
    for greeting in world.queue.receive("events", 10, 1, 30):  # s3:TestEvent
        world.queue.delete(greeting)
    with served(world) as url:
        yield Studio(world=world, url=url)


@pytest.fixture
def page(browser: Browser, studio: Studio) -> Iterator[Page]:
    with opened(browser, studio.url) as page:
        yield page


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Four seconds of silence with a name that wants to do harm."""
    path = tmp_path / "talk <img src=x onerror=alert(1)>.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8_000, 0, "NONE", ""))
        file.writeframes(struct.pack("<h", 0) * 32_000)
    return path


def test_a_file_is_sent_followed_and_its_transcript_shown(page: Page, studio: Studio, clip: Path) -> None:
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-name")).to_have_text(clip.name)
    expect(page.locator("#upload-status")).to_have_text("Processing")
    studio.process()
    expect(page.locator("#upload-status")).to_have_text("Completed")
    expect(page.locator("#segments")).to_contain_text("The <b>first</b> sentence.")
    expect(page.locator("#segments button")).to_have_count(2)
    expect(page.locator("#downloads a")).to_have_text(["TXT", "SRT", "VTT", "JSON"])
    expect(page.locator("#player audio")).to_be_visible()


def test_the_list_survives_a_reload(page: Page, studio: Studio, clip: Path) -> None:
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-status")).to_have_text("Processing")
    studio.process()
    expect(page.locator("#upload-status")).to_have_text("Completed")
    page.reload()
    page.get_by_role("button", name="talk").click()
    expect(page.locator("#segments")).to_contain_text("And the second one.")
    ids = page.evaluate("JSON.parse(localStorage.getItem('reelworks.uploads'))")
    assert len(ids) == 1
    page.get_by_role("button", name="Clear list").click()
    expect(page.locator("#history-empty")).to_be_visible()


def test_what_is_over_can_be_processed_again(page: Page, studio: Studio, clip: Path, tmp_path: Path) -> None:
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-status")).to_have_text("Processing")
    expect(page.locator("#reprocess")).to_be_hidden()
    studio.process()
    expect(page.locator("#upload-status")).to_have_text("Completed")
    expect(page.locator("#profile")).to_have_value("default")
    page.select_option("#profile", "archive")
    page.get_by_role("button", name="Process again").click()
    expect(page.locator("#upload-status")).to_have_text("Processing")
    expect(page.locator("#reprocess")).to_be_hidden()
    expect(page.locator("#segments")).to_contain_text("And the second one.")
    studio.process()
    expect(page.locator("#upload-status")).to_have_text("Completed")
    expect(page.locator("#profile")).to_have_value("archive")
    (upload_id,) = page.evaluate("JSON.parse(localStorage.getItem('reelworks.uploads'))")
    snapshot = studio.world.adapters.store.load(upload_id)
    assert snapshot
    assert (snapshot.upload.generation, snapshot.upload.profile) == (1, "archive")
    studio.world.adapters.raw.delete([snapshot.upload.object_key])
    page.get_by_role("button", name="Process again").click()
    expect(page.locator("#again-note")).to_contain_text("not kept any more")


def test_what_the_api_refuses_is_told_field_by_field(page: Page, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ada")
    page.set_input_files("#choose", letter)
    expect(page.locator("#notice-fields li")).to_contain_text(["The type must be the media type of the file"])
    expect(page.locator("#retry")).to_be_hidden()


def test_what_the_worker_refuses_is_told_in_its_words(page: Page, studio: Studio, clip: Path) -> None:
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-status")).to_have_text("Processing")
    studio.refuse("This file holds neither sound nor pictures.")
    expect(page.locator("#upload-status")).to_have_text("Failed")
    expect(page.locator("#notice-text")).to_have_text("This file holds neither sound nor pictures.")


def test_a_failed_put_is_sent_again_as_the_same_upload(page: Page, studio: Studio, clip: Path) -> None:
    sent = []

    def fail_once(route: object, request: object) -> None:
        sent.append(request)
        route.abort() if len(sent) == 1 else route.continue_()  # type: ignore[attr-defined]

    page.route(lambda url: "X-Amz-Signature" in url and "/uploads/" in url, fail_once)
    page.set_input_files("#choose", clip)
    expect(page.locator("#notice-title")).to_have_text("No connection")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#upload-status")).to_have_text("Processing")
    assert len(page.evaluate("JSON.parse(localStorage.getItem('reelworks.uploads'))")) == 1
    studio.process()
    expect(page.locator("#upload-status")).to_have_text("Completed")


def test_a_running_put_can_be_cancelled_and_begun_again(page: Page, studio: Studio, clip: Path) -> None:
    held = []

    def hold(route: object) -> None:
        held.append(route)
        if len(held) > 1:
            route.continue_()  # type: ignore[attr-defined]

    page.route(lambda url: "X-Amz-Signature" in url and "/uploads/" in url, hold)
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-status")).to_have_text("Uploading")
    page.get_by_role("button", name="Cancel upload").click()
    expect(page.locator("#upload-status")).to_have_text("Stopped")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#upload-status")).to_have_text("Processing")
    studio.process()


def test_everything_can_be_reached_with_the_keyboard(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the upload")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(page.locator("#choose")).to_be_focused()


def test_without_access_to_the_bucket_the_beginning_is_shown(page: Page, studio: Studio, clip: Path) -> None:
    page.route("**/transcript.json*", lambda route: route.abort())
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-status")).to_have_text("Processing")
    studio.process()
    expect(page.locator("#segments")).to_have_text("The <b>first</b> sentence.")


def test_transcripts_are_saved_under_the_name_of_the_file(page: Page, studio: Studio, clip: Path) -> None:
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-status")).to_have_text("Processing")
    studio.process()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save as VTT").click()
    assert saved.value.suggested_filename.startswith("talk")
    assert saved.value.suggested_filename.endswith(".vtt")
    assert Path(saved.value.path()).read_bytes() == VTT


def test_a_dropped_file_of_unknown_type_is_known_by_its_name(page: Page, studio: Studio) -> None:
    asked = []
    page.on(
        "request", lambda request: asked.append(request.post_data_json) if request.method == "POST" else None
    )
    page.evaluate(
        """() => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File(["x"], "holiday.MKV", { type: "" }));
            document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.locator("#upload-status")).to_have_text("Processing")
    assert asked == [{"fileName": "holiday.MKV", "contentType": "video/x-matroska", "sizeBytes": 1}]
    studio.refuse("x")


@pytest.mark.parametrize("width", [320, 768, 1440])
def test_nothing_sticks_out_at_any_width(page: Page, studio: Studio, clip: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.set_input_files("#choose", clip)
    expect(page.locator("#upload-status")).to_have_text("Processing")
    studio.process()
    expect(page.locator("#segments button")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
