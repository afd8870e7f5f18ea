"""Pictures of forecasts, in the manner of scikit-learn's displays.

Each display keeps its data and draws them with ``plot``; ``from_estimator`` and ``from_data`` make one and
draw it at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve
from sklearn.utils.validation import check_is_fitted

from ._forecast import Forecast, LearningCurve, TaskValues
from ._functions import ADDED, forecast, learning_curve_forecast, task_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._classifier import MultiTaskClassifier

#: Points of a curve: one for every two pixels or so.
POINTS = 400


class _Display:
    """What all displays share: the axes they were drawn on."""

    ax_: Axes
    figure_: Figure

    def _on(self, ax: Axes | None) -> Axes:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'foretask[plot]'") from error
        if ax is None:
            _, ax = plt.subplots()
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return ax


def _only(found: Any) -> Any:
    """Return the result of the one target that a picture is of."""
    if isinstance(found, dict):
        known = ", ".join(repr(task) for task in found)
        raise ValueError(f"there are several targets; give target, one of: {known}")
    return found


def _forecast_of(estimator: MultiTaskClassifier, task: Any) -> Forecast:
    check_is_fitted(estimator)
    told = estimator.forecast_
    if isinstance(told, dict):
        if task is None or np.ndim(task) > 0:
            known = ", ".join(repr(name) for name in told)
            raise ValueError(f"there are several targets; give task, one of: {known}")
        estimator._model_of(task)
        return next(found for name, found in told.items() if name == task)
    return told


def _with_target(estimator: MultiTaskClassifier, target: Any) -> dict[str, Any]:
    """Return the parameters of an estimator, for another target if one is named."""
    params = estimator.get_params(deep=False)
    if target is not None:
        params["target"] = target
    return params


class ForecastDisplay(_Display):
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
        told = _forecast_of(estimator, task)
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
        return cls(_only(forecast(X, y, task, target=target, **choices))).plot(ax)


class RocForecastDisplay(_Display):
    """Expected receiver operating characteristic, with measured points.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        Expected shares of the negative and of the positive class that raise an alarm.
    measured_fpr, measured_tpr : ndarray, default=None
        The same, measured.
    pos_label : object, default=None
        The positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    line_ : matplotlib Line2D
        The expected curve.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import RocForecastDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = RocForecastDisplay.from_data(X[:200], y[:200])
    >>> display.ax_.get_xlabel()
    'false alarms'
    """

    def __init__(
        self,
        fpr: NDArray[np.float64],
        tpr: NDArray[np.float64],
        measured_fpr: NDArray[np.float64] | None = None,
        measured_tpr: NDArray[np.float64] | None = None,
        pos_label: Any = None,
    ) -> None:
        self.fpr = fpr
        self.tpr = tpr
        self.measured_fpr = measured_fpr
        self.measured_tpr = measured_tpr
        self.pos_label = pos_label

    def plot(self, ax: Axes | None = None) -> RocForecastDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        RocForecastDisplay
            Itself.
        """
        ax = self._on(ax)
        (self.line_,) = ax.plot(self.fpr, self.tpr, label="forecast")
        if self.measured_fpr is not None and self.measured_tpr is not None:
            ax.plot(self.measured_fpr, self.measured_tpr, ".", markersize=4, label="measured")
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":")
        detected = "detections" if self.pos_label is None else f"detections of {self.pos_label}"
        ax.set(xlabel="false alarms", ylabel=detected, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.legend(loc="lower right")
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
    ) -> RocForecastDisplay:
        """Draw the expected ROC of a fitted classifier, with test data if there are any.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            A fitted classifier of two classes.
        X : array-like of shape (n_samples, n_features), default=None
            Test features.
        y : array-like of shape (n_samples,), default=None
            Test classes.
        task : object, default=None
            The target; needed if there are several.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.

        Returns
        -------
        RocForecastDisplay
            The display.
        """
        told = _forecast_of(estimator, task)
        fpr, tpr = told.roc(POINTS)
        positive = told.classes[1]
        if X is None or y is None:
            return cls(fpr, tpr, pos_label=positive).plot(ax)
        scores, truth = estimator._foretold_scores(X, y, task)
        false_alarms, detections, _ = roc_curve(truth, scores, pos_label=positive)
        return cls(fpr, tpr, false_alarms, detections, positive).plot(ax)

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
    ) -> RocForecastDisplay:
        """Draw the expected ROC for training data of two classes.

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
        RocForecastDisplay
            The display.
        """
        told = _only(forecast(X, y, task, target=target, **choices))
        fpr, tpr = told.roc(POINTS)
        return cls(fpr, tpr, pos_label=told.classes[1]).plot(ax)


class LearningCurveForecastDisplay(_Display):
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
        params = _with_target(estimator, target)
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
        return cls(_only(curve)).plot(ax)


class TaskValueDisplay(_Display):
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
        return cls.from_data(X, y, task, ax=ax, **_with_target(estimator, target))

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
        return cls(_only(task_values(X, y, task, target=target, **choices))).plot(ax)


class TaskRelatednessDisplay(_Display):
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
        from ._statistics import Statistics

        statistics = Statistics().add(X, y, task)
        return cls(statistics.tasks, statistics.relatedness()).plot(ax, **kwargs)
