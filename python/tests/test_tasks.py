"""Tasks, targets and the forms they may be given in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import draw
from scipy import sparse

from foretask import MultiTaskClassifier, Study


def test_neither_an_alike_nor_a_swapped_source_hurts():
    test = [draw(seed, few=400, many=4) for seed in range(3)]
    for swap in (False, True):
        for seed, (X_test, y_test, task_test) in enumerate(test):
            X, y, task = draw(seed, swap=swap, many=200, few=10)
            alone = MultiTaskClassifier(target="webcam", labels="alone").fit(X, y, task)
            both = MultiTaskClassifier(target="webcam").fit(X, y, task)
            own = task_test == "webcam"
            assert both.score(X_test[own], y_test[own]) > alone.score(X_test[own], y_test[own]) - 0.05


def test_every_task_is_a_target_in_one_fit(three_classes):
    X, y, task = three_classes
    model = MultiTaskClassifier().fit(X, y, task)
    assert list(model.targets_) == ["amazon", "webcam"]
    assert set(model.forecast_) == {"amazon", "webcam"}
    for name in model.targets_:
        single = MultiTaskClassifier(target=name).fit(X, y, task)
        assert model.forecast_[name].error == single.forecast_.error
        np.testing.assert_array_equal(model.predict_proba(X, task=name), single.predict_proba(X))
    mixed = model.predict(X, task=task)
    for name in model.targets_:
        own = task == name
        np.testing.assert_array_equal(mixed[own], model.predict(X[own], task=name))


def test_tasks_with_classes_of_their_own():
    X, y, task = draw(3)
    y = np.where(task == "amazon", np.where(y == "bike", "cat", "dog"), y)
    model = MultiTaskClassifier().fit(X, y, task)
    assert list(model.classes_) == ["bike", "cat", "dog", "mug"]
    probabilities = model.predict_proba(X, task=task)
    webcam = task == "webcam"
    np.testing.assert_array_equal(probabilities[webcam][:, 1:3], 0.0)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    decision = model.decision_function(X, task="webcam")
    assert np.isneginf(decision[:, 1:3]).all()
    assert set(model.predict(X, task="webcam")) <= {"bike", "mug"}
    target = MultiTaskClassifier(target="webcam").fit(X, y, task)
    assert list(target.classes_) == ["bike", "mug"]


def test_unknown_tasks_are_named(two_tasks):
    X, y, task = two_tasks
    with pytest.raises(ValueError, match="no task 'dslr'; known: 'amazon', 'webcam'"):
        MultiTaskClassifier(target="dslr").fit(X, y, task)
    model = MultiTaskClassifier(target="webcam").fit(X, y, task)
    with pytest.raises(ValueError, match="no task 'dslr'; predictions are for: 'webcam'"):
        model.predict(X, task="dslr")
    with pytest.raises(ValueError, match="'amazon' was a source"):
        model.predict(X, task="amazon")
    with pytest.raises(ValueError, match="several targets; give task, one of: 'amazon', 'webcam'"):
        MultiTaskClassifier().fit(X, y, task).predict(X)
    with pytest.raises(ValueError, match="one value per row"):
        model.predict(X, task=task[:-1])


def test_a_task_of_one_class_is_a_source_only(two_tasks):
    X, y, task = two_tasks
    keep = (task == "webcam") | (y == "mug")
    model = MultiTaskClassifier().fit(X[keep], y[keep], task[keep])
    assert list(model.targets_) == ["webcam"] and list(model.tasks_) == ["amazon", "webcam"]
    with pytest.raises(ValueError, match="one class only"):
        MultiTaskClassifier(target="amazon").fit(X[keep], y[keep], task[keep])


FRAMES = {
    "pandas": lambda X, columns, task: pd.DataFrame(X, columns=columns).assign(domain=task),
    "polars": lambda X, columns, task: pl.DataFrame(X, schema=columns).with_columns(domain=pl.Series(task)),
    "pyarrow": lambda X, columns, task: pa.table(
        dict(zip(columns, X.T, strict=True)) | {"domain": pa.array(task.tolist())}
    ),
}


@pytest.mark.parametrize("library", FRAMES)
def test_data_frames_keep_their_names_and_hold_the_task(two_tasks, library):
    X, y, task = two_tasks
    columns = [f"f{i}" for i in range(X.shape[1])]
    frame = FRAMES[library](X, columns, task)
    direct = MultiTaskClassifier().fit(X, y, task)
    model = MultiTaskClassifier().fit(frame, y, task="domain")
    assert list(model.feature_names_in_) == columns
    expected = direct.predict_proba(X, task=task)
    # Rows and columns are added up in another order.
    same = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(model.predict_proba(frame), expected, **same)
    np.testing.assert_allclose(model.predict_proba(frame, task="domain"), expected, **same)
    only = direct.predict_proba(X, task="webcam")
    np.testing.assert_allclose(model.predict_proba(frame, task="webcam"), only, **same)
    with pytest.raises(ValueError, match="names no column"):
        MultiTaskClassifier().fit(frame, y, task="domian")


def test_sparse_rows(two_tasks):
    X, y, task = two_tasks
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    direct = MultiTaskClassifier(target="webcam").fit(X, y, task)
    for form in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        model = MultiTaskClassifier(target="webcam").fit(form(X), y, task)
        expected = direct.decision_function(X)
        np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.decision_function(form(X)), expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_array_equal(model.predict(form(X)), direct.predict(X))
        assert model.forecast_.error == pytest.approx(direct.forecast_.error, abs=1e-9)
        study = Study(form(X), y, task, target="webcam")
        assert study.forecast().error == pytest.approx(direct.forecast_.error, abs=1e-9)


def test_sparse_rows_of_very_many_features():
    rng = np.random.default_rng(0)
    n, p = 400, 50_000
    X = sparse.random_array((n, p), density=40 / p, rng=rng, format="csr")
    y = np.arange(n) % 2
    X = sparse.hstack([X, 3.0 * y[:, None] + rng.normal(size=(n, 1))]).tocsr()
    task = np.where(np.arange(n) < 300, "source", "target")
    model = MultiTaskClassifier(target="target").fit(X, y, task)
    assert model.forecast_.error < 0.2
    assert any(note.get("why") == "sparse" for note in model.forecast_.notes)
    # Twice in a row, and out of order: summed and sorted.
    twice = sparse.csr_array(
        (np.array([1.0, 1.0, 2.0]), np.array([5, 5, 1]), np.array([0, 3])), shape=(1, p + 1)
    )
    once = sparse.csr_array(([2.0, 2.0], ([0, 0], [1, 5])), shape=(1, p + 1))
    np.testing.assert_allclose(model.decision_function(twice), model.decision_function(once))
    assert len(twice.data) == 3
    bad = X.copy()
    bad.data[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(bad)


def test_single_precision_is_read_as_it_is(two_tasks):
    X, y, task = two_tasks
    single = X.astype(np.float32)
    model = MultiTaskClassifier(target="webcam").fit(single, y, task)
    double = MultiTaskClassifier(target="webcam").fit(single.astype(np.float64), y, task)
    made, expected = (one.decision_function(X) for one in (model, double))
    np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-12)


def test_whole_weights_are_repetitions(two_tasks):
    X, y, task = two_tasks
    times = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    weighted = MultiTaskClassifier().fit(X, y, task, sample_weight=times)
    repeated = MultiTaskClassifier().fit(X[rows], y[rows], task[rows])
    assert weighted.forecast_["webcam"].error == repeated.forecast_["webcam"].error
    for name in weighted.targets_:
        made, expected = (one.decision_function(X, task=name) for one in (weighted, repeated))
        np.testing.assert_array_equal(made, expected)
    with pytest.raises(ValueError, match="zero or more; row 0 has -1.0"):
        MultiTaskClassifier().fit(X, y, task, sample_weight=np.full(len(y), -1.0))


def test_domains_as_skada_numbers_them(two_tasks):
    X, y, task = two_tasks
    codes = (y == "mug").astype(int)
    domain = np.where(task == "webcam", -2, 1)
    model = MultiTaskClassifier().fit(X, codes, sample_domain=domain)
    direct = MultiTaskClassifier(target="webcam").fit(X, codes, task)
    assert list(model.targets_) == [2]
    made = model.decision_function(X, sample_domain=np.full(len(X), -2))
    np.testing.assert_array_equal(made, direct.decision_function(X))
    np.testing.assert_array_equal(
        model.predict(X[domain < 0], sample_domain=domain[domain < 0]),
        direct.predict(X[domain < 0]),
    )
    # Hidden labels of the target are left out.
    masked = codes.copy()
    masked[np.flatnonzero(domain < 0)[-6:]] = -1
    fewer = MultiTaskClassifier().fit(X, masked, sample_domain=domain)
    assert fewer.forecast_.n_samples == 14 and list(fewer.classes_) == [0, 1]
    masked[domain < 0] = -1
    with pytest.raises(ValueError, match="all labels of a target are hidden"):
        MultiTaskClassifier().fit(X, masked, sample_domain=domain)


def test_a_pipeline_of_skada_passes_its_domains(two_tasks):
    skada = pytest.importorskip("skada")
    X, y, task = two_tasks
    codes = (y == "mug").astype(int)
    # skada hides the labels of targets from what it trains: rows of the target with labels are a source
    # of the same number.
    domain = np.where(task == "webcam", 2, 1)
    new = X[task == "webcam"] + 0.1
    classifier = (
        MultiTaskClassifier().set_fit_request(sample_domain=True).set_predict_request(sample_domain=True)
    )
    pipeline = skada.make_da_pipeline(classifier)
    hidden = np.full(len(new), -2)
    pipeline.fit(
        np.r_[X, new],
        np.r_[codes, np.zeros(len(new), dtype=int)],
        sample_domain=np.r_[domain, hidden],
    )
    direct = MultiTaskClassifier(target="webcam").fit(X, codes, task)
    np.testing.assert_array_equal(pipeline.predict(new, sample_domain=hidden), direct.predict(new))


@pytest.mark.parametrize("labels", [np.array([3, 7]), np.array([False, True]), np.array([-1, 10])])
def test_labels_keep_their_type(two_tasks, labels):
    X, y, task = two_tasks
    typed = labels[(y == "mug").astype(int)]
    model = MultiTaskClassifier(target="webcam").fit(X, typed, task)
    named = MultiTaskClassifier(target="webcam").fit(X, y, task)
    assert list(model.classes_) == list(labels)
    made, expected = (one.decision_function(X) for one in (model, named))
    np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-12)


def test_no_priors_are_the_observed_ones(two_tasks):
    X, y, task = two_tasks
    X, y, task = X[20:], np.where(np.arange(20, len(y)) % 3 == 0, "mug", y[20:]), task[20:]
    none, observed, equal = (
        MultiTaskClassifier(target="webcam", views="linear", priors=priors).fit(X, y, task)
        for priors in (None, "observed", "equal")
    )
    np.testing.assert_array_equal(none.predict_proba(X), observed.predict_proba(X))
    assert (none.predict_proba(X) != equal.predict_proba(X)).any()
