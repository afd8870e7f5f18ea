"""Bad input gets the error that scikit-learn users know, and never a panic."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from foretask import MultiTaskClassifier, Statistics, forecast, learning_curve_forecast


def refused(match, X, y, task=None, error=ValueError, **params):
    with pytest.raises(error, match=match) as caught:
        MultiTaskClassifier(**params).fit(X, y, task)
    assert isinstance(caught.value, Exception)


def test_values(two_tasks):
    X, y, task = two_tasks
    surprise = (
        "Input X contains NaN. No value was missing in training, so that nothing says what belongs there"
    )
    for bad, match in ((np.nan, surprise), (np.inf, "Input X contains infinity")):
        broken = X.copy()
        broken[3, 4] = bad
        # A gap in training is filled; where training had none, a gap is as much of a surprise as infinity.
        if np.isinf(bad):
            refused(match, broken, y, task)
        model = MultiTaskClassifier(target="webcam").fit(X, y, task)
        with pytest.raises(ValueError, match=match):
            model.predict(broken)
    refused("Found array with dim 3", X[np.newaxis], y, task)
    refused("Reshape your data", X[:, 0], y, task)
    refused("inconsistent numbers of samples", X, y[:-1], task)
    refused("could not convert string", np.full(X.shape, "x"), y, task)
    refused("Complex data not supported", X.astype(complex), y, task)
    refused("Unknown label type: continuous", X, np.linspace(0, 1, len(y)), task)
    with pytest.raises(ValueError, match="X has 19 features, but MultiTaskClassifier is expecting 20"):
        MultiTaskClassifier(target="webcam").fit(X, y, task).predict(X[:, 1:])


def test_labels_and_tasks(two_tasks):
    X, y, task = two_tasks
    refused("at least two classes", X, np.full(len(y), "mug"), task)
    refused("at least two classes", X, np.full(len(y), "mug"))
    refused("one value per row", X, y, task[:-2])
    refused("one value per row", X, y, np.stack([task, task], axis=1))
    refused("tasks contains missing values", X, y, np.where(task == "webcam", None, "a"))
    refused("tasks contains NaN", X, y, np.where(task == "webcam", np.nan, 1.0))
    refused("names no column of X", X, y, "domain")
    single = task.copy()
    single[0] = "lonely"
    refused("task 'lonely' has 1 row", X, y, single)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    model = MultiTaskClassifier(target="webcam").fit(frame, y, task)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"f0": "g0"}))


@pytest.mark.parametrize(
    "params, match",
    [
        ({"rule": "svm"}, "rule must be one of 'auto', .*; got 'svm'"),
        ({"labels": 3}, "labels must be one of"),
        ({"theory": "none"}, "theory must be one of"),
        ({"lam": 1.0}, "both lam and gamma"),
        ({"gamma": 1.0}, "both lam and gamma"),
        ({"lam": -1.0, "gamma": 1.0}, "zero or more"),
        ({"lam": np.nan, "gamma": 1.0}, "finite"),
        ({"lam": "x", "gamma": 1.0}, "lam must be a number"),
        ({"lam": 1.0, "gamma": [1.0, 2.0, 3.0]}, "one per task"),
        ({"lam": 1.0, "gamma": {"amazon": 1.0}}, "missing for task 'webcam'"),
        ({"lam": 1.0, "gamma": {"dslr": 1.0}}, "no task 'dslr'"),
        ({"priors": "often"}, "priors must be"),
        ({"priors": [0.5, 0.4]}, "must be 1"),
        ({"priors": [0.5]}, "one value per class"),
        ({"priors": {"bike": 0.5}}, "missing for class 'mug'"),
        ({"priors": {"cup": 1.0}}, "no class 'cup'"),
        ({"costs": {"mug": -1.0}}, "zero or more"),
        ({"costs": [0.0, 0.0]}, "at least one mistake"),
        ({"null_class": "mug"}, "both null_class"),
        ({"false_alarm": 0.1}, "both null_class"),
        ({"null_class": "mug", "false_alarm": 1.5}, "between 0 and 1"),
        ({"null_class": "cup", "false_alarm": 0.1}, "no class 'cup'"),
        ({"null_class": "mug", "false_alarm": 0.1, "rule": "bayes"}, "leave the rule at auto"),
        ({"labels": "searched"}, "labels must be one of"),
        ({"rehearse": -1}, "rehearse must be True or False"),
        ({"rehearse": "yes"}, "rehearse must be True or False"),
        ({"folds": 1}, "folds"),
        ({"folds": 51}, "folds"),
        ({"folds": -3}, "folds must be None or a whole number from 2 to 50"),
        ({"folds": 2.0}, "folds must be None or a whole number from 2 to 50"),
        ({"folds": True}, "folds must be None or a whole number from 2 to 50"),
        ({"memory_budget": -1}, "memory_budget must be None or a whole number of bytes"),
        ({"memory_budget": 1e9}, "memory_budget must be None or a whole number of bytes"),
        ({"memory_budget": True}, "memory_budget must be None or a whole number of bytes"),
        ({"scale": "max"}, "scale must be one of"),
        ({"tail": "fat"}, "tail must be one of"),
        ({"ties": "coin"}, "ties must be one of"),
    ],
)
def test_parameters(two_tasks, params, match):
    refused(match, *two_tasks, target="webcam", **params)


def test_strange_but_finite_data_are_no_mistake(two_tasks):
    X, y, task = two_tasks
    strange = {
        "constant": np.ones_like(X),
        "one constant feature": np.c_[X[:, :3], np.ones(len(X))],
        "duplicated": np.c_[X, X],
        "one feature": X[:, :1],
        "huge": X * 1e150,
        "tiny": X * 1e-150,
        "offset": X + 1e9,
    }
    for name, table in strange.items():
        model = MultiTaskClassifier().fit(table, y, task)
        assert np.isfinite(model.predict_proba(table, task=task)).all(), name


def test_files(two_tasks, tmp_path):
    X, y, task = two_tasks
    model = MultiTaskClassifier(target="webcam").fit(X, y, task)
    with pytest.raises(OSError):
        model.save(tmp_path / "missing" / "model.safetensors")
    with pytest.raises(OSError):
        MultiTaskClassifier.load(tmp_path / "none.safetensors")
    path = tmp_path / "model.safetensors"
    model.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        MultiTaskClassifier.load(path)
    path.write_bytes(b"not a model")
    with pytest.raises(ValueError, match="cannot be read"):
        MultiTaskClassifier.load(path)
    several = MultiTaskClassifier().fit(X, y, task)
    with pytest.raises(ValueError, match="several targets"):
        several.save(path)


def test_functions(two_tasks):
    X, y, task = two_tasks
    with pytest.raises(ValueError, match="whole numbers of labels"):
        learning_curve_forecast(X, y, task, target="webcam", added=[-1])
    with pytest.raises(TypeError, match="unexpected keyword"):
        forecast(X, y, task, lambda_=1.0)
    with pytest.raises(ValueError, match="two classes"):
        forecast(*_three(), target="webcam").roc()


def _three():
    from conftest import draw

    return draw(1, classes=("a", "b", "c"), few=45, many=90)


def test_statistics(two_tasks):
    X, y, task = two_tasks
    with pytest.raises(ValueError, match="no rows yet"):
        Statistics().to_bytes()
    with pytest.raises(ValueError, match="no rows yet"):
        MultiTaskClassifier().fit_from_statistics(Statistics())
    statistics = Statistics().add(X, y, task)
    before = statistics.counts
    with pytest.raises(ValueError, match="features"):
        statistics.add(X[:, 1:], y, task)
    with pytest.raises(ValueError, match="NaN"):
        statistics.add(np.where(X > 2, np.nan, X), y, task)
    with pytest.raises(ValueError, match="features"):
        statistics.merge(Statistics().add(X[:, 1:], y, task))
    assert statistics.counts == before
    with pytest.raises(ValueError, match="keep|rows"):
        MultiTaskClassifier(target="amazon").fit_from_statistics(statistics)
    with pytest.raises(ValueError, match="cannot be read"):
        Statistics.from_bytes(b"no")
    content = bytearray(statistics.to_bytes())
    content[-3] ^= 1
    with pytest.raises(ValueError, match="checksum"):
        Statistics.from_bytes(bytes(content))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_the_column_is_named(two_tasks, library):
    X, y, task = two_tasks
    columns = [f"f{i}" for i in range(X.shape[1])]
    makers = {
        "pandas": lambda X: pd.DataFrame(X, columns=columns),
        "polars": lambda X: pl.DataFrame(X, schema=columns),
        "pyarrow": lambda X: pa.table(dict(zip(columns, X.T, strict=True))),
        "numpy": lambda X: X,
    }
    make, column = makers[library], "4" if library == "numpy" else "f4"
    model = MultiTaskClassifier(target="webcam", views="linear").fit(make(X), y, task)
    for bad, written in ((np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")):
        broken = X.copy()
        broken[3, 4] = broken[5, 6] = bad
        match = f"column '{column}' is '{written}' in row 3 .*Input X contains"
        if np.isinf(bad):
            refused(match, make(broken), y, task)
        with pytest.raises(ValueError, match=match):
            model.predict(make(broken))


def test_a_column_of_text_is_named(two_tasks):
    X, y, task = two_tasks
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    model = MultiTaskClassifier(target="webcam", views="linear").fit(frame, y, task)
    frame["f3"] = ["1.5", *["Biscoe\x1b"] * (len(y) - 1)]
    with pytest.raises(ValueError, match=r"column 'f3' holds text: 'Biscoe\\\\x1b' in row 1"):
        model.predict(frame)
    frame["f3"] = [[1.5]] * len(y)
    refused("column 'f3' holds lists", frame, y, task)


def test_a_column_that_is_missing_is_named_with_the_nearest(two_tasks):
    X, y, task = two_tasks
    names = ["bill_length", "bill_depth", "flipper", "mass"]
    frame = pd.DataFrame(X[:, :4], columns=names)
    model = MultiTaskClassifier(target="webcam", views="linear").fit(frame, y, task)
    for table, match in (
        (
            frame.rename(columns={"mass": "mas"}),
            r"are missing: 'mass' \(did you mean 'mas'\?\)\. The feature",
        ),
        (frame.drop(columns="flipper"), r"are missing: 'flipper'\. The feature"),
        (frame.assign(sex=1.0), r"the columns 'sex' were not there in training"),
        (frame[names[::-1]], r"not in the order of training: 'bill_length', 'bill_depth', 'flipper', 'mass'"),
    ):
        with pytest.raises(ValueError, match=match):
            model.predict(table)
