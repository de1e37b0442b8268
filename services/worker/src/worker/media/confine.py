"""What the operating system does for us around a child process, on Linux; elsewhere these degrade to nothing."""

import shutil
import sys
from pathlib import Path

if sys.platform == "linux":
    import resource


def death_guard() -> tuple[str, ...]:
    """A command prefix with which a child dies when the worker is SIGKILLed, or () where there is none.

    Chosen: `setpriv --pdeathsig KILL` (util-linux ≥ 2.33, essential in Debian), which calls
    prctl(PR_SET_PDEATHSIG) in the child and then *becomes* the program, so pid and exit code are the program's.
    A `preexec_fn` would do the same but runs Python between fork and exec, which can deadlock when other
    threads hold locks, and costs vfork. The kernel fires the signal when the forking *thread* ends
    (prctl(2)); `Runner.run` forks and waits in one thread, so that thread outlives the child or the whole
    worker is gone. Not covered: a worker killed in the millisecond before setpriv has made its call.

    `--no-new-privs` comes free: nothing that a taken-over decoder executes can gain privileges.
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    # BusyBox has an applet of that name without --pdeathsig.
    if setpriv is None or Path(setpriv).resolve().name == "busybox":
        return ()
    return (setpriv, "--pdeathsig", "KILL", "--no-new-privs", "--")


def limit_resources(pid: int, max_file_bytes: int | None) -> None:
    """No core dumps in the scratch directory, and a kernel limit on the size of each file written.

    Set from outside right after the start, for want of a thread-safe way inside: the child needs longer than
    that to open its input, let alone to write anything.
    """
    if sys.platform != "linux":
        return
    try:
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        if max_file_bytes is not None:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (max_file_bytes, max_file_bytes))
    except ProcessLookupError:
        return
