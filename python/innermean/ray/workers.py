"""The workers of a fit, as the head sees them."""

from __future__ import annotations

import sys
from typing import Any

from innermean._arrays import Floats
from innermean.ray.folder import Folder, LeafLost, shares

__all__ = ["Workers"]


class Workers:
    """Actors of Ray that hold the leaves of a fit.

    A worker that dies is started again by Ray and loads its leaves anew; a pass is a function of
    theta alone, so that it is asked for again. Leaves of a worker that stays away go to the others.

    Parameters
    ----------
    count
        How many.
    threads
        Threads of each, and the CPUs that Ray sets aside for it.
    retries
        How often a leaf is asked for again within a pass before it counts as lost.
    options
        Of Ray's actors, such as ``{"resources": {...}}``.
    """

    def __init__(
        self,
        count: int = 2,
        *,
        threads: int = 1,
        retries: int = 3,
        options: dict[str, Any] | None = None,
    ) -> None:
        if count < 1 or threads < 1 or retries < 0:
            raise ValueError("workers: expected one or more, with one thread or more each")
        self.count, self.threads, self.retries = count, threads, retries
        self._options = options or {}
        self._actors: list[Any] = []
        self._shares: list[tuple[int, list[int]]] = []
        self._process: dict[int, int] = {}
        #: Passes so far, and how often a worker had to be started again.
        self.passes = self.restarts = 0

    @property
    def processes(self) -> list[int]:
        """The process of each worker that has answered."""
        return list(self._process.values())

    def start(self, folder: Folder, spec: dict[str, Any]) -> None:
        """Starts them; a local Ray where none runs."""
        import ray

        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
        self.stop()
        if "shard" in spec:
            # Workers need not find the module that it was written in.
            ray.cloudpickle.register_pickle_by_value(sys.modules[spec["shard"].__module__])
        self.passes = self.restarts = 0

        class Worker:
            """Thin, as Ray takes it along by value."""

            def __init__(self, folder: Any, spec: Any) -> None:
                from innermean.ray.holding import Holder

                self.holder = Holder(folder, spec)

            def pass_(self, leaves: Any, theta: Any, want: str) -> Any:
                from innermean.ray.holding import process

                return process(), self.holder.pass_(leaves, theta, want)

            def process(self) -> int:
                from innermean.ray.holding import process

                return process()

        options = {
            "num_cpus": self.threads,
            "max_restarts": -1,
            "max_task_retries": self.retries,
            "runtime_env": {"env_vars": {"RAYON_NUM_THREADS": str(self.threads)}},
            **self._options,
        }
        actor = ray.remote(Worker).options(**options)
        own = shares(len(folder.leaves), self.count)
        self._shares = list(enumerate(own))
        self._actors = [actor.remote(folder, spec) for _ in self._shares]

    def stop(self) -> None:
        """Stops them."""
        if self._actors:
            import ray

            for actor in self._actors:
                ray.kill(actor)
        self._actors, self._shares, self._process = [], [], {}

    def pass_(self, theta: Floats, want: str) -> list[Floats] | tuple[str, str]:
        """Partial sums of all leaves; or which one is lost, and why."""
        import ray
        from ray.exceptions import RayActorError, RayTaskError

        self.passes += 1
        there = ray.put(theta)
        ask = lambda k, leaves: self._actors[k].pass_.remote(leaves, there, want)  # noqa: E731
        waiting = {ask(k, leaves): (k, leaves, 0) for k, leaves in self._shares}
        found: list[Floats] = []
        while waiting:
            done, _ = ray.wait(list(waiting), num_returns=1, timeout=1.0)
            for answer in done:
                k, leaves, tries = waiting.pop(answer)
                try:
                    process, partial = ray.get(answer)
                except RayTaskError as error:
                    cause = error.cause
                    if not isinstance(cause, LeafLost):
                        raise
                    if tries >= self.retries:
                        return cause.part, cause.why
                    waiting[ask(k, leaves)] = (k, leaves, tries + 1)
                    continue
                except RayActorError as error:
                    if tries >= self.retries:
                        return _named(leaves), f"its worker is gone ({_first_line(error)})"
                    k = self._move(k, leaves)
                    waiting[ask(k, leaves)] = (k, leaves, tries + 1)
                    continue
                self.restarts += self._process.get(k, process) != process
                self._process[k] = process
                found.extend(partial)
        return found

    def _move(self, k: int, leaves: list[int]) -> int:
        """Gives leaves to another worker; who that is."""
        to = (k + 1) % len(self._actors)
        self._shares = [
            (to if worker == k and own == leaves else worker, own) for worker, own in self._shares
        ]
        return to


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _named(leaves: list[int]) -> str:
    return f"leaf {leaves[0]}" if len(leaves) == 1 else f"leaves {leaves[0]} to {leaves[-1]}"
