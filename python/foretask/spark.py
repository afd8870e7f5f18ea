"""Training and prediction where the rows are: on the executors of Spark.

``pip install 'foretask[spark]'``. Each partition becomes :class:`foretask.Statistics` on the executor that
has it (``mapInArrow``); on the driver they are united in pairs by the number of the partition, as
:mod:`foretask.dask` does, and trained on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _foretask, _gather
from ._choices import Settings
from ._classifier import MultiTaskClassifier
from ._data import Names, nearest
from ._gather import Part, Roles, Rows
from ._statistics import Statistics

try:
    from pyspark.ml import Estimator, Model
    from pyspark.ml.functions import array_to_vector, vector_to_array
    from pyspark.ml.linalg import VectorUDT
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.param.shared import HasFeaturesCol, HasLabelCol, HasPredictionCol, HasProbabilityCol
    from pyspark.ml.util import (
        DefaultParamsReadable,
        DefaultParamsReader,
        DefaultParamsWritable,
        DefaultParamsWriter,
        MLReadable,
        MLReader,
        MLWritable,
        MLWriter,
    )
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, NumericType
except ImportError as error:  # pragma: no cover
    raise ImportError("foretask.spark needs PySpark: pip install 'foretask[spark]'") from error

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["SparkMultiTaskClassifier", "SparkMultiTaskModel", "gather"]

#: How columns are called on their way to the executors.
_FEATURES, _LABEL, _TASK = "features", "label", "task"

#: What comes back from each partition.
_PARTIAL = "number long, statistics binary, kinds string, error string"


def gather(
    data: Any,
    *,
    featuresCol: str | Sequence[str] = "features",
    labelCol: str = "label",
    taskCol: str | None = None,
    target: Any = None,
    spark: Any = None,
) -> Statistics:
    """Gather the statistics of all partitions.

    Parameters
    ----------
    data : DataFrame of Spark, or paths of Parquet files
        Rows. Of files (folders and patterns included), which every executor must see, each row group is a
        partition, in an order that does not depend on Spark: the statistics are those of
        :func:`foretask.dask.gather`, bit by bit.
    featuresCol : str or list of str, default="features"
        A column of vectors or arrays, or columns of numbers. Of files, a list of columns; by default all
        that are neither label nor task.
    labelCol : str, default="label"
        The column of the classes.
    taskCol : str, default=None
        The column of the tasks; one task by default.
    target : object, default=None
        The task that will be decided for, whose rows are kept for leave-one-out; by default every task may
        be.
    spark : SparkSession, default=None
        For paths; by default the one that is active.

    Returns
    -------
    Statistics
        Of all rows. Those of every partition come to the driver: k p² numbers for k tasks, each.
    """
    return _gathered(data, featuresCol, labelCol, taskCol, target, spark).filled().statistics


def _gathered(
    data: Any, features: str | Sequence[str], label: str, task: str | None, target: Any, spark: Any = None
) -> Part:
    if _gather.is_paths(data):
        chosen = None if isinstance(features, str) else list(features)
        pieces, roles = _gather.pieces_of(data, label, task, target, chosen)
        session = spark or SparkSession.active()
        source = session.range(0, len(pieces), 1, max(len(pieces), 1))
        partials = source.mapInArrow(_of_pieces(pieces, roles), _PARTIAL)
    else:
        frame, roles = _selected(data, features, label, task, target)
        partials = frame.mapInArrow(_of_batches(roles, isinstance(features, str)), _PARTIAL)
    return _united(partials.collect(), roles)


def _united(partials: Iterable[Any], roles: Roles) -> Part:
    """Unite what came back, in the order of the partitions."""
    found = sorted(partials, key=lambda row: row.number)
    wrong = next((row.error for row in found if row.error is not None), None)
    if wrong is not None:
        raise ValueError(wrong)
    by_number = {
        row.number: Part(
            f"partition {row.number}",
            Statistics.from_bytes(bytes(row.statistics)),
            roles.names,
            json.loads(row.kinds),
        )
        for row in found
        if row.statistics is not None
    }
    if not by_number:
        raise ValueError("there are no rows in any part of the data")
    # A partition without rows keeps its place in the tree.
    parts = (
        by_number.get(number) or Part(f"partition {number}", _gather.empty(roles.target), roles.names)
        for number in range(max(by_number) + 1)
    )
    return _gather.tree(parts, roles.target)


def _selected(
    frame: DataFrame, features: str | Sequence[str], label: str, task: str | None, target: Any
) -> tuple[DataFrame, Roles]:
    """Return the columns that are needed, under names of ours."""
    own = [features] if isinstance(features, str) else list(features)
    _known(frame, [*own, label, *([] if task is None else [task])])
    columns = [*_features(frame, features), frame[label].alias(_LABEL)]
    if task is not None:
        columns.append(frame[task].alias(_TASK))
    roles = Roles(tuple(own), label, task, target, are_named=not isinstance(features, str))
    return frame.select(*columns), roles


def _known(frame: DataFrame, columns: Sequence[str]) -> None:
    missing = next((column for column in columns if column not in frame.columns), None)
    if missing is not None:
        hint = nearest(missing, list(frame.columns))
        raise ValueError(f"there is no column {missing!r}{hint}")


def _features(frame: DataFrame, features: str | Sequence[str]) -> list[Any]:
    """Return the features as one column of arrays, or as columns of doubles."""
    if not isinstance(features, str):
        for name in features:
            kind = frame.schema[name].dataType
            if not isinstance(kind, NumericType) and kind.simpleString() != "boolean":
                raise ValueError(f"column {name!r} holds {kind.simpleString()}; features must be numbers")
        return [
            frame[name].cast("double").alias(f"{_FEATURES}{place}") for place, name in enumerate(features)
        ]
    kind = frame.schema[features].dataType
    if isinstance(kind, VectorUDT):
        return [vector_to_array(frame[features]).alias(_FEATURES)]
    if isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType):
        return [frame[features].cast("array<double>").alias(_FEATURES)]
    raise ValueError(
        f"column {features!r} holds {kind.simpleString()}; features must be vectors or arrays of numbers, "
        "or a list of columns of numbers"
    )


def _of_pieces(
    pieces: list[_gather.Piece], roles: Roles
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _partial(number, partial(_gather.read_piece, number, pieces[number], roles))

    return read


def _of_batches(
    roles: Roles, is_array: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        yield _partial(number, lambda: _of_partition(number, batches, roles, is_array))

    return read


def _of_partition(number: int, batches: Iterator[pa.RecordBatch], roles: Roles, is_array: bool) -> Part:
    """Make the statistics of one partition; the width of arrays is that of its first row."""
    width: int | None = None
    seen = 0

    def rows() -> Iterator[Rows]:
        nonlocal width, seen
        for batch in batches:
            if batch.num_rows == 0:
                continue
            labels = _gather.arrow_labels(batch.column(_LABEL))
            tasks = _gather.arrow_labels(batch.column(_TASK)) if _TASK in batch.schema.names else None
            if is_array:
                table = _of_arrays(batch.column(_FEATURES), roles.features[0], width, seen)
            else:
                columns = [batch.column(place) for place in range(len(roles.features))]
                table = np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
            width = table.shape[1]
            seen += len(table)
            yield Rows(table, labels, tasks)

    if not is_array:
        return _gather.part(number, rows(), roles)
    # How many features there are is known with the first row.
    stream = rows()
    try:
        first = next(stream, None)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None
    if first is None:
        return _gather.part(number, [], roles)
    features = tuple(f"{roles.features[0]}[{place}]" for place in range(first.table.shape[1]))
    own = Roles(features, roles.label, roles.task, roles.target, are_named=False)

    def all_rows() -> Iterator[Rows]:
        yield first
        yield from stream

    return _gather.part(number, all_rows(), own)


def _of_arrays(column: Any, name: str, width: int | None, before: int) -> NDArray[np.float64]:
    """Read arrays of one length as a table."""
    if column.null_count:
        row = before + next(row for row, known in enumerate(column.is_valid().to_pylist()) if not known)
        raise ValueError(f"column {name!r} is missing in row {row} (rows count from 0)")
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    width = int(lengths[0]) if width is None else width
    if (lengths != width).any():
        row = int(np.flatnonzero(lengths != width)[0])
        raise ValueError(
            f"column {name!r} has {lengths[row]} features in row {before + row} and {width} before (rows "
            "count from 0)"
        )
    return np.array(column.flatten().to_numpy(zero_copy_only=False), dtype=np.float64).reshape(-1, width)


def _partial(number: int, make: Callable[[], Part]) -> pa.RecordBatch:
    """Return the statistics of a partition or what is wrong with it, which trying again would not mend."""
    import pyarrow as pa

    statistics, kinds, wrong = None, None, None
    try:
        part = make()
        kinds = json.dumps(part.kinds)
        statistics = None if part.statistics._raw is None else part.statistics.to_bytes()
    except ValueError as error:
        wrong = str(error)
    return pa.RecordBatch.from_arrays(
        [
            pa.array([number], pa.int64()),
            pa.array([statistics], pa.binary()),
            pa.array([kinds], pa.string()),
            pa.array([wrong], pa.string()),
        ],
        names=["number", "statistics", "kinds", "error"],
    )


# The estimator


class _Columns(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasProbabilityCol):
    """The columns that estimator and model share."""

    featuresCols = Param(
        Params._dummy(),
        "featuresCols",
        "columns of numbers, instead of one column of vectors",
        typeConverter=TypeConverters.toListString,
    )
    taskCol = Param(Params._dummy(), "taskCol", "column of the tasks", typeConverter=TypeConverters.toString)
    target = Param(Params._dummy(), "target", "the task to decide for; every one if not set")

    def _features(self) -> str | list[str]:
        if self.isSet(self.featuresCols):
            return list(self.getOrDefault(self.featuresCols))
        return str(self.getFeaturesCol())

    def _of(self, name: str) -> Any:
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None

    def getTaskCol(self) -> str | None:
        """Return the column of the tasks, if there is one."""
        return self._of("taskCol")


class SparkMultiTaskClassifier(_Columns, Estimator, DefaultParamsWritable, DefaultParamsReadable):
    """Multi-task least-squares SVM for data frames of Spark.

    Parameters
    ----------
    featuresCol : str or list of str, default="features"
        A column of vectors or arrays, or columns of numbers.
    labelCol : str, default="label"
        The column of the classes: numbers or texts.
    taskCol : str, default=None
        The column of the tasks; one task by default.
    predictionCol, probabilityCol : str, default="prediction", "probability"
        The columns that the model adds: the class, a double if classes are numbers and a text otherwise; and
        a vector in the order of ``model.classes``.
    target : object, default=None
        The task to decide for; by default every task that has two classes or more.
    **settings
        Further parameters of :class:`foretask.MultiTaskClassifier`; each is a param as well.

    Examples
    --------
    .. code-block:: python

        classifier = SparkMultiTaskClassifier(taskCol="site", target="s7")
        model = classifier.fit(frame)
        model.forecast_.error
        model.transform(new)
    """

    def __init__(
        self,
        *,
        featuresCol: str | Sequence[str] = "features",
        labelCol: str = "label",
        taskCol: str | None = None,
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
        target: Any = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        given = {
            "labelCol": labelCol,
            "predictionCol": predictionCol,
            "probabilityCol": probabilityCol,
            "taskCol": taskCol,
            "target": target,
            ("featuresCol" if isinstance(featuresCol, str) else "featuresCols"): featuresCol,
        }
        unknown = next((name for name in settings if name not in Settings.__annotations__), None)
        if unknown is not None:
            hint = nearest(unknown, list(Settings.__annotations__))
            raise TypeError(f"there is no setting {unknown!r}{hint}")
        self._set(**{name: value for name, value in (given | settings).items() if value is not None})

    def _fit(self, dataset: DataFrame) -> SparkMultiTaskModel:
        settings = {name: self._of(name) for name in Settings.__annotations__ if self.isSet(name)}
        model = MultiTaskClassifier(target=self._of("target"), **settings)
        whole = _gathered(
            dataset, self._features(), self.getLabelCol(), self._of("taskCol"), self._of("target")
        )
        fitted = SparkMultiTaskModel(_gather.fitted(model, whole), dict(whole.kinds))
        return self._copyValues(fitted)


for _name in Settings.__annotations__:
    setattr(
        SparkMultiTaskClassifier,
        _name,
        Param(Params._dummy(), _name, f"{_name} of foretask.MultiTaskClassifier"),
    )


class SparkMultiTaskModel(_Columns, Model, MLWritable, MLReadable):
    """A trained classifier for data frames of Spark.

    Parameters
    ----------
    local : MultiTaskClassifier, default=None
        The fitted classifier.
    kinds : dict, default=None
        What classes and tasks were: numbers, truth values or texts.
    """

    def __init__(self, local: MultiTaskClassifier | None = None, kinds: dict[str, Any] | None = None) -> None:
        super().__init__()
        self._local = local
        self._kinds: dict[str, Any] = kinds or {}

    def to_local(self) -> MultiTaskClassifier:
        """Return the ordinary classifier.

        Returns
        -------
        MultiTaskClassifier
            Which knows nothing of Spark.
        """
        if self._local is None:
            raise ValueError("this model was made without a classifier; fit or load one")
        return self._local

    @property
    def forecast_(self) -> Any:
        """Forecast of the target; a dict by task if there are several."""
        return self.to_local().forecast_

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, in the order of the vectors of probabilities."""
        return self.to_local().classes_

    def _transform(self, dataset: DataFrame) -> DataFrame:
        local, features = self.to_local(), self._features()
        several, task = len(local.models_) > 1, self._of("taskCol")
        own = [features] if isinstance(features, str) else list(features)
        if several and task is None:
            raise ValueError(
                "there are several targets: set taskCol, the column that says which one is asked"
            )
        _known(dataset, [*own, *([task] if several and task is not None else [])])
        columns = _features(dataset, features)
        table = columns[0] if isinstance(features, str) else F.array(*columns)
        arguments = [table] + ([dataset[task].cast("string")] if several else [])
        doubles = self._kinds.get("classes") == "numbers"
        kind = f"prediction {'double' if doubles else 'string'}, probability array<double>"
        decide = F.pandas_udf(_decide(_packed(local), self._kinds, doubles, own[0]), kind)
        decided = "__foretask_decided"
        made = dataset.withColumn(decided, decide(*arguments))
        made = made.withColumn(self.getPredictionCol(), F.col(f"{decided}.prediction"))
        probability = array_to_vector(F.col(f"{decided}.probability"))
        return made.withColumn(self.getProbabilityCol(), probability).drop(decided)

    def write(self) -> MLWriter:
        """Return what writes the model."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> MLReader[SparkMultiTaskModel]:
        """Return what reads the model."""
        return _ModelReader()


def _decide(packed: dict[str, Any], kinds: dict[str, Any], doubles: bool, name: str) -> Any:
    def decide(
        batches: Iterator[Any],
    ) -> Iterator[pd.DataFrame]:
        import pandas as pd

        model = _unpacked(packed, kinds)
        for batch in batches:
            arrays, tasks = batch if isinstance(batch, tuple) else (batch, None)
            table = _stacked(arrays, model.n_features_in_, name)
            names = getattr(model, "feature_names_in_", None)
            rows = table if names is None else pd.DataFrame(table, columns=names)
            asked = None if tasks is None else tasks.to_numpy()
            probabilities, classes = model.predict_proba(rows, asked), model.predict(rows, asked)
            made = classes.astype(np.float64) if doubles else [_text(one) for one in classes]
            yield pd.DataFrame({"prediction": made, "probability": list(probabilities)})

    # Types are how Spark tells the two kinds apart; names of them would be looked up in this module.
    import pandas as pd

    several = len(packed["models"]) > 1
    given = Iterator[tuple[pd.Series, pd.Series]] if several else Iterator[pd.Series]
    decide.__annotations__ = {"batches": given, "return": Iterator[pd.DataFrame]}
    return decide


def _text(label: Any) -> str:
    return str(bool(label)).lower() if isinstance(label, bool | np.bool_) else str(label)


def _stacked(arrays: Any, width: int, name: str) -> NDArray[np.float64]:
    for row, one in enumerate(arrays):
        if one is None or len(one) != width:
            found = "missing" if one is None else f"of length {len(one)}"
            raise ValueError(
                f"column {name!r} is {found} in row {row} of a batch; the model has {width} features"
            )
    return np.stack([np.asarray(one, dtype=np.float64) for one in arrays])


# A model as bytes


def _packed(model: MultiTaskClassifier) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    relatedness = getattr(model, "relatedness_", None)
    return {
        "models": [one.to_bytes() for one in model._by_name.values()],
        "target": None if model.target is None else str(_name_of(model)),
        "names": None if names is None else [str(name) for name in names],
        "relatedness": None if relatedness is None else relatedness.tolist(),
    }


def _name_of(model: MultiTaskClassifier) -> str:
    return next(iter(model._by_name))


def _unpacked(packed: dict[str, Any], kinds: dict[str, Any]) -> MultiTaskClassifier:
    """Return the classifier; no code is in what was packed."""
    models = [_foretask.Model.from_bytes(bytes(content)) for content in packed["models"]]
    tasks = _gather._typed([name for name, _, _ in models[0].tasks], kinds.get("tasks"))
    own = sorted({name for model in models for name in model.classes})
    classes: Names = _gather._typed(own, kinds.get("classes"))
    rule = json.loads(models[0].rule)
    target = None if packed["target"] is None else tasks.label(packed["target"])
    loaded = MultiTaskClassifier(target=target, rule=rule["name"], labels=rule["labels"])
    loaded.n_features_in_ = models[0].features
    loaded._preparation = None
    if packed["names"] is not None:
        loaded.feature_names_in_ = np.array(packed["names"], dtype=object)
    loaded._keep(tasks, classes, models, None)
    if packed["relatedness"] is not None:
        loaded.relatedness_ = np.array(packed["relatedness"], dtype=np.float64)
    return loaded


class _ModelWriter(MLWriter):
    def __init__(self, model: SparkMultiTaskModel) -> None:
        super().__init__()
        self.model = model

    def saveImpl(self, path: str) -> None:
        packed = _packed(self.model.to_local())
        models = packed.pop("models")
        more = {"foretask": packed | {"kinds": self.model._kinds}}
        DefaultParamsWriter.saveMetadata(self.model, path, self.sparkSession, extraMetadata=more)
        rows = [(place, bytearray(content)) for place, content in enumerate(models)]
        frame = self.sparkSession.createDataFrame(rows, "place int, model binary")
        frame.coalesce(1).write.parquet(f"{path}/models")


class _ModelReader(MLReader[SparkMultiTaskModel]):
    def load(self, path: str) -> SparkMultiTaskModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        packed = metadata["foretask"]
        kinds = packed["kinds"]
        rows = sorted(self.sparkSession.read.parquet(f"{path}/models").collect(), key=lambda row: row.place)
        local = _unpacked(packed | {"models": [row.model for row in rows]}, kinds)
        model = SparkMultiTaskModel(local, kinds)
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model
