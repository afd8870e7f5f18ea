"""Expected densities of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._forecast import Forecast
from .base import POINTS, ExpectedDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


class ForecastDisplay(ExpectedDisplay):
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

    Other Parameters
    ----------------
    bins : int or sequence, default=40
        Of :meth:`plot`: bins of the histograms.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What it was drawn on.
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

    def _draw(self, ax: Axes, *, bins: Any = 40) -> None:
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
        title = "error: cannot be told from one label"
        if told.told:
            title = f"error: {told.error:.1%} expected"
            title += f" ({told.interval[0]:.1%} to {told.interval[1]:.1%})"
        if self.measured_error is not None:
            title += f", {self.measured_error:.1%} measured"
        axis = f"score, large for {told.classes[1]}" if two else "right class less best other"
        ax.set(title=title, xlabel=axis, ylabel="density")
        ax.legend()

    @classmethod
    def _of(
        cls,
        told: Forecast,
        scores: NDArray[np.float64] | None = None,
        truth: NDArray[Any] | None = None,
        error: float | None = None,
    ) -> Self:
        return cls(told, scores, truth, error)
