"""Foretold errors next to measured ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._classifier import MultiTaskClassifier
from .._evaluation import Evaluation, evaluate
from .base import Display, only

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

    def _draw(self, ax: Axes) -> None:
        measured, told = self.evaluation, self.evaluation.forecast
        place = np.arange(len(measured.classes) + 1)
        # One above the other, so that equal errors can be told apart.
        apart = 0.12
        lines = []
        for name, found, shift in (("foretold", told, -apart), ("measured", measured, apart)):
            errors = np.r_[found.error, found.class_errors]
            lines += ax.plot(errors, place + shift, "o", clip_on=False, label=name)
            ax.plot(found.interval, [shift, shift], "|-", color=lines[-1].get_color())
        self.foretold_, self.measured_ = lines
        # The luck of a test of this size makes it wider.
        (self.in_test_,) = ax.plot(
            measured.foretold, [-apart, -apart], "|:", color=self.foretold_.get_color(), label="in this test"
        )
        if measured.shares_differ and measured.at_priors is not None:
            ax.plot(
                measured.at_priors,
                apart,
                "o",
                fillstyle="none",
                color=self.measured_.get_color(),
                label="at the shares of the forecast",
            )
        ax.set_yticks(place, ["all", *(str(label) for label in measured.classes)])
        ax.invert_yaxis()
        ax.set_xlim(left=0.0)
        inside = "within" if measured.within else "outside"
        foretold = f"{told.error:.1%} foretold" if told.told else "none could be foretold"
        ax.set(
            title=f"error: {foretold}, {measured.comparable:.1%} measured, "
            f"{inside} what a test of this size may show",
            xlabel=f"error of {measured.task}",
            ylabel="class",
        )
        ax.legend(fontsize="small")

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
