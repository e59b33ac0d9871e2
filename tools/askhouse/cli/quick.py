"""A process that answers one question and ends: what it need not spend time on."""

from __future__ import annotations

import atexit
import gc
import os
import sys


class QuickExit:
    """Ends the process once all others have tidied up, without taking down thousands of modules one by one, which
    takes longer than the answer. Made at the start, since what is registered first runs last."""

    def __init__(self) -> None:
        self.code: int | None = None
        """The exit code; None where an exception ends the process, as Python does."""
        atexit.register(self)

    def __call__(self) -> None:
        if self.code is None:
            return
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:  # nobody reads any more
            self.code = self.code or 1
        os._exit(self.code)


def collect_nothing() -> None:
    """Let no cycles be looked for: loading makes many objects and no garbage, and the process ends soon."""
    gc.disable()
