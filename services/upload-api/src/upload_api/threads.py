"""The threads that requests wait for AWS in, and what becomes of them when the process ends.

Left to asyncio, there would be five of them on a small pod, and the process could not end before the last one did: a
call to a store that hangs takes up to a minute.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from litestar.concurrency import set_asyncio_executor

SIZE = 40
"""They only wait. Below the 50 sockets that each AWS client keeps."""
NAME = "request"
PATIENCE_S = 0.5
"""For idle threads to end, which takes them no time."""


def install() -> ThreadPoolExecutor:
    """For the whole process: from now on Litestar's synchronous handlers run here."""
    executor = ThreadPoolExecutor(SIZE, thread_name_prefix=NAME)
    set_asyncio_executor(executor)
    return executor


def release(executor: ThreadPoolExecutor) -> int:
    """End the idle ones and tell how many are still busy. Their clients are gone already."""
    executor.shutdown(wait=False, cancel_futures=True)
    set_asyncio_executor(None)
    end = time.monotonic() + PATIENCE_S
    busy = [thread for thread in threading.enumerate() if thread.name.startswith(f"{NAME}_")]
    for thread in busy:
        thread.join(max(end - time.monotonic(), 0))
    return sum(thread.is_alive() for thread in busy)
