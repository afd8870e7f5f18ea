"""Dask, on clusters of processes of this machine."""

import os
import pickle
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from foretask import MultiTaskClassifier, Statistics, _gather, forecast

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'foretask[dask]'")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

import foretask.dask  # noqa: E402
from foretask.dask import DaskMultiTaskClassifier  # noqa: E402

FEATURES = [f"x{place}" for place in range(6)]


@contextmanager
def started():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def two_workers():
    with started() as client:
        yield client


@pytest.fixture
def two_mortals():
    """Workers that may be lost: a cluster looks for a lost one later, and would close another of its name."""
    with started() as client:
        yield client


def made(number, rows=200):
    """Make a partition from its number alone, wherever that happens."""
    rng = np.random.default_rng(number)
    codes, site = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    X = rng.standard_normal((rows, len(FEATURES))) + 0.4 * codes[:, None]
    frame = pd.DataFrame(X, columns=FEATURES)
    return frame.assign(label=np.array(["bike", "mug"])[codes], site=np.array(["s1", "s2", "t"])[site])


def collection(count, rows=200, make=made, **more):
    # What Dask does with texts takes longer than all else.
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(make, range(count), rows=rows, meta=made(0, 2), **more)


def serially(frames, target="t", features=None):
    frames = list(frames)
    roles = _gather.roles_of(list(frames[0].columns), "label", "site", target, features)
    parts = (_gather.part(i, [_gather.of_frame(frame, roles)], roles) for i, frame in enumerate(frames))
    return _gather.tree(parts, target)


def test_the_bits_are_those_of_the_serial_run_for_any_number_of_workers(two_mortals):
    frame = collection(37)
    serial = serially(made(number) for number in range(37)).statistics.to_bytes()

    def found(client=None):
        statistics = foretask.dask.gather(frame, "label", "site", target="t", client=client)
        return statistics.to_bytes()

    assert found(two_mortals) == serial
    for scheduler in ("threads", "synchronous"):
        with dask.config.set(scheduler=scheduler):
            assert found() == serial
    two_mortals.cluster.scale(1)
    until = time.monotonic() + 30
    while len(two_mortals.ncores()) != 1 and time.monotonic() < until:
        time.sleep(0.1)
    # Waiting for one worker would be content with two.
    assert len(two_mortals.ncores()) == 1
    assert found(two_mortals) == serial


def test_a_thousand_small_partitions(two_workers):
    statistics = foretask.dask.gather(collection(1000), "label", "site", target="t", client=two_workers)
    assert statistics.n_samples == 200_000
    assert statistics.to_bytes() == serially(made(number) for number in range(1000)).statistics.to_bytes()


def deadly(number, rows, folder):
    """Make a partition; the first worker that tries number 5 is gone."""
    if number == 5:
        try:
            Path(folder, "died").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
    return made(number, rows)


def test_a_worker_killed_in_the_middle(two_mortals, tmp_path):
    frame = collection(24, make=deadly, folder=str(tmp_path))
    statistics = foretask.dask.gather(frame, "label", "site", target="t", client=two_mortals)
    assert (tmp_path / "died").exists()
    assert statistics.to_bytes() == serially(made(number) for number in range(24)).statistics.to_bytes()


def test_neighbours_are_one_task_where_they_can_be(two_mortals, tmp_path):
    count = 80
    frame = collection(count, 30, make=deadly, folder=str(tmp_path))
    assert foretask.dask._neighbours(count, len(FEATURES), two_mortals) == 2
    assert foretask.dask._alone(frame) is not None
    serial = serially(made(number, 30) for number in range(count)).statistics.to_bytes()

    def found(of):
        return foretask.dask.gather(of, "label", "site", target="t", client=two_mortals).to_bytes()

    # One of two neighbours takes its worker with it.
    assert found(frame) == serial
    assert (tmp_path / "died").exists()
    # Partitions that are on workers already stay there.
    held = frame.persist(scheduler=two_mortals)
    assert foretask.dask._alone(held) is None
    assert found(held) == serial
    # Each of these needs two others.
    halves = frame.repartition(npartitions=count // 2)
    pairs = [pd.concat([made(number, 30), made(number + 1, 30)]) for number in range(0, count, 2)]
    assert found(halves) == serially(pairs).statistics.to_bytes()
    # All of these need one.
    whole = dd.from_delayed([dask.delayed(pd.concat)(pairs)], meta=made(0, 2))
    shared = dd.concat([whole, whole])
    assert foretask.dask._alone(shared) is None
    assert found(shared) == serially([pd.concat(pairs)] * 2).statistics.to_bytes()


def test_fit_predict_and_forecast_on_frames(two_workers):
    frame, local = collection(8, 60), pd.concat([made(number, 60) for number in range(8)])
    X = local[FEATURES]
    # Through linear views, which need no rows of sources.
    settings = {"target": "t", "views": "linear"}
    direct = MultiTaskClassifier(**settings).fit(X, local.label, local.site.to_numpy())
    model = foretask.dask.fit(two_workers, frame, "label", "site", **settings)
    assert type(model) is MultiTaskClassifier and list(model.feature_names_in_) == FEATURES
    assert model.forecast_.error == pytest.approx(direct.forecast_.error, abs=1e-9)
    told = foretask.dask.forecast(two_workers, frame, "label", "site", **settings)
    assert told.error == model.forecast_.error
    # Lazy, with the index of the frame; label and task are left aside.
    with distributed.Client(two_workers.cluster, set_as_default=True):
        predicted = foretask.dask.predict(two_workers, model, frame)
        assert isinstance(predicted, dd.Series)
        found = predicted.compute()
        np.testing.assert_array_equal(found.index, local.index)
        np.testing.assert_array_equal(found, model.predict(X))
        probabilities = foretask.dask.predict_proba(two_workers, model, frame).compute()
        assert list(probabilities.columns) == ["bike", "mug"]
        np.testing.assert_array_equal(probabilities, model.predict_proba(X))
        with pytest.raises(ValueError, match="missing: 'x3'"):
            foretask.dask.predict(two_workers, model, frame.drop(columns="x3"))


def test_the_estimator(two_workers, tmp_path):
    frame, local = collection(6, 60), pd.concat([made(number, 60) for number in range(6)])
    X, site = local[FEATURES], local.site.to_numpy()
    estimator = DaskMultiTaskClassifier(client=two_workers, views="linear")
    assert estimator.fit(frame, frame.label, frame.site) is estimator
    assert set(estimator.forecast_) == {"s1", "s2", "t"}
    own = estimator.to_local()
    assert type(own) is MultiTaskClassifier and "client" not in own.get_params()
    np.testing.assert_array_equal(estimator.predict(frame, "site").compute(), own.predict(X, site))
    np.testing.assert_array_equal(estimator.predict(frame, frame.site).compute(), own.predict(X, site))
    np.testing.assert_array_equal(
        estimator.predict_proba(frame, "t").compute().to_numpy(), own.predict_proba(X, "t")
    )
    np.testing.assert_array_equal(estimator.predict(X, "t"), own.predict(X, "t"))
    assert estimator.score(frame, "label", "site") == own.score(X, local.label.to_numpy(), site)
    again = pickle.loads(pickle.dumps(estimator))
    assert again.client is None
    np.testing.assert_array_equal(again.predict(X, "t"), own.predict(X, "t"))
    fresh = clone(DaskMultiTaskClassifier(target="t", rule="bayes"))
    assert fresh.target == "t" and fresh.rule == "bayes" and fresh.client is None
    assert set(fresh.get_params()) == set(MultiTaskClassifier().get_params()) | {"client"}
    one = DaskMultiTaskClassifier(two_workers, "t", task_column="site").fit(frame, "label")
    rows = local[local.site == "t"]
    assert one.score(frame, "label") == one.to_local().score(rows[[*FEATURES, "site"]], rows.label)
    np.testing.assert_array_equal(
        one.predict(frame).compute(), one.to_local().predict(local[[*FEATURES, "site"]])
    )


def test_arrays_and_files_give_the_bits_of_frames(two_workers, tmp_path):
    frames = [made(number, 50) for number in range(6)]
    serial = serially(frames)
    local = pd.concat(frames)
    X, y, site = (local[columns].to_numpy() for columns in (FEATURES, "label", "site"))
    blocks = da.from_array(X, chunks=(50, 4))
    found = foretask.dask.gather(
        blocks, da.from_array(y.astype(str), chunks=70), site.astype(str), target="t", client=two_workers
    )
    assert found.to_bytes() == serial.statistics.to_bytes()
    for number, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"{number}.parquet")
    found = foretask.dask.gather(str(tmp_path), "label", "site", target="t", client=two_workers)
    assert found.to_bytes() == serial.statistics.to_bytes()
    estimator = DaskMultiTaskClassifier(two_workers, "t").fit(str(tmp_path), "label", "site")
    np.testing.assert_array_equal(
        estimator.predict(str(tmp_path)).compute(), estimator.to_local().predict(local[FEATURES])
    )
    target = local.site == "t"
    share = np.mean(estimator.to_local().predict(local[FEATURES])[target] == y[target])
    assert estimator.score(str(tmp_path), "label", "site") == share
    unnamed = DaskMultiTaskClassifier(two_workers, "t").fit(blocks, y.astype(str), site.astype(str))
    assert not hasattr(unnamed, "feature_names_in_")
    probabilities = unnamed.predict_proba(blocks)
    assert isinstance(probabilities, da.Array) and probabilities.shape == (300, 2)
    np.testing.assert_array_equal(probabilities.compute(), unnamed.to_local().predict_proba(X))
    np.testing.assert_array_equal(unnamed.predict(blocks).compute(), unnamed.to_local().predict(X))
    assert unnamed.score(blocks, y.astype(str), site.astype(str)) == share


def uneven(number, rows):
    return made(number, 0 if number % 3 == 1 else rows)


def test_partitions_without_rows(two_workers):
    frame = collection(7, 50, make=uneven)
    found = foretask.dask.gather(frame, "label", "site", target="t", client=two_workers)
    assert found.to_bytes() == serially(uneven(number, 50) for number in range(7)).statistics.to_bytes()
    model = foretask.dask.fit(two_workers, frame, "label", "site", target="t")
    assert len(foretask.dask.predict(None, model, frame).compute(scheduler="sync")) == 250
    with pytest.raises(ValueError, match="no rows in any part"):
        foretask.dask.gather(collection(3, 0), "label", "site", client=two_workers)


def broken(number, rows, what):
    frame = made(number, rows)
    if number == 3:
        if what == "gap":
            frame.loc[17, "x2"] = np.nan
        elif what == "infinite":
            frame.loc[17, "x2"] = -np.inf
        elif what == "label":
            frame.loc[17, "label"] = None
        elif what == "task":
            frame.loc[17, "site"] = None
        elif what == "text":
            frame["x2"] = "much"
        elif what == "column":
            frame = frame.drop(columns="x2")
    return frame


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("gap", r"partition 3: column 'x2' is nan in row 17 \(rows count from 0\)"),
        ("infinite", "partition 3: column 'x2' is -inf in row 17"),
        ("label", "partition 3: column 'label' is missing in row 17"),
        ("task", "partition 3: column 'site' is missing in row 17"),
        ("text", "partition 3: column 'x2' holds .*; statistics take numbers"),
    ],
)
def test_the_error_of_a_bad_partition_says_where_it_is(two_workers, what, words):
    frame = collection(6, 20, make=broken, what=what)
    with pytest.raises(ValueError, match=words):
        foretask.dask.gather(frame, "label", "site", client=two_workers)


def test_what_does_not_fit_together(two_workers):
    frame, table = collection(4, 20), da.ones((40, 3), chunks=(10, 3))
    for give, error, words in [
        (lambda: foretask.dask.gather(made(0), "label"), TypeError, "rows in memory are for"),
        (lambda: foretask.dask.gather(frame, "lable"), ValueError, "did you mean 'label'"),
        (lambda: foretask.dask.gather(frame, collection(3, 20).label), ValueError, "3 partitions, rows in 4"),
        (lambda: foretask.dask.gather(table, np.ones(39)), ValueError, "X has 40 rows and y has 39"),
        (lambda: foretask.dask.gather(["a.parquet"], np.ones(3)), ValueError, "y must name a column"),
        (lambda: MultiTaskClassifier().fit(table, np.ones(40)), TypeError, "use foretask.dask"),
        (lambda: Statistics().add(table, np.ones(40)), TypeError, "use foretask.dask"),
        (lambda: forecast(frame[FEATURES], frame.label), TypeError, "use foretask.dask"),
    ]:
        with pytest.raises(error, match=words):
            give()
