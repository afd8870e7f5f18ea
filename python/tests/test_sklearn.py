"""The contract of scikit-learn."""

import pickle

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from foretask import MultiTaskClassifier

ESTIMATORS = [MultiTaskClassifier(), MultiTaskClassifier(rule="bayes")]

#: The number of checks that these versions of scikit-learn make of an estimator with our tags. A tag that
#: hides one, or a check that is skipped, shows here (that of gaps is hidden, because they are filled).
CHECKS = {"1.9": 63}

ran = []


@parametrize_with_checks(ESTIMATORS)
def test_estimator_checks(estimator, check):
    check(estimator)
    ran.append(str(check))


def test_all_checks_ran():
    """Runs after the checks, in the same process."""
    made = [check for each in ESTIMATORS for check in estimator_checks_generator(each, legacy=True)]
    version = ".".join(sklearn.__version__.split(".")[:2])
    assert len(made) == len(ESTIMATORS) * CHECKS.get(version, len(made) // len(ESTIMATORS))
    assert len(ran) == len(made) > 100


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_the_task_is_routed_through_a_pipeline(two_tasks, routing):
    X, y, task = two_tasks
    classifier = MultiTaskClassifier(target="webcam").set_fit_request(task=True)
    pipeline = make_pipeline(StandardScaler(), classifier).fit(X, y, task=task)
    direct = MultiTaskClassifier(target="webcam").fit(StandardScaler().fit_transform(X), y, task)
    expected = direct.predict_proba(StandardScaler().fit_transform(X))
    np.testing.assert_array_equal(pipeline.predict_proba(X), expected)


def test_cross_validation_with_tasks(two_tasks, routing):
    X, y, task = two_tasks
    classifier = (
        MultiTaskClassifier()
        .set_fit_request(task=True)
        .set_score_request(task=True)
        .set_predict_request(task=True)
    )
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(classifier, X, y, cv=cv, params={"task": task})
    assert scores.shape == (3,) and scores.min() > 0.6
    search = GridSearchCV(classifier, {"labels": ["alone", "classical"]}, cv=cv)
    search.fit(X, y, task=task)
    assert search.best_params_["labels"] in ("alone", "classical")
    assert search.best_estimator_.predict(X, task="webcam").shape == y.shape


def test_copies_behave_alike(two_tasks, tmp_path):
    X, y, task = two_tasks
    model = MultiTaskClassifier().fit(X, y, task)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(copy.predict_proba(X, task=task), model.predict_proba(X, task=task))
        assert copy.forecast_["webcam"].error == model.forecast_["webcam"].error
    blank = clone(model)
    assert blank.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        blank.predict(X)
    with pytest.raises(NotFittedError):
        _ = blank.forecast_


def test_jobs_share_work(two_tasks):
    X, y, task = two_tasks
    model = MultiTaskClassifier(target="webcam").fit(X, y, task)
    parts = joblib.Parallel(n_jobs=2)(
        joblib.delayed(model.predict_proba)(part) for part in np.array_split(X, 4)
    )
    np.testing.assert_allclose(np.vstack(parts), model.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rule", ["auto", "one-hot", "one-vs-all", "one-vs-one", "bayes"])
def test_decisions_probabilities_and_classes_agree(three_classes, two_tasks, rule):
    for X, y, task in (three_classes, two_tasks):
        model = MultiTaskClassifier(target="webcam", rule=rule).fit(X, y, task)
        decision, predicted = model.decision_function(X), model.predict(X)
        if len(model.classes_) == 2:
            assert decision.shape == (len(X),)
            np.testing.assert_array_equal(predicted == model.classes_[1], decision > 0)
        else:
            np.testing.assert_array_equal(predicted, model.classes_[decision.argmax(axis=1)])
        probabilities = model.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        np.testing.assert_array_equal(predicted, model.classes_[probabilities.argmax(axis=1)])


@pytest.mark.parametrize("rule", ["auto", "one-hot", "bayes"])
def test_coefficients_make_the_decision(three_classes, two_tasks, rule):
    for X, y, task in (three_classes, two_tasks):
        model = MultiTaskClassifier(target="webcam", rule=rule, theory="common").fit(X, y, task)
        made = X @ model.coef_.T + model.intercept_
        decision = model.decision_function(X)
        np.testing.assert_allclose(made.reshape(decision.shape), decision, rtol=1e-9, atol=1e-9)


def test_voting_pairs_and_kernels_have_no_coefficients(three_classes):
    X, y, task = three_classes
    for settings in ({"rule": "one-vs-one"}, {}, {"views": ["raw", "cosine"]}):
        model = MultiTaskClassifier(target="webcam", **settings).fit(X, y, task)
        assert not hasattr(model, "coef_")
        with pytest.raises(AttributeError, match="not linear"):
            _ = model.coef_


def test_linear_views_have_coefficients(three_classes, two_tasks):
    for X, y, task in (three_classes, two_tasks):
        model = MultiTaskClassifier(target="webcam", views="linear").fit(X, y, task)
        decision = model.decision_function(X)
        made = (X @ model.coef_.T + model.intercept_).reshape(decision.shape)
        np.testing.assert_allclose(made, decision, rtol=1e-9, atol=1e-9)
        assert set(model.views_) == {"raw", "standard"}
        assert sum(model.views_.values()) == pytest.approx(1.0)
        assert sum(model.weights_.values()) == pytest.approx(1.0)
        assert {coupling.view for coupling in model.coupling_} <= {"raw", "standard"}


def test_units_of_the_features_hardly_matter(two_tasks):
    X, y, task = two_tasks
    units = 10.0 ** np.random.default_rng(0).uniform(-2, 2, X.shape[1])
    standard = MultiTaskClassifier(target="webcam", views="standard")
    expected = standard.fit(X, y, task).decision_function(X)
    made = standard.fit(X * units, y, task).decision_function(X * units)
    np.testing.assert_allclose(made, expected, atol=1e-7)


@pytest.mark.parametrize("views", ["sphere", "raw;rbf", 3, [], ["raw", 1]])
def test_unknown_views_are_refused(two_tasks, views):
    X, y, task = two_tasks
    with pytest.raises(ValueError, match="raw"):
        MultiTaskClassifier(target="webcam", views=views).fit(X, y, task)


def test_the_same_bits_whatever_the_layout_and_the_time():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150], y[:150]
    rows = MultiTaskClassifier().fit(np.ascontiguousarray(X), y)
    again = MultiTaskClassifier().fit(np.ascontiguousarray(X), y)
    columns = MultiTaskClassifier().fit(np.asfortranarray(X), y)
    expected = rows.decision_function(X)
    np.testing.assert_array_equal(again.decision_function(X), expected)
    np.testing.assert_array_equal(columns.decision_function(X), expected)
    strided = MultiTaskClassifier().fit(np.repeat(X, 2, axis=1)[:, ::2], y)
    np.testing.assert_array_equal(strided.decision_function(X), expected)
