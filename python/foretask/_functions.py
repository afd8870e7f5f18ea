"""Foretelling without training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _foretask
from ._classifier import MultiTaskClassifier
from ._forecast import Forecast, LearningCurve, TaskValues

#: Labels added where nothing is said, as on the command line.
ADDED = (0, 5, 10, 20, 50, 100)


def forecast(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    sample_weight: Any = None,
    **choices: Any,
) -> Forecast | dict[Any, Forecast]:
    """Foretell the test error of a classifier without training it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Classes.
    task : array-like of shape (n_samples,) or str, default=None
        The task of each row, or the column of the data frame ``X`` that holds it.
    target : object, default=None
        The task to decide for; all of them by default.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts.
    **choices
        Further parameters of :class:`MultiTaskClassifier`.

    Returns
    -------
    Forecast or dict
        By task if there are several targets.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from foretask import forecast
    >>> X, y = load_digits(return_X_y=True)
    >>> expected = forecast(X[:500], y[:500])
    >>> 0.02 < expected.error < 0.12
    True
    """
    model = MultiTaskClassifier(target=target, **choices)
    problem = model._problem(X, y, task, sample_weight)
    told = _foretask.forecast(problem.samples, problem.choices)
    return problem.by_target(
        {
            name: Forecast(raw, problem.tasks.label(name), names, problem.classes, threshold)
            for name, names, threshold, raw in told
        }
    )


def learning_curve_forecast(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    added: Sequence[int] = ADDED,
    sample_weight: Any = None,
    **choices: Any,
) -> LearningCurve | dict[Any, LearningCurve]:
    """Foretell the error with more labels in the target.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Classes.
    task : array-like of shape (n_samples,) or str, default=None
        The task of each row, or the column of the data frame ``X`` that holds it.
    target : object, default=None
        The task to decide for; all of them by default.
    added : sequence of int, default=(0, 5, 10, 20, 50, 100)
        Labels to add to each class of the target.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts.
    **choices
        Further parameters of :class:`MultiTaskClassifier`.

    Returns
    -------
    LearningCurve or dict
        By task if there are several targets.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from foretask import learning_curve_forecast
    >>> X, y = load_digits(return_X_y=True)
    >>> curve = learning_curve_forecast(X[:100], y[:100], added=[0, 50])
    >>> bool(curve.error[1] < curve.error[0])
    True
    """
    counts = np.atleast_1d(np.asarray(added))
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise ValueError("added must hold whole numbers of labels, zero or more")
    model = MultiTaskClassifier(target=target, **choices)
    if model.false_alarm is not None:
        raise ValueError(
            "a learning curve speaks of the fewest mistakes; leave null_class and false_alarm out"
        )
    problem = model._problem(X, y, task, sample_weight)
    told = _foretask.learning_curve(problem.samples, problem.choices, counts.tolist())
    return problem.by_target(
        {
            name: LearningCurve(
                task=problem.tasks.label(name),
                added=np.array([added for added, _, _ in points], dtype=np.int64),
                error=np.array([error for _, error, _ in points]),
                interval=np.array([interval for _, _, interval in points]).reshape(-1, 2),
            )
            for name, points in told
        }
    )


def task_values(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    sample_weight: Any = None,
    **choices: Any,
) -> TaskValues | dict[Any, TaskValues]:
    """Foretell the error without each source.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Classes.
    task : array-like of shape (n_samples,) or str
        The task of each row, or the column of the data frame ``X`` that holds it.
    target : object, default=None
        The task to decide for; all of them by default.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts.
    **choices
        Further parameters of :class:`MultiTaskClassifier`.

    Returns
    -------
    TaskValues or dict
        By task if there are several targets.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from foretask import task_values
    >>> X, y = load_digits(return_X_y=True)
    >>> rows = np.flatnonzero(np.isin(y, [3, 8]))[:120]
    >>> task = np.where(np.arange(120) < 100, "many", "few")
    >>> task_values(X[rows], y[rows], task, target="few").sources
    array(['many'], dtype='<U4')
    """
    model = MultiTaskClassifier(target=target, **choices)
    problem = model._problem(X, y, task, sample_weight)
    told = _foretask.source_values(problem.samples, problem.choices)
    return problem.by_target(
        {
            name: TaskValues(
                task=problem.tasks.label(name),
                error=error,
                interval=(interval[0], interval[1]),
                sources=np.array([problem.tasks.label(source) for source, _, _ in values]),
                error_without=np.array([without for _, without, _ in values]),
                interval_without=np.array([ends for _, _, ends in values]).reshape(-1, 2),
            )
            for name, error, interval, values in told
        }
    )
