"""scikit-learn's callbacks, of versions that have them: a task for each evaluation of a run."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """There are none."""

    def with_callbacks(method: Any) -> Any:  # type: ignore[no-redef]
        """The method itself."""
        return method


__all__ = ["CallbackSupportMixin", "onlooker", "with_callbacks"]


class _Onlooker:
    """Tells callbacks of evaluations, and stops where one of them says so."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._root = estimator._init_callback_context(max_subtasks=None)
        self._root.call_on_fit_task_begin(estimator=estimator)

    def __call__(self, record: Any) -> bool:
        if record.calls == 0 and record.outer == 0:  # the start is no iteration
            return False
        task = self._root.subcontext(task_name="evaluation")
        task.call_on_fit_task_begin(estimator=self._estimator)
        return bool(task.call_on_fit_task_end(estimator=self._estimator))

    def close(self) -> None:
        """The fit has ended."""
        self._root.call_on_fit_task_end(estimator=self._estimator)


def onlooker(estimator: Any) -> _Onlooker | None:
    """What a run tells of its evaluations, where the estimator has callbacks."""
    return _Onlooker(estimator) if getattr(estimator, "_skl_callbacks", None) else None
