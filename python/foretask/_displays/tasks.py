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
from .base import AROUND, MOST_ROWS, ROW, Display, TrainingDisplay, expected, name, only
from .palette import HARMS, HELPS, MUTED, UNKNOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


#: Matrices of more tasks have no numbers, and of still more no names.
NUMBERED, NAMED = 20, 40

#: The colour of each verdict.
COLOURS = {"helps": HELPS, "harms": HARMS, "cannot be told": UNKNOWN}


class TaskValueDisplay(TrainingDisplay):
    """What each source brings: by how much it lowers the expected error, with its 99 % interval.

    The best is on top, under all of them together; of more than 24 those that change most are shown.

    Parameters
    ----------
    values : TaskValues
        What is expected.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What it was drawn on.
    dots_ : list of matplotlib Line2D
        One for each row, from above.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from foretask import TaskValueDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> display = TaskValueDisplay.from_data(X[:120], y[:120] % 2, y[:120] // 4, target=0)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][0]
    'all together'
    """

    def __init__(self, values: TaskValues) -> None:
        self.values = values

    def _rows(self) -> list[tuple[str, float, tuple[float, float], str]]:
        """Return name, difference, interval and verdict of each row."""
        values = self.values
        largest = np.argsort(-np.abs(values.difference), kind="stable")[:MOST_ROWS]
        order = largest[np.argsort(-values.difference[largest], kind="stable")]
        rows = [
            (
                name(values.sources[i]),
                float(values.difference[i]),
                tuple(values.difference_interval[i]),
                str(values.verdict[i]),
            )
            for i in order
        ]
        if values.all_sources is not None and len(values.sources) > 1:
            paired = values.all_sources.paired
            rows.insert(0, ("all together", paired.difference, tuple(paired.interval), str(paired.verdict)))
        return rows

    def _size(self) -> tuple[float, float]:
        return 6.4, max(2.6, ROW * len(self._rows()) + AROUND)

    def _draw(self, ax: Axes) -> None:
        values, rows = self.values, self._rows()
        self.dots_ = []
        told = set()
        for place, (_, difference, interval, verdict) in enumerate(rows):
            # Each verdict once in the legend.
            label = None if verdict in told else verdict
            told.add(verdict)
            colour = COLOURS[verdict]
            ax.plot(100.0 * np.asarray(interval), [place, place], color=colour, linewidth=2)
            self.dots_ += ax.plot(100.0 * difference, place, "o", color=colour, label=label)
        ax.axvline(0.0, color=MUTED, linewidth=1)
        ax.set_yticks(range(len(rows)), [row[0] for row in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.grid(axis="y", alpha=0.3)
        hidden = len(values.sources) - MOST_ROWS
        more = f"\n({hidden} more sources change less)" if hidden > 0 else ""
        ax.set_xlabel(f"points of error saved, with 99 % interval{more}")
        ax.set_title(
            f"{name(values.task)}\nerror with all sources: {expected(values.error, values.interval)}",
            fontsize="medium",
        )
        if rows:
            ax.legend(fontsize="small")

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
        from matplotlib.colors import LinearSegmentedColormap

        alike = LinearSegmentedColormap.from_list("likeness", [HARMS, "white", HELPS])
        self.im_ = ax.imshow(self.relatedness, vmin=-1.0, vmax=1.0, cmap=alike)
        count = len(self.tasks)
        if count <= NAMED:
            names = [name(task, 20) for task in self.tasks]
            ax.set_xticks(range(count), names, rotation=45, ha="right", rotation_mode="anchor")
            ax.set_yticks(range(count), names)
        # More numbers than this could not be read.
        if count <= NUMBERED:
            for (i, j), value in np.ndenumerate(self.relatedness):
                text = "" if np.isnan(value) else f"{value:+.2f}"
                dark = abs(value) > 0.6
                colour = "white" if dark else "black"
                ax.text(j, i, text, ha="center", va="center", color=colour, fontsize="small")
        ax.set_title("Likeness of the differences between classes", fontsize="medium")
        if colorbar:
            bar = self.figure_.colorbar(self.im_, ax=ax)
            bar.set_ticks(
                [-1, -0.5, 0, 0.5, 1], labels=["−1 opposed", "−0.5", "0 unrelated", "0.5", "1 the same"]
            )

    def _size(self) -> tuple[float, float]:
        side = 0.55 * min(len(self.tasks), NAMED)
        return max(6.4, side + 3.0), max(4.8, side + 1.5)

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
