"""Expected error against added labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._forecast import LearningCurve
from .._study import ADDED, Study
from .base import TrainingDisplay, name, only
from .palette import FORETOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


class LearningCurveForecastDisplay(TrainingDisplay):
    """Expected error against added labels.

    Parameters
    ----------
    curve : LearningCurve
        What is expected.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What it was drawn on.
    line_ : matplotlib Line2D
        The expected error.
    foretold_lines_ : list of matplotlib Line2D
        The ends of the interval that a forecast will have once the labels are there.
    now_ : matplotlib Line2D
        Where the labels at hand are, if the curve starts there.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import LearningCurveForecastDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = LearningCurveForecastDisplay.from_data(X[:60], y[:60], added=[0, 20])
    >>> display.ax_.get_ylabel()
    'expected error'
    """

    def __init__(self, curve: LearningCurve) -> None:
        self.curve = curve

    def _draw(self, ax: Axes) -> None:
        from matplotlib.ticker import PercentFormatter

        curve = self.curve
        (self.line_,) = ax.plot(curve.added, curve.error, marker="o", color=FORETOLD, label="forecast")
        ax.fill_between(
            curve.added,
            curve.interval[:, 0],
            curve.interval[:, 1],
            alpha=0.18,
            linewidth=0,
            color=FORETOLD,
            label="90 % interval",
        )
        # How far forecasts will be sure then.
        self.foretold_lines_ = ax.plot(curve.added, curve.foretold_interval, linestyle="--", color=FORETOLD)
        self.foretold_lines_[0].set_label("interval of the forecast then")
        last = f"{curve.error[-1]:.1%} with {curve.added[-1]} more per class" if len(curve.error) else ""
        now = np.flatnonzero(curve.added == 0)
        if now.size:
            error = curve.error[now[0]]
            (self.now_,) = ax.plot([0], [error], "o", markersize=9, color="white", markeredgecolor=FORETOLD)
            ax.annotate(f"now {error:.1%}", (0, error), (9, 7), textcoords="offset points")
            last = f"{error:.1%} now, {last}" if len(curve.error) > 1 else f"{error:.1%} now"
        ax.set_title(f"{name(curve.task)}\nexpected error: {last}", fontsize="medium")
        ax.set(xlabel="labels added to each class", ylabel="expected error")
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_ylim(bottom=0.0)
        ax.legend(fontsize="small")

    @classmethod
    def from_study(
        cls,
        study: Study,
        *,
        target: Any = None,
        added: Sequence[int] = ADDED,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of a study.

        Parameters
        ----------
        study : Study
            The study.
        target : object, default=None
            Which target; needed if there are several.
        added : sequence of int, default=(0, 5, 10, 20, 50, 100)
            Labels to add to each class.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        LearningCurveForecastDisplay
            The display.
        """
        return cls(only(study.learning_curve(added), target)).plot(ax)
