"""How many threads ffmpeg may use: the cgroup's CPU limit, not the host's core count."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

CGROUP_ROOT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def threads(*, concurrency: int, cpus: float | None = None) -> int:
    """Threads for each of `concurrency` tasks that run at once; at least one.

    Rounded up: 1.5 CPUs keep two threads busier than one, and a quota throttles, it does not fail.
    """
    return max(1, math.ceil((cpus or available_cpus()) / concurrency))


def available_cpus(root: Path = CGROUP_ROOT, membership: Path = MEMBERSHIP) -> float:
    """CPUs this process may use: the least of its cgroups' quotas and the cores it is allowed to run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = float(len(affinity(0)) if affinity else os.cpu_count() or 1)
    return min([cores, *quotas(root, _read(membership) or "")])


def quotas(root: Path, membership: str) -> Iterator[float]:
    """Every CPU quota from our cgroup up to the root, v1 and v2.

    `membership` is the content of /proc/self/cgroup: lines of `id:controllers:path` (cgroups(7)). In a
    container the path may name a directory of the host; then only the root exists here, and that is ours.
    """
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _walk((root, root / "unified"), path)
        elif "cpu" in controllers.split(","):
            yield from _walk((root / "cpu", root / controllers), path)


def _walk(mounts: tuple[Path, ...], path: str) -> Iterator[float]:
    relative = Path(path.lstrip("/"))
    for mount in mounts:
        for directory in (relative, *relative.parents):
            quota = _quota(mount / directory)
            if quota is not None:
                yield quota


def _quota(directory: Path) -> float | None:
    v2 = _read(directory / "cpu.max")
    if v2 is not None:
        return parse_quota(*v2.split())
    quota, period = _read(directory / "cpu.cfs_quota_us"), _read(directory / "cpu.cfs_period_us")
    return parse_quota(quota, period) if quota and period else None


def parse_quota(quota: str, period: str = "100000") -> float | None:
    """CPUs of `quota` µs in each `period` µs; `max` (v2) and -1 (v1) mean no limit: None."""
    try:
        cpus = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):
        return None
    return cpus if cpus > 0 else None


def _read(file: Path) -> str | None:
    try:
        return file.read_text().strip()
    except OSError:
        return None
