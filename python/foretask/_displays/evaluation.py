"""Foretold errors next to measured ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._classifier import MultiTaskClassifier
from .._evaluation import Evaluation, evaluate
from .base import AROUND, MOST_ROWS, ROW, Display, name, only
from .palette import FORETOLD, MEASURED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


class EvaluationDisplay(Display):
    """Foretold and measured error with their intervals, and both for each class.

    Parameters
    ----------
    evaluation : Evaluation
        What was measured, with the forecast.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What it was drawn on.
    foretold_, measured_ : matplotlib Line2D
        The errors: of all samples first, then of each class.
    in_test_ : matplotlib Line2D
        Where the error in a test of this size was expected.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import EvaluationDisplay, MultiTaskClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MultiTaskClassifier().fit(X[:200], y[:200])
    >>> display = EvaluationDisplay.from_estimator(model, X[200:], y[200:])
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['all', '0', '1']
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation

    def _classes(self) -> NDArray[np.int64]:
        """Return the classes that have a row: of very many those whose errors differ most."""
        measured, told = self.evaluation, self.evaluation.forecast
        apart = np.nan_to_num(np.abs(np.asarray(measured.class_errors, float) - told.class_errors))
        return np.sort(np.argsort(-apart, kind="stable")[:MOST_ROWS])

    def _size(self) -> tuple[float, float]:
        return 6.4, max(3.6, 1.3 * ROW * (len(self._classes()) + 1) + AROUND)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.ticker import PercentFormatter

        measured, told = self.evaluation, self.evaluation.forecast
        shown = self._classes()
        place = np.arange(len(shown) + 1)
        # One above the other, so that equal errors can be told apart.
        apart = 0.14
        lines = []
        for label, found, shift, colour, fill in (
            ("foretold", told, -apart, FORETOLD, "none"),
            ("measured", measured, apart, MEASURED, "full"),
        ):
            errors = np.r_[found.error, np.asarray(found.class_errors, float)[shown]]
            ax.plot(found.interval, [shift, shift], "|-", color=colour)
            lines += ax.plot(
                errors, place + shift, "o", clip_on=False, color=colour, fillstyle=fill, label=label
            )
        self.foretold_, self.measured_ = lines
        # The luck of a test of this size makes it wider.
        (self.in_test_,) = ax.plot(
            measured.foretold, [-apart, -apart], "|:", color=FORETOLD, label="in this test"
        )
        if measured.shares_differ and measured.at_priors is not None:
            ax.plot(
                measured.at_priors,
                apart,
                "s",
                color=MEASURED,
                fillstyle="none",
                label="at the forecast's shares",
            )
        ax.set_yticks(place, ["all", *(name(label) for label in np.asarray(measured.classes)[shown])])
        ax.set_ylim(len(shown) + 0.5, -0.5)
        ax.set_xlim(left=0.0)
        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
        inside = "within" if measured.within else "outside"
        foretold = f"{told.error:.1%} foretold" if told.told else "none could be foretold"
        ax.set_title(
            f"{name(measured.task)}\n"
            f"error: {foretold}, {measured.comparable:.1%} measured,\n"
            f"{inside} what a test of this size may show",
            fontsize="medium",
        )
        ax.set(xlabel=f"error of {name(measured.task)}", ylabel="class")
        ax.legend(fontsize="small", loc="lower right")

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiTaskClassifier,
        X: Any,
        y: Any,
        task: Any = None,
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Measure a fitted classifier on test data, and draw.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            A fitted classifier.
        X : array-like of shape (n_samples, n_features)
            Test features.
        y : array-like of shape (n_samples,)
            Test classes.
        task : object, default=None
            The target; needed if there are several.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        EvaluationDisplay
            The display.
        """
        return cls(only(evaluate(estimator, X, y, task))).plot(ax)
