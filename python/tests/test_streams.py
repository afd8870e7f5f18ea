"""Rows that come some at a time: batches added up, and partial_fit."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import draw
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from foretask import MultiTaskClassifier, Statistics


def frame(X, y, task):
    return pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])]).assign(label=y, site=task)


def pieces(rows, count):
    return np.array_split(np.arange(rows), count)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def test_batches_of_any_kind_are_those_rows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.dataset
    import pyarrow.parquet

    X, y, task = draw(3, p=6)
    table = frame(X, y, task)
    expected = Statistics(keep_rows=True).add(table.drop(columns=["label", "site"]), y, task)
    model = MultiTaskClassifier(target="webcam").fit_from_statistics(expected)
    whole = pa.Table.from_pandas(table, preserve_index=False)
    pa.parquet.write_to_dataset(whole, tmp_path / "data", max_rows_per_group=20)
    data = pyarrow.dataset.dataset(tmp_path / "data")
    cut = pieces(len(y), 5)
    shuffled = ["x3", "label", "x0", "x5", "site", "x2", "x1", "x4"]
    many = [
        data,
        data.scanner(batch_size=11),
        whole.to_batches(max_chunksize=13),
        whole,
        [table.iloc[rows] for rows in cut],
        (table.iloc[rows][shuffled] if place else table.iloc[rows] for place, rows in enumerate(cut)),
    ]
    for batches in many:
        statistics = Statistics(keep_rows=True).add_batches(batches, "label", "site")
        assert statistics.counts == expected.counts
        assert list(statistics.feature_names_in_) == [f"x{column}" for column in range(6)]
        again = MultiTaskClassifier(target="webcam").fit_from_statistics(statistics)
        close(
            again.decision_function(table[again.feature_names_in_]),
            model.decision_function(table[model.feature_names_in_]),
        )


def test_a_mapped_file_is_read_in_blocks(tmp_path, monkeypatch):
    X, y, task = draw(3, p=6)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    whole = Statistics().add(X, y, task)
    monkeypatch.setattr("foretask._batches.BLOCK", 100)
    parts = Statistics().add_batches(mapped, y, task)
    assert parts.counts == whole.counts
    close(parts.relatedness(), whole.relatedness())
    rows = pieces(len(y), 3)
    tuples = Statistics().add_batches((X[part], y[part], task[part]) for part in rows)
    assert tuples.counts == whole.counts
    one = Statistics().add_batches(((X[part], y[part]) for part in rows), task="north")
    assert list(one.tasks) == ["north"]


def test_a_bad_batch_is_named_and_nothing_is_added():
    X, y, task = draw(3, p=6)
    statistics = Statistics().add(X, y, task)
    before = statistics.to_bytes()
    bad = X[:10].copy()
    bad[4, 2] = np.nan
    good = (X[:10] + 1, y[:10], task[:10])
    cases = [
        ([good, (bad, y[:10], task[:10])], "batch 1 .*row 5, feature 3"),
        ([good, good, (X[:10, :4], y[:10], task[:10])], "batch 2 .*features"),
        ([good, (X[:10], y[:9], task[:10])], "batch 1 .*inconsistent"),
        ([(1, 2, 3, 4)], "batch 0 .*got 4"),
        ([X], "batch 0 .*named columns"),
    ]
    for batches, words in cases:
        with pytest.raises(ValueError, match=words):
            statistics.add_batches(batches)
        assert statistics.to_bytes() == before
    table = frame(X, y, task)
    with pytest.raises(ValueError, match="y must name"):
        Statistics().add_batches([table])
    with pytest.raises(ValueError, match="did you mean 'label'"):
        Statistics().add_batches([table], "labels")
    with pytest.raises(TypeError, match="one table"):
        Statistics().add_batches(table, "label")
    with pytest.raises(TypeError, match="iterable"):
        Statistics().add_batches(3)
    with pytest.raises(ValueError, match="one value per row"):
        Statistics().add_batches(X, y[:-1])
    pa = pytest.importorskip("pyarrow")
    texts = pa.Table.from_pandas(table.assign(ward="a"), preserve_index=False)
    with pytest.raises(ValueError, match="column 'ward' holds"):
        Statistics().add_batches(texts, "label", "site")


@pytest.mark.parametrize("named", [False, True])
def test_partial_fit_is_a_fit_from_statistics(named):
    X, y, task = draw(3, p=6)
    columns = [f"x{column}" for column in range(6)]
    rows = pieces(len(y), 4)
    features = pd.DataFrame(X, columns=columns) if named else X
    part = (lambda own: features.iloc[own]) if named else (lambda own: features[own])
    model = MultiTaskClassifier(target="webcam")
    with pytest.raises(NotFittedError):
        model.predict(features)
    statistics = Statistics(target="webcam")
    for own in rows:
        assert model.partial_fit(part(own), y[own], task=task[own]) is model
        statistics.add(part(own), y[own], task[own])
    expected = MultiTaskClassifier(target="webcam").fit_from_statistics(statistics)
    np.testing.assert_array_equal(model.predict_proba(features), expected.predict_proba(features))
    assert model.forecast_.error == expected.forecast_.error
    assert list(model.classes_) == list(expected.classes_)
    assert hasattr(model, "feature_names_in_") is named
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(features), expected.predict_proba(features))

    # More rows make another classifier; a copy goes on as well, before it was asked anything.
    before = model.decision_function(features)
    fresh = np.random.default_rng(5).permutation(len(y))[:30]
    moved = part(fresh) + 0.3
    for one in (model, pickle.loads(pickle.dumps(model))):
        one.partial_fit(moved, y[fresh], task=task[fresh])
        assert not np.array_equal(one.decision_function(features), before)
    statistics.add(moved, y[fresh], task[fresh])
    expected = MultiTaskClassifier(target="webcam").fit_from_statistics(statistics)
    np.testing.assert_array_equal(model.decision_function(features), expected.decision_function(features))

    # A fit begins anew, and so does a clone.
    model.fit(features, y, task)
    direct = MultiTaskClassifier(target="webcam").fit(features, y, task)
    np.testing.assert_array_equal(model.predict_proba(features), direct.predict_proba(features))
    with pytest.raises(NotFittedError):
        clone(model).predict(features)


def test_partial_fit_waits_for_classes_and_for_the_target():
    X, y, task = draw(3, p=6)
    model = MultiTaskClassifier(target="webcam")
    source, target = task != "webcam", task == "webcam"
    model.partial_fit(X[source], y[source], task=task[source])
    with pytest.raises(ValueError, match="webcam"):
        model.predict(X)
    model.partial_fit(X[target], y[target], task=task[target])
    assert model.predict(X).shape == y.shape
    with pytest.raises(ValueError, match="6 features"):
        model.partial_fit(X[:, :3], y, task=task)
    with pytest.raises(ValueError, match="not among those announced"):
        model.partial_fit(X, y, classes=y[:1], task=task)
    assert model.predict(X).shape == y.shape
    assert not hasattr(model, "nonsense")
