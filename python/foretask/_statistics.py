"""Statistics of rows that need not be in memory together."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, check_X_y
from sklearn.utils.validation import column_or_1d

from . import _foretask
from ._batches import batches_of
from ._data import (
    ONLY_TASK,
    TABLE,
    Names,
    Samples,
    SparseTable,
    columns_of,
    encode,
    labels_of,
    name_of,
    named,
    one_per_row,
    refuse_lazy,
    refuse_missing,
    reordered,
    split_column,
    table_of,
)
from ._pickles import broken, fits

#: Names of tasks, None for all: whose rows are kept, and who may be a target; the number of its folds.
Kept = tuple[list[str] | None, list[str] | None, int | None]


class Statistics:
    """All that training needs to know of the data; grows part by part and merges.

    Kept are, for each task, counts and means by class and either the scatter (features by features) or,
    while they are fewer than the features, the rows. From these
    :meth:`MultiTaskClassifier.fit_from_statistics` trains. The default leaves out rows of its target, or
    folds where they are many: name it as ``target``.

    Parameters
    ----------
    keep_rows : bool or iterable of tasks, default=()
        Tasks whose rows are kept however many there are; True for all.
    target : bool, task or iterable of tasks, default=()
        Tasks that may be the target of a fit; True for all. Their rows are kept while they are few, and from
        a few thousand on folds of statistics and a sample of at most 20,000 rows, so that memory does not
        grow with them.
    folds : int, default=None
        How many folds the rows of a target are dealt to, 2 to 50; None for 10. Parts that are merged have
        the same number.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from foretask import MultiTaskClassifier, Statistics
    >>> X, y = load_digits(return_X_y=True)
    >>> first = Statistics(target=True).add(X[:200], y[:200])
    >>> second = Statistics(target=True).add(X[200:400], y[200:400])
    >>> both = Statistics.from_bytes(first.merge(second).to_bytes())
    >>> both.n_samples
    400
    >>> model = MultiTaskClassifier().fit_from_statistics(both)
    >>> same = MultiTaskClassifier().fit(X[:400], y[:400])
    >>> bool((model.predict(X) == same.predict(X)).all())
    True
    """

    def __init__(
        self, keep_rows: bool | Iterable[Any] = (), target: Any = (), folds: int | None = None
    ) -> None:
        #: Whose rows are kept, who may be a target, and in how many folds.
        self._kept: Kept = (_wished(keep_rows), _wished(target), _counted(folds))
        self._raw: _foretask.Statistics | None = None

    def add(self, X: Any, y: Any, task: Any = None) -> Statistics:
        """Add rows.

        Arrays of single and double precision in C or Fortran order, memory-mapped files among them, are
        read where they are; any other array of numbers (float16, integers, booleans, strided ones) is
        converted block by block.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features; no rows are fine. The columns of a data frame are matched by name with those that came
            before.
        y : array-like of shape (n_samples,)
            Classes.
        task : str, object or array-like of shape (n_samples,), default=None
            A column of X by its name, as in :meth:`MultiTaskClassifier.fit`; else the task of all rows, or
            of each.

        Returns
        -------
        Statistics
            Itself. If the rows are refused nothing is added; of no rows only the features are known.
        """
        refuse_lazy(X, y, task)
        refuse_missing(y, "y")
        if isinstance(task, str) and task in columns_of(X):
            X, task = split_column(X, task)
        names = columns_of(X) or None
        X, y = _checked(X, y)
        if X.shape[0] == 0 and self._raw is not None:
            # Nothing to add, and nothing to learn the classes or tasks from.
            if X.shape[1] != self._raw.features:
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
        if raw is not None:
            _refuse_two_kinds(_classes_of(raw), set(classes.names))
            if names is None and raw.feature_names is not None:
                raise ValueError(
                    "the columns before have names, these have none: give a data frame with them"
                )
        added = _foretask.Statistics(X.shape[1], *self._kept) if raw is None else raw
        blocks = _blocks(X)
        if len(blocks) > 1:
            added = added.copy()  # all of them or none
        for block in blocks:
            samples = Samples(
                _table(X[block]), task_codes[block], tasks.names, class_codes[block], classes.names
            )
            added.add(samples, names)
        self._raw = added
        return self

    def add_batches(self, batches: Any, y: Any = None, task: Any = None) -> Statistics:
        """Add rows that come some at a time, so that memory does not grow with them.

        Parameters
        ----------
        batches : iterable, pyarrow dataset or array
            Tables with named columns (Arrow batches, data frames), or tuples ``(X, y)`` or ``(X, y, task)``;
            a pyarrow dataset, scanner or table; or one array, such as ``numpy.load(path, mmap_mode="r")``,
            of which some rows are looked at at a time. Some thousand rows a batch are enough.
        y : str or array-like of shape (n_samples,), default=None
            The column of the classes where batches are tables; the classes of all rows of an array.
        task : str, object or array-like, default=None
            As in :meth:`add`: a column of the tables by its name, the task of all rows, or that of each row
            of an array.

        Returns
        -------
        Statistics
            Itself. If a batch is refused nothing is added, and the error says which it is.

        Examples
        --------
        >>> import numpy as np
        >>> from foretask import Statistics
        >>> rng = np.random.default_rng(0)
        >>> parts = ((rng.normal(size=(50, 3)), rng.integers(2, size=50)) for _ in range(4))
        >>> Statistics().add_batches(parts).n_samples
        200
        """
        refuse_lazy(batches, y, task)
        before = None if self._raw is None else self._raw.copy()
        number = 0
        try:
            for batch in batches_of(batches, y, task):
                self.add(*batch)
                number += 1
        except BaseException as error:
            self._raw = before
            if isinstance(error, ValueError):
                raise ValueError(f"batch {number} (batches count from 0): {error}") from error
            raise
        return self

    def merge(self, other: Statistics, again: bool = False) -> Statistics:
        """Add the statistics of other rows, which come after those that are there.

        Columns are matched by name where features have names. The last bits of sums depend on their
        grouping; the order that gives the same bits on any machine is that of :meth:`merge_all`.

        Parameters
        ----------
        other : Statistics
            Of other rows with the same features; it stays as it is.
        again : bool, default=False
            Whether rows that are there already are to count again. Otherwise they are recognised and refused.

        Returns
        -------
        Statistics
            Itself.
        """
        if other._raw is None:
            if self._raw is None:
                keep, targets, folds = other._kept
                if folds is None or self._kept[2] is not None:
                    folds = self._kept[2]
                self._kept = (_either(self._kept[0], keep), _either(self._kept[1], targets), folds)
            return self
        raw = other._raw if other is not self else other._raw.copy()
        if self._raw is None:
            own = _foretask.Statistics(raw.features, *self._kept)
            own.merge(raw, again)
            self._raw = own
            return self
        _refuse_two_kinds(_classes_of(self._raw), _classes_of(raw))
        self._raw.merge(raw, again)
        return self

    @classmethod
    def merge_all(cls, parts: Iterable[Statistics]) -> Statistics:
        """Return the union of parts, merged in pairs by their number, then the pairs in pairs, and so on.

        This tree is the canonical order: runs of 2^j parts that begin at a multiple of 2^j may be merged
        anywhere first, by any number of workers, and the bytes are the same.

        Parameters
        ----------
        parts : iterable of Statistics
            At least one; they stay as they are.

        Returns
        -------
        Statistics
            Of all rows.
        """
        parts = list(parts)
        raws = [part._raw for part in parts if part._raw is not None]
        if not parts:
            raise ValueError("there are no parts to merge")
        seen: set[str] = set()
        for raw in raws:
            _refuse_two_kinds(seen, _classes_of(raw))
            seen |= _classes_of(raw)
        whole = cls()
        if raws:
            # A part without rows keeps its place in the tree.
            places = [part._raw or _foretask.Statistics(raws[0].features, *part._kept) for part in parts]
            whole._raw = _foretask.Statistics.merge_all(places)
        return whole

    def to_bytes(self, min_cell: int | None = None) -> bytes:
        """Return the statistics as a safetensors file.

        Parameters
        ----------
        min_cell : int, default=None
            If given, the file is for others to see: it is refused if a class of a task has fewer rows than
            this, or if it would hold rows (kept ones, or those of a task with fewer rows than features),
            and the least and the largest value of each feature, which are those of single rows, are
            replaced by bounds that follow from mean and scatter. This is a rule about small counts, not
            differential privacy: what all rows of a class share is told, and so is the difference of two
            files that differ by a row.

        Returns
        -------
        bytes
            The file.
        """
        filled = self._filled()
        if min_cell is None:
            return filled.to_bytes()
        shared, lost = filled.shareable(min_cell)
        if lost:
            targets = ", ".join(map(repr, lost))
            warnings.warn(
                f"no folds are kept of {targets}: one has fewer than {max(min_cell, 2)} rows of a "
                "class, which would be as good as shown; the default cannot be trained for it from it, "
                'only a theory (theory="common")',
                UserWarning,
                stacklevel=2,
            )
        return shared.to_bytes()

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
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if they came from data frames."""
        names = None if self._raw is None else self._raw.feature_names
        if names is None:
            raise AttributeError("the features have no names")
        return np.array(names, dtype=object)

    @property
    def parts(self) -> list[str]:
        """Identities of the parts that were merged, in hexadecimal."""
        return [] if self._raw is None else self._raw.parts

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        if self._raw is None:
            return 0
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
        return (_restored, (self._kept, None if self._raw is None else self._raw.to_bytes()))


def _restored(kept: Kept, content: bytes | None) -> Statistics:
    """Return statistics from what pickle keeps."""
    if not fits(kept, Kept):
        raise broken("Statistics", "whose rows it keeps is not told")
    if not fits(content, bytes | None):
        raise broken("Statistics", f"its content is a {type(content).__name__}")
    statistics = Statistics() if content is None else Statistics.from_bytes(content)
    statistics._kept = kept
    return statistics


def _wished(tasks: Any) -> list[str] | None:
    """Return the names of tasks; None is all of them."""
    if isinstance(tasks, bool):
        return None if tasks else []
    one = isinstance(tasks, str) or not isinstance(tasks, Iterable)
    return [name_of(task) for task in ([tasks] if one else tasks)]


def _counted(folds: Any) -> int | None:
    """Return a number of folds, which the library checks."""
    if folds is None:
        return None
    if isinstance(folds, bool) or not isinstance(folds, numbers.Integral) or not 2 <= int(folds) <= 50:
        raise ValueError(f"folds must be a whole number from 2 to 50 or None, got {folds!r}")
    return int(folds)


def _either(one: list[str] | None, other: list[str] | None) -> list[str] | None:
    return None if one is None or other is None else sorted({*one, *other})


#: Values that are converted at a time.
BLOCK = 1 << 21


def _checked(X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    """Check shapes and types; arrays are not converted here, and the library checks values."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] > 0 and X.dtype.kind in "fiub":
        y = column_or_1d(y)
        check_consistent_length(X, y)
        return X, y
    if hasattr(X, "column_names"):  # pyarrow
        X = np.column_stack([np.asarray(X.column(name)) for name in X.column_names])
    return check_X_y(X, y, ensure_min_samples=0, ensure_all_finite=False, **TABLE)


def _is_borrowed(X: Any) -> bool:
    """Whether the library reads a table where it is."""
    return X.dtype in (np.float64, np.float32) and (X.flags.c_contiguous or X.flags.f_contiguous)


def _blocks(X: Any) -> list[slice]:
    """Rows that are handed over together."""
    if not isinstance(X, np.ndarray) or _is_borrowed(X):
        return [slice(0, X.shape[0])]
    rows = max(1, BLOCK // X.shape[1])
    return [slice(start, start + rows) for start in range(0, max(1, X.shape[0]), rows)]


def _table(X: Any) -> NDArray[Any] | SparseTable:
    """Return rows as the bridge takes them."""
    if not isinstance(X, np.ndarray):
        return table_of(X)
    if not X.dtype.isnative or X.dtype not in (np.float64, np.float32):
        return np.ascontiguousarray(X, dtype=np.float64)
    return table_of(X)


def _classes_of(raw: _foretask.Statistics) -> set[str]:
    return {name for _, classes, _ in raw.tasks for name in classes}


def _refuse_two_kinds(before: set[str], now: set[str]) -> None:
    """Booleans in one part and 0 and 1 in another would be four classes."""
    truth, number = {"false", "true"}, {"0", "1"}
    for one, other in ((truth, number), (number, truth)):
        if before and now and before <= one and now <= other:
            raise ValueError(
                f"the classes of one part are {sorted(before)} and of another {sorted(now)}: give "
                "booleans to all parts, or numbers to all"
            )
