"""Statistics in parts: columns by name, parts that are known, files for others to see, arrays of any type."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import draw
from numpy.testing import assert_allclose

from foretask import MultiTaskClassifier, Statistics, Study


def frame(X):
    return pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])


def halves(X, y, task):
    even = np.arange(len(y)) % 2 == 0
    return [(X[rows], y[rows], task[rows]) for rows in (even, ~even)]


def test_columns_are_matched_by_name():
    X, y, task = draw(3, p=6)
    (X1, y1, t1), (X2, y2, t2) = halves(X, y, task)
    shuffled = frame(X2)[["x4", "x0", "x5", "x2", "x1", "x3"]]
    straight = Statistics(keep_rows=True).add(frame(X1), y1, t1).add(frame(X2), y2, t2)
    added = Statistics(keep_rows=True).add(frame(X1), y1, t1).add(shuffled, y2, t2)
    merged = Statistics(keep_rows=True).add(frame(X1), y1, t1)
    merged.merge(Statistics(keep_rows=True).add(shuffled, y2, t2))
    expected = MultiTaskClassifier(target="webcam").fit_from_statistics(straight)
    assert list(expected.feature_names_in_) == [f"x{column}" for column in range(6)]
    for statistics in (added, merged):
        assert list(statistics.feature_names_in_) == list(expected.feature_names_in_)
        model = MultiTaskClassifier(target="webcam").fit_from_statistics(statistics)
        np.testing.assert_allclose(
            model.decision_function(frame(X)), expected.decision_function(frame(X)), rtol=1e-7, atol=1e-9
        )
    with pytest.raises(ValueError, match="column 'x3'.*missing"):
        straight.add(frame(X2).drop(columns="x3"), y2, t2)
    with pytest.raises(ValueError, match="column 'colour'"):
        straight.merge(Statistics().add(frame(X2).assign(colour=1.0), y2, t2))
    with pytest.raises(ValueError, match="names"):
        straight.add(X2, y2, t2)
    with pytest.raises(ValueError, match="names"):
        straight.merge(Statistics().add(X2, y2, t2))
    assert straight.n_samples == len(y)
    assert not hasattr(Statistics().add(X, y, task), "feature_names_in_")


def test_a_column_may_be_the_task():
    X, y, task = draw(3, p=6)
    by_column = Statistics().add(frame(X).assign(site=task), y, "site")
    assert by_column.counts == Statistics().add(X, y, task).counts
    assert list(Statistics().add(X, y, "site").tasks) == ["site"]


def test_the_tree_gives_the_same_bytes_for_any_runs_that_fit_it():
    X, y, task = draw(3, p=6)
    parts = [Statistics().add(X[rows], y[rows], task[rows]) for rows in np.array_split(np.arange(len(y)), 7)]
    parts.insert(3, Statistics())
    whole = Statistics.merge_all(parts)
    for run in (2, 4):
        runs = [Statistics.merge_all(parts[start : start + run]) for start in range(0, len(parts), run)]
        assert Statistics.merge_all(pickle.loads(pickle.dumps(runs))).to_bytes() == whole.to_bytes()
    with pytest.raises(ValueError, match="part 9 holds rows"):
        Statistics.merge_all([*parts, parts[0]])
    with pytest.raises(ValueError, match="no parts"):
        Statistics.merge_all([])
    assert Statistics.merge_all([Statistics()]).n_samples == 0


def test_the_same_part_counts_twice_only_if_it_is_meant():
    X, y, task = draw(3, p=6)
    statistics = Statistics().add(X, y, task)
    with pytest.raises(ValueError, match="already"):
        statistics.merge(statistics)
    assert statistics.merge(statistics, again=True).n_samples == 2 * len(y)


def test_statistics_may_be_empty():
    X, y, task = draw(3, p=6)
    empty = pickle.loads(pickle.dumps(Statistics(keep_rows=["webcam"])))
    assert empty.n_samples == 0
    empty.merge(Statistics(keep_rows=True).add(X, y, task))
    MultiTaskClassifier(target="webcam").fit_from_statistics(empty)
    none = Statistics(keep_rows=True).add(X[:0], y[:0], task[:0])
    assert none.n_samples == 0 and none.n_features == 6
    again = pickle.loads(pickle.dumps(none)).add(X, y, task)
    assert again.n_samples == len(y)
    MultiTaskClassifier(target="webcam").fit_from_statistics(again)


def test_booleans_and_numbers_are_not_four_classes():
    X, y, _ = draw(3, p=6)
    truth = y == "mug"
    statistics = Statistics().add(X, truth)
    other = Statistics().add(X, truth.astype(int))
    with pytest.raises(ValueError, match="booleans"):
        statistics.add(X, truth.astype(int))
    with pytest.raises(ValueError, match="booleans"):
        statistics.merge(other)
    with pytest.raises(ValueError, match="missing"):
        statistics.add(X, np.array([pd.NA, *y[1:]], dtype=object))


def test_files_for_others_have_no_small_cell_and_no_row():
    X, y, task = draw(3, p=6)
    statistics = Statistics().add(X, y, task)
    least = min(count for counts in statistics.counts.values() for count in counts.values())
    shown = statistics.to_bytes(min_cell=least)
    values = set(X.ravel().tolist())
    numbers = np.frombuffer(shown[8 + int.from_bytes(shown[:8], "little") :], dtype=np.float64)
    assert not values & set(numbers.tolist())
    assert Statistics.from_bytes(shown).counts == statistics.counts
    with pytest.raises(ValueError, match=f"{least} rows, and at least {least + 1}"):
        statistics.to_bytes(min_cell=least + 1)
    with pytest.raises(ValueError, match="kept"):
        Statistics(keep_rows=True).add(X, y, task).to_bytes(min_cell=2)


@pytest.mark.parametrize("dtype", ["float16", "float32", "uint8", "int16", "int64", "bool", ">f8"])
def test_numbers_of_any_type_and_layout_are_the_same_rows(dtype, monkeypatch, tmp_path):
    monkeypatch.setattr("foretask._statistics.BLOCK", 100)
    X, y, task = draw(3, p=6)
    X = np.abs(np.round(8 * X)).astype(dtype)
    expected = Statistics().add(X.astype(np.float64), y, task)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    for table in (X, np.asfortranarray(X), mapped, strided):
        statistics = Statistics().add(table, y, task)
        assert statistics.counts == expected.counts
        np.testing.assert_allclose(statistics.relatedness(), expected.relatedness(), atol=1e-9)
    if dtype in ("float16", ">f8"):
        X = X.copy()
        X[-1, 2] = np.nan
        before = expected.to_bytes()
        with pytest.raises(ValueError, match="NaN"):
            expected.add(X, y, task)
        assert expected.to_bytes() == before


def test_a_target_of_many_rows_is_kept_as_folds_and_a_sample():
    rng = np.random.default_rng(3)
    n, p = 24_000, 3
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p)) + 1.2 * y[:, None]
    task = np.where(np.arange(n) < 1000, "source", "target")
    whole = MultiTaskClassifier(target="target", views="linear").fit(X, y, task)
    assert whole.forecast_.source == "leave-fold-out"
    parts = [Statistics(target="target").add(X[s], y[s], task[s]) for s in np.array_split(np.arange(n), 7)]
    union = pickle.loads(pickle.dumps(Statistics.merge_all(parts)))
    model = MultiTaskClassifier(target="target", views="linear").fit_from_statistics(union)
    assert model.forecast_.source == "leave-fold-out"
    # No more rows than the sample holds, however many came.
    assert model.forecast_.n_samples == 20_000
    assert_allclose(model.coef_, whole.coef_, rtol=1e-8)
    assert model.forecast_.error == pytest.approx(whole.forecast_.error, abs=0.005)
    assert len(union.to_bytes()) < 8 * 20_000 * (p + 2) + 20_000
    # Every task may be a target.
    every = Statistics(target=True).add(X, y, task)
    assert set(MultiTaskClassifier(views="linear").fit_from_statistics(every).forecast_) == {
        "source",
        "target",
    }


def test_number_of_folds():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=5000)
    X = rng.normal(size=(5000, 3)) + y[:, None]
    five = Statistics(target=True, folds=5).add(X, y)
    study = Study.from_statistics(five)
    assert study.forecast().source == "leave-fold-out"

    def of_rows(folds):
        model = MultiTaskClassifier(views="linear", theory="leave-fold-out", folds=folds).fit(X, y)
        return model.forecast_.error, list(model.forecast_.interval)

    # The same folds, by the content of rows.
    told = study.forecast()
    assert of_rows(5) == (told.error, list(told.interval))
    assert of_rows(None) == of_rows(10) != of_rows(5)
    again = pickle.loads(pickle.dumps(Statistics(target=True, folds=5)))
    assert again.add(X, y).to_bytes() == five.to_bytes()
    ten = Statistics(target=True).add(X[:100], y[:100])
    with pytest.raises(ValueError, match="same number of folds"):
        ten.merge(five)
    for folds in (1, 51, 2.5, True, "5"):
        with pytest.raises(ValueError, match="from 2 to 50"):
            Statistics(folds=folds)


def test_folds_without_rows():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=3000)
    X = rng.normal(size=(3000, 3)) + y[:, None]
    shared = Statistics.from_bytes(Statistics(target=True).add(X, y).to_bytes(min_cell=20))
    told = Study.from_statistics(shared).forecast()
    assert told.source == "fold-moments"
    counted = Study(X, y, views="linear", theory="leave-fold-out").forecast()
    assert abs(told.error - counted.error) < 0.02


def test_folds_that_would_show_a_row_are_given_up_with_a_warning():
    X, y, task = draw(3, p=4)
    statistics = Statistics(target=True, folds=50).add(X, y, task)
    with pytest.warns(UserWarning, match=r"no folds are kept of .*fewer than 2 rows of a class"):
        shared = Statistics.from_bytes(statistics.to_bytes(min_cell=1))
    with pytest.raises(ValueError, match="needs the rows"):
        MultiTaskClassifier(target=np.unique(task)[0]).fit_from_statistics(shared)
