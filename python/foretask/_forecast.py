"""What a forecast says, as values to read and to plot."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._choices import Labels, Rule, Source, View
from ._data import Names
from ._foretask import Forecast as RawForecast


class Forecast:
    """What a rule is expected to do on samples nobody has seen.

    Made by :func:`foretask.forecast` and kept by a fitted
    :class:`foretask.MultiTaskClassifier` as ``forecast_``; not meant to be built by hand.

    Attributes
    ----------
    task : object
        The target.
    classes : ndarray of shape (n_classes,)
        Its classes; everything by class is in this order.
    error : float
        Expected share of wrong decisions.
    interval : tuple of float
        90 % interval for the error of this very rule on endless new data.
    source : {"leave-one-out", "isotropic", "spherical", "common", "general"}
        What it was computed from: samples left out, or a theory.
    class_errors : ndarray of shape (n_classes,)
        Expected share of wrong decisions in each class.
    confusion : ndarray of shape (n_classes, n_classes)
        How often a sample of each class (row) will be called each class (column).
    priors : ndarray of shape (n_classes,)
        The class priors it holds for.
    cost : float
        Expected cost of a decision.
    n_samples : int
        Target samples it rests on.
    alarm : dict or None
        With a false-alarm rate: the rate asked for, the rate and the detections expected, each with its
        interval.
    reliability : list of dict
        How far class probabilities can be believed: ``share`` of the samples, ``claimed`` probability
        and share that is ``right``, in bins.
    threshold : float or None
        For two classes, the score above which ``classes[1]`` is chosen.
    notes : list of dict
        What to know before trusting it: the ``kind`` of the note, its numbers, and the ``text``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import forecast
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> expected = forecast(X[:200], y[:200])
    >>> 0.0 <= expected.interval[0] <= expected.error <= expected.interval[1] <= 1.0
    True
    """

    def __init__(
        self, raw: RawForecast, task: Any, names: list[str], classes: Names, threshold: float | None
    ) -> None:
        self._raw = raw
        self.task = task
        codes = classes.index(names)
        order = np.argsort(codes)
        self._order = order
        self.classes = classes.labels[codes[order]]
        # Scores of the library are large for its first class; here for classes[1].
        self._sign = -1.0 if order[0] == 0 else 1.0
        report = json.loads(raw.to_json())
        self.error: float = report["error"]
        self.interval: tuple[float, float] = tuple(report["interval"])
        self.source: Source = report["source"]
        self.class_errors = np.array(report["class_errors"])[order]
        self.confusion = np.array(report["confusion"])[np.ix_(order, order)]
        self.priors = np.array(report["priors"])[order]
        self.cost: float = report["cost"]
        self.n_samples: int = report["samples"]
        self.alarm: dict[str, Any] | None = report["alarm"]
        if self.alarm is not None:
            self.alarm["null"] = classes.label(names[self.alarm["null"]])
        self.reliability: list[dict[str, float]] = report["reliability"]
        self.notes: list[dict[str, Any]] = report["notes"]
        self.threshold = None if threshold is None else self._sign * threshold

    def density(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the expected density of the decision scores.

        Parameters
        ----------
        scores : array-like of shape (n_points,)
            Where: scores, large for ``classes[1]``, for two classes; for more the score of the right
            class less the best other.

        Returns
        -------
        ndarray of shape (n_classes, n_points)
            One row per class.
        """
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        if len(self.classes) == 2:
            scores = self._sign * scores
        return self._raw.densities(scores)[self._order]

    def score_range(self) -> tuple[float, float]:
        """Return the ends between which practically all scores will lie."""
        low, high = self._raw.range() or (0.0, 0.0)
        if len(self.classes) == 2 and self._sign < 0:
            return -high, -low
        return low, high

    def roc(self, n_points: int = 400) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the expected receiver operating characteristic (two classes).

        Parameters
        ----------
        n_points : int, default=400
            Number of thresholds.

        Returns
        -------
        fpr, tpr : ndarray of shape (n_points + 1,)
            Share of ``classes[0]`` and of ``classes[1]`` that is called ``classes[1]``.
        """
        points = self._raw.roc(n_points) if len(self.classes) == 2 else None
        if points is None:
            raise ValueError("a ROC needs two classes and the law of one score")
        if self._sign < 0:
            # The library speaks of calling the first class; what is not called it is called ours.
            return 1.0 - points[::-1, 1], 1.0 - points[::-1, 0]
        return points[:, 0], points[:, 1]

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Forecast(task={self.task!r}, error={self.error:.4f}, "
            f"interval=({low:.4f}, {high:.4f}), source={self.source!r}, n_samples={self.n_samples})"
        )


@dataclass(frozen=True)
class LearningCurve:
    """The expected error with more labels in the target.

    Attributes
    ----------
    task : object
        The target.
    added : ndarray of shape (n_points,)
        Labels added to each class.
    error : ndarray of shape (n_points,)
        Expected error then.
    interval : ndarray of shape (n_points, 2)
        90 % intervals.
    """

    task: Any
    added: NDArray[np.int64]
    error: NDArray[np.float64]
    interval: NDArray[np.float64]

    def labels_for(self, error: float) -> int | None:
        """Return the fewest labels to add to each class, of those asked for, for an expected error.

        Parameters
        ----------
        error : float
            The error wished for.

        Returns
        -------
        int or None
            None if no number that was asked for is enough.
        """
        enough = self.added[self.error <= error]
        return int(enough.min()) if enough.size else None


@dataclass(frozen=True)
class TaskValues:
    """The expected error without each source.

    Attributes
    ----------
    task : object
        The target.
    error : float
        Expected error with all sources.
    interval : tuple of float
        Its 90 % interval.
    sources : ndarray of shape (n_sources,)
        The sources.
    error_without : ndarray of shape (n_sources,)
        Expected error without each.
    interval_without : ndarray of shape (n_sources, 2)
        90 % intervals.
    """

    task: Any
    error: float
    interval: tuple[float, float]
    sources: NDArray[Any]
    error_without: NDArray[np.float64]
    interval_without: NDArray[np.float64]

    @property
    def gain(self) -> NDArray[np.float64]:
        """How much each source lowers the expected error."""
        return self.error_without - self.error


@dataclass(frozen=True)
class Compared:
    """A rule and what it is expected to do.

    Attributes
    ----------
    name : str
        What it is called; "this rule" for the study's own.
    rule : str
        The rule.
    labels : str
        Its labels.
    views : list of str
        The views of the features that it looks through.
    forecast : Forecast
        What it is expected to do.
    """

    name: str
    rule: Rule
    labels: Labels
    views: list[View]
    forecast: Forecast


@dataclass(frozen=True)
class Foretold:
    """A theory and the error it foretells.

    Attributes
    ----------
    source : str
        The theory.
    error : float
        The error.
    """

    source: Source
    error: float


@dataclass(frozen=True)
class LeftOut:
    """What the target's training samples are taken for by rules that they had no say in.

    Attributes
    ----------
    task : object
        The target.
    classes : ndarray of shape (n_classes,)
        Its classes.
    rows : ndarray of shape (n_samples,) or None
        Which row of the training data each sample is; None if these were statistics.
    truth : ndarray of shape (n_samples,)
        The class of each sample.
    probabilities : ndarray of shape (n_samples, n_classes)
        Of the classes, where these occur with the priors of use.
    """

    task: Any
    classes: NDArray[Any]
    rows: NDArray[np.int64] | None
    truth: NDArray[Any]
    probabilities: NDArray[np.float64]
