"""CPU limits from trees of files as kernels show them."""

import os
from pathlib import Path

import pytest

from worker.media.cpu import available_cpus, parse_quota, quotas, threads


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content + "\n")
    return root


V1 = "12:pids:/x\n4:cpu,cpuacct:/kubepods/pod1/abc\n"


@pytest.mark.parametrize(
    ("files", "membership", "expected"),
    [
        ({"cpu.max": "150000 100000"}, "0::/", [1.5]),
        ({"cpu.max": "max 100000"}, "0::/", []),
        # The limit of an outer group holds too: systemd slices, nested pods.
        ({"a/b/cpu.max": "400000 100000", "a/cpu.max": "200000 100000"}, "0::/a/b", [4.0, 2.0]),
        # In a container the path names a directory of the host.
        ({"cpu.max": "50000 100000"}, "0::/kubepods/pod1/abc", [0.5]),
        ({"cpu,cpuacct/cpu.cfs_quota_us": "300000", "cpu,cpuacct/cpu.cfs_period_us": "100000"}, V1, [3.0]),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, V1, []),
        ({}, "0::/", []),
        ({}, "", []),
    ],
)
def test_quotas_are_found(
    tmp_path: Path, files: dict[str, str], membership: str, expected: list[float]
) -> None:
    assert list(quotas(tree(tmp_path, files), membership)) == expected


def test_the_least_limit_counts(tmp_path: Path) -> None:
    membership = tmp_path / "membership"
    membership.write_text("0::/\n")

    assert available_cpus(tree(tmp_path, {"cpu.max": "10000 100000"}), membership) == 0.1


def test_without_cgroups_the_allowed_cores_count(tmp_path: Path) -> None:
    assert available_cpus(tmp_path, tmp_path / "none") == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("quota", "period", "cpus"),
    [
        ("max", "100000", None),
        ("-1", "100000", None),
        ("1", "0", None),
        ("junk", "1", None),
        ("50", "100", 0.5),
    ],
)
def test_a_quota_is_a_share_of_its_period(quota: str, period: str, cpus: float | None) -> None:
    assert parse_quota(quota, period) == cpus


@pytest.mark.parametrize(
    ("cpus", "concurrency", "expected"), [(8.0, 1, 8), (8.0, 4, 2), (1.5, 1, 2), (0.1, 1, 1), (2.0, 8, 1)]
)
def test_threads_are_shared_among_tasks(cpus: float, concurrency: int, expected: int) -> None:
    assert threads(concurrency=concurrency, cpus=cpus) == expected
