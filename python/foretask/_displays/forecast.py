"""Expected densities of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._forecast import Forecast
from .._functions import forecast
from .base import POINTS, Display, forecast_of, only

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._classifier import MultiTaskClassifier


class ForecastDisplay(Display):
    """Expected densities of the scores over the histogram of measured ones.

    Parameters
    ----------
    forecast : Forecast
        What is expected.
    scores : ndarray of shape (n_samples,), default=None
        Measured scores.
    truth : ndarray of shape (n_samples,), default=None
        The classes of the measured samples.
    measured_error : float, default=None
        The error measured on them.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : list of matplotlib Line2D
        One curve per class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import ForecastDisplay, MultiTaskClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MultiTaskClassifier().fit(X[:200], y[:200])
    >>> display = ForecastDisplay.from_estimator(model, X[200:], y[200:])
    >>> len(display.lines_)
    2
    """

    def __init__(
        self,
        forecast: Forecast,
        scores: NDArray[np.float64] | None = None,
        truth: NDArray[Any] | None = None,
        measured_error: float | None = None,
    ) -> None:
        self.forecast = forecast
        self.scores = scores
        self.truth = truth
        self.measured_error = measured_error

    def plot(self, ax: Axes | None = None, *, bins: Any = 40) -> ForecastDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        bins : int or sequence, default=40
            Bins of the histograms.

        Returns
        -------
        ForecastDisplay
            Itself.
        """
        ax = self._on(ax)
        told = self.forecast
        low, high = told.score_range()
        if self.scores is not None and self.scores.size:
            # A few far scores must not squeeze the others into a corner.
            far = np.quantile(self.scores, [0.002, 0.998])
            low, high = min(low, far[0]), max(high, far[1])
        at = np.linspace(low, high, POINTS)
        densities = told.density(at)
        self.lines_ = []
        for label, density in zip(told.classes, densities, strict=True):
            (line,) = ax.plot(at, density, label=f"{label} (forecast)")
            self.lines_.append(line)
            if self.scores is not None and self.truth is not None:
                own = self.scores[self.truth == label]
                if own.size:
                    ax.hist(
                        own,
                        bins=bins,
                        range=(low, high),
                        density=True,
                        alpha=0.3,
                        color=line.get_color(),
                        label=f"{label} (measured)",
                    )
        two = len(told.classes) == 2
        if two and told.threshold is not None and np.isfinite(told.threshold):
            ax.axvline(told.threshold, color="0.4", linestyle="--", linewidth=1)
        title = f"error: {told.error:.1%} expected"
        title += f" ({told.interval[0]:.1%} to {told.interval[1]:.1%})"
        if self.measured_error is not None:
            title += f", {self.measured_error:.1%} measured"
        axis = f"score, large for {told.classes[1]}" if two else "right class less best other"
        ax.set(title=title, xlabel=axis, ylabel="density")
        ax.legend()
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
        **kwargs: Any,
    ) -> ForecastDisplay:
        """Draw the forecast of a fitted classifier, over test data if there are any.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            A fitted classifier.
        X : array-like of shape (n_samples, n_features), default=None
            Test features.
        y : array-like of shape (n_samples,), default=None
            Test classes.
        task : object, default=None
            The target; needed if there are several.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        ForecastDisplay
            The display.
        """
        told = forecast_of(estimator, task)
        if X is None or y is None:
            return cls(told).plot(ax, **kwargs)
        scores, truth = estimator._foretold_scores(X, y, task)
        error = 1.0 - estimator.score(X, y, task=task)
        return cls(told, scores, truth, error).plot(ax, **kwargs)

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
    ) -> ForecastDisplay:
        """Draw the forecast for training data.

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
        ForecastDisplay
            The display.
        """
        return cls(only(forecast(X, y, task, target=target, **choices))).plot(ax)
