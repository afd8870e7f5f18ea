"""Parts of a data set, on any engine: their statistics, their union and their errors."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from foretask import MultiTaskClassifier, Statistics, _gather, forecast


def test_nothing_of_an_engine_is_imported_before_it_is_asked_for():
    program = (
        "import sys, foretask; print([m for m in ('dask', 'distributed', 'pyspark') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# Statistics without rows, and what they are asked to keep


def test_statistics_without_rows_travel_and_keep_their_promise(two_tasks):
    X, y, task = two_tasks
    kept = pickle.loads(pickle.dumps(Statistics(keep_rows=["webcam"])))
    kept.add(X[:0], y[:0], task[:0])
    parts = Statistics().add(X[:5], y[:5], task[:5])
    kept.merge(parts).add(X[5:], y[5:], task[5:])
    model = MultiTaskClassifier(target="webcam").fit_from_statistics(kept)
    whole = Statistics(keep_rows=["webcam"]).add(X, y, task)
    direct = MultiTaskClassifier(target="webcam").fit_from_statistics(whole)
    assert model.forecast_.error == pytest.approx(direct.forecast_.error, abs=1e-12)
    # What was merged stays as it was, and does not begin to keep rows.
    assert parts.n_samples == 5
    everything = pickle.loads(pickle.dumps(Statistics(keep_rows=True)))
    everything.merge(Statistics().add(X[:5], y[:5], task[:5])).add(X[5:], y[5:], task[5:])
    assert set(MultiTaskClassifier().fit_from_statistics(everything).forecast_) == {"amazon", "webcam"}


def test_no_rows_are_nothing_but_of_as_many_features(two_tasks):
    X, y, task = two_tasks
    statistics = Statistics().add(X, y, task)
    before = statistics.to_bytes()
    assert statistics.add(X[:0], y[:0], task[:0]).to_bytes() == before
    with pytest.raises(ValueError, match=f"expected {X.shape[1]} features, got 3"):
        statistics.add(X[:0, :3], y[:0])


@pytest.mark.parametrize("dtype", ["Int64", "string", "boolean", object])
def test_missing_labels_of_pandas_are_named(two_tasks, dtype):
    X = two_tasks[0]
    labels = pd.Series([1, 0] * (len(X) // 2)).astype(dtype if dtype != "boolean" else "bool").astype(dtype)
    labels[3] = pd.NA
    for take in (Statistics().add, MultiTaskClassifier().fit, forecast):
        with pytest.raises(ValueError, match="y contains missing values: row 3 has none"):
            take(X, labels)


def test_tables_that_begin_at_an_odd_byte(two_tasks):
    X, y, task = two_tasks
    odd = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not odd.flags.aligned
    model, same = (MultiTaskClassifier(target="webcam").fit(table, y, task) for table in (odd, X))
    np.testing.assert_array_equal(model.predict_proba(odd), same.predict_proba(X))
    assert Statistics().add(odd, y, task).to_bytes() == Statistics().add(X, y, task).to_bytes()


# Parts


def rows_of(X, y, task):
    return _gather.Rows(np.ascontiguousarray(X), y, task)


def parts_of(data, count, target="webcam"):
    X, y, task = data
    roles = _gather.Roles(tuple(range(X.shape[1])), "y", "task", target, are_named=False)
    cuts = np.linspace(0, len(y), count + 1).astype(int)
    return [
        _gather.part(i, [rows_of(X[a:b], y[a:b], task[a:b])], roles)
        for i, (a, b) in enumerate(zip(cuts[:-1], cuts[1:], strict=True))
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 33, 70])
def test_subtrees_are_the_tree_and_parts_stay_as_they_are(two_tasks, count):
    parts = parts_of(two_tasks, count)
    before = pickle.dumps(parts)
    whole = _gather.tree(parts, "webcam").statistics.to_bytes()
    # By pairs, level by level, as it is written.
    level = parts
    while len(level) > 1:
        level = [_gather.tree(level[i : i + 2], "webcam") for i in range(0, len(level), 2)]
    assert level[0].statistics.to_bytes() == whole
    for fan in (4, 32):
        level = parts
        while len(level) > 1:
            level = [_gather.tree(level[i : i + fan], "webcam") for i in range(0, len(level), fan)]
        assert level[0].statistics.to_bytes() == whole
    assert pickle.dumps(parts) == before
    assert Statistics.from_bytes(whole).n_samples == len(two_tasks[1])


def test_parts_that_hold_the_same_rows_are_two(two_tasks):
    once = parts_of(two_tasks, 3)
    for parts in (once + once, [once[0], once[0]]):
        whole = _gather.tree(parts, "webcam").statistics
        assert whole.n_samples == sum(one.statistics.n_samples for one in parts)


def test_how_rows_of_a_part_come_does_not_matter(two_tasks, monkeypatch):
    monkeypatch.setattr(_gather, "BLOCK", 16)
    X, y, task = two_tasks
    roles = _gather.Roles(tuple(range(X.shape[1])), "y", "task", None, are_named=False)
    found = set()
    for step in (1, 7, 16, 50, len(y)):
        pieces = [
            rows_of(X[a : a + step], y[a : a + step], task[a : a + step]) for a in range(0, len(y), step)
        ]
        found.add(_gather.part(0, pieces, roles).statistics.to_bytes())
    assert len(found) == 1


def test_classes_that_are_measurements_are_refused(two_tasks):
    X, y, task = two_tasks
    y = np.where(np.arange(len(y)) == 4, 0.5, (y == "mug").astype(float))
    with pytest.raises(ValueError, match="partition 1: column 'y' is 0.5 in row 1 .*; classes must be whole"):
        parts_of((X[:6], y[:6], task[:6]), 2)


def test_classes_of_two_kinds_are_refused(two_tasks):
    X, y, task = two_tasks
    first, second = (y == "mug").astype(int), y == "mug"
    roles = _gather.Roles(tuple(range(X.shape[1])), "y", "task", None, are_named=False)
    parts = [_gather.part(i, [rows_of(X, labels, task)], roles) for i, labels in enumerate((first, second))]
    with pytest.raises(
        ValueError, match="classes are numbers in partition 0 and truth values in partition 1"
    ):
        _gather.tree(parts, None)


@pytest.mark.parametrize("labels", [np.array(["3", "8"]), np.array([3, 8]), np.array([False, True])])
def test_labels_keep_their_type(two_tasks, labels):
    X, y, task = two_tasks
    typed = labels[(y == "mug").astype(int)]
    site = np.where(task == "webcam", 10, 9)
    whole = _gather.tree(parts_of((X, typed, site), 3, 10), 10)
    # Through linear views, which need no rows of sources.
    model = _gather.fitted(MultiTaskClassifier(target=10, views="linear"), whole)
    direct = MultiTaskClassifier(target=10, views="linear").fit(X, typed, site)
    assert model.classes_.dtype == direct.classes_.dtype
    np.testing.assert_array_equal(model.classes_, direct.classes_)
    np.testing.assert_array_equal(model.tasks_, [9, 10])
    np.testing.assert_array_equal(model.predict(X), direct.predict(X))
    np.testing.assert_allclose(model.relatedness_, direct.relatedness_, atol=1e-12)


# Parquet


@pytest.fixture
def files(two_tasks, tmp_path):
    X, y, task = two_tasks
    columns = [f"f{place}" for place in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns).assign(label=y, site=task)
    half = len(y) // 2
    frame[:half].to_parquet(tmp_path / "a.parquet", row_group_size=40)
    # The other half has its columns the other way round.
    frame[half:][frame.columns[::-1]].to_parquet(tmp_path / "b.parquet", row_group_size=40)
    return tmp_path, frame


def gathered(paths, **more):
    pieces, roles = _gather.pieces_of(paths, "label", "site", "webcam", more.get("features"))
    return _gather.tree((_gather.read_piece(i, piece, roles) for i, piece in enumerate(pieces)), "webcam")


def test_columns_of_files_are_matched_by_name(files, two_tasks):
    folder, frame = files
    whole = gathered(folder)
    assert whole.names == tuple(f"f{place}" for place in range(two_tasks[0].shape[1]))
    model = _gather.fitted(MultiTaskClassifier(target="webcam"), whole)
    direct = MultiTaskClassifier(target="webcam").fit_from_statistics(
        Statistics(keep_rows=["webcam"]).add(*two_tasks)
    )
    features = frame[list(whole.names)]
    assert list(model.feature_names_in_) == list(features.columns)
    np.testing.assert_allclose(
        model.predict_proba(features), direct.predict_proba(two_tasks[0]), rtol=0, atol=1e-12
    )
    for paths in (str(folder / "*.parquet"), [folder / "a.parquet", str(folder / "b.parquet")]):
        assert gathered(paths).statistics.to_bytes() == whole.statistics.to_bytes()


def test_what_is_wrong_with_a_file_is_named(files):
    folder, frame = files
    path = folder / "b.parquet"

    def refused(changed, words):
        changed.to_parquet(path, row_group_size=40)
        with pytest.raises(ValueError, match=words):
            gathered(folder)

    half = frame[len(frame) // 2 :].reset_index(drop=True)
    first = -(-(len(frame) - len(half)) // 40)
    gap = half.copy()
    gap.loc[43, "f2"] = np.nan
    where = rf"partition {first + 1} \(.*b.parquet, row group 1\)"
    refused(gap, where + r": column 'f2' is nan in row 3 \(rows count from 0\)")
    refused(
        half.assign(label=half.label.where(half.index != 44)), where + ": column 'label' is missing in row 4"
    )
    refused(half.assign(f2="text"), r"column 'f2' holds (large_)?string; statistics take numbers")
    refused(half.drop(columns="f2"), "b.parquet: there is no column 'f2'")
    refused(
        half.rename(columns={"f2": "f22"}), r"b.parquet: there is no column 'f2' \(did you mean 'f22'\?\)"
    )
    refused(half.assign(f99=1.0), "b.parquet: the column 'f99' is not in the first part")
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        gathered(folder / "c.parquet")
    with pytest.raises(ValueError, match=r"y='lable' names no column \(did you mean 'label'\?\)"):
        _gather.pieces_of(folder / "a.parquet", "lable", None, None, None)


def test_arrow_columns_of_all_kinds():
    table = pa.table(
        {
            "whole": pa.array([1, 2, 3], pa.int8()),
            "single": pa.array([0.5, 1.5, 2.5], pa.float32()),
            "truth": pa.array([True, False, True]),
            "label": pa.array(["a", "b", "a"]).dictionary_encode(),
        }
    )
    roles = _gather.roles_of(table.column_names, "label", None, None, None)
    rows = _gather.of_arrow(table, roles)
    np.testing.assert_array_equal(rows.table, [[1, 0.5, 1], [2, 1.5, 0], [3, 2.5, 1]])
    assert list(rows.labels) == ["a", "b", "a"] and rows.tasks is None
