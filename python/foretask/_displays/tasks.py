"""What each source is worth, and how alike the tasks are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._classifier import MultiTaskClassifier
from .._forecast import TaskValues
from .._statistics import Statistics
from .._study import Study
from .base import Display, TrainingDisplay, only

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


class TaskValueDisplay(TrainingDisplay):
    """Expected error without each source.

    Parameters
    ----------
    values : TaskValues
        What is expected.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What it was drawn on.
    """

    def __init__(self, values: TaskValues) -> None:
        self.values = values

    def _draw(self, ax: Axes) -> None:
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

    @classmethod
    def from_study(cls, study: Study, *, target: Any = None, ax: Axes | None = None) -> Self:
        """Draw the values of the sources in a study.

        Parameters
        ----------
        study : Study
            The study.
        target : object, default=None
            Which target; needed if there are several.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        TaskValueDisplay
            The display.
        """
        return cls(only(study.task_values(), target)).plot(ax)


class TaskRelatednessDisplay(Display):
    """How alike the tasks are, as a matrix.

    Parameters
    ----------
    tasks : ndarray of shape (n_tasks,)
        The tasks.
    relatedness : ndarray of shape (n_tasks, n_tasks)
        From -1 (opposed) over 0 (unrelated) to 1 (the same); NaN where classes do not correspond.

    Other Parameters
    ----------------
    colorbar : bool, default=True
        Of :meth:`plot`: whether to draw the scale of colours.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What it was drawn on.
    im_ : matplotlib AxesImage
        The matrix.
    """

    def __init__(self, tasks: NDArray[Any], relatedness: NDArray[np.float64]) -> None:
        self.tasks = tasks
        self.relatedness = relatedness

    def _draw(self, ax: Axes, *, colorbar: bool = True) -> None:
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

    @classmethod
    def from_estimator(cls, estimator: MultiTaskClassifier, *, ax: Axes | None = None, **kwargs: Any) -> Self:
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
            raise ValueError(
                "a model read from a file, or of more than 1,000 tasks, does not say how alike its tasks are"
            )
        return cls(estimator.tasks_, estimator.relatedness_).plot(ax, **kwargs)

    @classmethod
    def from_study(cls, study: Study, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the matrix of a study.

        Parameters
        ----------
        study : Study
            The study.
        ax, **kwargs
            As in :meth:`from_estimator`.

        Returns
        -------
        TaskRelatednessDisplay
            The display.
        """
        return cls(study.tasks, study.relatedness()).plot(ax, **kwargs)

    @classmethod
    def from_data(cls, X: Any, y: Any, task: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the matrix for training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        task : object or array-like of shape (n_samples,)
            The task of each row.
        ax, **kwargs
            As in :meth:`from_estimator`.

        Returns
        -------
        TaskRelatednessDisplay
            The display.
        """
        statistics = Statistics().add(X, y, task)
        return cls(statistics.tasks, statistics.relatedness()).plot(ax, **kwargs)
