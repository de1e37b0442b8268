"""What can be played of an upload that is still being encoded."""

import pytest
from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import MediaSummary, make_plan
from reelworks.domain.profile import DEFAULT, Profile
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import TaskStatus
from reelworks.domain.timeline import Chunking
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.streaming import growing, playlist
from reelworks.streaming.manifest import Manifest
from tests.unit.core.streaming.builders import chunk, pictures, sound

KEY = "processed/u/1/growing/720/playlist.m3u8"
CHUNKS = 4
MEDIA = MediaSummary(
    format="mov",
    has_audio=True,
    has_video=True,
    duration_ms=CHUNKS * 8_008,
    picture_ms=CHUNKS * 8_008,
    width=1280,
    height=720,
    frame_rate="30000/1001",
)
PLAN = make_plan(MEDIA, DEFAULT, Chunking(above_s=1, length_s=8))
SOUND = Manifest(task="audio", renditions=sound().parts)


def snapshot(
    *done: str, status: UploadStatus = UploadStatus.PROCESSING, media: Profile = DEFAULT
) -> Snapshot:
    plan = make_plan(MEDIA, media, Chunking(above_s=1, length_s=8))
    upload = Upload(
        upload_id="1",
        user_id="u",
        file_name="a.mp4",
        object_key="uploads/u/1/a.mp4",
        content_type="video/mp4",
        size_bytes=1,
        status=status,
        plan=plan,
        created_at=0,
        updated_at=0,
        expires_at=0,
    )
    rows = {spec.name: tasks.planned(spec, "1", 0) for spec in plan.tasks}
    for name in done:
        outputs = Outputs(prefix=f"processed/u/1/tasks/{name}/t/")
        rows[name] = structs.replace(rows[name], status=TaskStatus.DONE, outputs=outputs)
    return Snapshot(upload=upload, tasks=rows)


def test_the_plan_has_the_chunks_these_tests_speak_of() -> None:
    assert PLAN.video is not None
    assert (PLAN.video.grid.chunks, PLAN.video.grid.segment_frames) == (CHUNKS, 120)


@pytest.mark.parametrize(
    ("done", "chunks"),
    [
        ((), None),
        (("video-000",), None),
        (("audio",), None),
        (("audio", "video-001"), None),
        (("audio", "video-000"), 1),
        (("audio", "video-000", "video-002", "video-003"), 1),
        (("audio", "video-000", "video-001"), 2),
        (("audio", "video-000", "video-001", "video-002", "video-003"), 4),
    ],
)
def test_only_what_has_no_gap_before_it_is_played(done: tuple[str, ...], chunks: int | None) -> None:
    found = growing.committed(snapshot(*done))
    assert (len(found.chunks) if found else None) == chunks
    assert found is None or found.whole == (chunks == CHUNKS)


@pytest.mark.parametrize("status", sorted(set(UploadStatus) - {UploadStatus.PROCESSING}))
def test_nothing_grows_that_is_over(status: UploadStatus) -> None:
    assert growing.committed(snapshot("audio", "video-000", status=status)) is None


def test_a_picture_without_sound_waits_for_none() -> None:
    silent = structs.replace(DEFAULT, stream_audio=False)
    found = growing.committed(snapshot("video-000", media=silent))
    assert found is not None
    assert found.sound is None


def grown(count: int, name: str = "720") -> str:
    manifests = [Manifest(task=f"video-{n:03d}", renditions=(chunk(n),)) for n in range(count)]
    whole = count == CHUNKS
    show = growing.presentation(PLAN.video, manifests, SOUND, whole=whole)
    assert show is not None
    text = growing.media_playlist(show, name, KEY, whole=whole)
    assert text is not None
    return text


@pytest.mark.parametrize("name", ["720", "audio"])
def test_a_growing_playlist_only_gets_longer(name: str) -> None:
    """Byte by byte, but for the type and the end that the whole one has."""
    texts = [grown(count, name) for count in range(1, CHUNKS + 1)]
    final = texts.pop().replace("TYPE:VOD", "TYPE:EVENT")
    assert final.endswith("#EXT-X-ENDLIST\n")
    for shorter, longer in zip(texts, [*texts[1:], final], strict=True):
        assert longer.startswith(shorter)
        assert "ENDLIST" not in shorter


def test_it_becomes_what_is_packaged() -> None:
    whole = pictures(*[chunk(n) for n in range(CHUNKS)])
    target = playlist.target_duration((*whole.durations, *sound().durations))
    assert grown(CHUNKS) == playlist.write(whole, KEY, target)


def test_sound_lasts_as_long_as_the_pictures() -> None:
    entries = playlist.parse(grown(1, "audio")).entries
    assert sum(entry.seconds for entry in entries[:-1]) < 8.008 <= sum(entry.seconds for entry in entries)


def test_a_last_chunk_behind_the_end_adds_nothing() -> None:
    first = [Manifest(task="video-000", renditions=(chunk(0),))]
    with_empty = [*first, Manifest(task="video-001")]
    one = growing.presentation(PLAN.video, first, SOUND, whole=False)
    assert one == growing.presentation(PLAN.video, with_empty, SOUND, whole=False)


def test_chunks_without_pictures_are_no_stream() -> None:
    assert growing.presentation(PLAN.video, [Manifest(task="video-000")], SOUND, whole=False) is None


def test_sound_alone_is_a_stream() -> None:
    show = growing.presentation(None, [], SOUND, whole=True)
    assert show is not None
    assert growing.media_playlist(show, "audio", KEY, whole=True) is not None
    assert growing.media_playlist(show, "720", KEY, whole=True) is None
