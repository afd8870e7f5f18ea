"""Training and prediction where the rows are: on the workers of Dask.

``pip install 'foretask[dask]'``. Each partition becomes :class:`foretask.Statistics` on the worker that has
it; they are united in pairs by the number of the partition, and only the union travels to the client, which
trains.
Results are the same bits for any number of workers, also where some are lost on the way.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _gather
from ._classifier import MultiTaskClassifier
from ._data import columns_of
from ._gather import Part, Roles, Rows
from ._statistics import Statistics

try:
    import dask
    from dask import delayed
    from dask.core import get_dependencies
except ImportError as error:  # pragma: no cover
    raise ImportError("foretask.dask needs Dask: pip install 'foretask[dask]'") from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._choices import Settings

__all__ = ["DaskMultiTaskClassifier", "fit", "forecast", "gather", "predict", "predict_proba"]

#: Columns of labels that were given beside a frame.
_LABEL, _TASK = "__foretask_label", "__foretask_task"


def gather(
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    features: Sequence[Any] | None = None,
    client: Any = None,
) -> Statistics:
    """Gather the statistics of all partitions.

    Parameters
    ----------
    X : dask DataFrame, dask array, or paths of Parquet files
        Features. Of files (folders and patterns included) each row group is a partition.
    y : str, dask Series or dask array
        Classes, or the column of ``X`` that holds them. A Series with the name of a column stands for it.
    task : str, dask Series or dask array, default=None
        The task of each row, or the column of ``X`` that holds it; one task by default.
    target : object, default=None
        The task that will be decided for, whose rows are kept for leave-one-out; by default every task may
        be.
    features : sequence of column names, default=None
        The columns to learn from; by default all that are neither ``y`` nor ``task``.
    client : distributed.Client, default=None
        By default the current one; where there is none, the scheduler of Dask.

    Returns
    -------
    Statistics
        Of all rows; k p² numbers for k tasks, which must fit into the memory of one machine, and the rows of
        the target.
    """
    return _gathered(X, y, task, target, features, client).filled().statistics


def fit(
    client: Any,
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    features: Sequence[Any] | None = None,
    **settings: Unpack[Settings],
) -> MultiTaskClassifier:
    """Train on the rows of all workers.

    Parameters
    ----------
    client : distributed.Client or None
        As in :func:`gather`.
    X, y, task, target, features
        As in :func:`gather`.
    **settings
        Further parameters of :class:`foretask.MultiTaskClassifier`.

    Returns
    -------
    MultiTaskClassifier
        An ordinary one, here.
    """
    whole = _gathered(X, y, task, target, features, client)
    return _gather.fitted(MultiTaskClassifier(target=target, **settings), whole)


def forecast(
    client: Any,
    X: Any,
    y: Any,
    task: Any = None,
    *,
    target: Any = None,
    features: Sequence[Any] | None = None,
    **settings: Unpack[Settings],
) -> Any:
    """Foretell the test error of a classifier trained on the rows of all workers.

    Parameters
    ----------
    client, X, y, task, target, features, **settings
        As in :func:`fit`.

    Returns
    -------
    Forecast or dict
        By task if there are several targets. For more questions gather once and ask
        :meth:`foretask.Study.from_statistics`.
    """
    return fit(client, X, y, task, target=target, features=features, **settings).forecast_


def predict(client: Any, model: MultiTaskClassifier, X: Any, task: Any = None) -> Any:
    """Predict classes where the rows are; nothing is computed yet.

    Parameters
    ----------
    client : distributed.Client or None
        Not needed, as what is returned is computed where it is asked for; in the place that it has in
        xgboost's functions.
    model : MultiTaskClassifier
        A fitted one.
    X : dask DataFrame, dask array or paths of Parquet files
        Rows. Columns of a frame that the model does not know are left aside.
    task : object, dask Series or dask array, default=None
        The task of all rows, the column that holds it, or the task of each row; may be left out if there
        is one target.

    Returns
    -------
    dask Series or dask array
        A Series with the index of ``X`` for frames and files.
    """
    return _predicted(client, model, X, task, "predict")


def predict_proba(client: Any, model: MultiTaskClassifier, X: Any, task: Any = None) -> Any:
    """Predict class probabilities where the rows are; nothing is computed yet.

    Parameters
    ----------
    client, model, X, task
        As in :func:`predict`.

    Returns
    -------
    dask DataFrame or dask array
        One column for each of ``model.classes_``.
    """
    return _predicted(client, model, X, task, "predict_proba")


class DaskMultiTaskClassifier(MultiTaskClassifier):
    """Multi-task least-squares SVM for data of Dask.

    Parameters
    ----------
    client : distributed.Client, default=None
        By default the current one; where there is none, the scheduler of Dask.
    target : object, default=None
        The task to decide for; by default every task that has two classes or more.
    **params
        Further parameters of :class:`foretask.MultiTaskClassifier`.

    See Also
    --------
    foretask.MultiTaskClassifier : What it is once it is fitted (:meth:`to_local`).
    """

    def __init__(self, client: Any = None, target: Any = None, **params: Any) -> None:
        super().__init__(target=target, **params)
        self.client = client

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*MultiTaskClassifier._get_param_names(), "client"])

    def __getstate__(self) -> Any:
        # A connection cannot travel.
        return super().__getstate__() | {"client": None}

    def fit(self, X: Any, y: Any, task: Any = None, *, features: Any = None) -> DaskMultiTaskClassifier:  # type: ignore[override]
        """Train on the rows of all workers.

        Parameters
        ----------
        X, y, task, features
            As in :func:`gather`; ``task_column`` may name the task instead.

        Returns
        -------
        self : DaskMultiTaskClassifier
            The fitted classifier.
        """
        if self.task_column is not None:
            if task is not None:
                raise ValueError(f"the tasks are in task_column={self.task_column!r} and in task: give one")
            task = self.task_column
        whole = _gathered(X, y, task, self.target, features, self.client)
        _gather.fitted(self, whole)
        if isinstance(task, str):
            self.task_column_ = task
        return self

    def predict(self, X: Any, task: Any = None, sample_domain: Any = None) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X, task
            As in :func:`predict`, or rows in memory.
        sample_domain : array-like, default=None
            For rows in memory, as in :meth:`foretask.MultiTaskClassifier.predict`.

        Returns
        -------
        dask Series, dask array or ndarray
            Lazy where ``X`` is.
        """
        if _is_lazy(X):
            return predict(self.client, self.to_local(), X, task)
        return super().predict(X, task, sample_domain)

    def predict_proba(self, X: Any, task: Any = None, sample_domain: Any = None) -> Any:
        """Predict class probabilities.

        Parameters
        ----------
        X, task, sample_domain
            As in :meth:`predict`.

        Returns
        -------
        dask DataFrame, dask array or ndarray
            Lazy where ``X`` is.
        """
        if _is_lazy(X):
            return predict_proba(self.client, self.to_local(), X, task)
        return super().predict_proba(X, task, sample_domain)

    def score(
        self, X: Any, y: Any, task: Any = None, sample_weight: Any = None, sample_domain: Any = None
    ) -> float:
        """Return the share of right decisions among the rows of the target.

        Parameters
        ----------
        X, y, task
            As in :func:`gather`, or rows in memory.
        sample_weight, sample_domain
            For rows in memory, as in :meth:`foretask.MultiTaskClassifier.score`.

        Returns
        -------
        float
            Accuracy.
        """
        if not _is_lazy(X):
            return super().score(X, y, task, sample_weight, sample_domain)
        if sample_weight is not None or sample_domain is not None:
            raise ValueError("weights and domains are for rows in memory")
        names = getattr(self, "feature_names_in_", None)
        features = None if names is None else _selected(X, names)
        column = getattr(self, "task_column_", None)
        if task is None and column is not None and column in _columns(X):
            task = column
        parts, roles = _parts(X, y, task, None, features, _counted, delayed(self.to_local()), self.client)
        counts = _computed(delayed(_summed)(parts), self.client)
        if counts[1] == 0:
            raise ValueError("no row is of a target, and rows of sources are not counted")
        return float(counts[0] / counts[1])

    def to_local(self) -> MultiTaskClassifier:
        """Return an ordinary classifier with what was learned.

        Returns
        -------
        MultiTaskClassifier
            Which knows nothing of Dask.
        """
        local = MultiTaskClassifier()
        local.__dict__.update({name: value for name, value in self.__dict__.items() if name != "client"})
        return local


# Gathering


def _gathered(X: Any, y: Any, task: Any, target: Any, features: Any, client: Any) -> Part:
    parts, roles = _parts(X, y, task, target, features, None, None, client)
    if not parts:
        raise ValueError("there are no partitions")
    token, size, level = uuid.uuid4().hex[:12], _gather.fan(len(roles.features)), 0
    while len(parts) > 1:
        level += 1
        # Complete subtrees: the whole is the tree of pairs, with fewer tasks for the scheduler.
        parts = [
            delayed(_gather.tree, pure=False)(
                parts[start : start + size],
                target,
                dask_key_name=f"foretask-union-{level}-{start // size}-{token}",
            )
            for start in range(0, len(parts), size)
        ]
    return _computed(parts[0], client)


def _parts(
    X: Any, y: Any, task: Any, target: Any, features: Any, count: Any, model: Any, client: Any
) -> tuple[list[Any], Roles]:
    """Make a task for each partition, or for some neighbours: their statistics.

    Or, for each partition, what ``count`` makes of its rows and a model.
    """
    token = uuid.uuid4().hex[:12]

    def named(number: int) -> str:
        return f"foretask-partition-{number}-{token}"

    def together(make: Any, each: list[Any], roles: Roles) -> list[Any]:
        size, shared = _neighbours(len(each), len(roles.features), client), _shared(roles)
        of_some = delayed(_united, pure=False)
        return [
            of_some(start, make, _Opaque(each[start : start + size]), shared, dask_key_name=named(start))
            for start in range(0, len(each), size)
        ]

    if _gather.is_paths(X):
        for what, value in (("y", y), ("task", task)):
            if not isinstance(value, str) and not (what == "task" and value is None):
                raise ValueError(f"with paths of files, {what} must name a column")
        pieces, roles = _gather.pieces_of(X, y, task, target, features)
        if count is None:
            return together(_gather.read_piece, pieces, roles), roles
        shared, of_piece = _shared(roles), delayed(_piece_counted, pure=False)
        return [
            of_piece(number, piece, shared, model, dask_key_name=named(number))
            for number, piece in enumerate(pieces)
        ], roles
    if _is_frame(X):
        frame, label, column = _beside(X, y, _LABEL), y, task
        if not isinstance(y, str):
            label = _LABEL
        if task is not None and not isinstance(task, str):
            frame, column = _beside(frame, task, _TASK), _TASK
        if features is None:
            # A Series of labels with the name of a column is that column, and no feature.
            taken = {getattr(values, "name", None) for values in (y, task)} - {None}
            frame = frame[[name for name in frame.columns if name not in taken]]
        roles = _gather.roles_of(list(frame.columns), label, column, target, features)
        frame = frame[roles.columns]
        alone = _alone(frame) if count is None else None
        if alone is not None:
            return together(_alone_part, alone, roles), roles
        blocks: list[Any] = [(block,) for block in frame.to_delayed()]
        make: Any = _frame_part
    elif _is_array(X):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and features; it has {X.ndim}")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        table = X.to_delayed()[:, 0]
        labels = _aligned("y", y, X)
        tasks = [None] * len(table) if task is None else _aligned("task", task, X)
        roles = Roles(
            tuple(range(X.shape[1])), "y", None if task is None else "task", target, are_named=False
        )
        blocks = list(zip(table, labels, tasks, strict=True))
        make = _array_part
    else:
        raise TypeError(
            f"X must be a dask DataFrame, a dask array or paths of Parquet files, not {type(X).__name__}; "
            "rows in memory are for foretask.MultiTaskClassifier"
        )
    shared, of_block = _shared(roles), delayed(make, pure=False)
    return [
        of_block(number, block, shared, count, model, dask_key_name=named(number))
        for number, block in enumerate(blocks)
    ], roles


def _shared(roles: Roles) -> Any:
    """Put the roles into each task while they are small, so that it hangs on nothing but its partition."""
    return roles if len(roles.features) <= 512 else delayed(roles)


class _Opaque:
    """A list that Dask does not look into."""

    def __init__(self, each: list[Any]) -> None:
        self.each = each


def _united(first: int, make: Any, some: _Opaque, roles: Roles) -> Part:
    """Make the statistics of some neighbours, one after the other."""
    parts = (make(first + place, one, roles) for place, one in enumerate(some.each))
    return _gather.tree(parts, roles.target)


def _neighbours(partitions: int, features: int, client: Any) -> int:
    """How many partitions are one task: a power of two, which leaves enough tasks for each thread.

    A task costs Dask some milliseconds whatever it holds.
    """
    held = _client(client)
    threads = 1 if held is None else sum(held.nthreads().values())
    size, tasks = 1, max(32, 8 * threads)
    while partitions >= 2 * size * tasks and size < _gather.fan(features):
        size *= 2
    return size


def _alone(frame: Any) -> list[tuple[dict[Any, Any], Any]] | None:
    """Return what makes each partition, if none needs what another needs, or what is on workers already."""
    frame = frame.optimize()
    graph, keys = dict(frame.__dask_graph__()), frame.__dask_keys__()
    if _holds_futures(frame):
        return None
    alone: list[tuple[dict[Any, Any], Any]] = []
    seen: set[Any] = set()
    for key in keys:
        own: dict[Any, Any] = {}
        needed = [key]
        while needed:
            one = needed.pop()
            if one in own:
                continue
            if one in seen:
                return None
            own[one] = graph[one]
            needed.extend(get_dependencies(graph, one))
        seen.update(own)
        alone.append((own, key))
    return alone


def _holds_futures(frame: Any) -> bool:
    try:
        from distributed import futures_of
    except ImportError:
        return False
    return bool(futures_of(frame))


def _alone_part(number: int, alone: tuple[dict[Any, Any], Any], roles: Roles) -> Part:
    graph, key = alone
    return _frame_part(number, (dask.get(graph, key),), roles, None, None)


def _frame_part(number: int, block: tuple[Any], roles: Roles, count: Any, model: Any) -> Any:
    try:
        rows = _gather.of_frame(block[0], roles)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None
    return _gather.part(number, [rows], roles) if count is None else count(rows, model, roles)


def _array_part(number: int, block: tuple[Any, Any, Any], roles: Roles, count: Any, model: Any) -> Any:
    table, labels, tasks = block
    if hasattr(table, "toarray"):
        table = table.toarray()
    rows = Rows(
        np.ascontiguousarray(table, dtype=np.float64),
        np.asarray(labels),
        None if tasks is None else np.asarray(tasks),
    )
    return _gather.part(number, [rows], roles) if count is None else count(rows, model, roles)


def _piece_counted(number: int, piece: Any, roles: Roles, model: Any) -> NDArray[np.int64]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(piece.path) as file:
        batches = file.iter_batches(_gather.BLOCK, row_groups=[piece.group], columns=roles.columns)
        return _summed([_counted(_gather.of_arrow(batch, roles), model, roles) for batch in batches])


def _counted(rows: Rows, model: MultiTaskClassifier, roles: Roles) -> NDArray[np.int64]:
    """Count right decisions and rows of targets."""
    from ._data import encode

    table, labels, tasks = rows
    if tasks is not None and len(table):
        names, codes = encode(tasks, "tasks")
        own = np.array([name in model._by_name for name in names.names])[codes]
        table, labels, tasks = table[own], labels[own], tasks[own]
    if len(table) == 0:
        return np.zeros(2, dtype=np.int64)
    decided = model.predict(_like_training(table, model, roles), None if len(model.models_) == 1 else tasks)
    return np.array([np.count_nonzero(decided == labels), len(labels)], dtype=np.int64)


def _summed(counts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.sum([np.zeros(2, dtype=np.int64), *counts], axis=0)


def _like_training(table: NDArray[Any], model: MultiTaskClassifier, roles: Roles) -> Any:
    if not hasattr(model, "feature_names_in_"):
        return table
    import pandas as pd

    return pd.DataFrame(table, columns=[str(name) for name in roles.features])


def _beside(frame: Any, values: Any, name: str) -> Any:
    """Add a column of labels to a frame, unless it is one of its own."""
    if isinstance(values, str):
        return frame
    if _is_array(values):
        import dask.dataframe as dd

        values = dd.from_dask_array(values, index=frame.index)
    elif not _is_frame(values):
        raise TypeError(
            f"labels of a dask DataFrame must be a column of it, a dask Series or a dask array, not "
            f"{type(values).__name__}"
        )
    if values.npartitions != frame.npartitions:
        raise ValueError(
            f"labels come in {values.npartitions} partitions, rows in {frame.npartitions}: give them the "
            "same partitions (repartition), or name a column"
        )
    return frame.assign(**{name: values})


def _aligned(what: str, values: Any, X: Any) -> Any:
    """Return the labels of each block of rows."""
    if _is_frame(values):
        values = values.to_dask_array()
    if not _is_array(values):
        if np.isnan(X.shape[0]):
            raise ValueError(f"X has chunks of unknown sizes: {what} must be a dask array with the same ones")
        import dask.array as da

        values = da.from_array(np.asarray(values), chunks=-1)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    sizes, own = X.chunks[0], values.chunks[0]
    if sizes != own and not np.isnan([*sizes, *own]).any():
        if sum(sizes) != sum(own):
            raise ValueError(f"X has {sum(sizes)} rows and {what} has {sum(own)}")
        values = values.rechunk((sizes,))
    elif len(sizes) != len(own):
        raise ValueError(
            f"X comes in {len(sizes)} blocks of rows and {what} in {len(own)}: rechunk them alike"
        )
    return values.to_delayed().ravel()


def _computed(what: Any, client: Any) -> Any:
    # A partition and its statistics are one task: frames are neither stored, weighed nor sent.
    with dask.config.set({"optimization.fuse.delayed": True}):
        return _run(what, _client(client))


def _run(what: Any, client: Any) -> Any:
    if client is None:
        return dask.compute(what)[0]
    from distributed import KilledWorker

    future = client.compute(what)
    try:
        return future.result()
    except KilledWorker as error:
        raise RuntimeError(
            f"a partition took every worker that tried it with it, probably for lack of memory: {error}; "
            "make partitions smaller, or workers larger"
        ) from error
    finally:
        future.cancel()


def _client(client: Any) -> Any:
    """Return the client that is meant: the one given, the current one, or none."""
    if client is not None:
        return client
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None


# Predicting


def _predicted(client: Any, model: MultiTaskClassifier, X: Any, task: Any, method: str) -> Any:
    if _gather.is_paths(X):
        import dask.dataframe as dd

        given = [X] if isinstance(X, str) or not isinstance(X, list | tuple) else X
        X = dd.read_parquet([file for one in given for file in _gather._files(str(one))])
    local = delayed(model)
    if _is_frame(X):
        import pandas as pd

        column = task if isinstance(task, str) and task in X.columns else None
        if column is None and task is None:
            held = getattr(model, "task_column_", None)
            column = held if held is not None and held in X.columns else None
        if _is_collection(task):
            X, column = _beside(X, task, _TASK), _TASK
        names = getattr(model, "feature_names_in_", None)
        features = [one for one in X.columns if one != column] if names is None else _selected(X, names)
        asked = task if column is None else None
        X = X[[*features, *([] if column is None else [column])]]
        nothing = _framed(np.zeros((0, len(model.classes_))), None, model, method)
        return X.map_partitions(
            _frame_predicted,
            local,
            features,
            column,
            asked,
            method,
            meta=pd.DataFrame(nothing) if method == "predict_proba" else nothing,
        )
    if not _is_array(X):
        raise TypeError(
            f"X must be a dask DataFrame, a dask array or paths of Parquet files, not {type(X).__name__}; "
            "rows in memory are for the methods of the classifier"
        )
    import dask.array as da

    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if _is_collection(task):
        tasks = _aligned("task", task, X)
    else:
        tasks = [task] * X.numblocks[0]
    call = delayed(_array_predicted)
    blocks = [call(local, block, own, method) for block, own in zip(X.to_delayed()[:, 0], tasks, strict=True)]
    shapes: list[tuple[Any, ...]] = [
        (rows,) if method == "predict" else (rows, len(model.classes_)) for rows in X.chunks[0]
    ]
    dtype = model.classes_.dtype if method == "predict" else np.dtype(np.float64)
    arrays = [da.from_delayed(block, shape, dtype) for block, shape in zip(blocks, shapes, strict=True)]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _array_predicted(model: MultiTaskClassifier, block: Any, task: Any, method: str) -> NDArray[Any]:
    if block.shape[0] == 0:
        width = (0,) if method == "predict" else (0, len(model.classes_))
        return np.zeros(width, dtype=model.classes_.dtype if method == "predict" else np.float64)
    if hasattr(model, "feature_names_in_"):
        import pandas as pd

        block = pd.DataFrame(np.asarray(block), columns=model.feature_names_in_)
    return getattr(model, method)(block, task=task)


def _frame_predicted(
    frame: Any, model: MultiTaskClassifier, features: list[Any], column: Any, task: Any, method: str
) -> Any:
    if len(frame) == 0:
        return _framed(np.zeros((0, len(model.classes_))), frame.index, model, method)
    if column is not None:
        # A column says where rows come from and asks nothing: the only rule decides for all of them.
        task = frame[column].to_numpy() if len(model.models_) > 1 else None
    rows = frame[features]
    if not hasattr(model, "feature_names_in_"):
        rows = rows.to_numpy(dtype=np.float64)
    else:
        rows = rows.set_axis([str(name) for name in features], axis=1)
    return _framed(getattr(model, method)(rows, task=task), frame.index, model, method)


def _framed(values: NDArray[Any], index: Any, model: MultiTaskClassifier, method: str) -> Any:
    import pandas as pd

    if method == "predict":
        if values.ndim == 2:
            values = model.classes_[:0]
        return pd.Series(values, index=index, name="prediction")
    return pd.DataFrame(values, index=index, columns=[str(name) for name in model.classes_])


def _selected(X: Any, names: Any) -> list[Any]:
    """Return the columns that training had, in its order."""
    from ._columns import _renamed

    columns = _columns(X)
    by_name = {str(column): column for column in columns}
    missing = [str(name) for name in names if str(name) not in by_name]
    if missing:
        raise ValueError(_renamed(list(by_name), [str(name) for name in names]))
    return [by_name[str(name)] for name in names]


def _columns(X: Any) -> list[Any]:
    if _gather.is_paths(X):
        import pyarrow.parquet as pq

        given = [X] if not isinstance(X, list | tuple) else X
        return list(pq.read_schema(_gather._files(str(given[0]))[0]).names)
    return list(X.columns) if hasattr(X, "columns") else columns_of(X)


def _is_lazy(X: Any) -> bool:
    return _gather.is_paths(X) or _is_collection(X)


def _is_collection(X: Any) -> bool:
    return _is_frame(X) or _is_array(X)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "map_partitions") and hasattr(X, "to_delayed")


def _is_array(X: Any) -> bool:
    return hasattr(X, "map_blocks") and hasattr(X, "to_delayed")
