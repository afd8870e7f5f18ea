"""What each source is worth, and how alike the tasks are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._forecast import TaskValues
from .._functions import task_values
from .._statistics import Statistics
from .base import Display, only, with_target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._classifier import MultiTaskClassifier


class TaskValueDisplay(Display):
    """Expected error without each source.

    Parameters
    ----------
    values : TaskValues
        What is expected.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    """

    def __init__(self, values: TaskValues) -> None:
        self.values = values

    def plot(self, ax: Axes | None = None) -> TaskValueDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        TaskValueDisplay
            Itself.
        """
        ax = self._on(ax)
        values = self.values
        order = np.argsort(values.error_without)
        place = np.arange(len(order))
        error = values.error_without[order]
        interval = values.interval_without[order]
        spread = np.abs(interval.T - error)
        ax.barh(place, error, xerr=spread, alpha=0.6, capsize=3)
        ax.axvline(values.error, color="0.2", linestyle="--", label="with all sources")
        ax.set_yticks(place, [f"without {values.sources[i]}" for i in order])
        ax.set_xlabel(f"expected error of {values.task}")
        ax.legend(loc="lower right")
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
        ax: Axes | None = None,
    ) -> TaskValueDisplay:
        """Draw the values for a classifier (fitted or not) and its training data.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            Whose parameters are used.
        X : array-like of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples,)
            Training classes.
        task : array-like of shape (n_samples,) or str
            The task of each row.
        target : object, default=None
            The task to decide for; that of the estimator by default.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        TaskValueDisplay
            The display.
        """
        return cls.from_data(X, y, task, ax=ax, **with_target(estimator, target))

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
    ) -> TaskValueDisplay:
        """Draw the values for training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        task : array-like of shape (n_samples,) or str
            The task of each row.
        target : object, default=None
            The task to decide for.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **choices
            Further parameters of :class:`foretask.MultiTaskClassifier`.

        Returns
        -------
        TaskValueDisplay
            The display.
        """
        return cls(only(task_values(X, y, task, target=target, **choices))).plot(ax)


class TaskRelatednessDisplay(Display):
    """How alike the tasks are, as a matrix.

    Parameters
    ----------
    tasks : ndarray of shape (n_tasks,)
        The tasks.
    relatedness : ndarray of shape (n_tasks, n_tasks)
        From -1 (opposed) over 0 (unrelated) to 1 (the same); NaN where classes do not correspond.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    im_ : matplotlib AxesImage
        The matrix.
    """

    def __init__(self, tasks: NDArray[Any], relatedness: NDArray[np.float64]) -> None:
        self.tasks = tasks
        self.relatedness = relatedness

    def plot(self, ax: Axes | None = None, *, colorbar: bool = True) -> TaskRelatednessDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        colorbar : bool, default=True
            Whether to draw the scale of colours.

        Returns
        -------
        TaskRelatednessDisplay
            Itself.
        """
        ax = self._on(ax)
        self.im_ = ax.imshow(self.relatedness, vmin=-1.0, vmax=1.0, cmap="RdBu")
        place = np.arange(len(self.tasks))
        names = [str(task) for task in self.tasks]
        ax.set_xticks(place, names, rotation=45, ha="right")
        ax.set_yticks(place, names)
        for (i, j), value in np.ndenumerate(self.relatedness):
            text = "" if np.isnan(value) else f"{value:+.2f}"
            dark = abs(value) > 0.6
            ax.text(j, i, text, ha="center", va="center", color="white" if dark else "black")
        if colorbar:
            self.figure_.colorbar(self.im_, ax=ax, label="likeness of the class differences")
        return self

    @classmethod
    def from_estimator(
        cls, estimator: MultiTaskClassifier, *, ax: Axes | None = None, **kwargs: Any
    ) -> TaskRelatednessDisplay:
        """Draw the matrix of a fitted classifier.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            A fitted classifier.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        TaskRelatednessDisplay
            The display.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "relatedness_"):
            raise ValueError("a model read from a file does not say how alike its tasks are")
        return cls(estimator.tasks_, estimator.relatedness_).plot(ax, **kwargs)

    @classmethod
    def from_data(
        cls, X: Any, y: Any, task: Any, *, ax: Axes | None = None, **kwargs: Any
    ) -> TaskRelatednessDisplay:
        """Draw the matrix for training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        task : array-like of shape (n_samples,) or str
            The task of each row.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        TaskRelatednessDisplay
            The display.
        """
        statistics = Statistics().add(X, y, task)
        return cls(statistics.tasks, statistics.relatedness()).plot(ax, **kwargs)
