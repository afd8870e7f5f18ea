"""Expected receiver operating characteristic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from .._functions import forecast
from .base import POINTS, Display, forecast_of, only

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._classifier import MultiTaskClassifier


class RocForecastDisplay(Display):
    """Expected receiver operating characteristic, with measured points.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        Expected shares of the negative and of the positive class that raise an alarm.
    measured_fpr, measured_tpr : ndarray, default=None
        The same, measured.
    pos_label : object, default=None
        The positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    line_ : matplotlib Line2D
        The expected curve.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import RocForecastDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = RocForecastDisplay.from_data(X[:200], y[:200])
    >>> display.ax_.get_xlabel()
    'false alarms'
    """

    def __init__(
        self,
        fpr: NDArray[np.float64],
        tpr: NDArray[np.float64],
        measured_fpr: NDArray[np.float64] | None = None,
        measured_tpr: NDArray[np.float64] | None = None,
        pos_label: Any = None,
    ) -> None:
        self.fpr = fpr
        self.tpr = tpr
        self.measured_fpr = measured_fpr
        self.measured_tpr = measured_tpr
        self.pos_label = pos_label

    def plot(self, ax: Axes | None = None) -> RocForecastDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        RocForecastDisplay
            Itself.
        """
        ax = self._on(ax)
        (self.line_,) = ax.plot(self.fpr, self.tpr, label="forecast")
        if self.measured_fpr is not None and self.measured_tpr is not None:
            ax.plot(self.measured_fpr, self.measured_tpr, ".", markersize=4, label="measured")
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":")
        detected = "detections" if self.pos_label is None else f"detections of {self.pos_label}"
        ax.set(xlabel="false alarms", ylabel=detected, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.legend(loc="lower right")
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiTaskClassifier,
        X: Any = None,
        y: Any = None,
        task: Any = None,
        *,
        ax: Axes | None = None,
    ) -> RocForecastDisplay:
        """Draw the expected ROC of a fitted classifier, with test data if there are any.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            A fitted classifier of two classes.
        X : array-like of shape (n_samples, n_features), default=None
            Test features.
        y : array-like of shape (n_samples,), default=None
            Test classes.
        task : object, default=None
            The target; needed if there are several.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        RocForecastDisplay
            The display.
        """
        told = forecast_of(estimator, task)
        fpr, tpr = told.roc(POINTS)
        positive = told.classes[1]
        if X is None or y is None:
            return cls(fpr, tpr, pos_label=positive).plot(ax)
        scores, truth = estimator._foretold_scores(X, y, task)
        false_alarms, detections, _ = roc_curve(truth, scores, pos_label=positive)
        return cls(fpr, tpr, false_alarms, detections, positive).plot(ax)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        task: Any = None,
        *,
        target: Any = None,
        ax: Axes | None = None,
        **choices: Any,
    ) -> RocForecastDisplay:
        """Draw the expected ROC for training data of two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        task : array-like of shape (n_samples,) or str, default=None
            The task of each row.
        target : object, default=None
            The task to decide for.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **choices
            Further parameters of :class:`foretask.MultiTaskClassifier`.

        Returns
        -------
        RocForecastDisplay
            The display.
        """
        told = only(forecast(X, y, task, target=target, **choices))
        fpr, tpr = told.roc(POINTS)
        return cls(fpr, tpr, pos_label=told.classes[1]).plot(ax)
