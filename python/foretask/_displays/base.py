"""What the pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._forecast import Forecast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .._classifier import MultiTaskClassifier


#: Points of a curve: one for every two pixels or so.
POINTS = 400


class Display:
    """What all displays share: the axes they were drawn on."""

    ax_: Axes
    figure_: Figure

    def _on(self, ax: Axes | None) -> Axes:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'foretask[plot]'") from error
        if ax is None:
            _, ax = plt.subplots()
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return ax


def only(found: Any) -> Any:
    """Return the result of the one target that a picture is of."""
    if isinstance(found, dict):
        known = ", ".join(repr(task) for task in found)
        raise ValueError(f"there are several targets; give target, one of: {known}")
    return found


def forecast_of(estimator: MultiTaskClassifier, task: Any) -> Forecast:
    check_is_fitted(estimator)
    told = estimator.forecast_
    if isinstance(told, dict):
        if task is None or np.ndim(task) > 0:
            known = ", ".join(repr(name) for name in told)
            raise ValueError(f"there are several targets; give task, one of: {known}")
        estimator._model_of(task)
        return next(found for name, found in told.items() if name == task)
    return told


def with_target(estimator: MultiTaskClassifier, target: Any) -> dict[str, Any]:
    """Return the parameters of an estimator, for another target if one is named."""
    params = estimator.get_params(deep=False)
    if target is not None:
        params["target"] = target
    return params
