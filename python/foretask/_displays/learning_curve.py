"""Expected error against added labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._forecast import LearningCurve
from .._functions import ADDED, learning_curve_forecast
from .base import Display, only, with_target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._classifier import MultiTaskClassifier


class LearningCurveForecastDisplay(Display):
    """Expected error against added labels.

    Parameters
    ----------
    curve : LearningCurve
        What is expected.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    line_ : matplotlib Line2D
        The expected error.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import LearningCurveForecastDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = LearningCurveForecastDisplay.from_data(X[:60], y[:60])
    >>> display.ax_.get_ylabel()
    'expected error'
    """

    def __init__(self, curve: LearningCurve) -> None:
        self.curve = curve

    def plot(self, ax: Axes | None = None) -> LearningCurveForecastDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        LearningCurveForecastDisplay
            Itself.
        """
        ax = self._on(ax)
        curve = self.curve
        (self.line_,) = ax.plot(curve.added, curve.error, marker="o", label="forecast")
        ax.fill_between(
            curve.added,
            curve.interval[:, 0],
            curve.interval[:, 1],
            alpha=0.2,
            color=self.line_.get_color(),
            label="90 % interval",
        )
        ax.set(xlabel="labels added to each class", ylabel="expected error")
        ax.set_ylim(bottom=0.0)
        ax.legend()
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiTaskClassifier,
        X: Any,
        y: Any,
        task: Any = None,
        *,
        target: Any = None,
        added: Any = ADDED,
        ax: Axes | None = None,
    ) -> LearningCurveForecastDisplay:
        """Draw the curve of a classifier (fitted or not) for its training data.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            Whose parameters are used.
        X : array-like of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Training classes.
        task : array-like of shape (n_samples,) or str, default=None
            The task of each row.
        target : object, default=None
            The task to decide for; that of the estimator by default.
        added : sequence of int, default=(0, 5, 10, 20, 50, 100)
            Labels to add to each class.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        LearningCurveForecastDisplay
            The display.
        """
        params = with_target(estimator, target)
        return cls.from_data(X, y, task, added=added, ax=ax, **params)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        task: Any = None,
        *,
        target: Any = None,
        added: Any = ADDED,
        ax: Axes | None = None,
        **choices: Any,
    ) -> LearningCurveForecastDisplay:
        """Draw the curve for training data.

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
        added : sequence of int, default=(0, 5, 10, 20, 50, 100)
            Labels to add to each class.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **choices
            Further parameters of :class:`foretask.MultiTaskClassifier`.

        Returns
        -------
        LearningCurveForecastDisplay
            The display.
        """
        curve = learning_curve_forecast(X, y, task, target=target, added=added, **choices)
        return cls(only(curve)).plot(ax)
