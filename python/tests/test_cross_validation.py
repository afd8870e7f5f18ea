"""Cross-validation and scores speak of the target."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foretask import MultiTaskClassifier, TargetSplit, evaluate

MODEL = MultiTaskClassifier(target="webcam", views="linear")
CV = TargetSplit(4, target="webcam", shuffle=True, random_state=0)


@pytest.fixture(params=[False, True])
def passed(request, two_tasks):
    """The arguments that hand tasks over, without and with metadata routing."""
    _, _, task = two_tasks
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield {"params": {"task": task}} | ({} if request.param else {"groups": task})


def by_hand(X, y, task, measure):
    """What a user would write without any of it."""
    own = np.flatnonzero(task == "webcam")
    found = []
    for _, test in StratifiedKFold(4, shuffle=True, random_state=0).split(own, y[own]):
        train = np.setdiff1d(np.arange(len(y)), own[test])
        model = MultiTaskClassifier(target="webcam", views="linear").fit(X[train], y[train], task[train])
        found.append(measure(model, X[own[test]], y[own[test]]))
    return found


def accuracy(model, X, y):
    return np.mean(model.predict(X) == y)


def area(model, X, y):
    return roc_auc_score(y == "mug", model.decision_function(X))


def test_scores_of_folds(two_tasks, passed):
    X, y, task = two_tasks
    assert cross_val_score(MODEL, X, y, cv=CV, **passed).tolist() == by_hand(X, y, task, accuracy)
    areas = cross_val_score(MODEL, X, y, cv=CV, scoring="roc_auc", **passed)
    assert areas.tolist() == by_hand(X, y, task, area)
    both = cross_validate(MODEL, X, y, cv=CV, scoring=["accuracy", "neg_log_loss"], **passed)
    assert both["test_accuracy"].tolist() == by_hand(X, y, task, accuracy)
    assert np.isfinite(both["test_neg_log_loss"]).all()


def test_a_grid_search(two_tasks, passed):
    X, y, task = two_tasks
    groups = {"groups": task} if "groups" in passed else {}
    search = GridSearchCV(MODEL, {"labels": ["alone", "classical"]}, cv=CV, error_score="raise")
    search.fit(X, y, task=task, **groups)
    assert search.best_estimator_.forecast_.n_samples == 20
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all() and search.best_score_ == scores.max()


def test_predictions_of_every_row(two_tasks, passed):
    X, y, task = two_tasks
    own = task == "webcam"
    with pytest.raises(ValueError, match="partitions"):
        cross_val_predict(MODEL, X, y, cv=CV, **passed)
    every = TargetSplit(4, target="webcam", shuffle=True, random_state=0, every_row=True)
    predicted = cross_val_predict(MODEL, X, y, cv=every, **passed)
    assert np.mean(predicted[own] == y[own]) == np.mean(by_hand(X, y, task, accuracy))
    probabilities = cross_val_predict(MODEL, X, y, cv=every, method="predict_proba", **passed)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_any_folds_count_the_rows_of_the_target(two_tasks):
    """Folds of all rows, as scikit-learn deals them, with nothing but the task handed over."""
    X, y, task = two_tasks
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(MODEL, X, y, cv=cv, params={"task": task}, error_score="raise")
        pipeline = make_pipeline(StandardScaler(), MODEL)
        assert cross_val_score(pipeline, X, y, cv=CV, params={"task": task}).min() > 0.5
    expected = []
    for train, test in cv.split(X, y):
        own = test[task[test] == "webcam"]
        model = MultiTaskClassifier(target="webcam", views="linear").fit(X[train], y[train], task[train])
        expected.append(np.mean(model.predict(X[own]) == y[own]))
    assert scores.tolist() == expected


@pytest.mark.parametrize(
    "frame_of",
    [
        lambda X, columns, task: pd.DataFrame(X, columns=columns).assign(domain=task),
        lambda X, columns, task: pl.DataFrame(X, schema=columns).with_columns(domain=pl.Series(task)),
    ],
)
def test_a_column_needs_nothing_else(two_tasks, frame_of):
    X, y, task = two_tasks
    frame = frame_of(X, [f"f{i}" for i in range(X.shape[1])], task)
    model = MultiTaskClassifier(target="webcam", views="linear", task_column="domain")
    cv = TargetSplit(4, target="webcam", task_column="domain", shuffle=True, random_state=0)
    np.testing.assert_allclose(cross_val_score(model, frame, y, cv=cv), by_hand(X, y, task, accuracy))
    areas = cross_val_score(model, frame, y, cv=cv, scoring="roc_auc")
    np.testing.assert_allclose(areas, by_hand(X, y, task, area))
    search = GridSearchCV(model, {"labels": ["alone", "classical"]}, cv=cv, error_score="raise")
    assert search.fit(frame, y).best_score_ > 0.5
    cv = TargetSplit(4, target="webcam", task_column="domain", every_row=True)
    assert cross_val_predict(model, frame, y, cv=cv).shape == y.shape


def test_the_score_counts_the_rows_of_the_target(two_tasks):
    X, y, task = two_tasks
    own = task == "webcam"
    model = MultiTaskClassifier(target="webcam", views="linear").fit(X, y, task)
    # Were rows of the source counted the score would be another.
    wrong = np.where(own, y, "none of them")
    assert model.score(X, wrong, task=task) == model.score(X[own], y[own]) > 0.5
    weight = np.where(own, np.arange(len(y)), 1e9)
    assert model.score(X, wrong, task, sample_weight=weight) == pytest.approx(
        model.score(X[own], y[own], sample_weight=weight[own])
    )
    assert evaluate(model, X, y, task).n_samples == own.sum()
    with pytest.raises(ValueError, match="no row is of a target \\('webcam'\\)"):
        model.score(X[~own], y[~own], task=task[~own])
    with pytest.raises(ValueError, match="no task 'dslr'"):
        model.score(X, y, task=np.where(own, "dslr", task))
    domain = np.where(own, -2, 1)
    numbered = MultiTaskClassifier(views="linear").fit(X, y, sample_domain=domain)
    assert numbered.score(X, wrong, sample_domain=domain) == model.score(X[own], y[own])


def test_the_column_of_the_constructor(two_tasks):
    X, y, task = two_tasks
    own = task == "webcam"
    plain = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    frame = plain.assign(domain=task)
    model = MultiTaskClassifier(target="webcam", task_column="domain").fit(frame, y)
    direct = MultiTaskClassifier(target="webcam").fit(plain, y, task)
    assert list(model.feature_names_in_) == list(plain.columns)
    expected = direct.predict(plain)
    # All rows are decided for the target, whatever the column says, and none needs it.
    np.testing.assert_array_equal(model.predict(frame), expected)
    np.testing.assert_array_equal(model.predict(plain), expected)
    assert model.score(frame, np.where(own, y, "none of them")) == direct.score(plain[own], y[own])
    np.testing.assert_array_equal(model.predict(plain, task="webcam"), expected)
    for given in ({"task": task}, {"task": "webcam"}, {"sample_domain": own + 1}):
        with pytest.raises(ValueError, match="task_column='domain' and in .*: give one of them"):
            model.predict(frame, **given)
    for given in ({"task": task}, {"task": "domain"}, {"sample_domain": own + 1}):
        with pytest.raises(ValueError, match="task_column='domain' and in .*: give one of them"):
            MultiTaskClassifier(task_column="domain").fit(frame, y, **given)
    with pytest.raises(ValueError, match="'domian' names no column of X \\(did you mean 'domain'\\?\\)"):
        MultiTaskClassifier(task_column="domian").fit(frame, y)
    with pytest.raises(ValueError, match="'domain' names no column of X;"):
        MultiTaskClassifier(task_column="domain").fit(X, y)
    with pytest.raises(ValueError, match="no task 'dslr'"):
        model.predict(plain.assign(domain="dslr"))


def test_folds_are_of_the_target_and_stratified(two_tasks):
    X, y, task = two_tasks
    own = np.flatnonzero(task == "webcam")
    tests = []
    for train, test in CV.split(X, y, task=task):
        assert np.isin(test, own).all() and not np.isin(test, train).any()
        assert len(train) + len(test) == len(y)
        assert len(test) == 5 and np.sum(y[test] == "mug") in (2, 3)
        tests.extend(test)
    assert sorted(tests) == own.tolist() and CV.get_n_splits() == 4
    again = [test.tolist() for _, test in CV.split(X, y, task)]
    assert [test.tolist() for _, test in CV.split(X, y, task)] == again
    assert [len(test) for _, test in TargetSplit(3).split(X, y)] == [34, 33, 33]
    assert "target='webcam'" in repr(CV)


def test_folds_say_what_they_miss(two_tasks):
    X, y, task = two_tasks
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]).assign(domain=task)
    for cv, given, match in (
        (CV, {}, "which rows are of the target"),
        (CV, {"groups": task, "task": task}, "not by both"),
        (CV, {"groups": task[:-1]}, "one value per row"),
        (TargetSplit(target="dslr"), {"task": task}, "no task 'dslr'; known: 'amazon', 'webcam'"),
        (TargetSplit(), {"task": task}, "several tasks; name the target"),
        (TargetSplit(target="webcam", task_column="domian"), {}, "did you mean 'domain'"),
        (TargetSplit(target="webcam", task_column="domain"), {"task": task}, "give no others"),
        (TargetSplit(target="webcam", n_splits=11), {"task": task}, "n_splits=11"),
    ):
        with pytest.raises(ValueError, match=match):
            list(cv.split(frame, y, **given))
    with pytest.raises(ValueError, match="give y"):
        list(CV.split(X, groups=task))
    with pytest.raises(ValueError, match="n_splits"):
        TargetSplit(1)
