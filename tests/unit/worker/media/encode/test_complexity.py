"""How hard pictures are to encode: what ffmpeg measures of real files, and what is made of its numbers."""

from fractions import Fraction
from pathlib import Path

import pytest
from msgspec import structs

from reelworks.domain import timeline
from reelworks.domain.per_title import Complexity, fitted
from reelworks.domain.plan import Rung, VideoPlan
from reelworks.errors import Interrupted, ReelworksError
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from tests.unit.worker.media.encode.builders import job as made_job
from tests.unit.worker.media.encode.builders import report, video
from worker.media.audio import MediaFile
from worker.media.encode import complexity
from worker.media.encode.transcoder import Transcoding
from worker.media.engine import MediaEngine
from worker.media.probe import probe

DETAIL = "mandelbrot=size=640x360:rate=12:end_scale=0.05,trim=duration=10"
SOFT = "mandelbrot=size=160x90:rate=12:end_scale=0.05,trim=duration=10,scale=640:360:flags=bicubic"
NOISE = "nullsrc=size=640x360:rate=12:d=10,geq=random(1)*255:128:128"
STILL = "testsrc2=size=640x360:rate=12:d=10,loop=loop=-1:size=1,trim=duration=10"


def ladder(frames: int = 120, rate: str = "12") -> VideoPlan:
    sizes = ((160, 90), (320, 180), (640, 360))
    rungs = tuple(Rung(name=str(h), width=w, height=h, crf=23) for w, h in sizes)
    whole = timeline.grid(rate, round(1000 * frames / Fraction(rate)), 4)
    return VideoPlan(rungs=rungs, grid=whole, preset="fast")


def job(path: Path, folder: Path, engine: MediaEngine, cancellation: Cancellation) -> Transcoding:
    found = probe(path, engine=engine, cancellation=cancellation)
    return Transcoding(
        file=MediaFile(path=path, report=found), directory=folder, engine=engine, cancellation=cancellation
    )


def measured(path: Path, folder: Path, engine: MediaEngine) -> Complexity:
    found = complexity.measure(job(path, folder, engine, Cancellation()), ladder())
    assert found
    assert [rung.name for rung in found.rungs] == ["90", "180", "360"]
    assert len(found.losses) == 2
    assert not list(folder.iterdir())
    return found


def dropped(found: Complexity) -> set[str]:
    return {rung.name for rung in ladder().rungs} - {rung.name for rung in fitted(ladder(), found).rungs}


def test_detail_keeps_every_rung_and_soft_pictures_do_not(
    samples: Samples, tmp_path: Path, engine: MediaEngine
) -> None:
    detail = measured(samples.h264("detail.mp4", DETAIL, "-crf", "5"), tmp_path, engine)
    soft = measured(samples.h264("soft.mp4", SOFT, "-crf", "5"), tmp_path, engine)
    assert dropped(detail) == set()
    assert dropped(soft) == {"360"}
    assert soft.losses[1] < detail.losses[1] / 4


def test_busy_pictures_need_more_than_still_ones(
    samples: Samples, tmp_path: Path, engine: MediaEngine
) -> None:
    noise = measured(samples.h264("noise.mp4", NOISE, "-crf", "20"), tmp_path, engine)
    detail = measured(samples.h264("detail.mp4", DETAIL, "-crf", "5"), tmp_path, engine)
    still = measured(samples.h264("still.mp4", STILL, "-crf", "10"), tmp_path, engine)
    for more, some, least in zip(noise.rungs, detail.rungs, still.rungs, strict=True):
        assert more.kbps > 2 * some.kbps
        assert some.kbps > 1.5 * least.kbps


@pytest.mark.parametrize("extension", ["mkv", "ts", "mpg"])
def test_formats_without_an_index_are_measured_too(
    samples: Samples, tmp_path: Path, engine: MediaEngine, extension: str
) -> None:
    detail = samples.h264("detail.mp4", DETAIL, "-crf", "5")
    codec = ("libx264", "-crf", "5") if extension != "mpg" else ("mpeg2video", "-q:v", "2", "-r", "25")
    found = measured(
        samples.encoded(f"detail.{extension}", "-i", detail, "-g", "24", "-c:v", *codec), tmp_path, engine
    )
    assert all(rung.kbps > 0 and rung.error > 0 for rung in found.rungs)


def test_what_is_turned_interlaced_or_bright_is_measured_as_it_is_shown(
    samples: Samples, tmp_path: Path, engine: MediaEngine
) -> None:
    for path in (
        samples.turned("-display_rotation", "90", name="turned.mp4"),
        samples.interlaced(),
        samples.hdr(),
    ):
        work = job(path, tmp_path, engine, Cancellation())
        picture = work.file.report.picture
        assert picture
        plan = ladder(frames=24)
        sample = complexity._sample(work, plan, picture, Fraction(0), 0.5)
        assert all(len(frames) >= 2 for frames in sample.frames), path.name
        assert all(sample.losses), path.name


def test_the_picture_is_sampled_all_over_but_never_much_of_it() -> None:
    for seconds in (1, 7, 9, 60, 200, 3_600):
        found = list(complexity.moments(ladder(frames=12 * seconds)))
        assert sum(length for _, length in found) <= min(8, 0.05 * seconds) + 1e-9
        assert all(0 <= start < start + Fraction(length) <= seconds for start, length in found)
        assert len(found) == {1: 0, 7: 0, 9: 1, 60: 2, 200: 4, 3_600: 4}[seconds]


def test_a_file_that_cannot_be_decoded_says_so(tmp_path: Path, engine: MediaEngine) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"nothing")
    folder = tmp_path / "scratch"
    folder.mkdir()
    work = Transcoding(
        file=MediaFile(path=broken, report=report(video())),
        directory=folder,
        engine=engine,
        cancellation=Cancellation(),
    )
    with pytest.raises(ReelworksError):
        complexity.measure(work, ladder())


def test_stopping_stops_it(samples: Samples, tmp_path: Path, engine: MediaEngine) -> None:
    stopped = Cancellation()
    work = job(samples.h264("detail.mp4", DETAIL, "-crf", "5"), tmp_path, engine, stopped)
    stopped.cancel(Interrupted("stop"))
    with pytest.raises(Interrupted):
        complexity.measure(work, ladder())


def test_ffmpegs_numbers(tmp_path: Path) -> None:
    (tmp_path / complexity.STATISTICS).write_text(
        "out=  0 st=  0 frame=     0 q= 24.0 PSNR=  40.00 f_size=   1000 s_size=        0KiB time= 0.010 type= I\n"
        "out=  0 st=  0 frame=     1 q= 24.0 PSNR=    inf f_size=    100 s_size=        1KiB time= 0.040 type= P\n"
        "out=  1 st=  0 frame=     0 q= -0.0 f_size=    424 s_size=        0KiB time= 0.010 type= ?\n"
        "rubbish\n"
    )
    work = structs.replace(made_job(), directory=tmp_path)
    one, other, _ = complexity._frames(work, ladder())
    assert [(f.size_bytes, round(f.error, 2), f.key) for f in one] == [(1000, 6.5, True), (100, 0.0, False)]
    assert other == ()


def test_a_group_of_pictures_counts_its_keyframe_once() -> None:
    frames = tuple(complexity._Frame(size_bytes=n, error=1, key=n > 500) for n in (1000, 100, 100))
    plan = ladder()
    group = (1000 + (plan.grid.gop_frames - 1) * 100) / plan.grid.gop_frames
    sample = complexity._Sample(frames=(frames,) * 3, losses=((1.0,),) * 2)
    found = complexity.summarised(plan, [sample])
    assert found
    assert found.rungs[0].kbps == pytest.approx(group * 12 * 8 / 1000)
    assert complexity.summarised(plan, []) is None
