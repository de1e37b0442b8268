"""What the media engine costs, as ratios: `python -m tests.bench.media` prints one JSON object.

Each round runs every contender once, one after the other, so that a machine that slows down slows all of them; figures
are medians over the rounds. Ours is a real worker process on an emulator of AWS, from the announcement to COMPLETED.

`task_over_bare`: a video task, from its claim to its written row, with download and upload, over one ffmpeg from a
local file with the same outputs. `naive_over_ours_*`: thumbnail, preview and three MP4 by five processes, each with its
own download and upload, over the whole of ours, which makes streams and storyboards as well. `chunked_cpu`: eight
chunks over one. `two_workers_wall`: two workers with a core each over one. `playable_over_complete`: until the growing
playlist of the eight chunks plays, over until all is done. `worker_rss_mb`: the most a worker ever held, without its
ffmpeg.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import httpx

from reelworks.domain.instants import SECOND_MS
from reelworks.domain.options import Options
from reelworks.domain.plan import VideoPlan
from reelworks.domain.upload import UploadStatus
from reelworks.runtime import logging
from reelworks.runtime.cancellation import Cancellation
from reelworks.runtime.settings import Log
from tests.integration.pipeline import Pipeline
from tests.media.samples import Samples
from tests.processes import Service, running
from tests.servers import running_ministack
from tests.world import make_world
from upload_api.responses import UploadView
from worker.media.encode.encoders import Encoder, options
from worker.media.tools import Tools, find_tools

PATIENCE_S = 3_600.0
ASK_EVERY_S = 0.5
"""Each answer costs the emulator and the API some 30 ms of the cores that are to be measured."""
WHOLE_S = 100_000
"""No clip is longer, so none is cut into chunks."""
CHUNKS = 8
VIDEO_SECONDS = r'reelworks_task_duration_seconds_sum\{[^}]*kind="video"[^}]*\}'
LADDER = Options(captions=False, per_title=False, mp4=(360, 720, 1080))
CHUNKED = Options(per_title=False, captions=False, pictures=False, preview=False, mp4=())


@dataclass
class Run:
    """Of one upload: seconds until it played and until it was done, CPU seconds of the workers, and its plan."""

    playable_s: float
    wall_s: float
    cpu_s: float
    task_s: float
    rss_mb: float
    plan: VideoPlan


@dataclass
class Bench:
    """`figures`: every value measured, by name."""

    endpoint: str
    folder: Path
    figures: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _runs: int = 0

    def __post_init__(self) -> None:
        self.tools: Tools = find_tools()
        self.samples = Samples(self.folder, self.tools)

    def clip(self, seconds: int, size: str) -> Path:
        """As phones make them: much detail, a pan that never rests, some grain; H.264 High at 17 Mbit/s for 1080p. It
        takes as long to make as one of the contenders.
        """
        width, height = map(int, size.split("x"))
        larger = f"{width * 3 // 2}x{height * 3 // 2}"
        picture = (
            f"mandelbrot=s={larger}:r=25:start_scale=0.6:end_scale=0.6,trim=end_frame=1,loop=-1:1:0,setpts=N/25/TB,"
            f"trim=duration={seconds},format=yuv420p,"
            f"crop={width}:{height}:x='{width // 4}*(1+sin(t/3))':y='{height // 4}*(1+sin(t/2))',"
            "gblur=sigma=0.7,noise=alls=3:allf=t"
        )
        sources = ("-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", f"sine=d={seconds}")
        rate = f"{round(17_000 * width * height / (1920 * 1080))}k"
        codecs = ("-c:v", "libx264", "-preset", "fast", "-b:v", rate, "-g", "50", "-c:a", "aac")

        def make(path: Path) -> None:
            self._timed(*sources, *codecs, "-movflags", "+faststart", str(path))

        return self.samples.made(f"bench-{size}-{seconds}.mp4", make)

    def ours(
        self, clip: Path, wanted: Options, *, cores: Sequence[int | None] = (None,), chunk_s: int = WHOLE_S
    ) -> Run:
        """A fresh installation with a worker for each of `cores`, and one upload."""
        self._runs += 1
        place = self.folder / f"run-{self._runs}"
        pipeline = Pipeline(make_world(self.endpoint, place / "own"))
        settings = {
            "worker_slots": 1,
            "media_chunk_above_s": chunk_s,
            "media_chunk_s": chunk_s,
            "log_level": "info",
        }
        with ExitStack() as stack:
            workers = [
                stack.enter_context(
                    running(
                        pipeline.world,
                        "worker",
                        place / str(number),
                        core=core,
                        worker_scratch_dir=place / f"scratch-{number}",
                        **settings,
                    )
                )
                for number, core in enumerate(cores)
            ]
            return self._upload(pipeline, workers, clip, wanted)

    def _upload(self, pipeline: Pipeline, workers: list[Service], clip: Path, wanted: Options) -> Run:
        used = sum(worker.cpu_s() for worker in workers)
        begun = time.monotonic()
        upload = pipeline.announce(clip, profile="default", options=wanted)
        playable = None
        while time.monotonic() < begun + PATIENCE_S:
            report = pipeline.report(upload)
            if playable is None and UploadView.of(report).playback is not None:
                playable = time.monotonic() - begun
            if report.snapshot.upload.status is UploadStatus.COMPLETED:
                break
            if report.snapshot.upload.status is UploadStatus.FAILED:
                raise SystemExit(f"The upload failed: {report.snapshot.upload.failure}")
            Cancellation().wait(ASK_EVERY_S)
        ended = report.snapshot.upload
        wall = ((ended.finished_at or 0) - ended.created_at) / SECOND_MS
        plan = ended.plan
        assert plan
        assert plan.video
        return Run(
            playable_s=playable or wall,
            wall_s=wall,
            cpu_s=sum(worker.cpu_s() for worker in workers) - used,
            task_s=sum(
                worker.metric(r'reelworks_task_duration_seconds_sum{[^}]*kind="video"[^}]*}')
                for worker in workers
            ),
            rss_mb=max(worker.peak_memory_mb() for worker in workers),
            plan=plan.video,
        )

    def bare(self, clip: Path, plan: VideoPlan) -> float:
        """One ffmpeg, written by hand; seconds."""
        split = "".join(f"[s{number}]" for number in range(len(plan.rungs)))
        graph = [f"[0:v]split={len(plan.rungs)}{split}"]
        outputs: list[str] = []
        for number, rung in enumerate(plan.rungs):
            folder = self.folder / "bare" / rung.name
            folder.mkdir(parents=True, exist_ok=True)
            graph.append(f"[s{number}]scale={rung.width}:{rung.height},format=yuv420p[v{number}]")
            outputs += ["-map", f"[v{number}]", *options(Encoder.X264, plan, rung), "-f", "hls"]
            outputs += ["-hls_time", str(float(plan.grid.segment_frames / plan.grid.fps))]
            outputs += ["-hls_playlist_type", "vod", "-hls_segment_type", "fmp4", str(folder / "list.m3u8")]
        return self._timed("-i", str(clip), "-filter_complex", ";".join(graph), *outputs)

    def naive(self, clip: Path, plan: VideoPlan) -> float:
        """Five times: download, one ffmpeg, upload; seconds."""
        base = f"{self.endpoint}/naive"
        httpx.put(base, trust_env=False)
        httpx.put(f"{base}/source", content=clip.read_bytes(), trust_env=False, timeout=60).raise_for_status()
        smallest = plan.rungs[0]
        sound = ("-c:a", "aac", "-b:a", "128k", "-movflags", "+faststart")
        jobs: dict[str, tuple[str, ...]] = {
            "thumbnail.jpg": ("-vf", "thumbnail,scale=640:-2", "-frames:v", "1"),
            "preview.mp4": ("-t", "10", *_scaled(smallest.width, smallest.height, plan), *sound),
        }
        for rung in plan.rungs:
            jobs[f"{rung.name}.mp4"] = (*_scaled(rung.width, rung.height, plan), *sound)
        begun = time.monotonic()
        for name, arguments in jobs.items():
            source, made = self.folder / "naive-source.mp4", self.folder / f"naive-{name}"
            got = httpx.get(f"{base}/source", trust_env=False, timeout=60).raise_for_status()
            source.write_bytes(got.content)
            self._timed("-i", str(source), *arguments, str(made))
            kept = httpx.put(f"{base}/{name}", content=made.read_bytes(), trust_env=False, timeout=60)
            kept.raise_for_status()
        return time.monotonic() - begun

    def _timed(self, *arguments: str) -> float:
        begun = time.monotonic()
        subprocess.run([self.tools.ffmpeg, "-v", "error", "-nostdin", "-y", *arguments], check=True)
        return time.monotonic() - begun

    # Rounds

    def ladder(self, seconds: int, size: str) -> None:
        """Ours, bare and naive."""
        clip = self.clip(seconds, size)
        ours = self.ours(clip, LADDER)
        bare, naive = self.bare(clip, ours.plan), self.naive(clip, ours.plan)
        self.note(f"ours_{seconds}s_wall_s", ours.wall_s)
        self.note(f"naive_over_ours_{seconds}s", naive / ours.wall_s)
        self.note(f"task_over_bare_{seconds}s", ours.task_s / bare)
        self.note("worker_rss_mb", ours.rss_mb)

    def chunks(self, seconds: int, size: str) -> None:
        """On one core; then on two with a worker each."""
        clip = self.clip(seconds, size)
        whole = self.ours(clip, CHUNKED, cores=(0,))
        one = self.ours(clip, CHUNKED, cores=(0,), chunk_s=seconds // CHUNKS)
        two = self.ours(clip, CHUNKED, cores=(0, 1), chunk_s=seconds // CHUNKS)
        self.note("chunked_cpu", one.cpu_s / whole.cpu_s)
        self.note("two_workers_wall", two.wall_s / one.wall_s)
        self.note("playable_over_complete", one.playable_s / one.wall_s)
        self.note("worker_rss_mb", max(run.rss_mb for run in (whole, one, two)))

    def note(self, name: str, value: float) -> None:
        self.figures[name].append(value)
        print(f"{name} {value:.3f}", file=sys.stderr, flush=True)  # noqa: T201 - progress; stdout has the JSON


def _scaled(width: int, height: int, plan: VideoPlan) -> tuple[str, ...]:
    crf = str(plan.rungs[0].crf)
    return ("-vf", f"scale={width}:{height}", "-c:v", "libx264", "-preset", plan.preset, "-crf", crf)


def main(arguments: Sequence[str] | None = None) -> dict[str, object]:
    parser = argparse.ArgumentParser(prog="tests.bench.media", description="What the media engine costs.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=60, help="seconds of the long clip")
    parser.add_argument("--short", type=int, default=10, help="seconds of the short clip")
    parser.add_argument("--chunked", type=int, default=64, help="seconds of the clip of eight chunks")
    parser.add_argument("--size", default="1920x1080", help="of the long and the short clip")
    parser.add_argument("--chunked-size", default="1280x720", help="of the clip of eight chunks")
    chosen = parser.parse_args(arguments)
    logging.configure(Log(level="warning"), "bench")
    with tempfile.TemporaryDirectory(prefix="reelworks-bench-") as name:
        folder = Path(name)
        with running_ministack(folder) as endpoint:
            bench = Bench(endpoint, folder)
            for _ in range(chosen.rounds):
                bench.ladder(chosen.short, chosen.size)
                bench.chunks(chosen.chunked, chosen.chunked_size)
                bench.ladder(chosen.long, chosen.size)
    figures: dict[str, object] = {name: round(median(values), 3) for name, values in bench.figures.items()}
    figures |= {"rounds": chosen.rounds, "task_over_bare": figures[f"task_over_bare_{chosen.long}s"]}
    return figures


if __name__ == "__main__":
    print(json.dumps(main()))  # noqa: T201 - this is what it is for
