"""Expected densities of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._forecast import Forecast
from .base import AROUND, MOST_ROWS, POINTS, ExpectedDisplay, expected, name
from .palette import MUTED, of_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


#: More classes than this have a row each.
OVERLAID = 3
#: Inches of such a row.
RIDGE = 0.42


class ForecastDisplay(ExpectedDisplay):
    """Expected densities of the scores over the histogram of measured ones.

    More than three classes have a row each; of more than 24 the ones with the largest expected error.

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
    bins : int or sequence, default=None
        Of :meth:`plot`: bins of the histograms; by default as many as the scores measured bear, at most 40.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What it was drawn on.
    lines_ : list of matplotlib Line2D
        One curve per class that is drawn.

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

    def _draw(self, ax: Axes, *, bins: Any = None) -> None:
        told = self.forecast
        if bins is None:
            # A hundred scores in forty bins would be a comb.
            samples = 0 if self.scores is None else self.scores.size / len(told.classes)
            bins = int(np.clip(2.5 * np.sqrt(samples), 8, 40))
        low, high = told.score_range()
        if self.scores is not None and self.scores.size:
            # A few far scores must not squeeze the others into a corner.
            far = np.quantile(self.scores, [0.002, 0.998])
            low, high = min(low, far[0]), max(high, far[1])
        at = np.linspace(low, high, POINTS)
        densities = told.density(at)
        count = len(told.classes)
        self.lines_ = []
        if count > OVERLAID:
            self._draw_rows(ax, at, densities, bins)
        else:
            for index, density in enumerate(densities):
                label = name(told.classes[index])
                (line,) = ax.plot(at, density, color=of_class(index), label=f"{label} (forecast)")
                self.lines_.append(line)
                heights, edges = self._measured(index, bins, (low, high))
                if heights is None:
                    ax.fill_between(at, density, color=of_class(index), alpha=0.15, linewidth=0)
                else:
                    ax.stairs(
                        heights,
                        edges,
                        fill=True,
                        alpha=0.3,
                        color=of_class(index),
                        label=f"{label} (measured)",
                    )
            ax.set_ylabel("density")
            ax.set_ylim(bottom=0.0)
            ax.legend(fontsize="small")
        two = count == 2
        if two and told.threshold is not None and np.isfinite(told.threshold):
            ax.axvline(told.threshold, color=MUTED, linestyle="--", linewidth=1)
        title = "error: cannot be told from one label"
        if told.told:
            title = f"error: {expected(told.error, told.interval)}"
        if self.measured_error is not None:
            title += f", {self.measured_error:.1%} measured"
        axis = f"score, large for {name(told.classes[1])}" if two else "right class less best other"
        ax.set_title(f"{name(told.task)}\n{title}", fontsize="medium")
        ax.set_xlabel(axis)

    def _shown(self) -> NDArray[np.int64]:
        """Return the classes that have a row."""
        order = np.argsort(self.forecast.class_errors)[::-1][:MOST_ROWS]
        return np.sort(order)

    def _draw_rows(self, ax: Axes, at: NDArray[Any], densities: NDArray[Any], bins: Any) -> None:
        """Draw a row for each class: curves of many classes cannot be told apart on top of each other."""
        shown = self._shown()
        for row, index in enumerate(shown):
            colour = of_class(int(index))
            heights, edges = self._measured(int(index), bins, (at[0], at[-1]))
            highest = max(densities[index].max(), 0.0 if heights is None else heights.max(), 1e-300)
            # Each as high as there is room.
            scale = 0.85 / highest
            if heights is not None:
                ax.stairs(row - heights * scale, edges, baseline=row, fill=True, alpha=0.3, color=colour)
            (line,) = ax.plot(at, row - densities[index] * scale, color=colour)
            self.lines_.append(line)
            ax.axhline(row, color=MUTED, linewidth=0.4)
        ax.axvline(0.0, color=MUTED, linestyle="--", linewidth=1)
        labels = [
            f"{name(self.forecast.classes[index])} ({self.forecast.class_errors[index]:.0%})"
            for index in shown
        ]
        ax.set_yticks(range(len(shown)), labels, fontsize="small")
        ax.set_ylim(len(shown) - 0.7, -1.0)
        ax.set_ylabel("class (expected error)")

    def _measured(
        self, index: int, bins: Any, ends: tuple[float, float]
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """Return the histogram of a class; none where no scores were measured."""
        if self.scores is None or self.truth is None:
            return None, None
        own = self.scores[self.truth == self.forecast.classes[index]]
        if not own.size:
            return None, None
        heights, edges = np.histogram(own, bins=bins, range=ends, density=True)
        return (heights, edges) if np.isfinite(heights).all() else (None, None)

    def _size(self) -> tuple[float, float]:
        count = len(self.forecast.classes)
        return (6.4, 4.8) if count <= OVERLAID else (6.4, max(4.8, RIDGE * len(self._shown()) + AROUND))

    @classmethod
    def _of(
        cls,
        told: Forecast,
        scores: NDArray[np.float64] | None = None,
        truth: NDArray[Any] | None = None,
        error: float | None = None,
    ) -> Self:
        return cls(told, scores, truth, error)
