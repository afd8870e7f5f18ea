"""Data frames with texts, categories, booleans and gaps."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from foretask import MultiTaskClassifier, evaluate, forecast

pd = pytest.importorskip("pandas")


def table(rows=150, seed=0):
    rng = np.random.default_rng(seed)
    male = rng.integers(0, 2, rows)
    site = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {
            "mass": 3700 + 600 * site + 700 * male + rng.normal(0, 300, rows),
            "bill": 39 + 4 * site + 3 * male + rng.normal(0, 2, rows),
            "island": pd.Categorical(rng.choice(["Biscoe", "Dream", "Torgersen"], rows)),
            "colour": np.where(rng.random(rows) < 0.2 + 0.6 * male, "dark", "light"),
            "banded": rng.random(rows) < 0.5,
            "site": np.array(["a", "b", "c"])[site],
        }
    )
    frame.loc[::17, "mass"] = np.nan
    frame.loc[::23, "colour"] = None
    return frame, np.where(male == 1, "male", "female")


def test_frames_work_as_they_are_and_errors_are_small():
    X, y = table()
    new, truth = table(seed=1)
    model = MultiTaskClassifier(target="b", task_column="site").fit(X, y)
    assert list(model.feature_names_in_) == [column for column in X.columns if column != "site"]
    assert model.n_features_in_ == 5
    rows = new["site"] == "b"
    assert (model.predict(new)[rows] != truth[rows]).mean() < 0.2
    probabilities = model.predict_proba(new)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert 0 < model.forecast_.error < 0.3
    assert forecast(X.drop(columns="site"), y, task=X["site"], target="b").error == model.forecast_.error
    assert evaluate(model, new, truth).error < 0.2
    assert clone(model).fit(X, y).predict(new).tolist() == model.predict(new).tolist()


def test_copies_pickles_and_files_predict_the_same(tmp_path):
    X, y = table()
    new, _ = table(seed=1)
    model = MultiTaskClassifier(target="b", task_column="site").fit(X, y)
    expected = model.predict_proba(new)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(new), expected)
    model.save(tmp_path / "m")
    loaded = MultiTaskClassifier.load(tmp_path / "m")
    # Other columns do no harm to a model from a file, nor does another order.
    wider = new.assign(remark="text")[["remark", *reversed(new.columns)]]
    np.testing.assert_array_equal(loaded.predict_proba(wider), expected)


def test_each_target_fills_gaps_with_its_own_medians():
    X, y = table()
    model = MultiTaskClassifier(task_column="site").fit(X, y)
    new, _ = table(rows=30, seed=2)
    new["mass"] = np.nan
    for site in ("a", "b", "c"):
        own = X.loc[X["site"] == site, "mass"].median()
        rows = new[new["site"] == site]
        filled = rows.assign(mass=own)
        without = model.decision_function(rows)
        # The gap itself is a feature: all else is equal.
        alone = MultiTaskClassifier(target=site, task_column="site").fit(X, y)
        np.testing.assert_allclose(without, alone.decision_function(rows), rtol=1e-9)
        assert not np.allclose(without, model.decision_function(filled))


def test_arrow_and_polars_frames_give_the_same_numbers():
    X, y = table()
    new, _ = table(seed=1)
    expected = MultiTaskClassifier(target="b", task_column="site").fit(X, y).predict_proba(new)
    pa = pytest.importorskip("pyarrow")
    arrow = MultiTaskClassifier(target="b", task_column="site").fit(
        pa.Table.from_pandas(X, preserve_index=False), y
    )
    got = arrow.predict_proba(pa.Table.from_pandas(new, preserve_index=False))
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    pl = pytest.importorskip("polars")
    polars = MultiTaskClassifier(target="b", task_column="site").fit(pl.from_pandas(X), y)
    np.testing.assert_allclose(polars.predict_proba(pl.from_pandas(new)), expected, rtol=1e-12)


def test_arrays_may_have_gaps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)
    X[::9, 1] = np.nan
    model = MultiTaskClassifier().fit(X, y)
    assert (model.predict(X) != y).mean() < 0.2
    whole = np.nan_to_num(X)
    assert np.isfinite(model.predict_proba(whole)).all()
    plain = MultiTaskClassifier().fit(whole, y)
    with pytest.raises(ValueError, match="NaN"):
        plain.predict(X)
    with pytest.raises(ValueError, match="4 features"):
        model.predict(X[:, :3])


def test_what_is_left_out_or_new_is_said():
    X, y = table()
    X["name"] = [f"bird {row}" for row in range(len(X))]
    with pytest.warns(UserWarning, match="'name' \\(different in every row"):
        model = MultiTaskClassifier(target="b", task_column="site").fit(X, y)
    new, _ = table(seed=1)
    new["name"] = "bird"
    new["island"] = new["island"].astype(str)
    new.loc[0, "island"] = "Atlantis"
    with pytest.warns(UserWarning, match="1 in 'island'"):
        model.predict(new)
    with pytest.raises(ValueError, match="'colour'"):
        model.predict(new.rename(columns={"colour": "color"}))
    new["mass"] = "heavy"
    with pytest.raises(ValueError, match="'mass'.*held numbers in training"):
        model.predict(new)
