"""What a model did on labelled data, next to what was foretold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _foretask
from ._classifier import MultiTaskClassifier, part_of
from ._data import encode
from ._forecast import Forecast
from ._pickles import Kept


class Rate(NamedTuple):
    """A measured share."""

    share: float
    interval: tuple[float, float]
    n_samples: int
    #: Where the forecast expected it in so many samples (90 %).
    foretold: tuple[float, float]
    #: Whether it lies there.
    within: bool


class MeasuredAlarm(NamedTuple):
    """What came of a false-alarm rate that was to be held; None without samples of the class."""

    false_alarm: Rate | None
    detection: Rate | None


@dataclass(frozen=True)
class Evaluation(Kept):
    """What a model did on labelled data; made by :func:`foretask.evaluate`.

    Attributes
    ----------
    task : object
        The target.
    classes : ndarray of shape (n_classes,)
        Its classes; everything by class is in this order.
    forecast : Forecast
        What was foretold.
    error : float
        Share of wrong decisions.
    interval : tuple of float
        Its 90 % interval.
    n_samples : int
        Number of decisions.
    class_errors : ndarray of shape (n_classes,)
        Share of wrong decisions in each class; NaN for a class without samples.
    class_samples : ndarray of shape (n_classes,)
        Samples of each class.
    confusion : ndarray of shape (n_classes, n_classes)
        How often each class (row) was called each class (column).
    at_priors : float or None
        The error if classes occurred as often as the forecast assumes; None if one of them has no
        samples.
    shares_differ : bool
        Whether classes occur noticeably more or less often than the forecast assumes.
    comparable : float
        The error that the forecast speaks of: ``at_priors`` where shares differ, ``error`` otherwise.
    foretold : tuple of float
        Where the forecast expected it in a test of this size (90 %).
    within : bool
        Whether it lies there.
    log_loss : float
        Mean of -ln P(class) by the class probabilities, at the class shares of the forecast where these
        differ.
    reliability : list of dict
        What came of the class probabilities, in the bins of the forecast: ``share`` of the samples,
        ``claimed`` probability and share that is ``right``, NaN in a bin without samples.
    alarm : MeasuredAlarm or None
        What came of a false-alarm rate that was to be held: ``false_alarm`` and ``detection``, each with
        ``share``, ``interval``, ``n_samples``, ``foretold`` and ``within``.
    """

    task: Any
    classes: NDArray[Any]
    forecast: Forecast
    error: float
    interval: tuple[float, float]
    n_samples: int
    class_errors: NDArray[np.float64]
    class_samples: NDArray[np.int64]
    confusion: NDArray[np.int64]
    at_priors: float | None
    shares_differ: bool
    comparable: float
    foretold: tuple[float, float]
    within: bool
    log_loss: float
    reliability: list[dict[str, float]]
    alarm: MeasuredAlarm | None

    def __repr__(self) -> str:
        (low, high), (least, most) = self.interval, self.foretold
        return (
            f"Evaluation(task={self.task!r}, error={self.error:.4f}, interval=({low:.4f}, {high:.4f}), "
            f"n_samples={self.n_samples}, foretold=({least:.4f}, {most:.4f}), within={self.within})"
        )


def evaluate(
    model: MultiTaskClassifier | _foretask.Model, X: Any, y: Any, task: Any = None
) -> Evaluation | dict[Any, Evaluation]:
    """Measure a model on labelled data, and compare with its forecast.

    Parameters
    ----------
    model : MultiTaskClassifier or one of its ``models_``
        Fitted.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Test features.
    y : array-like of shape (n_samples,)
        True classes, each known to the target.
    task : object or array-like of shape (n_samples,), default=None
        The target of all rows, or of each; may be left out if there is one. Rows of sources are not
        counted.

    Returns
    -------
    Evaluation or dict
        By task if the rows are of several.

    See Also
    --------
    foretask.EvaluationDisplay : The picture of it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import MultiTaskClassifier, evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MultiTaskClassifier().fit(X[:200], y[:200])
    >>> measured = evaluate(model, X[200:], y[200:])
    >>> measured.n_samples, measured.confusion.shape
    (369, (2, 2))
    >>> measured.error < 0.1
    True
    >>> measured.foretold == measured.forecast.in_test(369) or measured.shares_differ
    True
    """
    if isinstance(model, _foretask.Model):
        model = MultiTaskClassifier._of_model(model)
    table, y, parts, _ = model._target_rows(X, y, task)
    truth, codes = encode(y, "classes")
    found = {}
    for part, rows in parts:
        told = model._forecast_of(part)
        report = part.evaluate(part_of(table, rows), codes[rows], truth.names)
        found[told.task] = _read(json.loads(report), told)
    return next(iter(found.values())) if len(found) == 1 else found


def _read(report: dict[str, Any], told: Forecast) -> Evaluation:
    order = told._order
    alarm = report["alarm"]
    return Evaluation(
        task=told.task,
        classes=told.classes,
        forecast=told,
        error=report["error"],
        interval=tuple(report["interval"]),
        n_samples=report["samples"],
        class_errors=np.array(report["class_errors"], dtype=np.float64)[order],
        class_samples=np.array(report["class_samples"], dtype=np.int64)[order],
        confusion=np.array(report["confusion"], dtype=np.int64)[np.ix_(order, order)],
        at_priors=report["at_priors"],
        shares_differ=report["shares_differ"],
        comparable=report["comparable"],
        foretold=tuple(report["foretold"]),
        within=report["within"],
        log_loss=report["log_loss"],
        reliability=[
            {name: np.nan if value is None else value for name, value in group.items()}
            for group in report["reliability"]
        ],
        alarm=None
        if alarm is None
        else MeasuredAlarm(_rate(alarm["false_alarm"]), _rate(alarm["detection"])),
    )


def _rate(report: dict[str, Any] | None) -> Rate | None:
    if report is None:
        return None
    return Rate(
        share=report["share"],
        interval=tuple(report["interval"]),
        n_samples=report["samples"],
        foretold=tuple(report["foretold"]),
        within=report["within_forecast_interval"],
    )
