"""Foretelling without training: one question to a :class:`foretask.Study` each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._forecast import Forecast, LearningCurve, TaskValues
from ._study import ADDED, Study


def forecast(X: Any, y: Any, task: Any = None, **settings: Any) -> Forecast | dict[Any, Forecast]:
    """Foretell the test error of a classifier without training it.

    Parameters
    ----------
    X, y, task, **settings
        As in :class:`foretask.Study`, ``target``, ``sample_weight`` and ``groups`` among them.

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
    return Study(X, y, task, **settings).forecast()


def learning_curve_forecast(
    X: Any, y: Any, task: Any = None, *, added: Sequence[int] = ADDED, **settings: Any
) -> LearningCurve | dict[Any, LearningCurve]:
    """Foretell the error with more labels in the target.

    Parameters
    ----------
    X, y, task, **settings
        As in :class:`foretask.Study`, ``target``, ``sample_weight`` and ``groups`` among them.
    added : sequence of int, default=(0, 5, 10, 20, 50, 100)
        Labels to add to each class of the target.

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
    return Study(X, y, task, **settings).learning_curve(added)


def task_values(X: Any, y: Any, task: Any = None, **settings: Any) -> TaskValues | dict[Any, TaskValues]:
    """Foretell the error without each source.

    Parameters
    ----------
    X, y, task, **settings
        As in :class:`foretask.Study`, ``target``, ``sample_weight`` and ``groups`` among them.

    Returns
    -------
    TaskValues, or dict of them by task
        Which has no sources if there is one task only.

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
    return Study(X, y, task, **settings).task_values()
