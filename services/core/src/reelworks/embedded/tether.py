"""`python -m reelworks.embedded.tether MODULE`: as `python -m MODULE`, but it ends when the stack is gone.

The stack holds the other end of this process's stdin and never writes to it. However the stack ends, SIGKILL
included, the kernel closes that end, and the read below returns. Chosen over Linux's PR_SET_PDEATHSIG, because that
fires when the *thread* that started the child ends, has to be set between fork and exec, where Python code is not
safe beside other threads, and exists on Linux only. A pipe works everywhere, and lets a worker hand its task on.
"""

import os
import runpy
import signal
import sys
import threading
import time

GRACE_S = 15.0
"""From SIGTERM to SIGKILL. Nobody is left to wait, but nothing may stay for ever either."""


def main() -> None:
    """Run the module named by the first argument; the rest is its own."""
    module = sys.argv.pop(1)
    threading.Thread(target=_end_with_the_stack, name="tether", daemon=True).start()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_the_stack() -> None:
    try:
        while os.read(0, 1024):
            pass
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_S)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
