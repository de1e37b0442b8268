"""The benchmark runs to its end and prints one JSON object; what its figures are is not for a test to say."""

import json
import subprocess
import sys

TINY = "--rounds 1 --long 2 --short 1 --chunked 8 --size 320x180 --chunked-size 160x90"
FIGURES = {
    "task_over_bare",
    "naive_over_ours_2s",
    "naive_over_ours_1s",
    "chunked_cpu",
    "two_workers_wall",
    "playable_over_complete",
    "worker_rss_mb",
}


def test_prints_every_figure() -> None:
    command = [sys.executable, "-m", "tests.bench.media", *TINY.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    figures = json.loads(done.stdout)
    assert set(figures) >= FIGURES
    assert all(figures[name] > 0 for name in FIGURES)
