"""Statistics of rows that need not be in memory together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_X_y

from . import _foretask
from ._data import (
    ONLY_TASK,
    TABLE,
    Names,
    Samples,
    dense,
    encode,
    labels_of,
    name_of,
    named,
    one_per_row,
    refuse_lazy,
    refuse_missing,
    reordered,
)


class Statistics:
    """All that training needs to know of the data; grows part by part and merges.

    Kept are, for each task, counts and means by class and either the scatter (features by features) or,
    while they are fewer than the features, the rows. From these
    :meth:`MultiTaskClassifier.fit_from_statistics` trains. Leave-one-out, which the default rests on,
    needs the rows of the target: name it in ``keep_rows``.

    Parameters
    ----------
    keep_rows : bool or iterable of tasks, default=()
        Tasks whose rows are kept however many there are; True for all.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from foretask import MultiTaskClassifier, Statistics
    >>> X, y = load_digits(return_X_y=True)
    >>> first = Statistics(keep_rows=True).add(X[:200], y[:200])
    >>> second = Statistics(keep_rows=True).add(X[200:400], y[200:400])
    >>> both = Statistics.from_bytes(first.merge(second).to_bytes())
    >>> both.n_samples
    400
    >>> model = MultiTaskClassifier().fit_from_statistics(both)
    >>> same = MultiTaskClassifier().fit(X[:400], y[:400])
    >>> bool((model.predict(X) == same.predict(X)).all())
    True
    """

    def __init__(self, keep_rows: bool | Iterable[Any] = ()) -> None:
        if isinstance(keep_rows, str):
            keep_rows = [keep_rows]
        self._keep = (
            (None if keep_rows else [])
            if isinstance(keep_rows, bool)
            else [name_of(task) for task in keep_rows]
        )
        self._raw: _foretask.Statistics | None = None

    def add(self, X: Any, y: Any, task: Any = None) -> Statistics:
        """Add rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        task : object or array-like of shape (n_samples,), default=None
            The task of all rows, or of each.

        Returns
        -------
        Statistics
            Itself. If the rows are refused nothing is added; of no rows nothing is.
        """
        refuse_lazy(X, y, task)
        refuse_missing(y, "y")
        X, y = check_X_y(X, y, ensure_min_samples=0, **TABLE)
        if X.shape[0] == 0:
            # Nothing to add, and nothing to learn the classes or tasks from.
            if self._raw is not None and X.shape[1] != self._raw.features:
                raise ValueError(f"expected {self._raw.features} features, got {X.shape[1]}")
            return self
        classes, class_codes = encode(y, "classes")
        if task is None or isinstance(task, str) or np.ndim(task) == 0:
            label = ONLY_TASK if task is None else task
            tasks = Names(np.array([label]), [name_of(label)])
            task_codes = np.zeros(X.shape[0], dtype=np.int64)
        else:
            tasks, task_codes = encode(one_per_row("task", task, X.shape[0]), "tasks")
        raw = self._raw
        if raw is None:
            raw = _foretask.Statistics(X.shape[1], self._keep)
        raw.add(Samples(dense(X), task_codes, tasks.names, class_codes, classes.names))
        self._raw = raw
        return self

    def merge(self, other: Statistics) -> Statistics:
        """Add the statistics of other rows, which come after those that are there.

        Parameters
        ----------
        other : Statistics
            Of other rows with the same features; it stays as it is.

        Returns
        -------
        Statistics
            Itself.
        """
        if other._raw is None:
            return self
        raw = self._raw
        if raw is None:
            raw = _foretask.Statistics(other._raw.features, self._keep)
        # The bridge cannot lend to itself what it changes.
        raw.merge(_foretask.Statistics.from_bytes(raw.to_bytes()) if other is self else other._raw)
        self._raw = raw
        return self

    def to_bytes(self) -> bytes:
        """Return the statistics as a safetensors file."""
        return self._filled().to_bytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Statistics:
        """Read what :meth:`to_bytes` wrote.

        Parameters
        ----------
        content : bytes
            The file.

        Returns
        -------
        Statistics
            The same statistics.
        """
        statistics = cls()
        statistics._raw = _foretask.Statistics.from_bytes(content)
        return statistics

    def _filled(self) -> _foretask.Statistics:
        if self._raw is None:
            raise ValueError("there are no rows yet; add some")
        return self._raw

    def _task_names(self) -> Names:
        return named([name for name, _, _ in self._filled().tasks])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._filled().features

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return sum(sum(counts) for _, _, counts in self._filled().tasks)

    @property
    def tasks(self) -> NDArray[Any]:
        """The tasks; integers if all are whole numbers."""
        return self._task_names().labels

    @property
    def counts(self) -> dict[Any, dict[Any, int]]:
        """Number of rows by task and class."""
        found = {}
        for name, classes, counts in self._filled().tasks:
            found[name] = dict(zip(labels_of(classes).tolist(), counts, strict=True))
        tasks = self._task_names()
        return {label: found[name] for label, name in zip(tasks.labels.tolist(), tasks.names, strict=True)}

    def relatedness(self) -> NDArray[np.float64]:
        """Return how alike the tasks are (n_tasks by n_tasks, in the order of ``tasks``)."""
        raw = self._filled()
        return reordered(raw.relatedness(), [name for name, _, _ in raw.tasks], self._task_names())

    def __reduce__(self) -> Any:
        if self._raw is None:
            return (Statistics, (True if self._keep is None else tuple(self._keep),))
        return (Statistics.from_bytes, (self.to_bytes(),))
