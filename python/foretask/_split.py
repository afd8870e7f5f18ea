"""Cross-validation for one of several tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold

from ._data import columns_of, encode, nearest, one_per_row, split_column
from ._pickles import Kept


class TargetSplit(Kept, BaseCrossValidator):
    """Folds of the target's rows, stratified by class; all other rows stay in training.

    Tasks come from where the classifier has them: a column of the data frame (``task_column``), metadata
    (``task``, where scikit-learn routes it), or ``groups`` where it does not.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    target : object, default=None
        The task to be tested on; may be left out if there is one task only.
    task_column : str, default=None
        The column of the data frame ``X`` that names the task of each row.
    shuffle : bool, default=False
        Whether rows of a class are shuffled before they are dealt out.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling.
    every_row : bool, default=False
        Whether rows of other tasks are dealt out to the test sets too, though they stay in training:
        ``cross_val_predict`` wants every row tested once. Only what it says of the target's rows is
        a prediction of rows that were not trained on.

    Examples
    --------
    >>> import numpy as np
    >>> import sklearn
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
    >>> from foretask import MultiTaskClassifier, TargetSplit
    >>> X, y = load_digits(return_X_y=True)
    >>> rows = np.flatnonzero(np.isin(y, [3, 8]))[:120]
    >>> X, y = X[rows], y[rows]
    >>> task = np.where(np.arange(120) < 80, "many", "few")
    >>> model = MultiTaskClassifier(target="few")
    >>> cv = TargetSplit(4, target="few", shuffle=True, random_state=0)
    >>> [len(test) for _, test in cv.split(X, y, task)]
    [10, 10, 10, 10]

    Without metadata routing the tasks are given to the classifier by ``params`` and to the folds by
    ``groups``:

    >>> scores = cross_val_score(model, X, y, cv=cv, params={"task": task}, groups=task)
    >>> bool(scores.min() > 0.7)
    True

    With metadata routing once for both:

    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     same = cross_val_score(model, X, y, cv=cv, params={"task": task})
    ...     areas = cross_val_score(model, X, y, cv=cv, params={"task": task}, scoring="roc_auc")
    ...     search = GridSearchCV(model, {"views": ["auto", "linear"]}, cv=cv).fit(X, y, task=task)
    >>> bool((same == scores).all()), bool(areas.min() > 0.8), sorted(search.best_params_)
    (True, True, ['views'])

    Or not at all, if the task is a column of the data frame:

    >>> import pandas as pd
    >>> frame = pd.DataFrame(X, columns=[f"pixel {j}" for j in range(64)]).assign(writer=task)
    >>> model = MultiTaskClassifier(target="few", task_column="writer")
    >>> cv = TargetSplit(4, target="few", task_column="writer", shuffle=True, random_state=0)
    >>> bool((cross_val_score(model, frame, y, cv=cv) == scores).all())
    True
    >>> cv = TargetSplit(4, target="few", task_column="writer", every_row=True)
    >>> predicted = cross_val_predict(model, frame, y, cv=cv)
    >>> bool((predicted == y)[task == "few"].mean() > 0.8)
    True
    """

    # Asked for wherever scikit-learn routes metadata.
    __metadata_request__split = {"groups": True, "task": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        target: Any = None,
        task_column: str | None = None,
        shuffle: bool = False,
        random_state: Any = None,
        every_row: bool = False,
    ) -> None:
        self.n_splits = n_splits
        self.target = target
        self.task_column = task_column
        self.shuffle = shuffle
        self.random_state = random_state
        self.every_row = every_row
        self._folds()

    _open = True

    @classmethod
    def _fields(cls) -> dict[str, Any]:
        names = ("n_splits", "target", "task_column", "shuffle", "random_state", "every_row")
        return dict.fromkeys(names, Any) | {"task_column": str | None, "every_row": bool}

    def _verify(self) -> None:
        self._folds()

    def _folds(self) -> StratifiedKFold:
        return StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, task: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups, task
            Not looked at.

        Returns
        -------
        int
            ``n_splits``.
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None, task: Any = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the rows to train on and those to test on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        groups : array-like of shape (n_samples,), default=None
            The task of each row, where scikit-learn routes no metadata.
        task : array-like of shape (n_samples,), default=None
            The task of each row.

        Yields
        ------
        train, test : ndarray
            Indices, ascending.
        """
        if y is None:
            raise ValueError("folds are stratified by class: give y")
        y = np.asarray(y)
        rows = len(y)
        own = self._target_rows(X, groups, task, rows)
        others = np.setdiff1d(np.arange(rows), own)
        folds = [test for _, test in self._folds().split(own, y[own])]
        for part, test in zip(np.array_split(others, len(folds)), folds, strict=True):
            tested = own[test]
            train = np.setdiff1d(np.arange(rows), tested)
            yield train, np.union1d(tested, part) if self.every_row else tested

    def _target_rows(self, X: Any, groups: Any, task: Any, rows: int) -> NDArray[np.int64]:
        """Return the rows of the target, ascending."""
        given = [values for values in (groups, task) if values is not None]
        if self.task_column is not None:
            if given:
                raise ValueError(f"the tasks are in task_column={self.task_column!r}; give no others")
            columns = columns_of(X)
            if self.task_column not in columns:
                hint = nearest(self.task_column, columns)
                raise ValueError(
                    f"task_column={self.task_column!r} names no column of X{hint}; give a data frame with "
                    "that column, or the task of each row as groups or as metadata"
                )
            given = [split_column(X, self.task_column)[1]]
        if not given:
            if self.target is None:
                return np.arange(rows)
            raise ValueError(
                "which rows are of the target? Give the task of each row: task_column for a data frame, "
                "groups=..., or params={'task': ...} where metadata are routed"
            )
        if len(given) > 1:
            raise ValueError("give the tasks by groups or by task, not by both")
        tasks, codes = encode(one_per_row("task", given[0], rows), "tasks")
        if self.target is None and len(tasks.names) > 1:
            known = ", ".join(repr(name) for name in tasks.names)
            raise ValueError(f"there are several tasks; name the target, one of: {known}")
        target = tasks.names[0] if self.target is None else tasks.find(self.target, "task")
        return np.flatnonzero(codes == tasks.names.index(target))
