"""Foretelling without training: one question to a :class:`foretask.Study` each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ._forecast import Forecast, LearningCurve, TaskValues
from ._study import ADDED, Study

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._choices import Settings, Task

# One target, or one task only, has one answer; several targets have a dict.


@overload
def forecast(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Task,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    **settings: Unpack[Settings],
) -> Forecast: ...
@overload
def forecast(
    X: Any,
    y: Any,
    task: None = None,
    *,
    target: None = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: None = None,
    **settings: Unpack[Settings],
) -> Forecast: ...
@overload
def forecast(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: None = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    **settings: Unpack[Settings],
) -> Forecast | dict[Any, Forecast]: ...
def forecast(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    **settings: Unpack[Settings],
) -> Forecast | dict[Any, Forecast]:
    """Foretell the test error of a classifier without training it.

    Parameters
    ----------
    X, y, task, target, sample_weight, groups, task_column, **settings
        As in :class:`foretask.Study`.

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
    study = Study(
        X,
        y,
        task,
        target=target,
        sample_weight=sample_weight,
        groups=groups,
        task_column=task_column,
        **settings,
    )
    return study.forecast()


@overload
def learning_curve_forecast(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Task,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    added: Sequence[int] = ADDED,
    **settings: Unpack[Settings],
) -> LearningCurve: ...
@overload
def learning_curve_forecast(
    X: Any,
    y: Any,
    task: None = None,
    *,
    target: None = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: None = None,
    added: Sequence[int] = ADDED,
    **settings: Unpack[Settings],
) -> LearningCurve: ...
@overload
def learning_curve_forecast(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: None = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    added: Sequence[int] = ADDED,
    **settings: Unpack[Settings],
) -> LearningCurve | dict[Any, LearningCurve]: ...
def learning_curve_forecast(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    added: Sequence[int] = ADDED,
    **settings: Unpack[Settings],
) -> LearningCurve | dict[Any, LearningCurve]:
    """Foretell the error with more labels in the target.

    Parameters
    ----------
    X, y, task, target, sample_weight, groups, task_column, **settings
        As in :class:`foretask.Study`.
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
    study = Study(
        X,
        y,
        task,
        target=target,
        sample_weight=sample_weight,
        groups=groups,
        task_column=task_column,
        **settings,
    )
    return study.learning_curve(added)


@overload
def task_values(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Task,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    **settings: Unpack[Settings],
) -> TaskValues: ...
@overload
def task_values(
    X: Any,
    y: Any,
    task: None = None,
    *,
    target: None = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: None = None,
    **settings: Unpack[Settings],
) -> TaskValues: ...
@overload
def task_values(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: None = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    **settings: Unpack[Settings],
) -> TaskValues | dict[Any, TaskValues]: ...
def task_values(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    task_column: str | None = None,
    **settings: Unpack[Settings],
) -> TaskValues | dict[Any, TaskValues]:
    """Foretell the error without each source.

    Parameters
    ----------
    X, y, task, target, sample_weight, groups, task_column, **settings
        As in :class:`foretask.Study`.

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
    study = Study(
        X,
        y,
        task,
        target=target,
        sample_weight=sample_weight,
        groups=groups,
        task_column=task_column,
        **settings,
    )
    return study.task_values()
