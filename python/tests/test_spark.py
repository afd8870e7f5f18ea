"""Spark, with two threads of this machine."""

import os
import shutil
import sys

import numpy as np
import pandas as pd
import pytest

from foretask import MultiTaskClassifier, _gather

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'foretask[spark]'")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not here", allow_module_level=True)

from pyspark.ml.feature import VectorAssembler  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

from foretask.spark import SparkMultiTaskClassifier, SparkMultiTaskModel, gather  # noqa: E402

# PySpark warns of versions of pandas.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

FEATURES = ["x0", "x1", "x2", "x3"]


@pytest.fixture(scope="module")
def spark():
    # Workers run the Python that the tests run, and not the first on the path.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield session
    session.stop()


def made(rows=300):
    rng = np.random.default_rng(0)
    codes, site = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    frame = pd.DataFrame(rng.standard_normal((rows, len(FEATURES))) + 0.5 * codes[:, None], columns=FEATURES)
    return frame.assign(label=np.array([3, 8])[codes], site=np.array(["s1", "s2", "t"])[site])


@pytest.fixture(scope="module")
def frame(spark):
    """Rows in four partitions of known content."""
    return spark.createDataFrame(made()).repartitionByRange(4, "x0").persist()


def serially(frames, target="t"):
    frames = list(frames)
    roles = _gather.roles_of([*FEATURES, "label", "site"], "label", "site", target, None)
    parts = (_gather.part(i, [_gather.of_frame(frame, roles)], roles) for i, frame in enumerate(frames))
    return _gather.tree(parts, target).statistics.to_bytes()


def test_the_bits_are_those_of_the_serial_run(spark, frame):
    held = frame.withColumn("partition", F.spark_partition_id()).toPandas()
    serial = serially(held[held.partition == number].drop(columns="partition") for number in range(4))
    how = {"taskCol": "site", "target": "t"}
    assert gather(frame, featuresCol=FEATURES, **how).to_bytes() == serial
    vectors = VectorAssembler(inputCols=FEATURES, outputCol="features").transform(frame)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "17")
    assert gather(vectors, **how).to_bytes() == serial
    arrays = frame.withColumn("features", F.array(*FEATURES))
    assert gather(arrays, **how).to_bytes() == serial


def test_files_give_the_bits_of_dask(spark, tmp_path):
    frames = [made(300)[start : start + 60] for start in range(0, 300, 60)]
    for number, one in enumerate(frames):
        one.to_parquet(tmp_path / f"{number}.parquet", index=False)
    found = gather(str(tmp_path), taskCol="site", target="t", spark=spark).to_bytes()
    assert found == serially(frames)
    dask = pytest.importorskip("dask")
    import foretask.dask

    with dask.config.set(scheduler="synchronous"):
        assert foretask.dask.gather(str(tmp_path), "label", "site", target="t").to_bytes() == found


def test_fit_transform_save_and_load(spark, frame, tmp_path):
    # What needs rows of sources, which statistics give up, is switched off: other views and rehearsals.
    settings = {"target": "t", "views": "linear", "rehearse": False}
    estimator = SparkMultiTaskClassifier(featuresCol=FEATURES, taskCol="site", **settings)
    model = estimator.fit(frame)
    local, rows = model.to_local(), frame.toPandas()
    assert type(local) is MultiTaskClassifier and list(model.classes) == [3, 8]
    direct = MultiTaskClassifier(**settings).fit(rows[FEATURES], rows.label, rows.site.to_numpy())
    assert model.forecast_.error == pytest.approx(direct.forecast_.error, abs=1e-9)
    made = model.transform(frame)
    assert made.columns == [*frame.columns, "prediction", "probability"]
    found = made.toPandas()
    np.testing.assert_array_equal(found.prediction, local.predict(rows[FEATURES]).astype(float))
    probabilities = np.stack([one.toArray() for one in found.probability])
    np.testing.assert_array_equal(probabilities, local.predict_proba(rows[FEATURES]))
    model.write().overwrite().save(str(tmp_path / "model"))
    again = SparkMultiTaskModel.load(str(tmp_path / "model"))
    assert again.uid == model.uid and again.forecast_.error == model.forecast_.error
    np.testing.assert_array_equal(again.transform(frame).toPandas().prediction, found.prediction)
    estimator.save(str(tmp_path / "estimator"))
    loaded = SparkMultiTaskClassifier.load(str(tmp_path / "estimator"))
    assert loaded.getOrDefault(loaded.views) == "linear" and loaded.getTaskCol() == "site"


def test_every_task_is_a_target_by_its_column(frame):
    texts = frame.withColumn("label", F.concat(F.lit("class "), F.col("label")))
    model = SparkMultiTaskClassifier(
        featuresCol=FEATURES, taskCol="site", predictionCol="said", probabilityCol="sure", views="linear"
    ).fit(texts)
    assert set(model.forecast_) == {"s1", "s2", "t"}
    found, local = model.transform(texts).toPandas(), model.to_local()
    expected = local.predict(found[FEATURES], task=found.site.to_numpy())
    np.testing.assert_array_equal(found.said, expected)
    assert set(found.said) == {"class 3", "class 8"}


def test_the_error_of_a_bad_partition_says_where_it_is(spark, frame):
    rows = made(40)
    rows.loc[25, "x2"] = np.nan
    one = spark.createDataFrame(rows).coalesce(1)
    with pytest.raises(
        ValueError, match=r"^partition 0: column 'x2' is nan in row 25 \(rows count from 0\)$"
    ):
        gather(one, featuresCol=FEATURES, taskCol="site")
    uneven = frame.withColumn(
        "features", F.when(F.col("x0") > 1, F.array("x0")).otherwise(F.array("x0", "x1"))
    )
    with pytest.raises(
        ValueError, match=r"partition \d: column 'features' has . features in row \d+ and . before"
    ):
        gather(uneven.coalesce(1), taskCol="site")
    with pytest.raises(ValueError, match=r"no column 'sight' \(did you mean 'site'\?\)"):
        gather(frame, featuresCol=FEATURES, taskCol="sight")
    with pytest.raises(ValueError, match="column 'site' holds string; features must be"):
        gather(frame, featuresCol="site")
    with pytest.raises(TypeError, match="there is no setting 'view'"):
        SparkMultiTaskClassifier(view="linear")
