"""Crews that count seconds, hold leaves in this process, or let something happen to a worker."""

import os
import signal
import threading
import time

import innermean.ray as imr
import ray
from innermean.ray.holding import Holder


class Timed(imr.Workers):
    """Keeps the seconds of every pass, the first of which loads the leaves."""

    def start(self, folder, spec):
        self.seconds = []
        super().start(folder, spec)

    def pass_(self, theta, want):
        before = time.perf_counter()
        found = super().pass_(theta, want)
        self.seconds.append((want, time.perf_counter() - before))
        return found


class Here(Timed):
    """No worker: this process holds all leaves, and makes the passes with all its threads."""

    def __init__(self):
        super().__init__(1)

    def start(self, folder, spec):
        self.seconds = []
        self._holder, self._all = Holder(folder, spec), list(range(len(folder.leaves)))
        self.passes = self.restarts = 0

    def stop(self):
        self._holder = None

    def pass_(self, theta, want):
        self.passes += 1
        before = time.perf_counter()
        found = self._holder.pass_(self._all, theta, want)
        self.seconds.append((want, time.perf_counter() - before))
        return found


class Struck(imr.Workers):
    """Something happens to the process of a worker as soon as pass number `at` has begun."""

    def __init__(self, at, strike, count=2):
        super().__init__(count)
        self.at, self.strike = at, strike

    def pass_(self, theta, want):
        if self.passes != self.at:
            return super().pass_(theta, want)
        process = ray.get(self._actors[0].process.remote())
        # While the pass is being made.
        later = threading.Timer(0.01, self.strike, [process])
        later.start()
        try:
            return super().pass_(theta, want)
        finally:
            later.join()


def kill(process):
    """For good."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop_for(seconds):
    """A process that stands still for so long."""

    def strike(process):
        os.kill(process, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(process, signal.SIGCONT)

    return strike
